"""The records of a stored run, read from disk as they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .records import Records, with_all_energies

if TYPE_CHECKING:
    from .store import Store


class StoredRecords(Records):
    """Records that stay on disk until an array of them is asked for."""

    def __init__(self, store: Store) -> None:
        object.__setattr__(self, "store", store)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in self.__dataclass_fields__:
            raise AttributeError(name)
        values = self.__dict__["store"].read_one(name)
        if name == "energy":
            values = with_all_energies(values)
        object.__setattr__(self, name, values)
        return values

    def part(self, at: np.ndarray) -> Records:
        """The records of these numbers; only what lies around them is read, and of it only what is asked for."""
        return StoredPart(self, at)

    def places(self, at: np.ndarray) -> np.ndarray:
        if len(self) < 100 * at.size:
            return self.x[at]
        store: Store = self.__dict__["store"]
        return np.concatenate([store.read_one("x", int(i), int(i) + 1) for i in at])

    def __len__(self) -> int:
        return len(self.__dict__["store"])


class StoredPart(Records):
    """Some of the records of a store, of which each array is read when it is asked for, if it was not read before."""

    def __init__(self, records: StoredRecords, at: np.ndarray) -> None:
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "at", at)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in self.__dataclass_fields__:
            raise AttributeError(name)
        records, at = self.__dict__["records"], self.__dict__["at"]
        if name in records.__dict__:
            values = records.__dict__[name][at]
        else:
            first = int(at.min(initial=0))
            values = records.store.read_one(name, first, int(at.max(initial=-1)) + 1)[at - first]
            values = with_all_energies(values) if name == "energy" else values
        object.__setattr__(self, name, values)
        return values
