"""Where the real data are, which doctests are left out, and that tests of Spark share one process."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

BESIDE = Path(__file__).resolve().parent.parent / "shared" / "data"
if "TAYLORANK_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["TAYLORANK_DATA"] = str(BESIDE)

# Doctests of what needs torch, or pyspark, where there is none.
NEEDS_TORCH = ("losses", "samplers", "backbones", "training")
collect_ignore_glob = [] if find_spec("torch") else [f"src/taylorank/{package}/*" for package in NEEDS_TORCH]
if find_spec("pyspark") is None:
    collect_ignore_glob.append("src/taylorank/spark/*")


ONE_PROCESS = "tests/spark/"
OWN_SESSION = ("tests/spark/test_cluster.py", "tests/spark/test_connect.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests that share a session of Spark to one process; any other test to whichever process is free.

    The marks of `--dist loadgroup` do not reach xdist 3.8 from pytest 9.2, where it can no longer rename tests.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class OneSession(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shares = nodeid.startswith(ONE_PROCESS) and not nodeid.startswith(OWN_SESSION)
            return ONE_PROCESS if shares else nodeid

    return OneSession(config, log)
