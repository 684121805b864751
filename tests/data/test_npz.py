"""The .npz file of interactions: whatever happens to its bytes, what is read is what was written, or an error."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from taylorank.data import Interactions, arrays
from taylorank.data.storage import pack
from taylorank.errors import DataError


@pytest.fixture
def data():
    return Interactions.from_arrays(["a", "b", "b"], [1, 1, 2], strengths=[1, 2, 3], timestamps=[7, 8, 9])


def refused(path, words=""):
    with pytest.raises(DataError, match=words) as raised:
        Interactions.load_npz(path)
    assert "\n" not in str(raised.value)


def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path, data):
    """A bit of every byte of the zip's directory, where a name or an array could vanish, and some of all the others."""
    file = tmp_path / "data.npz"
    data.save_npz(file)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    directory = whole.index(b"PK\x01\x02")
    bits = 8 * np.arange(directory, len(whole))
    bits = np.concatenate((bits + rng.integers(8, size=len(bits)), rng.integers(8 * directory, size=300)))
    for bit in bits.tolist():
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        try:
            again = Interactions.load_npz(file)
        except DataError:
            continue
        assert again == data, f"bit {bit}"
        assert again.steps == data.steps


def test_foreign_and_cut_files(tmp_path, data):
    good = tmp_path / "good.npz"
    data.save_npz(good)
    whole = good.read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "array.npz", np.arange(3))
    (tmp_path / "array.npz.npy").rename(tmp_path / "array.npz")
    np.savez(tmp_path / "foreign.npz", a=np.arange(3))
    for name in ("cut", "text", "empty", "array", "foreign"):
        refused(tmp_path / f"{name}.npz", "damaged or not an|holds no interactions")
    refused(tmp_path / "absent.npz", "no such file")
    refused(tmp_path, "cannot read .*: Is a directory")


def test_a_missing_checksum_is_damage_unless_the_format_had_none(tmp_path, data):
    file = tmp_path / "data.npz"
    np.savez(file, **pack(data))
    refused(file, "checksum is missing")
    np.savez(file, **{**pack(data), "taylorank_interactions": np.array([1])})
    assert Interactions.load_npz(file) == data
    np.savez(file, **{**pack(data), "taylorank_interactions": np.array([3])})
    refused(file, "format 3, newer than 2")


@pytest.mark.parametrize(
    "changes",
    [{"indices": np.array([0, 0, 5], dtype=np.int32)}, {"indices": np.array([0, 1, 0], dtype=np.int32)},
     {"indptr": np.array([0, 2, 1])}, {"indptr": np.array([0.0, 1, 3])}, {"strengths": np.array([1, 2, -3.0])},
     {"strengths": np.ones(2)}, {"timestamps": np.array([1, 2, np.nan])}, {"steps": np.frombuffer(b"[3]", np.uint8)},
     {"users_ends": np.array([1, 9])}, {"taylorank_interactions": np.array("x")}, {"items": np.array([2, 1])},
     {"truth_user_factors": np.ones(2)}, {"steps": np.frombuffer(b"[" * 100_000, np.uint8)}],
)  # fmt: skip
def test_a_right_checksum_does_not_make_wrong_arrays_right(tmp_path, data, changes):
    file = tmp_path / "data.npz"
    arrays.save_arrays(file, {**pack(data), **changes})
    refused(file, "is damaged")


def test_an_archive_larger_than_memory_is_not_unpacked(tmp_path, data, monkeypatch):
    file = tmp_path / "data.npz"
    arrays.save_arrays(file, {**pack(data), "padding": np.zeros(10**6)}, compressed=True)
    monkeypatch.setattr(arrays, "available_memory", lambda: 10**6)
    refused(file, "unpacks to 8,0.* bytes")


def test_a_declared_shape_is_not_believed(tmp_path):
    header = io.BytesIO()
    facts = {"descr": "<f8", "fortran_order": False, "shape": (10**14,)}
    np.lib.format.write_array_header_1_0(header, facts)
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("taylorank_interactions.npy", header.getvalue() + json.dumps(facts).encode())
    refused(tmp_path / "huge.npz", "damaged")
