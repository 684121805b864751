"""A folder that the driver and all executors can read and write: a shared one, or a place in a distributed file system.

Everything that a fit leaves between two jobs is a file there: blocks of data, factors, partial results. Files appear
whole or not at all, and a task that runs twice writes the same bytes, so that it does not matter which of them wins.
"""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError

Arrays = dict[str, NDArray[Any]]
HADOOP_NAMES = {"s3a://": "s3://", "s3n://": "s3://"}  # what Hadoop calls what Arrow knows by another name


@dataclass(frozen=True)
class Folder:
    """A path or an address such as hdfs://…, s3://…; the parts of a name are separated by "/"."""

    address: str

    @property
    def is_local(self) -> bool:
        """Whether plain paths lead there, so that files can be mapped into memory."""
        return "://" not in self.address or self.address.startswith("file://")

    @property
    def path(self) -> str:
        """The plain path of a local folder."""
        return self.address.removeprefix("file://")

    def at(self, name: str) -> Folder:
        """Return a folder inside this one."""
        return Folder(f"{self.address.rstrip('/')}/{name}")

    def address_of(self, name: str) -> str:
        """Return where Spark reads and writes `name`."""
        inside = self.at(name)
        return f"file://{Path(inside.path).absolute()}" if self.is_local else inside.address

    def _system(self) -> tuple[Any, str]:
        from pyarrow import fs

        if self.is_local:
            return fs.LocalFileSystem(), str(Path(self.path).absolute())
        address = self.address
        for hadoop, arrow in HADOOP_NAMES.items():
            address = address.replace(hadoop, arrow, 1) if address.startswith(hadoop) else address
        try:
            found: tuple[Any, str] = fs.FileSystem.from_uri(address)
        except Exception as error:
            raise DataError(f"cannot reach {self.address}: {error}", "give a folder that all machines reach") from error
        return found

    def make(self) -> None:
        """Make the folder."""
        system, path = self._system()
        try:
            system.create_dir(path, recursive=True)
        except OSError as error:
            raise DataError(f"cannot write in {self.address}: {error}", "choose another folder") from error

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        from pyarrow import fs

        system, path = self._system()
        return bool(system.get_file_info(f"{path}/{name}").type != fs.FileType.NotFound)

    def names(self) -> list[str]:
        """Return what lies directly in the folder, in order."""
        from pyarrow import fs

        system, path = self._system()
        found = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        return sorted(info.base_name for info in found)

    def remove(self, name: str = "") -> None:
        """Remove a file, or a folder with all that is in it; without a name, this folder. What is absent stays so."""
        from pyarrow import fs

        system, path = self._system()
        target = f"{path}/{name}" if name else path
        kind = system.get_file_info(target).type
        if kind == fs.FileType.Directory:
            system.delete_dir(target)
        elif kind == fs.FileType.File:
            system.delete_file(target)

    def write_bytes(self, name: str, content: bytes | memoryview) -> None:
        """Write a file, whole or not at all."""
        with self._target(name) as (system, temporary), system.open_output_stream(temporary) as stream:
            stream.write(content)

    def read_bytes(self, name: str) -> bytes:
        """Read a file."""
        system, path = self._system()
        try:
            with system.open_input_stream(f"{path}/{name}") as stream:
                content: bytes = stream.read()
        except FileNotFoundError:
            raise DataError(f"no such file: {self.address}/{name}", "check the folder") from None
        return content

    def write_json(self, name: str, value: Any) -> None:
        """Write a plain value."""
        self.write_bytes(name, json.dumps(value).encode())

    def read_json(self, name: str) -> Any:
        """Read a plain value."""
        return json.loads(self.read_bytes(name))

    def write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write named arrays as one uncompressed file."""
        import pyarrow as pa

        parts, meta = [], {}
        for key, array in arrays.items():
            plain = np.ascontiguousarray(array)
            parts.append((key, plain))
            meta[key] = [plain.dtype.str, list(plain.shape)]
        schema = pa.schema(
            [pa.field(key, pa.large_binary()) for key, _ in parts], metadata={"arrays": json.dumps(meta)}
        )
        self.write_table(name, pa.Table.from_arrays([_one_value(plain) for _, plain in parts], schema=schema))

    def read_arrays(self, name: str) -> Arrays:
        """Read what `write_arrays` wrote: mapped into memory where the folder is local, read-only."""
        import pyarrow as pa

        batch = pa.ipc.open_file(self._source(name)).get_batch(0)
        meta = json.loads(batch.schema.metadata[b"arrays"])
        return {key: _array(batch.column(key), *meta[key]) for key in batch.schema.names}

    def write_table(self, name: str, table: Any) -> None:
        """Write a table of Arrow."""
        import pyarrow as pa

        with (
            self._target(name) as (system, temporary),
            system.open_output_stream(temporary) as stream,
            pa.ipc.new_file(stream, table.schema) as writer,
        ):
            writer.write_table(table)

    def read_table(self, name: str) -> Any:
        """Read a table of Arrow; mapped into memory where the folder is local."""
        import pyarrow as pa

        return pa.ipc.open_file(self._source(name)).read_all()

    def _source(self, name: str) -> Any:
        import pyarrow as pa

        if not self.is_local:
            return pa.py_buffer(self.read_bytes(name))
        try:
            return pa.memory_map(f"{self.path}/{name}")
        except FileNotFoundError:
            raise DataError(f"no such file: {self.address}/{name}", "check the folder") from None

    def _target(self, name: str) -> _Target:
        return _Target(*self._system(), name)


class _Target:
    """A temporary name beside a file's own, which it takes at the end."""

    def __init__(self, system: Any, folder: str, name: str) -> None:
        self.system, self.final = system, f"{folder}/{name}"
        self.temporary = f"{self.final}.{uuid.uuid4().hex}.part"

    def __enter__(self) -> tuple[Any, str]:
        return self.system, self.temporary

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            if isinstance_local(self.system):
                os.replace(self.temporary, self.final)
            else:
                self.system.move(self.temporary, self.final)
        elif self.system.get_file_info(self.temporary).is_file:
            self.system.delete_file(self.temporary)


def isinstance_local(system: Any) -> bool:
    """Whether a file system of Arrow is that of this machine, where a rename replaces what is there."""
    return bool(system.type_name == "local")


def _one_value(array: NDArray[Any]) -> Any:
    """The bytes of an array as a column of one row, without a copy."""
    import pyarrow as pa

    flat = pa.py_buffer(array.reshape(-1).view(np.uint8)) if array.size else pa.py_buffer(b"")
    ends = pa.py_buffer(np.array([0, flat.size], dtype=np.int64))
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, flat])


def _array(column: Any, dtype: str, shape: list[int]) -> NDArray[Any]:
    data = column.buffers()[2]
    count = int(np.prod(shape))
    if not count:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(data, dtype=dtype, count=count).reshape(shape)


def temporary_folder() -> Folder:
    """Return a new folder of this machine; for Spark in local mode."""
    return Folder(tempfile.mkdtemp(prefix="taylorank-spark-"))
