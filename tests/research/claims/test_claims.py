"""Every claim has a verdict that its numbers make and a changed experiment turns; the page says what the file holds."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
from dataclasses import replace

import pytest

from research.claims import CLAIMS, VERDICTS, claim_named, from_records, regimes, run_claim, run_claims
from research.claims.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, UNTESTED, Claim, decide, plain
from research.pages.claim_figures import FOLDER, chart, draw_claims, has_figure, rows
from research.pages.claims import DETAIL, PILOT, details, made, more
from research.papers import PAPERS, PU_2025, SUMMARY_2026
from research.places import HERE, Places
from taylorank import losses
from taylorank.errors import ParameterError
from taylorank.machine import source_commit

FILES = HERE.records / "claims"
RECORD = json.loads((FILES / "claims.json").read_text(encoding="utf-8"))
KEPT = {record["id"]: record for record in RECORD["claims"]}
HEAVY = [json.loads((FILES / f"{name}.json").read_text(encoding="utf-8")) for name in ("heavy", "nce")]
TESTED = {record["id"]: record for file in HEAVY for record in file["claims"]}
QUICK = ("rg2-square-form", "rg2-bounds-softmax")


def whole(record, heavy=()):
    """All pages of the detail in one text."""
    return "\n".join(details(record, heavy).values())


def skip_without_needs(claim: Claim) -> None:
    if claim.needs_torch:
        pytest.importorskip("torch")


@pytest.fixture(scope="module")
def measured():
    """Numbers of the claims, each measured once."""
    found = {}

    def of(claim: Claim):
        if claim.id not in found:
            # speed has no place in a test: timed claims are judged by the numbers that the command wrote
            found[claim.id] = KEPT[claim.id]["numbers"] if claim.timed else claim.measure()
        return found[claim.id]

    return of


LIGHT = [claim for claim in CLAIMS.values() if not claim.heavy]


@pytest.mark.parametrize("claim", [claim for claim in LIGHT if not claim.timed], ids=lambda claim: claim.id)
def test_a_changed_experiment_turns_the_verdict(claim, measured):
    skip_without_needs(claim)
    verdict, reason = claim.judge(measured(claim))
    changed = claim.judge(claim.measure_changed())
    assert verdict in VERDICTS
    assert reason
    assert changed.verdict in VERDICTS
    assert changed.verdict != verdict, f"nothing turns {claim.id}: {changed.reason}"


@pytest.mark.parametrize("claim", LIGHT, ids=lambda claim: claim.id)
def test_the_record_has_these_verdicts(claim, measured):
    skip_without_needs(claim)
    kept = KEPT[claim.id]
    judgement = claim.judge(measured(claim))
    assert (kept["statement"], kept["source"], kept["method"]) == (claim.statement, claim.source, claim.method)
    assert kept["verdict"] == judgement.verdict
    assert claim.judge(kept["numbers"]) == (kept["verdict"], kept["reason"])


def test_every_claim_is_in_the_file_and_no_other():
    assert list(KEPT) == list(CLAIMS)
    assert RECORD["command"] == "python -m research.claims --json research/records/claims/claims.json"
    for record in KEPT.values():
        assert record["verdict"] in VERDICTS
        assert record["reason"]
        assert record["statement"].endswith(".")
        assert (record["verdict"] == UNTESTED) == CLAIMS[record["id"]].heavy


def test_claims_on_real_data_say_what_their_records_hold():
    """Those that rest on committed records are judged anew; of those that train, the numbers are judged."""
    assert set(TESTED) <= {claim.id for claim in CLAIMS.values() if claim.heavy}
    for name, kept in TESTED.items():
        claim = CLAIMS[name]
        assert (kept["statement"], kept["source"], kept["method"]) == (claim.statement, claim.source, claim.method)
        assert claim.judge(kept["numbers"]) == (kept["verdict"], kept["reason"])
        if claim.experiment.__module__ in (from_records.__name__, regimes.__name__):
            assert claim.measure() == kept["numbers"]


@pytest.mark.parametrize("name", TESTED)
def test_a_change_turns_the_verdict_on_real_data(name):
    claim, kept = CLAIMS[name], TESTED[name]
    trains = claim.experiment.__module__ not in (from_records.__name__, regimes.__name__)
    if kept["verdict"] == UNTESTED or trains or claim.change is None:
        pytest.skip("not tested yet, or it takes minutes to test again, or its rule is tested on made-up numbers")
    assert claim.judge(claim.measure_changed()).verdict != kept["verdict"]


def test_a_change_is_one_of_the_setting():
    """None of them touches the numbers; claims without one take times or rest on training, and their page says so."""
    without = {claim.id for claim in CLAIMS.values() if claim.change is None}
    assert without == {
        "als-three-to-five-times-faster",
        "rg-under-first-order-steps",
        "als-three-to-five-times-faster-on-ml-1m",
        "nce-plateaus-on-ml-1m",
        "sparse-losses-fail-on-real-graphs",
        "gains-in-every-regime",
    }
    written = whole(RECORD, HEAVY)
    for claim in CLAIMS.values():
        assert bool(claim.change) == bool(claim.change_in_words)
        assert claim.change is None or set(claim.change) <= set(inspect.signature(claim.experiment).parameters)
    assert written.count("No change of it is tested, as its numbers are seconds;") == 3
    assert written.count("No change of it is tested, as it rests on hours of training;") == 3


def test_timed_claims_are_measured_when_they_run(monkeypatch):
    """The command takes times anew; only tests judge those of the record."""
    timed = claim_named("als-three-to-five-times-faster")
    assert timed.timed
    claim = replace(
        timed, experiment=lambda seed: {**KEPT[timed.id]["numbers"], "times faster": 4.0}, needs_torch=False
    )
    record = run_claim(claim)
    assert record["numbers"]["times faster"] == 4.0
    assert record["verdict"] == HOLDS


def test_records_say_what_the_claims_say_now():
    for record in (KEPT | TESTED).values():
        claim = CLAIMS[record["id"]]
        assert (record["change"], record["correction"]) == (claim.change_in_words, claim.correction)
        assert (record["group"], record["timed"], record["heavy"]) == (claim.group, claim.timed, claim.heavy)


def test_what_is_not_decided_is_shown():
    record = json.loads(json.dumps(RECORD))
    record["claims"][0]["verdict"] = UNDECIDED
    written = whole(record)
    assert f"## {record['claims'][0]['id']}\n\n**? not decided**" in written
    (undecided,) = [part for part in written.split("\n## ") if part.startswith("? Not decided")]
    assert f"| [{record['claims'][0]['id']}]" in undecided
    assert "*Instead:*" not in written.split(f"## {record['claims'][0]['id']}\n")[1].split("\n## ")[0]


def test_what_does_not_hold_says_what_does():
    for record in KEPT.values():
        if record["verdict"] in (CORRECTED, FAILS):
            assert record["correction"].endswith("."), record["id"]


def test_the_fast_claims_together_take_less_than_three_minutes():
    assert sum(record["seconds"] for record in KEPT.values()) < 180


def test_the_pages_of_the_detail_are_made_from_the_files():
    files = [record | {"file": f"{name}.json"} for name, record in zip(("heavy", "nce"), HEAVY, strict=True)]
    for name, text in details(RECORD, files).items():
        assert (HERE.docs / f"{name}.md").read_text(encoding="utf-8") == text.rstrip() + "\n", name
    written = whole(RECORD, HEAVY)
    for record in (KEPT | TESTED).values():
        assert re.search(rf"^## {record['id']}\n\n\*\*. {record['verdict']}\*\*", written, re.MULTILINE)
    for file in re.findall(r"^!\[.*\]\((.*)\)$", written, re.MULTILINE):
        assert (HERE.docs / FOLDER / file).is_file()


def test_the_page_for_reading_is_short_and_has_the_counts():
    written = (HERE.docs / "claims.md").read_text(encoding="utf-8")
    assert len(written.split()) < 1000
    verdicts = [(TESTED | {}).get(name, record)["verdict"] for name, record in KEPT.items()]
    assert f"| all {len(verdicts)} | {verdicts.count(HOLDS)} | {verdicts.count(CORRECTED)} | " in written


def test_the_page_names_what_was_settled_after_pilot_runs():
    assert set(PILOT) <= set(CLAIMS)
    (settled,) = [part for part in details(RECORD)[DETAIL].split("\n## ") if part.startswith("How sure they are")]
    assert all(name in settled for name in PILOT)


def test_another_verdict_reaches_the_page(tmp_path):
    record = json.loads(json.dumps(RECORD))
    record["claims"][0]["verdict"] = FAILS
    places = Places(tmp_path)
    (places.records / "claims").mkdir(parents=True)
    (places.records / "claims" / "claims.json").write_text(json.dumps(record), encoding="utf-8")
    places.docs.mkdir()
    (places.docs / "claims.md").write_text("# Claims\n\n## Counts\n\n<!-- found -->\n", encoding="utf-8")
    fails = sum(one["verdict"] == FAILS for one in record["claims"])
    assert re.search(rf"\| all {len(record['claims'])} \|.* {fails} \|", made("claims", places))
    assert f"## {record['claims'][0]['id']}\n\n**✗ {FAILS}**" in "\n".join(more(places).values())


def test_figures_show_the_numbers(tmp_path):
    pytest.importorskip("altair")
    with_figures = [record for record in KEPT.values() if has_figure(record)]
    assert len(with_figures) > 10
    for record in with_figures:
        (values,) = chart(record)["datasets"].values()
        assert values == rows(record)
        assert values
    (file,) = draw_claims(with_figures[:1], tmp_path / FOLDER)
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_the_table_of_losses_says_of_dcg_what_the_claim_found():
    found = KEPT["sparse-losses-dcg-consistent"]
    assert found["verdict"] == HOLDS
    for name, row in found["numbers"].items():
        assert row["order kept"] == 1
        assert losses.get(name).properties.dcg == "yes"


def test_the_same_seed_gives_the_same_numbers():
    for name in ("rg2-dcg-consistent", "taylor-remainder"):
        assert claim_named(name).measure(3) == claim_named(name).measure(3)
        assert claim_named(name).measure(3) != claim_named(name).measure(4)


def test_without_torch_a_claim_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None)
    record = run_claim(claim_named("jacobian-norms"))
    assert record["verdict"] == UNTESTED
    assert "pip install 'taylorank[torch]'" in record["reason"]
    assert record["numbers"] == {}


def test_heavy_claims_run_only_when_named(monkeypatch):
    heavy = next(claim for claim in CLAIMS.values() if claim.heavy)
    assert run_claim(heavy, with_heavy=False)["verdict"] == UNTESTED
    assert f"python -m research.claims {heavy.id}" in run_claim(heavy, with_heavy=False)["reason"]


def test_all_heavy_claims_run_when_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "research.claims.run.run_claim", lambda claim, *, seed, with_heavy: {"id": claim.id, "w": with_heavy}
    )
    found = run_claims(heavy=True)
    assert [record["id"] for record in found] == [claim.id for claim in CLAIMS.values() if claim.heavy]
    assert all(record["w"] for record in found)


def test_verdicts():
    assert [decide(True), decide(True, True), decide(False, True), decide(False)] == [HOLDS, HOLDS, CORRECTED, FAILS]
    assert plain({"a": float("nan"), "b": (1, -float("inf"))}) == {"a": "not a number", "b": [1, "minus infinite"]}


def test_an_unknown_id_is_refused():
    with pytest.raises(ParameterError, match="no claim has the id 'rg3'; choose from"):
        run_claims(["rg3"])


def test_the_command_prints_verdicts_and_writes_the_file(run, tmp_path, capsys):
    file = tmp_path / "claims.json"
    assert run("claims", *QUICK, "--json", str(file)) == 0
    shown = capsys.readouterr().out
    assert "rg2-square-form" in shown
    assert "fails: the matrix that must be positive semidefinite" in shown
    assert "2 claims in" in shown
    for name in QUICK:
        assert f"{claim_named(name).statement} ({claim_named(name).source})" in shown
    assert f"\n{PU_2025}: {PU_2025.full}" in shown
    assert SUMMARY_2026.full not in shown
    written = json.loads(file.read_text(encoding="utf-8"))
    assert [record["id"] for record in written["claims"]] == list(QUICK)
    assert written.get("commit") == source_commit()
    assert written["machine"]["cores"] >= 1
    for record in written["claims"]:
        assert {"id", "source", "statement", "verdict", "numbers"} <= record.keys()


def test_quiet_prints_nothing(run, capsys):
    assert run("claims", QUICK[0], "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_help_has_an_example(run, capsys):
    assert run("claims", "--help") == 0
    assert "Example: python -m research.claims" in capsys.readouterr().out


def test_the_list_tests_nothing(run, monkeypatch, capsys):
    monkeypatch.setattr("research.claims.command.run_claims", lambda *_, **__: pytest.fail("ran"))
    assert run("claims", "--list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in CLAIMS)
    assert all(f"({claim.source})" in shown for claim in CLAIMS.values())
    assert all(f"\n{paper}: {paper.full}" in shown for paper in PAPERS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("claims", "rg3"), "no claim has the id 'rg3'"),
        (("claims", QUICK[0], "--seed", "-1"), "seed -1"),
        (("claims", QUICK[0], "--seed", "soon"), "--seed"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, words, capsys):
    assert run(*arguments) == 2
    line = capsys.readouterr().err
    assert words in line
    assert line.count("\n") == 1


def test_a_file_that_cannot_be_written_is_known_before_the_work(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("research.claims.command.run_claims", lambda *_, **__: pytest.fail("ran"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert run("claims", QUICK[0], "--json", str(blocked / "claims.json")) == 2
    assert "cannot write" in capsys.readouterr().err
