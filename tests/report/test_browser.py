"""The report in a real browser: every chart draws, nothing is logged, nothing is wider than a phone."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from taylorank.report import render_report

pytest.importorskip("altair")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

MEASURE = """<script>setTimeout(() => {
  const page = document.documentElement;
  page.dataset.overflow = page.scrollWidth - page.clientWidth;
  page.dataset.ink = getComputedStyle(document.body).color;
  page.dataset.mark = getComputedStyle(document.querySelector("#chart-forest .mark-rule line")).stroke;
}, 4000)</script></body>"""


def loaded(path, width, *, dark):
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    command += [f"--window-size={width},2000", "--virtual-time-budget=10000"]
    command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def charts(dom):
    parts = re.split(r'data-chart="([\w-]+)"', dom)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_all_charts_draw_without_a_word_in_the_console(record, tmp_path, width, dark):
    path = tmp_path / "report.html"
    before, _, after = render_report(record).rpartition("</body>")
    path.write_text(before + MEASURE + after, encoding="utf-8")
    dom, console = loaded(path, width, dark=dark)
    assert console == []
    assert 'data-charts="drawn"' in dom
    drawn = charts(dom)
    assert set(drawn) == {
        "forest", "trade-off", "convergence-seconds", "convergence-steps", "by-cutoff", "by-popularity", "tuning"
    }  # fmt: skip
    groups = re.findall(r">(\d+–\d+)</text>", drawn["by-popularity"])
    assert groups == ["0–20", "20–40", "40–60", "60–80", "80–100"]  # on a phone, too
    points = {"forest": 4, "trade-off": 4, "by-cutoff": 4 * 7, "by-popularity": 4 * 5, "convergence-seconds": 15}
    for name, count in points.items():
        svg = drawn[name].partition("<svg")[2].partition("</svg>")[0]
        symbols = re.findall(r'<g class="mark-symbol role-mark.*?</g>', svg, re.DOTALL)
        assert sum(part.count("<path") for part in symbols) == count, name
    assert 'data-overflow="0"' in dom
    ink = re.search(r'data-ink="rgb\((\d+)', dom)[1]
    assert (int(ink) > 128) == dark
    assert re.search(r'data-mark="rgb\(', dom)  # a colour variable that the browser could resolve


def test_a_chart_that_cannot_be_drawn_says_so(record, tmp_path):
    path = tmp_path / "report.html"
    page = render_report(record)
    assert page.count('"mark": {"type": "rule"') >= 2
    path.write_text(page.replace('"mark": {"type": "rule"', '"mark": {"type": "ruin"', 1), encoding="utf-8")
    dom, _ = loaded(path, 1280, dark=False)
    assert 'data-charts="1 failed"' in dom
    assert "could not be drawn" in dom
