"""Files that taylorank writes itself, damaged: also where the checksum fits, so that what is behind it is tried too."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import taylorank as tr
from research.attack import Difference
from research.attack.mutations import mutated
from taylorank.data import Interactions
from taylorank.data.arrays import CHECKSUM, save_arrays
from taylorank.models import checkpoint
from taylorank.models.storage import with_checksum
from taylorank.selection.comparison import Comparison
from taylorank.serving.catalogue import read_items

Arrays = dict[str, Any]
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2.5, 1e308, 10**30, 10**400, float("nan"), float("inf"), "", "x", "é", "\0", "a" * 5000),
    *([], {}, [None], [[1]], {"a": 1}, [[[[[[[[]]]]]]]]),
)
MODELS = ("Popularity", "RG2", "EASE", "ItemKNN", "IALS")


@functools.cache
def _data() -> Interactions:
    generator = np.random.default_rng(0)
    return Interactions.from_arrays(
        generator.integers(0, 30, 80), generator.integers(0, 20, 80), timestamps=np.arange(80)
    )


@functools.cache
def _model(name: str) -> Any:
    made = {"Popularity": {}, "RG2": {"factors": 3}, "EASE": {}, "ItemKNN": {}, "IALS": {"factors": 3, "iterations": 1}}
    return getattr(tr, name)(**made[name]).fit(_data())


def npz(path: Path, rng: random.Random) -> str:
    """Interactions: any damage is noticed; where the checksum fits, what is read makes sense."""
    _data().save_npz(path)
    if rng.random() < 0.5:
        path.write_bytes(mutated(path.read_bytes(), rng))
        if Interactions.load_npz(path) != _data():
            raise Difference("a damaged npz file was read as other data")
        return "result"
    _signed_arrays(path, rng)
    _usable(Interactions.load_npz(path))
    return "result"


def _usable(data: Interactions) -> None:
    rows = data.by_user
    fine = len(rows.indptr) == data.n_users + 1 and rows.indptr[-1] == len(rows.indices) == data.nnz
    if not fine or (data.nnz and not 0 <= rows.indices.min() <= rows.indices.max() < data.n_items):
        raise Difference("interactions with positions that are none were read")
    if data.nnz and not (np.isfinite(data.strengths).all() and (data.strengths > 0).all()):
        raise Difference("strengths that are none were read")


def model(path: Path, rng: random.Random) -> str:
    """Models: any damage is noticed; where the checksum fits, what is loaded recommends."""
    name = rng.choice(MODELS)
    _model(name).save(path)
    content = path.read_bytes()
    if rng.random() < 0.5:
        path.write_bytes(mutated(content, rng))
        if tr.load(path).seen != _data():
            raise Difference("a damaged model was read as another")
        return "result"
    arrays = load_tensors(content)
    length = struct.unpack("<Q", content[:8])[0]
    manifest = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["taylorank"])
    manifest.pop("checksum")
    if rng.random() < 0.5:
        manifest = altered(manifest, rng)
    else:
        damage_arrays(arrays, rng)
    text = with_checksum(manifest, arrays) if isinstance(manifest, dict) else json.dumps(manifest)
    path.write_bytes(save_tensors(arrays, metadata={"taylorank": text}))
    loaded = tr.load(path)
    loaded.recommend(list(loaded.users)[:3], n=4)
    return "result"


def kept(path: Path, rng: random.Random) -> str:
    """Checkpoints: the fit goes on from one, or says that it is damaged."""
    before, checkpoint.SECONDS_BETWEEN = checkpoint.SECONDS_BETWEEN, 0.0

    def fit(stop: bool) -> Any:
        def interrupt(progress: Any) -> None:
            if stop and progress.step == 2:
                raise KeyboardInterrupt

        estimator = tr.IALS(3, iterations=4) if way else tr.RG2(3, random_state=1)
        return estimator.fit(_data(), callback=interrupt, checkpoint=path)

    way = rng.random() < 0.7
    path.unlink(missing_ok=True)
    try:
        try:
            fit(stop=True)
        except KeyboardInterrupt:
            if rng.random() < 0.4:
                path.write_bytes(mutated(path.read_bytes(), rng))
            else:
                _signed_arrays(path, rng)
        if not np.isfinite(fit(stop=False).item_factors).all():
            raise Difference("a fit went on from a damaged checkpoint to numbers that are none")
    finally:
        checkpoint.SECONDS_BETWEEN = before
    return "result"


def trials(path: Path, rng: random.Random) -> str:
    """Files of a search: it goes on, or says what is wrong with the file."""
    path.write_bytes(_searched())
    _edit(path, rng, lines=True)
    train, valid = _data().split((0.8, 0.2))
    found = tr.tune("itemknn", train, valid, trials=2, file=path)
    if not np.isfinite(found.value):
        raise Difference(f"a search has the best value {found.value}")
    return "result"


@functools.cache
def _searched() -> bytes:
    import tempfile

    train, valid = _data().split((0.8, 0.2))
    with tempfile.TemporaryDirectory() as folder:
        tr.tune("itemknn", train, valid, trials=2, file=Path(folder) / "t.jsonl")
        return (Path(folder) / "t.jsonl").read_bytes()


def comparison(path: Path, rng: random.Random) -> str:
    """Files of a comparison: they are shown and gone on from, or refused."""
    path.write_bytes(_compared())
    _edit(path, rng, lines=False)
    if rng.random() < 0.5:
        shown = Comparison.load(path)
        str(shown)
        shown.to_frame()
    else:
        tr.compare(_data(), ["popularity"], trials=0, seeds=[0, 1], file=path)
    return "result"


@functools.cache
def _compared() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        tr.compare(_data(), ["popularity"], trials=0, seeds=[0], file=Path(folder) / "c.json")
        return (Path(folder) / "c.json").read_bytes()


def items(path: Path, rng: random.Random) -> str:
    """Titles of the server: a csv is read as Python's csv reads it, or refused."""
    rows = [["id", "title", "price"], *([str(n), rng.choice(("a", "é", 'q"q', "x,y", "")), "1.5"] for n in range(9))]
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    path.write_bytes(mutated(out.getvalue().encode(), rng))
    table = read_items(path)
    table.for_items(_data().items)
    return "result"


