"""Steam's lines of Python dictionaries: the quick reading agrees with Python's own."""

import ast
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data import datasets
from taylorank.data.datasets import literals
from taylorank.data.datasets.literals import parse_line
from taylorank.errors import DataError

FILE = "steam_reviews.json.gz"
FIELDS = ("username", "product_id", "hours", "date")
ORDINARY = (
    "{u'username': u'Chaos Syren', u'hours': 0.1, u'products': 41, u'product_id': u'725280', u'page_order': 0, "
    "u'date': u'2017-12-17', u'text': u'This would not be \\u2665 acceptable', u'early_access': False, u'page': 1}"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    return tmp_path


def write(folder, *lines):
    (folder / FILE).write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))


def line(**fields):
    return "{" + ", ".join(f"u'{name}': {_python_2(value)}" for name, value in fields.items()) + "}"


def _python_2(value):
    return f"u{value!a}" if isinstance(value, str) else repr(value)


def test_an_ordinary_line():
    wanted = {"username": "Chaos Syren", "product_id": "725280", "hours": 0.1, "date": "2017-12-17"}
    assert parse_line(ORDINARY, FIELDS) == wanted


def test_ordinary_lines_need_no_interpreter(monkeypatch):
    monkeypatch.setattr(literals, "ast", None)
    assert parse_line(ORDINARY, ("username", "date"))["username"] == "Chaos Syren"


@pytest.mark.parametrize(
    "text",
    [
        "it's",
        'say "it\'s"',
        "u'username': u'mallory', u'product_id': u'1'}",
        "a, b}",
        "\\",
        "\n",
        "{}",
        "ünï ♥",
        "'",
        "",
    ],
)
def test_what_the_text_says_is_never_taken_for_a_field(text):
    row = parse_line(line(username="ann", text=text, product_id="7", hours=2, date="2017-01-02"), FIELDS)
    assert [row[field] for field in FIELDS] == ["ann", "7", 2, "2017-01-02"]


scalars = (
    st.text(max_size=20) | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False)
)


@settings(deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,10}", fullmatch=True), scalars | st.lists(scalars, max_size=3)))
def test_any_dictionary_reads_as_python_reads_it(fields):
    written = line(**fields)
    row = parse_line(written, set(fields))
    assert {name: row[name] for name in fields} == ast.literal_eval(written)


def test_steam(folder):
    write(
        folder,
        ORDINARY,
        line(username="007", product_id="10", date="1970-01-02", hours=3.5),
        "",
        line(username="o'neill", product_id="10", date="2017-12-17"),
    )
    data = datasets.get("steam")
    pairs = set(data.to_frame().select("user", "item").rows())
    assert pairs == {("Chaos Syren", "725280"), ("007", "10"), ("o'neill", "10")}
    assert min(data.timestamps) == 86_400
    assert data.is_binary


def test_steam_with_hours_as_strength_drops_those_without(folder):
    write(
        folder,
        line(username="a", product_id="10", date="2017-12-17", hours=3.5),
        line(username="b", product_id="10", date="2017-12-17"),
    )
    assert datasets.get("steam", cleaning="hours").strengths.tolist() == [3.5]


@pytest.mark.parametrize(
    "bad",
    ["{u'username': u'ann'}", "[1, 2]", "{u'username'", "not Python", line(username="a", product_id="1", date="soon")],
)
def test_a_line_that_cannot_be_read_is_shown(folder, bad):
    write(folder, ORDINARY, bad)
    with pytest.raises(DataError, match=rf"{FILE}: not a line of this format"):
        datasets.get("steam")


def test_a_line_is_never_executed(folder, tmp_path):
    write(folder, f"open({str(tmp_path / 'made')!r}, 'w')")
    with pytest.raises(DataError):
        datasets.get("steam")
    assert not (tmp_path / "made").exists()


def test_a_truncated_file_is_refused(folder):
    write(folder, *[ORDINARY] * 100)
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:-20])
    with pytest.raises(DataError, match=f"{FILE} is damaged"):
        datasets.get("steam")
