r"""One definition of a line, Python's csv's: \n, \r\n or \r outside quotes, for the layout and for the body."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taylorank.data import bytesource, read_interactions
from taylorank.data.lines import edges_of, end_of_last_line, first_line, lines_of_rows, with_line_feeds
from taylorank.errors import DataError, TaylorankError


def read(text, **options):
    return read_interactions(io.BytesIO(text.encode()), **options)


def pairs_of(data):
    return set(zip(*(data.to_frame()[c].to_list() for c in ("user", "item")), strict=True))


def test_lone_carriage_returns_end_lines():
    assert pairs_of(read("user,item\r1,2\r3,4\n5,6\n")) == {(1, 2), (3, 4), (5, 6)}
    assert pairs_of(read("user,item\r1,2\r3,4")) == {(1, 2), (3, 4)}
    assert pairs_of(read("1 2 3\r4 5\r", format="adjacency")) == {(1, 2), (1, 3), (4, 5)}
    assert pairs_of(read("1 2 3\r4 5\r")) == {(1, 2), (1, 3), (4, 5)}
    assert pairs_of(read("1::2\r3::4\r", format="dat")) == {(1, 2), (3, 4)}
    assert pairs_of(read("user_id:token\titem_id:token\r1\t2\r", format="inter")) == {(1, 2)}


def test_other_characters_end_no_line():
    """Those that Python's str.splitlines takes for line ends, in a header and in an id."""
    for mark in "\v\f\x1c\x1d\x1e\x85\u2028\u2029":
        data = read(f"user,item,a{mark}b\nx{mark}y,2,3\n")
        assert pairs_of(data) == {(f"x{mark}y", 2)}


def test_line_breaks_in_the_quotes_of_a_header():
    assert pairs_of(read('user,item,"a\nb"\n1,2,3\n')) == {(1, 2)}
    assert pairs_of(read('user,item,"a\r\nb",c\n1,2,3,"x\ny"\n')) == {(1, 2)}


@pytest.mark.parametrize("note", ['*note"', '\ufeff"note"', 'n",007', '\\"note"', 'a;"b'])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [7, 1 << 23])
def test_a_quote_within_a_field_of_the_header_opens_nothing(note, end, block, monkeypatch):
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", block)
    text = end.join([f'"user",item,{note}', '"two\nlines","a""b",c', '"u\r","x,y","a""b"', ""])
    assert pairs_of(read(text, format="csv", ids="text")) == {("two\nlines", 'a"b'), ("u\r", "x,y")}


@given(st.text(st.sampled_from(list('a,";\n')), max_size=30), st.sampled_from([",", ";", None]))
@example('a"",\n"b', ",")
def test_lines_end_where_a_reader_of_one_symbol_after_the_other_ends_them(text, separator):
    edges, ends, inside, skip = edges_of(separator), [], False, False
    for place, symbol in enumerate(text):
        if skip:
            skip = False
        elif symbol == '"' and inside:
            skip = text[place + 1 : place + 2] == '"'
            inside = skip
        elif symbol == '"':
            inside = place == 0 or text[place - 1].encode() in edges
        elif symbol == "\n" and not inside:
            ends.append(place + 1)
    assert end_of_last_line(text.encode(), edges) == (ends[-1] if ends else 0)


TEXT = st.text(st.sampled_from(list('ab1,"\n\r')), max_size=12)


@given(st.lists(TEXT, max_size=12), st.integers(1, 40))
@example(['1,"a\r', '"\r2,3'], 7)
def test_any_line_ends_are_read_as_csv_reads_them_or_refused(parts, block):
    text = "user,item,note\n" + "\n".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytesource, "BLOCK_BYTES", block)
        try:
            got = pairs_of(read(text, ids="text"))
        except TaylorankError:
            return
    rows = [[*row, "", ""][:2] for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
    assert got == {tuple(row) for row in rows if any(row)}


ROWS = st.lists(st.tuples(*[st.text(st.sampled_from(list('ab ",\n\r')), max_size=4)] * 2), min_size=1, max_size=12)


@given(ROWS, st.sampled_from(["\r", "\n", "\r\n"]), st.sampled_from([",", ";", "^", "\t"]), st.integers(1, 60))
def test_what_csv_writes_with_any_line_end_is_read_back(rows, end, separator, block):
    rows = [(f"u{user}", f"i{item}") for user, item in rows]
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_MINIMAL if end == "\r\n" else csv.QUOTE_ALL  # it quotes line breaks only if they are its own
    csv.writer(text, lineterminator=end, delimiter=separator, quoting=quoting).writerows([("user", "item"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytesource, "BLOCK_BYTES", block)
        assert pairs_of(read(text.getvalue(), separator=separator)) == set(rows)


@given(ROWS)
def test_the_parts_agree_with_the_csv_module(rows):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r", quoting=csv.QUOTE_ALL).writerows(rows)
    body, edges = text.getvalue().encode(), edges_of(",")
    assert list(csv.reader(io.StringIO(with_line_feeds(body, edges).decode(), newline=""))) == [list(r) for r in rows]
    reader = csv.reader(io.StringIO(text.getvalue(), newline=""))
    begins = [0, *(reader.line_num for _ in reader)][:-1]
    assert lines_of_rows(body, edges).tolist() == begins
    assert end_of_last_line(body + b"x", edges) == len(body)
    assert len(next(csv.reader(io.StringIO(body[: first_line(body, edges)[1]].decode(), newline="")))) == 2


def test_a_row_is_named_by_its_line_although_fields_before_it_have_several():
    text = 'user,item,note\n1,2,"two\nlines"\n3,,x\n'
    with pytest.raises(DataError, match="row 4 has no item"):
        read(text)
    with pytest.raises(DataError, match="line 4 has 4 fields"):
        read('user,item,note\n1,2,"two\nlines"\n3,4,5,6\n')


def test_a_quote_that_is_not_closed_is_found_where_it_opens(monkeypatch):
    rows = "".join(f"{k},{k}\n" for k in range(3000))
    text = f'user,item\n1,2\n3,"4\n{rows}'
    with pytest.raises(DataError, match="line 3 cannot be parsed"):
        read(text)
    monkeypatch.setattr(bytesource, "LONGEST_LINE", 5000)
    monkeypatch.setattr("taylorank.data.read_file.LONGEST_LINE", 5000)
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", 1000)
    with pytest.raises(DataError, match="line 3 is longer than 5,000 bytes: a quote in it is not closed; close it"):
        read(text)
    with pytest.raises(DataError, match="line 2 is longer than 5,000 bytes; check that the file has line breaks"):
        read(f"user,item\n1,{'x' * 7000}\n")


def test_a_field_that_unpacks_to_more_than_a_line_may_hold_is_refused_early(monkeypatch):
    packed = io.BytesIO(gzip.compress(b"user,item\n1," + b"x" * (1 << 27)))
    taken = []

    def counted(file, size, read=bytesource.read_chunk):
        taken.append(size)
        return read(file, size)

    monkeypatch.setattr(bytesource, "read_chunk", counted)
    with pytest.raises(DataError, match="line 2 is longer than 16,777,216 bytes"):
        read_interactions(packed)
    assert sum(taken) < 1 << 26


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", " \n"])
def test_many_blank_lines_are_no_empty_file(end):
    text = end * 70_000 + "user,item\n1,2\n3,\n"
    with pytest.raises(DataError, match="row 70,003 has no item"):
        read(text)
    assert pairs_of(read(text, missing="drop")) == {(1, 2)}
    with pytest.raises(DataError, match="the file is empty"):
        read(end * 70_000)
