"""Sizes that a Parquet file declares and cannot have: refused before memory is taken for them."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.data import page_headers
from taylorank.data.page_headers import Compact, Unreadable, check_pages
from taylorank.errors import DataError

ROWS = 3000


def zigzag(number: int) -> bytes:
    rest, out = number << 1 ^ number >> 63, b""
    while rest > 127:
        out, rest = out + bytes([rest & 127 | 128]), rest >> 7
    return out + bytes([rest])


def header(*fields: tuple[int, int, bytes]) -> bytes:
    return b"".join(bytes([step << 4 | kind]) + value for step, kind, value in fields) + b"\0"


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "log.parquet"
    frame = pl.DataFrame({"user": [k % 97 for k in range(ROWS)], "item": [f"i{k % 53}" for k in range(ROWS)]})
    frame.write_parquet(path)
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"data_page_version": "2.0"}, {"use_dictionary": False}, {"compression": "gzip", "row_group_size": 100},
     {"data_page_size": 200, "write_page_index": True}],
)  # fmt: skip
def test_every_page_of_a_sound_file_is_seen_and_passes(whole, options, monkeypatch):
    pq.write_table(pq.read_table(whole), whole, **options)
    seen, check = [], page_headers._check_page
    monkeypatch.setattr(page_headers, "_check_page", lambda page, memory: (seen.append(page), check(page, memory)))
    check_pages(whole)
    values = sum(page.get(5, page.get(8, {})).get(1, 0) for page in seen)
    assert values == 2 * ROWS
    with open(whole, "rb") as file:
        check_pages(file)
        assert file.tell() == 0


@pytest.mark.parametrize("field", [5, 7])
def test_a_page_of_minus_one_values_does_not_end_the_process(whole, field):
    """The reader takes it for 2⁶⁴ - 1 of them, and an allocation that fails there is no exception."""
    content = whole.read_bytes()
    column = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0)
    start = column.data_page_offset if field == 5 else column.dictionary_page_offset
    reader = Compact(content[start:])
    count = zigzag(reader.struct()[field][1])
    old = content[start : start + reader.place]
    assert old.count(count) == 1
    new = old.replace(count, b"\x81" + b"\x80" * (len(count) - 2) + b"\x00" if len(count) > 1 else b"\x01")
    whole.write_bytes(content[:start] + new + content[start + len(old) :])
    code = f"import taylorank as tr\ntr.read_interactions({str(whole)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "it declares a page of -1 values" in done.stderr


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ({2: -1, 3: 5}, "a page of -1 bytes"),
        ({2: 1 << 50, 3: 5}, "bytes"),
        ({2: 10, 3: 5, 7: {1: 11}}, "a dictionary of 11 values in 10 bytes"),
        ({2: 10, 3: 5, 5: {1: -3}}, "a page of -3 values"),
        ({2: 10, 3: 5, 8: {1: 3, 5: 8, 6: 8}}, "levels"),
        ({2: 10, 3: 5, 8: {1: 3, 3: -1}}, "levels"),
    ],
)
def test_what_cannot_be_is_named(page, what):
    with pytest.raises(DataError, match=what):
        page_headers._check_page(page, 1 << 40)


def test_numbers_lists_and_nested_fields():
    inner = header((1, 5, zigzag(-7)))
    data = header(
        (1, 5, zigzag(300)), (2, 8, b"\x03abc"), (1, 12, inner), (1, 9, b"\x25" + zigzag(1) + zigzag(-2)), (1, 1, b"")
    )
    assert Compact(data).struct() == {1: 300, 3: b"abc", 4: {1: -7}, 5: [1, -2], 6: True}
    with pytest.raises(DataError, match="a list of 1,000 entries"):
        Compact(header((1, 9, b"\xf5\xe8\x07"))).struct()


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_not(data):
    reader = Compact(data)
    with contextlib.suppress(Unreadable, DataError):
        assert isinstance(reader.struct(), dict)
    assert reader.place <= len(data)
