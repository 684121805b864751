"""What the page of the server shows works."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^curl .*$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("call", CALLS)
def test_every_request_of_the_page_is_answered(everything, call):
    target = re.search(r"localhost:8000(/[^' ]*)", call)[1]
    body = re.search(r"-d '(.*)'$", call)
    reply = everything.get(target) if body is None else everything.recommend(body[1].encode())
    assert reply.status == 200, reply.body
    if body is not None:
        answers = reply.json if isinstance(reply.json, list) else [reply.json]
        assert all(answer["items"] for answer in answers)


def test_the_page_has_the_routes_and_fields_that_there_are(everything):
    from taylorank.serving.schema import Ask

    assert len(CALLS) > 10
    for route in everything.get("/openapi.json").json["paths"]:
        assert route.partition("{")[0] in PAGE, route
    for name in Ask.model_fields:
        assert f"`{name}`" in PAGE, name


def test_the_page_has_the_options_that_there_are():
    from taylorank.cli.serve import serve

    for option in re.findall(r"`(--[a-z-]+)", PAGE):
        name = option.removeprefix("--").replace("-", "_")
        assert name in serve.__annotations__ or name in ("out",), option


def test_the_unit_of_systemd_is_sound(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = re.search(r"```ini\n(.*?)```", PAGE, re.DOTALL)[1].replace("/opt/taylorank/bin/taylorank", "/bin/true")
    (tmp_path / "taylorank.service").write_text(unit)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "taylorank.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "taylorank.service:" not in done.stderr
