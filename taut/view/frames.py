"""What travels to the page, by a server or inside a file. This is the only definition of a frame.

A message is

    4 bytes      length of the header, little endian
    header       JSON: {"kind": ..., "arrays": [{"name", "shape", "codec"}, ...], "zipped": true, ...}
    body         the arrays one after the other, all together deflated (zlib) where `zipped`

and an array of shape (T, ...) has one of these codecs:

    f8, f4, u4   the numbers themselves, little endian
    track        16 bits a number: lo (f4) and step (f4) for each of the C columns, then the codes.
                 value = lo + step * code; the code 65535 means that there is no number.                        (1)
                 Codes are stored as second differences along time, modulo 65536,                              (2)
                 first all low bytes, then all high bytes: motion is smooth, so most high bytes are 0 or 255.
    short        the same without (2), for rows that do not follow each other in time

Second differences are taken within one message, so each can be read alone. The page needs no other knowledge: it
finds arrays by name (playback.py and live.py say which there are).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

MISSING = 65535
LARGEST = 1e30  # a number beyond is none
CODECS = {"f8": "<f8", "f4": "<f4", "u4": "<u4"}
QUANTISED = {"track": 2, "short": 0}  # how many differences are taken
Arrays = Mapping[str, tuple[str, np.ndarray]]  # name -> (codec, values)


def message(kind: str, arrays: Arrays | None = None, level: int = 1, **words: Any) -> bytes:
    """Pack a message; level 0 does not compress, 9 takes most time."""
    arrays = arrays or {}
    listed = [{"name": name, "shape": list(values.shape), "codec": codec} for name, (codec, values) in arrays.items()]
    body = b"".join(packed(codec, values) for codec, values in arrays.values())
    zipped = level > 0 and len(body) > 0
    header = json.dumps({"kind": kind, **words, "arrays": listed, "zipped": zipped}, allow_nan=False).encode()
    return len(header).to_bytes(4, "little") + header + (zlib.compress(body, level) if zipped else body)


def addressed(data: bytes, **words: Any) -> bytes:
    """A message with more words in its header, so that one made once answers any request."""
    length = int.from_bytes(data[:4], "little")
    header = json.dumps({**json.loads(data[4 : 4 + length]), **words}).encode()
    return len(header).to_bytes(4, "little") + header + data[4 + length :]


def packed(codec: str, values: np.ndarray) -> bytes:
    if codec in CODECS:
        return np.ascontiguousarray(values, CODECS[codec]).tobytes()
    table = np.asarray(values, float).reshape(len(values), prod(values.shape[1:]))  # there may be no rows
    lo, step, codes = quantised(table)
    for _ in range(QUANTISED[codec]):  # (2)
        codes[1:] -= codes[:-1].copy()
    planes = np.empty((2, codes.size), np.uint8)
    planes[0], planes[1] = codes.ravel() & 255, codes.ravel() >> 8
    return lo.tobytes() + step.tobytes() + planes.tobytes()


def quantised(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """lo, step and codes of (1) for a table of shape (T, C).

    Numbers are looked at as few times as can be: playing four large sheets is mostly this. lo is rounded down and step
    up, so that no code leaves its range.
    """
    if not table.size:
        return np.zeros(table.shape[1], "<f4"), np.zeros(table.shape[1], "<f4"), np.zeros(table.shape, "<u2")
    with np.errstate(all="ignore"):
        low, high = table.min(axis=0), table.max(axis=0)
        known = None
        if not (np.abs(low).max() < LARGEST and np.abs(high).max() < LARGEST):  # also where one is not a number
            known = np.abs(table) < LARGEST
            low, high = np.where(known, table, np.inf).min(axis=0), np.where(known, table, -np.inf).max(axis=0)
            low, high = np.where(low <= high, low, 0.0), np.where(low <= high, high, 0.0)
        moves = high > low
        lo = low.astype("<f4")
        lo = np.where(moves & (lo > low), np.nextafter(lo, np.float32(-np.inf)), lo).astype("<f4")
        step = np.where(moves, (high - lo) / (MISSING - 1), 0.0).astype("<f4")
        step = np.where(moves, np.nextafter(step, np.float32(np.inf)), step).astype("<f4")
        scaled = table - lo
        scaled *= np.where(moves, 1.0 / np.where(moves, step, 1.0).astype(float), 0.0)
        scaled += 0.5  # what is cut off below rounds
        if known is None:
            return lo, step, scaled.astype("<u2")
        return lo, step, np.where(known, np.where(known, scaled, 0.0).astype("<u2"), MISSING).astype("<u2")


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a message, as the page reads them."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    body = zlib.decompress(data[4 + length :]) if header["zipped"] else data[4 + length :]
    arrays, at = {}, 0
    for array in header["arrays"]:
        shape = tuple(array["shape"])
        count = int(np.prod(shape))
        if array["codec"] in CODECS:
            values = np.frombuffer(body, CODECS[array["codec"]], count, at)
            at += values.nbytes
        else:
            columns = prod(shape[1:])
            lo, step = np.frombuffer(body, "<f4", 2 * columns, at).reshape(2, columns)
            planes = np.frombuffer(body, np.uint8, 2 * count, at + 8 * columns).reshape(2, count)
            codes = np.ascontiguousarray(planes.T).view("<u2").reshape(shape[0], columns)
            for _ in range(QUANTISED[array["codec"]]):
                codes = np.cumsum(codes, axis=0, dtype=np.uint16)
            values = np.where(codes == MISSING, np.nan, lo + step * codes.astype(float))  # (1)
            at += 8 * columns + 2 * count
        arrays[array["name"]] = values.reshape(shape)
    return header, arrays
