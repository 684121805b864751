"""Numbers in pages that people write are those that the named commands wrote."""

from __future__ import annotations

import json
import math
import re

import pytest

from research.bench import module_of
from research.bench.quality.defaults_beside import gap
from research.places import HERE
from taylorank.data import planted
from taylorank.models import RG2
from taylorank.models.rg_parameters import NOISE_SHARE, default_rank, share_of_sizes

ROOT = HERE.root
RECORDS = HERE.records


def test_the_table_of_benchmarks_says_the_same():
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    files = {path.stem: json.loads(path.read_text()) for path in (RECORDS / "bench").glob("*.json")}
    for peer in ("scipy", "torch (MKL)"):
        assert _faster([case["results"][peer]["times_ours"] for case in files["gather_sum"]["cases"]], 3) in page
    for result in files["read"]["results"]:
        memory = math.ceil(100 * result["memory_ratio"]) / 100
        assert f"{_faster([result['times_faster']], 9)}, {memory:.2f} of the peak memory" in page
    for name in ("als", "top_k", "evaluate", "epochs"):
        words = "\n".join(module_of(name.replace("_", "-")).describe(files[name]))
        for pattern, row in ROWS[name]:
            ratios = [float(ratio) for ratio in re.findall(pattern, words)]
            assert ratios, pattern
            assert f"{row} | {_faster(ratios, 2)} |" in page


def test_the_readme_has_rows_of_that_table():
    rows, known = (
        [line for line in (ROOT / file).read_text().splitlines() if re.match(r"\|.*(faster|peak|\d,\d|\d s).*\|", line)]
        for file in ("README.md", "docs/benchmarks.md")
    )
    assert rows
    assert set(rows) <= set(known)


# Lines of a benchmark that hold the ratio to a peer, and the row of the table that says its range.
ROWS = {
    "als": [
        (r"RG².*irspack, cg ([\d.]+)", "a sweep of RG², 6.6 M interactions, K = 64 and 128"),
        (r"exact.*irspack ([\d.]+)", "an exact sweep of iALS, the same data"),
    ],
    "top_k": [(r"implicit ([\d.]+) times ours", "the 20 best items of 69,815 users")],
    "evaluate": [(r"implicit[^;,]* ([\d.]+) times ours", "all metrics of these users")],
    "epochs": [
        (r"RecBole [\d.]+ s, ([\d.]+)", "an epoch of BPR matrix factorisation on ML-1M"),
        (r"sampled softmax:.*plain PyTorch [\d.]+ s, ([\d.]+)", "an epoch of sampled softmax, 64 draws"),
        (r"(?m)^softmax:.*plain PyTorch [\d.]+ s, ([\d.]+)", "an epoch with the full softmax"),
    ],
}


def _faster(ratios, digits):
    """Both ends rounded down, so that the record has no less than what is said; it has `digits` decimals itself."""
    low, high = (f"{math.floor(10 * (ratio - 0.5 * 10**-digits)) / 10:.1f}" for ratio in (min(ratios), max(ratios)))
    return f"{low if low == high else f'{low}-{high}'} times faster"


@pytest.mark.parametrize(
    ("ratios", "digits", "words"),
    [([1.583, 3.887], 3, "1.5-3.8"), ([5.0], 2, "4.9"), ([3.06, 3.08], 2, "3.0"), ([15.099, 4.6], 3, "4.5-15.0")],
)
def test_ratios_are_never_rounded_up(ratios, digits, words):
    """A ratio printed as 5.00 may be 4.995, which is not five times faster."""
    assert _faster(ratios, digits) == f"{words} times faster"


def test_the_defaults_are_those_that_were_chosen():
    record = json.loads((RECORDS / "bench" / "defaults.json").read_text())
    chosen = record["by density"][0]
    assert chosen["relative"] > record["settings"][0]["relative"]  # than any threshold that is one number for all sets
    own = RG2().get_params()
    assert {name: own[name] for name in ("factors", "regularization")} == {"factors": None, "regularization": None}
    assert {name: own[name] for name in ("proposal_exponent", "context_exponent")} == {
        name: chosen[name] for name in ("proposal_exponent", "context_exponent")
    }
    assert share_of_sizes(900, 700, 40_000) == pytest.approx(chosen["multiple"] * (900**0.5 + 700**0.5) / 200)
    assert default_rank(planted(900, 700, interactions=40_000)) == 700 // 4
    rules = json.loads((RECORDS / "bench" / "defaults_rules.json").read_text())["rules"]
    of_noise = rules["chosen among"]["shuffled"]
    assert of_noise["best"][:3] == [own["proposal_exponent"], own["context_exponent"], 0.0]
    assert of_noise["best"][3] == pytest.approx(NOISE_SHARE, abs=0.03)
    assert of_noise["relative"] > rules["present"]["relative"]
    assert of_noise["mean gain left out"] == max(row["mean gain left out"] for row in rules["chosen among"].values())


def test_pages_say_how_the_defaults_do_beside_those_of_ease():
    record = json.loads((RECORDS / "bench" / "defaults_beside.json").read_text())
    words, count = gap(record)
    readme, page = ((ROOT / file).read_text() for file in ("README.md", "docs/benchmarks/quality.md"))
    assert f"{words} `EASE` with its own, on average of {count} sets" in readme
    first = " ".join(page.split("## ")[0].split())
    assert f"untuned, it is {words} EASE on average of {count} sets, and ahead of implicit on every set" in first
    sets = record["sets"].values()
    assert all(row["RG2"]["test"] > row["implicit"]["test"] for row in sets if "implicit" in row)
    ratio = {
        name: row["RG2"]["test"] / row["EASE"]["test"]
        for name, row in record["sets"].items()
        if row.get("EASE", {}).get("test")
    }
    assert min(ratio, key=lambda name: ratio[name]) == "moby-thesaurus", "mend the sentence of the section"
    assert max(ratio, key=lambda name: ratio[name]) == "wikispeedia-links", "mend the sentence of the section"


def test_the_page_of_training_says_what_the_files_hold():
    page = (ROOT / "docs" / "neural.md").read_text().splitlines()
    for path in (RECORDS / "neural").glob("*.json"):
        record = json.loads(path.read_text())
        place = next(i for i, line in enumerate(page) if f"neural/{path.name}" in line)
        if record["benchmark"] == "stable-rates":
            names, _, rates = ([cell.strip() for cell in line.split("|")[1:-1]] for line in page[place + 2 : place + 5])
            found = {row["loss"]: f"{row['largest']:g}" for row in record["rows"]}
            assert dict(zip(names, rates, strict=True)) == found
            continue
        if record["benchmark"] == "negatives":
            table = "\n".join(page[place : place + 9])
            assert all(f"| {fit['metrics']['ndcg@20']:.4f} |" in table for fit in record["fits"])
            continue
        assert all(f"| {value:.4f} |" in page[place] for name, value in record["test"].items())
        if record["benchmark"] == "sequential":
            assert f"| {record['epochs']} |" in page[place]
