"""Bodies whose inertia is tiny beside their mass and the arms of their constraints, so that rows are lost in rounding.

    σ = m max eig([r]ₓᵀ I⁻¹ [r]ₓ)                                (1)

compares how easily a place r yields to a push by turning its body, and by moving it along. The eigenvalues of J W Jᵀ
are apart by σ: from 1e9 on the smaller ones count as those of dependent rows (linalg/singular.py), and what these rows
hold goes astray slowly, without a step that fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .model import Model
from .scales import is_place

MOST = 1e7  # σ up to which no row is lost


class Tiny(NamedTuple):
    """A place that is held on such a body: arm [m], the body's least moment of inertia [kg m²], and σ of (1)."""

    body: str
    arm: float
    inertia: float
    sigma: float

    def words(self) -> str:
        return (f"body '{self.body}', with a moment of inertia of {self.inertia:.3g} kg m² and held at an arm of "
                f"{self.arm:.3g} m, resists turning {self.sigma:.2g} times less than moving")

    def remedy(self) -> str:
        return (f"Give '{self.body}' a moment of at least {self.inertia * self.sigma / MOST:.2g} kg m², or make it a "
                "particle.")


def tiny_inertias(model: Model) -> dict[str, Tiny]:
    """By constraint, the place with the largest σ above MOST."""
    places, bodies = model.places, model.bodies
    body_of = {int(info.slot): info.name for info in model.body_info}
    by_point: dict[int, Tiny] = {}
    most = bodies.mass[places.slot].max(axis=1) * (places.arm**2).sum(axis=1)
    most = most * bodies.inverse_mass[places.slot + 1].max(axis=1)  # σ is no more than that
    for k in np.flatnonzero((most > MOST) & is_place(model)[places.point]):
        slot, arm, moments = int(places.slot[k]), places.arm[k], bodies.inertia[places.body[k]]
        x, y, z = arm
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turning = cross.T @ (bodies.inverse_mass[slot + 1][:, None] * cross)
        sigma = float(bodies.mass[slot].max() * np.linalg.eigvalsh(turning)[-1])
        if sigma > MOST:
            length = float(np.linalg.norm(arm))
            by_point[int(places.point[k])] = Tiny(body_of[slot], length, float(moments[moments > 0.0].min()), sigma)
    found = {}
    for info in model.constraint_info if by_point else ():
        tiny = [by_point[point] for point in info.points if point in by_point]
        if tiny:
            found[info.name] = max(tiny, key=lambda one: one.sigma)
    return found
