"""What a run kept: plain arrays whose first axis is time, in the order of the model.

    time    (T,)            [s]
    x       (T, slots, 3)   positions [m] of slots (model/arrays.py); of coordinates their value
    quat    (T, rigid, 4)   orientation of rigid bodies' principal axes
    v       (T, slots, 3)   velocities [m/s]; of rotations ω in principal axes [rad/s]
    lam     (T, m)          multipliers λ, force = +Jᵀ λ
    phi     (T, m)          Φ
    rate    (T, m)          dΦ/dt
    energy  (T, 6)          kinetic, potential; since the start the work of drivers and of forces without potential,
                            and what impacts and friction took [J]

Inequalities that users named, or that small groups stand for, follow the m equalities in lam, phi and rate, with
the signs of Φ as the user wrote it. Where there are any:

    slide          (T, listed, 2)  friction along two tangents [N], where some contact has friction
    contact_force  (T, slots, 3)   what all contacts together do to each slot [N]; to a rotation [N m]
    contacts       (T, 2)          how many push, deepest overlap [m]

With cloth or solids `contacts` has three columns: the third counts edges at their limit.

    coordinates    (T, 2, n)       q and q̇ of scene.reduced where not all are coordinates of the scene itself, whose
                                   values are x; nan where the method does not move by them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from ..model.model import Model

ENERGIES = 6
NONE = np.zeros((0, 2, 0))


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
    slide: np.ndarray
    contact_force: np.ndarray
    contacts: np.ndarray
    coordinates: np.ndarray = field(default_factory=lambda: NONE)  # runs of an earlier version have none

    def __post_init__(self) -> None:
        object.__setattr__(self, "energy", with_all_energies(self.energy))
        if self.coordinates is NONE:
            object.__setattr__(self, "coordinates", np.zeros((len(self.time), 2, 0)))

    @staticmethod
    def shapes(model: Model) -> dict[str, tuple[int, ...]]:
        """The shape of one record of each array."""
        slots, rigid = int(model.bodies.slots), len(model.quat)
        listed = len(model.inequalities.listed)
        m = model.row_count + listed
        touching = model.is_unilateral
        rubbing = bool(model.inequalities.friction.any())
        return {
            "time": (), "x": (slots, 3), "quat": (rigid, 4), "v": (slots, 3),
            "lam": (m,), "phi": (m,), "rate": (m,), "energy": (ENERGIES,),
            "slide": (listed if rubbing else 0, 2), "contact_force": (slots if touching else 0, 3),
            "contacts": (3 if model.deformables else 2 if touching else 0,),
            "coordinates": (2, len(model.reduced_names)),
        }  # fmt: skip

    @classmethod
    def concatenate(cls, chunks: Sequence[Records]) -> Records:
        """All records of the chunks, one after the other."""
        parts = {f.name: [getattr(chunk, f.name) for chunk in chunks] for f in fields(cls)}
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})

    def part(self, at: np.ndarray) -> Records:
        """The records of these numbers."""
        return Records(**{name: values[at] for name, values in self.as_dict().items()})

    def places(self, at: np.ndarray) -> np.ndarray:
        """Positions of slots at the records of these numbers, (n, slots, 3) [m]."""
        return self.x[at]

    def energy_drift(self, since: np.ndarray | None = None) -> np.ndarray:
        """Change of kinetic and potential energy since the start that nothing accounts for: the method's [J], (T,).

        since  energies to count from, (6,), where they are not those of the first record
        """
        first = self.energy[0] if since is None else since
        kinetic, potential, drivers, forces, impact, friction = (self.energy - first).T
        return kinetic + potential - drivers - forces + impact + friction

    def as_dict(self) -> dict[str, np.ndarray]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __len__(self) -> int:
        return len(self.time)


def with_all_energies(energy: np.ndarray) -> np.ndarray:
    """Energies of a run as they are kept today, (T, 6); an earlier version kept the first three."""
    missing = ENERGIES - energy.shape[1]
    return np.pad(energy, ((0, 0), (0, missing))) if missing > 0 else energy
