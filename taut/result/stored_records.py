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
        """The records of these numbers; only what lies around them is read."""
        store: Store = self.__dict__["store"]
        first = int(at.min(initial=0))
        around = store.read(first, int(at.max(initial=-1)) + 1)
        return Records(**{name: values[at - first] for name, values in around.items()})

    def places(self, at: np.ndarray) -> np.ndarray:
        if len(self) < 100 * at.size:
            return self.x[at]
        store: Store = self.__dict__["store"]
        return np.concatenate([store.read_one("x", int(i), int(i) + 1) for i in at])

    def __len__(self) -> int:
        return len(self.__dict__["store"])
