"""The report holds every model and every number of the record, needs no network, and says what went wrong."""

from __future__ import annotations

import copy
import re
import sys
from html.parser import HTMLParser

import pytest

import taylorank as tr
from taylorank.errors import DataError, MissingExtraError
from taylorank.report import render_report, write_report
from taylorank.report.record import load_record
from taylorank.selection import compare, compare_fitted

pytest.importorskip("altair")


class Tables(HTMLParser):
    """The text of every table, by id, row by row; and whether every element is closed."""

    VOID = ("meta", "br", "line", "path", "link")

    def __init__(self, page):
        super().__init__()
        self.tables, self.open, self.table = {}, [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = dict(attrs)["id"]
            self.tables[self.table] = []
        elif tag == "tr" and self.table:
            self.tables[self.table].append([])
        elif tag in ("td", "th") and self.table:
            self.tables[self.table][-1].append("")

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open.pop() == tag
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.table and {"td", "th"} & set(self.open):
            self.tables[self.table][-1][-1] += data


@pytest.fixture(scope="module")
def pages():
    return {}


@pytest.fixture
def page(record, pages):
    if "sample" not in pages:
        pages["sample"] = render_report(record)
    return pages["sample"]


def test_every_model_and_number_is_there(record, page):
    tables = Tables(page).tables
    assert not Tables(page).open
    summary = {row[0].strip(): row[1:] for row in tables["summary-table"][1:]}
    assert set(summary) == {facts["label"] for facts in record["models"].values()}
    for name, found in record["summary"]["models"].items():
        cells = " ".join(summary[record["models"][name]["label"]])
        for value in found.get("metrics", {}).values():
            assert f"{value['mean']:.4f}" in cells
        assert found.get("error", "") in cells
    runs = [" ".join(row) for row in tables["runs-table"][1:]]
    assert len(runs) == len(record["runs"])
    for run, row in zip(record["runs"], runs, strict=True):
        assert all(f"{value:.4f}" in row for value in run["metrics"].values())
        assert (run["error"] or "") in row
    for name, found in record["summary"]["models"].items():
        for _, value in found.get("by_cutoff", []):
            assert any(f"{value:.4f}" in cell for row in tables["cutoff-table"] for cell in row), name
        for part in found.get("by_popularity", []):
            assert any(f"{part['recall']:.4f}" in cell for row in tables["popularity-table"] for cell in row), name
    trials = [trial for run in record["runs"] for trial in (run["tuning"] or {}).get("trials", [])]
    shown = [row for key, rows in tables.items() if key.startswith("trials-") for row in rows[1:]]
    assert [row[3] for row in shown].count("–") == 0
    assert sorted(row[3] for row in shown) == sorted(f"{trial['value']:.4f}" for trial in trials)


def test_the_best_is_bold_and_the_worse_are_marked(page):
    rows = re.findall(r"<tr>.*?</tr>", page.partition('id="summary-table"')[2].partition("</table>")[0], re.DOTALL)
    marks = {re.sub(r"<.*?>|\s+", " ", row).split()[0]: (row.count("<strong>"), row.count("†")) for row in rows[1:]}
    assert marks == {"RG2": (5, 0), "IALS": (0, 0), "EASE": (0, 5), "Popularity": (0, 5), "Broken": (0, 0)}


def test_the_lead_is_made_from_the_numbers(record, page):
    assert "RG2 is best on NDCG@10, 0.2312 ± 0.0040; significantly better than all but IALS; fitted in 300 ms." in page
    changed = copy.deepcopy(record)
    changed["summary"]["models"]["ials"]["metrics"]["ndcg@10"]["mean"] = 0.3
    changed["summary"]["models"]["ials"]["versus_best"] = {}
    changed["summary"]["models"]["rg2"]["versus_best"] = {
        "ndcg@10": {"difference": -0.07, "low": -0.08, "high": -0.06, "p": 0.001, "p_holm": 0.003}
    }
    lead = re.search(r'class="lead">(.*?)<', render_report(changed))[1]
    assert lead.startswith("IALS is best on NDCG@10, 0.3000")
    assert "significantly better than all others" in lead


def test_names_cannot_break_out_of_the_page(record):
    evil = "</script><script>alert(1)</script>"
    record["models"]["rg2"]["label"] = evil
    record["command"] = evil
    page = render_report(record)
    assert evil not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page


def test_nothing_is_loaded_from_elsewhere(page):
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?!#)""", markup)
    assert not re.search(r"url\(|@import|https?:", markup)
    assert "default-src 'none'" in markup


def test_it_is_made_for_paper_phones_and_the_dark(page):
    for words in ("@media print", "prefers-color-scheme: dark", "width=device-width", "<caption>", 'scope="row"'):
        assert words in page
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert markup.count("<table") == markup.count('<div class="scroll"') == 10


def test_a_real_comparison_is_drawn_from_its_file(tmp_path):
    data = tr.planted(120, 50, interactions=2000)
    found = compare(data, ["ease", "ials", "popularity"], seeds=(0, 1), trials=2, file=tmp_path / "c.json")
    write_report(load_record(tmp_path / "c.json"), tmp_path / "c.html")
    found.report(tmp_path / "d.html")
    assert (tmp_path / "c.html").read_text() == (tmp_path / "d.html").read_text()
    rows = Tables((tmp_path / "c.html").read_text()).tables["summary-table"]
    assert {row[0].strip() for row in rows[1:]} == {"EASE", "IALS", "Popularity"}
    assert f"{found.models['ease']['metrics']['ndcg@10']['mean']:.4f}" in str(rows)


def test_bounds_are_no_contenders():
    data = tr.planted(120, 50, interactions=2000)
    train = data.split(random_state=0)[0]
    models = {"Popularity": tr.Popularity().fit(train), "best possible": tr.ranking.Oracle(train)}
    found = compare_fitted(data, models, metrics=("ndcg@10",), seconds={"Popularity": 0.1}, bounds=["best possible"])
    assert found.best == "Popularity"
    share = [found.models[name]["metrics"]["ndcg@10"]["mean"] for name in models]
    page = render_report(found.record)
    assert "Popularity is best on NDCG@10" in page
    assert f"That is {100 * share[0] / share[1]:.0f} % of what can be reached" in page


def test_when_all_fail_the_report_says_so(record):
    for name in record["models"]:
        record["summary"]["models"][name] = {"error": "1 of 1 seeds failed: nothing works"}
    record["runs"] = [{**run, "error": "nothing works", "convergence": None} for run in record["runs"]]
    page = render_report(record)
    assert "No model could be fitted" in page
    assert page.count("nothing works") >= len(record["models"])


def test_other_versions_are_refused(record, tmp_path):
    record["version"] = 3
    with pytest.raises(DataError, match="version 3 of the comparison format, this taylorank reads 1 and 2"):
        write_report(record, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["jinja2", "altair", "vl_convert"])
def test_a_missing_package_is_one_clear_line(record, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingExtraError, match=rf"{package}, which is not installed; pip install 'taylorank\[report\]'"
    ):
        render_report(record)
