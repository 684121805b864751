"""Whether Spark can run here."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest

# For a session of a minute; plans of MLlib are deep, and code that is compiled quickly takes more of the stack.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"


def require_spark() -> None:
    """Skip where Spark cannot run."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install 'taylorank[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java, which Spark needs: install openjdk-17-jre-headless")
