"""What a run kept: plain arrays whose first axis is time, in the order of the model.

    time    (T,)            [s]
    x       (T, slots, 3)   positions [m] of slots (model/arrays.py); of coordinates their value
    quat    (T, rigid, 4)   orientation of rigid bodies' principal axes
    v       (T, slots, 3)   velocities [m/s]; of rotations ω in principal axes [rad/s]
    lam     (T, m)          multipliers λ, force = +Jᵀ λ
    phi     (T, m)          Φ
    rate    (T, m)          dΦ/dt
    energy  (T, 3)          kinetic, potential, work done by drivers [J]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..model.model import Model


@dataclass(frozen=True)
class Records:
    time: np.ndarray
    x: np.ndarray
    quat: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    phi: np.ndarray
    rate: np.ndarray
    energy: np.ndarray

    @staticmethod
    def shapes(model: Model) -> dict[str, tuple[int, ...]]:
        """The shape of one record of each array."""
        slots, rigid, m = int(model.bodies.slots), len(model.quat), model.row_count
        return {
            "time": (), "x": (slots, 3), "quat": (rigid, 4), "v": (slots, 3),
            "lam": (m,), "phi": (m,), "rate": (m,), "energy": (3,),
        }  # fmt: skip

    @classmethod
    def concatenate(cls, chunks: Sequence[Records]) -> Records:
        """All records of the chunks, one after the other."""
        parts = {f.name: [getattr(chunk, f.name) for chunk in chunks] for f in fields(cls)}
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})

    def as_dict(self) -> dict[str, np.ndarray]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __len__(self) -> int:
        return len(self.time)
