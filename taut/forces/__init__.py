"""Force kinds: one file each, listed here; `base.py` says how to write one. Gravity is a property of the scene.

A kind adds its forces f(x, v, t) to those of its points. What has a potential, f = -∂V/∂x, returns V; what else it
does is counted as power, so that the energy that a method itself gains or loses can be told.

    f       f         forces on points [N], world torques on rigid bodies [N m]
    V       returned  potential energy [J]
    P       power     what is done beside the potential: damping, motors, parameters that change with time [W]
    Q       size      on a joint's coordinate q: Q ∂q/∂x on its points, with the power Q q̇ (joint_forces.py)
    p, ṗ    p, p_t    parameters, which may be functions of time, and their rates
"""

from __future__ import annotations

from ..registry import declared
from .base import ForceKind

KINDS: dict[str, ForceKind] = {
    kind.name: kind
    for kind in declared(__name__, "KIND", """
        spring springs drag wind force torque custom_force
        spring_on motor controller joint_friction
    """)
}  # fmt: skip

__all__ = ["KINDS", "ForceKind"]
