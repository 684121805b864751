"""Every page is reachable, every link leads somewhere, every piece of code in the pages runs."""

from __future__ import annotations

import inspect
import re
import shlex
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from taylorank.registry import MODELS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = ("gallery", "reference/generated")  # by `make docs`
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not any(path.is_relative_to(DOCS / folder) for folder in (*MADE, "_templates"))
)
INCLUDED = {"changelog", "contributing", "security", "laboratory"}  # pages that are files of the root
TOCTREE = re.compile(r"```\{toctree\}\n(?::[^\n]*\n)*\n?(.*?)```", re.DOTALL)
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Pages whose code is run by tests of their own, with a database or a server.
ELSEWHERE = {"stores", "serving", "spark", "spark_switching"}
GPU = "gpu"


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).with_suffix("").as_posix()


def headings(text: str) -> set[str]:
    """The anchors of a page, as MyST and GitHub make them."""
    plain = FENCE.sub("", text)
    titles = re.findall(r"^#{1,4} (.+)$", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-") for title in titles}


def links(text: str) -> list[tuple[str, str]]:
    plain = re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))
    return re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", plain)


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str)
def test_links_lead_somewhere(path):
    for file, anchor in links(path.read_text(encoding="utf-8")):
        if any(file.removeprefix("../").startswith(folder) for folder in MADE):
            assert (ROOT / "examples" / f"{file.split('/')[-1]}.py").is_file() or file.endswith("index"), file
            continue
        target = (path.parent / file).resolve() if file else path
        assert target.is_file(), f"{file} in {path.name}"
        if anchor and target.suffix == ".md":
            assert anchor in headings(target.read_text(encoding="utf-8")), f"{file}#{anchor} in {path.name}"


def test_every_page_is_in_one_table_of_contents():
    listed: list[str] = []
    for path in PAGES:
        for block in TOCTREE.findall(path.read_text(encoding="utf-8")):
            for entry in block.split():
                place = DOCS if entry.startswith("/") else path.parent
                listed.append((place / entry.lstrip("/")).resolve().relative_to(DOCS).as_posix())
    orphans = {name_of(path) for path in PAGES if "orphan: true" in path.read_text(encoding="utf-8")[:60]}
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) - {"gallery/index"} == {name_of(path) for path in PAGES} - {"index"} - orphans


def test_the_first_pages_need_no_paper():
    """No page of the tutorials speaks of equations, authors or Greek letters."""
    for path in (DOCS / "tutorials").glob("*.md"):
        found = re.search(r"\bEq\.|et al|[α-ωΑ-Ω]|\bSVD\b|arXiv", path.read_text(encoding="utf-8"))
        assert found is None, f"{path.name}: {found and found[0]}"


def run(code: str, where: str, names: dict[str, Any]) -> None:
    exec(compile(code, where, "exec"), names)


def pieces(path: Path) -> list[tuple[str, str]]:
    """Return (language, code) of every fence of a page."""
    text = path.read_text(encoding="utf-8").replace("<!-- about -->\n```text", "```about")
    return [(language, code) for language, code in FENCE.findall(text)]


