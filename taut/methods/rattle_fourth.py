"""Fourth order from RATTLE: five symmetric steps, one of them backwards.

    a = 1/(4 - 4^{1/3}),   Ψ_h = R_{ah} R_{ah} R_{(1-4a)h} R_{ah} R_{ah}        (1)

R is the step of rattle.py; since it is symmetric, (1) cancels its error of order two. Suzuki 1990. Φ and Φ̇
are held as RATTLE holds them, and the energy stays bounded.
"""

from __future__ import annotations

from ..compiled import compiled
from .acceleration import observe_lagrange
from .base import BOTH, OK, Hooks, Method
from .rattle import FROZEN, position_half, velocity_half
from .style import DASHED, Style

OUTER = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))


@compiled
def step(system, state, t, h, options):
    status = OK
    for k in range(5):
        part = 1.0 - 4.0 * OUTER if k == 2 else OUTER  # (1)
        begun = (k if k < 3 else k - 1) * OUTER + (1.0 - 4.0 * OUTER if k > 2 else 0.0)
        status = max(status, position_half(system, state, t + begun * h, part * h, options, FROZEN))
        velocity_half(system, state, t + (begun + part) * h, part * h, options)
    return status


METHOD = Method(
    name="rattle_fourth", source="Suzuki 1990 on Andersen 1983", style=Style("#117733", DASHED, "*"),
    doc="A symmetric composition of five RATTLE steps: fourth order, on Φ = 0 and Φ̇ = 0.",
    level="position and velocity", order=4, levels=BOTH, contacts=("events",),
    tolerance=1e-12, step=step, hooks=Hooks(observe=observe_lagrange),
    solves="20 to 40",
)  # fmt: skip