def bomb(path: Path, rng: random.Random) -> str:
    """Files that say they hold more than any memory does, or unpack to it."""
    name, content, read = rng.choice(BOMBS)
    place = path.with_name(name)
    place.write_bytes(content(rng))
    read(place)
    raise Difference(f"{name} of {place.stat().st_size:,} bytes was read")


def _npz_of(shape: tuple[int, ...], kind: str) -> bytes:
    out = io.BytesIO()
    head = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("taylorank_interactions", "indices", "indptr"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    return out.getvalue()


def _tensors_of(rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return struct.pack("<Q", rng.choice((2**60, 2**64 - 1, 2**31))) + b"{}"
    size = rng.choice((2**40, 2**62))
    head = {"__metadata__": {"taylorank": "{}"}, "a": {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]}}
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + b"\0" * 64


@functools.cache
def _long_field() -> bytes:
    packed = gzip.compress(b"x" * (1 << 24), 1)
    return gzip.compress(b"user,item\n1,", 1) + packed * 40  # gzip files one after the other are one


def _huge_npz(rng: random.Random) -> bytes:
    return _npz_of((rng.choice((10**12, 10**18, 2**63)),), rng.choice(("<i8", "|O", "<f4")))


def _huge_zst(rng: random.Random) -> bytes:
    return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**60) + rng.randbytes(40)


def _huge_parquet(rng: random.Random) -> bytes:
    return b"PAR1" + struct.pack("<I", rng.choice((2**31, 2**32 - 1, 12))) * 3 + b"PAR1"


BOMBS: tuple[tuple[str, Callable[[random.Random], bytes], Callable[[Path], Any]], ...] = (
    ("bomb.npz", _huge_npz, Interactions.load_npz),
    ("bomb.tr", _tensors_of, tr.load),
    ("bomb.csv.gz", lambda _: _long_field(), tr.read_interactions),
    ("bomb.csv.zst", _huge_zst, tr.read_interactions),
    ("bomb.parquet", _huge_parquet, tr.read_interactions),
)


def _edit(path: Path, rng: random.Random, *, lines: bool) -> None:
    """Change bytes, or values of the JSON."""
    content = path.read_bytes()
    if rng.random() < 0.3:
        path.write_bytes(mutated(content, rng))
    elif lines:
        texts = content.decode().splitlines()
        place = rng.randrange(len(texts))
        texts[place] = json.dumps(altered(json.loads(texts[place]), rng))
        path.write_text("\n".join(texts) + "\n")
    else:
        path.write_text(json.dumps(altered(json.loads(content), rng)))


def altered(document: Any, rng: random.Random) -> Any:
    """Return a JSON document with one value that is another, or is not there."""
    places = list(_places(document))
    if not places or rng.random() < 0.03:
        return rng.choice(ODD)
    holder, key = rng.choice(places)
    if isinstance(holder, dict) and rng.random() < 0.25:
        del holder[key]
    else:
        holder[key] = rng.choice(ODD)
    return document


def _places(document: Any) -> Any:
    named = document.items() if isinstance(document, dict) else ()
    for key, value in enumerate(document) if isinstance(document, list) else named:
        yield document, key
        yield from _places(value)


def _signed_arrays(path: Path, rng: random.Random) -> None:
    """Change arrays of an npz file, and write it with the checksum that they have then."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != CHECKSUM}
    if "manifest" in arrays and rng.random() < 0.4:
        arrays["manifest"] = np.array(json.dumps(altered(json.loads(str(arrays["manifest"])), rng)))
    else:
        damage_arrays(arrays, rng)
    save_arrays(path, arrays)


def damage_arrays(arrays: Arrays, rng: random.Random) -> None:
    """Change one of the arrays: its values, length, type or shape; or leave it out."""
    name = rng.choice(sorted(arrays))
    value, way = arrays[name], rng.randrange(7)
    if way == 0:
        del arrays[name]
    elif way == 1:
        arrays[name] = value[: max(0, len(value) - 1)] if value.ndim else value
    elif way == 2:
        arrays[name] = np.concatenate([value, value]) if value.ndim else value[None]
    elif way == 3:
        arrays[name] = value[None].copy()
    elif way == 4 and value.dtype.kind in "iuf":
        arrays[name] = value.astype(rng.choice(("float32", "float64", "int64", "int8", "uint8")))
    elif value.size and value.dtype.kind in "iuf" and value.ndim:
        value = value.copy()
        odd = (np.nan, np.inf, -1.0, 1e30) if value.dtype.kind == "f" else (-1, 0, 1, 100, np.iinfo(value.dtype).max)
        with np.errstate(all="ignore"):
            value.flat[rng.randrange(value.size)] = np.array(rng.choice(odd)).astype(value.dtype)
        arrays[name] = value


KINDS: dict[str, Callable[[Path, random.Random], str]] = {
    "npz": npz,
    "tr": model,
    "checkpoint": kept,
    "jsonl": trials,
    "json": comparison,
    "csv": items,
    "bomb": bomb,
}