RUN = [path for path in PAGES if any(kind == "python" for kind, _ in pieces(path)) and name_of(path) not in ELSEWHERE]


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A folder with the files that pages read."""
    monkeypatch.chdir(tmp_path)
    import taylorank as tr

    data = tr.planted(120, 60, interactions=2500)
    frame = data.to_frame()
    frame.write_csv("log.csv")
    frame.select("user", "item").write_csv("ratings.csv")
    train, valid, test = data.split()
    names = {"tr": tr, "data": data, "train": train, "valid": valid, "test": test}
    model = tr.RG2(factors=8).fit(train)
    user = train.user_ids[0]
    return names | {"model": model, "user": user, "item": model.recommend([user])[0][0][0], "users": train.user_ids[:3]}


@pytest.mark.parametrize("path", RUN, ids=name_of)
@pytest.mark.filterwarnings("ignore::taylorank.errors.LeakageWarning")
def test_python_runs_and_prints_what_is_shown(path, log, capsys):
    if "two-tower" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    if "to_frame" in path.read_text(encoding="utf-8") or "report" in path.read_text(encoding="utf-8"):
        pytest.importorskip("altair")
    names, shown = dict(log), ""
    for language, code in pieces(path):
        if language == "python":
            run(small(code), name_of(path), names)
            shown = capsys.readouterr().out
        elif language == "about" and shown:
            assert first_words(code) <= first_words(shown), f"{name_of(path)} shows another output"
        elif language == "text" and shown:
            assert code == shown, f"{name_of(path)} shows another output"


def first_words(text: str) -> set[str]:
    """What each line of an output begins with, whose numbers are of one machine."""
    return {re.sub(r"[\d.,]+", "#", line.split()[0]) for line in text.splitlines() if line.strip()}


def small(code: str) -> str:
    """What a test can afford: pages speak of real ranks and budgets, and of a GPU."""
    code = code.replace('device="cuda"', 'device="cpu"').replace("RG2(512", "RG2(8").replace("RG2(1024", "RG2(16")
    code = (
        code.replace("factors=128", "factors=8").replace("factors=64)", "factors=8)").replace("distil(64", "distil(8")
    )
    code = re.sub(r"trials=\d+", "trials=1", code).replace("seeds=(0, 1, 2)", "seeds=(0,)")
    return re.sub(r'((?:tune|compare)\(.*device="cpu")\)', r"\1, trials=1)", code)


def indented(path: Path) -> str:
    """Return a page with its scripts indented, as other commands are."""
    text = path.read_text(encoding="utf-8")
    return FENCE.sub(lambda found: textwrap.indent(found[2], "    ") if found[1] == "sh" else "", text)


COMMANDS = [
    pytest.param(line, id=f"{path.stem}: {line[:60]}")
    for path in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "research").rglob("*.md")]
    for line in re.findall(r"^ {4}(taylorank [a-z](?:.*\\\n)*.*)$", indented(path), re.MULTILINE)
    if "…" not in line
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(line):
    """The command line knows every command and option that pages show."""
    from taylorank.cli.app import app

    words = shlex.split(re.split(r" >>? ", line.replace("\\\n", " "))[0], comments=True)[1:]
    app.parse_args(words, exit_on_error=False, print_error=False)


LINES = [
    line
    for path in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "research").rglob("*.md")]
    for line in re.findall(r"^ {4}((?:python -m research\.|make )(?:.*\\\n)*.*)$", indented(path), re.MULTILINE)
]


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("python") and "…" not in line])
def test_commands_of_the_laboratory_are_understood(line):
    """Every module and option of the commands that made the numbers is there."""
    module, *words = shlex.split(line.replace("\\\n", " "), comments=True)[2:]
    if module == "research.bench":
        from research.bench.command import app

        _, given, _ = app.meta.parse_args(words, exit_on_error=False, print_error=False)
        words = list(given.args)
    else:
        app = import_module(f"{module}.__main__").app
    app.parse_args(words, exit_on_error=False, print_error=False)


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("make")])
def test_targets_of_make_are_there(line):
    rules = set(re.findall(r"^([a-z][\w ]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert line.split()[1] in {name for rule in rules for name in rule.split()}


INLINE = re.findall(
    r"`taylorank ([a-z][\w-]*)([^`…]*)`",
    "\n".join(path.read_text(encoding="utf-8") for path in [*PAGES, ROOT / "README.md"]),
)


def test_commands_within_sentences_name_what_there_is():
    from taylorank.cli.app import app

    assert len(INLINE) > 20
    for name, rest in INLINE:
        words = [word for word in rest.split() if re.fullmatch(r"[a-z]+", word)]
        here = app[name][words[0]] if name == "datasets" and words else app[name]
        options = {option for argument in here.assemble_argument_collection() for option in argument.names}
        for option in re.findall(r"--[\w-]+", rest):
            assert option in options | {"--help"}, f"taylorank {name}{rest}"


def test_the_commands_of_the_first_tutorial_run(log, tmp_path, capsys):
    from taylorank.cli.app import main

    page = DOCS / "tutorials" / "first-model.md"
    for language, code in pieces(page):
        if language == "python":
            run(code, page.name, log)
    capsys.readouterr()
    (script,) = [code for language, code in pieces(page) if language == "sh"]
    for line in script.splitlines():
        main(shlex.split(line)[1:])
    assert "honey" in capsys.readouterr().out


def test_the_pages_of_models_know_every_model_and_parameter():
    models, formulas, parameters = (
        (DOCS / f"{name}.md").read_text(encoding="utf-8")
        for name in ("models", "reference/formulas", "reference/parameters")
    )
    table = [line.split("|") for line in parameters.splitlines() if line.startswith("| `")]
    for name, kind in MODELS.items():
        assert f"`{kind.__name__}` ({name})" in models
        assert f"**`{kind.__name__}` ({name})**" in formulas
        for parameter in inspect.signature(kind).parameters:
            rows = [cells for cells in table if f"`{parameter}`" in cells[1]]
            assert any(name in cells[2] or "all that" in cells[2] for cells in rows), f"{name}: {parameter}"


def test_the_reference_has_every_public_name():
    import taylorank

    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    modules = {"backbones", "datasets", "losses", "samplers"}
    for name in set(taylorank.__all__) - modules:
        assert re.search(rf"^   {name}$", page, re.MULTILINE), name


def test_the_reference_has_errors_other_signatures_and_estimators_of_spark():
    from taylorank import errors, spark

    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    kinds = [name for name, value in vars(errors).items() if isinstance(value, type) and not name.startswith("_")]
    for name in kinds:
        assert f"   errors.{name}\n" in page, name
    for name in set(spark.__all__) - {"FactorsModel"}:  # what the two models share
        assert re.search(rf"^   spark\.\w+\.{name}$", page, re.MULTILINE), name
    assert "   progress.Report\n" in page
    assert "   compat.implicit.als.AlternatingLeastSquares\n" in page


LONGEST = 90  # words of a paragraph; what is folded away may be longer


def paragraphs(text: str) -> list[str]:
    """The paragraphs and the items of lists that a page shows at once, without links' targets."""
    for unseen in (FENCE, re.compile(r"<details.*?</details>", re.DOTALL), re.compile(r"<!--.*?-->", re.DOTALL)):
        text = unseen.sub("\n\n", text)
    parts = re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |\||#|:)", text)
    prose = [part for part in parts if not part.lstrip("\n").startswith(("|", "#", "    ", ":::"))]
    return [re.sub(r"\]\([^)]*\)", "]", part) for part in prose]


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem)
def test_no_paragraph_is_long(path):
    for paragraph in paragraphs(path.read_text(encoding="utf-8")):
        assert len(paragraph.split()) <= LONGEST, f"{path.name}: {paragraph[:60]} … has {len(paragraph.split())} words"
