"""The page about the papers' tables says what the records say."""

from __future__ import annotations

import json
import re

import pytest

import taylorank as tr
from research.pages import write
from research.pages.reproduction import COMMAND, shown
from research.places import HERE, Places
from research.reproduce import TABLES
from research.reproduce.gather import Gathered, gather
from research.reproduce.run import reproduce
from taylorank.errors import ParameterError
from taylorank.report.record import load_record, save_record

DOCS = HERE.docs
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")


def test_every_value_of_the_records_is_in_its_row():
    record = load_record(HERE.comparisons / "ml-1m.json")
    section = next(part for part in PAGE.split("\n## ") if part.startswith("ML-1M"))
    for model in ("rg2-paper", "wrmf-paper", "rg2", "ials"):
        row = next(line for line in section.splitlines() if f"| `{model}` |" in line)
        for metric in TABLES["ml-1m"].columns:
            facts = record["summary"]["models"][model]["metrics"][metric]
            assert f"{facts['mean']:.4f} ± {facts['high'] - facts['mean']:.4f}" in row


def test_every_table_has_a_section_with_words_about_the_differences():
    sections = {COMMAND.search(part)[1]: part for part in PAGE.split("\n## ") if COMMAND.search(part)}
    assert list(sections) == list(TABLES)
    for part in sections.values():
        words = part.split("<!-- found -->")[0].split("\n\n", 2)[2]
        assert len(words.split()) > 10


def test_claims_that_are_named_are_there():
    named = re.findall(r"\((claims/[^)]+\.md)#([^)]+)\)", PAGE)
    assert named
    assert all(f"## {claim}\n" in (DOCS / file).read_text(encoding="utf-8") for file, claim in named)


@pytest.fixture
def places(tmp_path):
    found = Places(tmp_path)
    for folder in (found.docs, found.comparisons, found.records / "bench"):
        folder.mkdir(parents=True, exist_ok=True)
    return found


def named(places, name):
    return places.name(places.comparisons / f"{name}.json")


def record_of(models, data=None, **more):
    table = TABLES["ml-10m"]
    settings = {"seeds": (0,), "trials": 0, **more}
    return reproduce(table, data or tr.planted(90, 70, interactions=2500), models, **settings).record


def test_records_fill_rows_and_the_rest_says_how_to_run_it(places):
    first = record_of(["wrmf-paper", "popularity"], command="first")
    save_record(first, places.comparisons / "ml-10m.json")
    save_record(record_of(["ease"], command="second"), places.comparisons / "ml-10m-more.json")
    text = shown(TABLES["ml-10m"], places)
    mean = first["summary"]["models"]["wrmf-paper"]["metrics"]["ndcg@10"]["mean"]
    (row,) = [line for line in text.splitlines() if "`wrmf-paper` |" in line]
    assert f"| {mean:.4f} ±" in row
    assert f"| 0.2797 | {mean - 0.2797:+.4f} |".replace("-", "−") in row
    assert text.startswith("| method | MRR@10 | printed | difference |\n")
    assert "not run here" not in text.split("<details")[0]
    assert "| BPR | `bpr` | not run here | 0.3476 | – | not run here | 0.2116 | – |" in text
    assert "python -m research.reproduce ml-10m --models rg2-paper,rgx-paper,rg2,sampled-rg2,wrmf,ials --json" in text
    assert f"{places.link(places.comparisons / 'ml-10m-more.json')}: `ease`; seeds 0, 0 fits of tuning" in text
    assert "by `second`" in text
    assert "known are 69,815 users × 9,888 items" in text


def test_a_model_in_two_records_is_taken_from_the_one_with_more_seeds(places):
    save_record(record_of(["popularity", "ease"]), places.comparisons / "ml-10m.json")
    save_record(record_of(["popularity"], seeds=(0, 1)), places.comparisons / "ml-10m-more.json")
    found = gather(TABLES["ml-10m"], places)
    assert found.sources == {"popularity": named(places, "ml-10m-more"), "ease": named(places, "ml-10m")}


def refuse(model, data):
    raise ParameterError("nothing fits", "try another")


def test_other_data_other_protocols_and_failures_are_told(places, monkeypatch):
    save_record(record_of(["popularity"]), places.comparisons / "ml-10m.json")
    small = tr.planted(90, 50, interactions=2000)
    save_record(record_of(["rg2-paper"], small), places.comparisons / "ml-10m-a.json")
    other = tr.compare(small, ["ease"], seeds=(0,), trials=0, protocol="held-out-users").record
    save_record(other, places.comparisons / "ml-10m-b.json")
    found = gather(TABLES["ml-10m"], places)
    assert found.refused == {
        named(places, "ml-10m-a"): "other data",
        named(places, "ml-10m-b"): "protocol held-out-users, not papers",
    }
    monkeypatch.setattr(tr.RG2, "_check", refuse)
    save_record(record_of(["rg2-paper"], small), places.comparisons / "ml-10m.json")
    for name in ("a", "b"):
        (places.comparisons / f"ml-10m-{name}.json").unlink()
    text = shown(TABLES["ml-10m"], places)
    assert "| RG² | `rg2-paper` | failed |" in text
    assert "`rg2-paper` failed: 1 of 1 seeds failed: nothing fits" in text


def test_benchmarks_of_published_splits_fill_their_rows(places):
    run = {"set": "gowalla", "held back": "groups", "test": {"recall@20": 0.5, "ndcg@20": 0.25}}
    (places.records / "bench" / "public_splits.json").write_text(json.dumps({"sets": [run]}))
    text = shown(TABLES["gowalla"], places)
    assert "| `rg2, groups held back` | 0.5000 | – | – | 0.2500 |" in text
    assert "one seed, no interval" in text


def test_the_command_rewrites_the_page(places):
    page = places.docs / "reproduction.md"
    page.write_text("# T\n\n## A\n\n    python -m research.reproduce ml-10m\n\nWords.\n\n<!-- found -->\nold\n\n## B\n")
    assert write("reproduction", places)
    text = page.read_text()
    assert "Words.\n\n<!-- found -->\n\nData: ratings" in text
    assert "<summary>What the papers print, 20 rows</summary>\n\n| method |" in text
    assert "old" not in text
    assert text.endswith("## B\n")
    assert not write("reproduction", places)
    assert page.read_text() == text


def test_gains_are_of_the_splits_that_both_have():
    def record(model, values):
        return {
            "runs": [{"model": model, "seed": s, "error": None, "metrics": {"ndcg@10": v}} for s, v in values.items()]
        }

    found = Gathered(
        sources={"a": "a.json", "b": "b.json", "c": "c.json", "d": "bench"},
        records={
            "a.json": record("a", {0: 0.2, 1: 0.9, 2: 0.9}),
            "b.json": record("b", {0: 0.3}),
            "c.json": record("c", {5: 0.3}),
        },
    )
    assert found.gain("b", "a", "ndcg@10") == pytest.approx(0.5)
    assert found.gain("c", "a", "ndcg@10") is None
    assert found.gain("d", "a", "ndcg@10") is None
    assert found.gain("b", "a", "mrr@10") is None
