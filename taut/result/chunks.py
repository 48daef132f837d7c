"""Records in whole chunks: arrays in the zarr format, whose files lie flat in one folder each.

    records.zarr/NAME/c.K.0.0   chunk K of an array, compressed, with a CRC-32C of its own
    chunks.bin                  for each chunk the CRC-32 of its numbers, one for each array

The arrays' metadata stand in the header, too: reading relies on those alone. What zarr reads is compared with
chunks.bin, since zarr takes a missing chunk for one that was never written.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from . import digests
from .files import Unreadable, read_whole, sync

FOLDER, SUMS = "records.zarr", "chunks.bin"
BLOCK_BYTES = 2**25  # read at a time


def create_arrays(path: Path, shapes: dict[str, list[int]], records: int, chunk: int) -> dict[str, Any]:
    """Empty arrays in a new folder; their metadata by name."""
    import zarr
    from zarr.codecs import BloscCodec, Crc32cCodec

    group = zarr.open_group(path, mode="w", zarr_format=3)
    metadata = {}
    for name, shape in shapes.items():
        if 0 in shape:
            continue  # nothing to keep
        group.create_array(
            name, shape=(records, *shape), chunks=(chunk, *shape), dtype="float64", fill_value=float("nan"),
            # Shuffled bytes of smooth numbers pack better, and faster, than the numbers as they are.
            compressors=(BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=8), Crc32cCodec()),
            chunk_key_encoding={"name": "default", "separator": "."},
        )  # fmt: skip
        metadata[name] = json.loads((path / name / "zarr.json").read_text())
    return metadata


class Chunks:
    """The chunks of a stored run."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self.chunk: int = header["chunk"]
        self.checked = header["taut_run"] > 1
        self._records: int = header["records"]
        self._shapes = {name: tuple(shape) for name, shape in header["shapes"].items() if 0 not in shape}
        self._metadata = header.get("arrays")
        self._width = 4 * len(self._shapes)

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """By name; Unreadable where one is not what the header says."""
        import zarr
        from zarr.storage import LocalStore, StorePath

        folder, found = self.path / FOLDER, {}
        if not folder.is_dir():
            raise Unreadable(f"{FOLDER} is missing, or no folder")
        for name, shape in self._shapes.items():
            try:
                with zarr.config.set({"array.write_empty_chunks": True}):
                    if self._metadata is not None:
                        store = StorePath(LocalStore(folder), name)
                        array: Any = zarr.Array.from_dict(store, self._metadata[name])
                    else:
                        read_whole(folder / name / "zarr.json")
                        array = zarr.open_array(folder / name, mode="r+", zarr_format=3)
            except Unreadable as reason:
                raise Unreadable(f"{FOLDER}/{name}/zarr.json can not be read: {reason}") from None
            except Exception as problem:  # zarr raises many kinds
                raise Unreadable(f"the metadata of {FOLDER}/{name} can not be read ({problem!r})") from None
            wanted = ((self._records, *shape), (self.chunk, *shape), np.float64)
            if (array.shape, array.chunks, array.dtype) != wanted:
                raise Unreadable(
                    f"{FOLDER}/{name} has shape {array.shape}, chunks {array.chunks} and type {array.dtype}, not "
                    f"{wanted[0]}, {wanted[1]} and float64"
                )
            found[name] = array
        return found

    # Writing

    def write(self, start: int, values: dict[str, np.ndarray], durable: bool) -> None:
        """Whole chunks from record `start` on, or the last records of a run."""
        rows = len(values["time"])
        for name, array in self.arrays.items():
            array[start : start + rows] = values[name]
        if durable:
            numbers = range(start // self.chunk, (start + rows - 1) // self.chunk + 1)
            files = [self._file(name, k) for name in self.arrays for k in numbers]
            sync([*files, *{file.parent for file in files}])

    def append_sums(self, start: int, sums: int, values: dict[str, np.ndarray], durable: bool) -> int:
        """Add the checksums of whole chunks to chunks.bin; `sums` is the CRC-32 of what it holds so far."""
        first, rows = start // self.chunk, len(values["time"])
        found = b"".join(
            digests.of_chunk(name, first + k, values[name][k * self.chunk : (k + 1) * self.chunk]).to_bytes(4, "little")
            for k in range(rows // self.chunk) for name in self._shapes
        )  # fmt: skip
        with open(self.path / SUMS, "r+b" if first else "wb") as file:
            file.truncate(first * self._width)
            file.seek(0, os.SEEK_END)
            file.write(found)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        return zlib.crc32(found, sums)

    # Reading

    def blocks(self, name: str, wanted: range) -> Iterator[tuple[int, np.ndarray, dict[int, str]]]:
        """These chunks of an array, some at a time: number of the first, records, what is wrong with which chunk."""
        sums = self._sums(name, wanted.stop) if self.checked else None
        shape = self._shapes[name]
        chunks_per_block = max(1, BLOCK_BYTES // (8 * self.chunk * prod(shape)))
        for first in range(wanted.start, wanted.stop, chunks_per_block):
            numbers = range(first, min(first + chunks_per_block, wanted.stop))
            faults = {k: fault for k in numbers if (fault := self._fault_of_file(name, k))}
            values = self._decoded(name, numbers, faults)
            for k in numbers:
                if sums is not None and k not in faults:
                    own = values[(k - first) * self.chunk : (k - first + 1) * self.chunk]
                    if sums[k] != digests.of_chunk(name, k, own):
                        faults[k] = f"{self._chunk_name(name, k)} does not match its checksum"
            yield first, values, faults

    def _decoded(self, name: str, numbers: range, faults: dict[int, str]) -> np.ndarray:
        array = self.arrays[name]
        if not faults:
            try:
                return np.asarray(array[numbers.start * self.chunk : numbers.stop * self.chunk])
            except Exception:  # codecs raise many kinds; the loop finds out which chunk it was
                pass
        values = np.full((len(numbers) * self.chunk, *self._shapes[name]), np.nan)
        for i, k in enumerate(numbers):
            if k not in faults:
                try:
                    values[i * self.chunk : (i + 1) * self.chunk] = array[k * self.chunk : (k + 1) * self.chunk]
                except Exception as problem:
                    faults[k] = f"{self._chunk_name(name, k)} can not be unpacked ({problem})"
        return values

    def _sums(self, name: str, count: int) -> np.ndarray:
        """What chunks.bin says of an array, (count,); -1 where it ends too early."""
        data = self.read_sums(count)
        table = np.frombuffer(data[: len(data) - len(data) % self._width], "<u4").reshape(-1, self._width // 4)
        found = np.full(count, -1, np.int64)
        found[: len(table)] = table[:, list(self._shapes).index(name)]
        return found

    def read_sums(self, count: int) -> bytes:
        try:
            return read_whole(self.path / SUMS, count * self._width)
        except Unreadable:
            return b""

    def _fault_of_file(self, name: str, k: int) -> str | None:
        try:
            about = os.stat(self._file(name, k))
        except OSError as problem:
            return f"{self._chunk_name(name, k)} is missing" if isinstance(problem, FileNotFoundError) else str(problem)
        if not stat.S_ISREG(about.st_mode):
            return f"{self._chunk_name(name, k)} is not a plain file"
        max_bytes = 2 * 8 * self.chunk * prod(self._shapes[name]) + 2**20
        return f"{self._chunk_name(name, k)} is larger than a chunk can be" if about.st_size > max_bytes else None

    def _file(self, name: str, k: int) -> Path:
        return self.path / self._chunk_name(name, k)

    def _chunk_name(self, name: str, k: int) -> str:
        key = self.arrays[name].metadata.encode_chunk_key((k, *(0 for _ in self._shapes[name])))
        return f"{FOLDER}/{name}/{key}"
