"""Force kinds: one file each, listed here; `base.py` says how to write one. Gravity is a property of the scene.

A kind adds its forces f(x, v, t) to those on its points. A force with a potential, f = -∂V/∂x, returns V. All other
work is counted as power P, so that the energy that the method itself gains or loses can be computed.

    f       f         forces on points [N], world torques on rigid bodies [N m]
    V       returned  potential energy [J]
    P       power     power without a potential: damping, motors, parameters that change with time [W]
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
