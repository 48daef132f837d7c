"""Force kinds: one file each, listed here. Gravity is a property of the scene.

    f       f         forces on points [N], world torques on rigid bodies [N m]
    V       returned  potential energy [J]
"""

from __future__ import annotations

from . import controller, custom_force, drag, force, joint_friction, motor, spring, spring_on, springs, torque, wind
from .base import ForceKind

KINDS: dict[str, ForceKind] = {
    module.KIND.name: module.KIND
    for module in (
        spring, springs, drag, wind, force, torque, custom_force, spring_on, motor, controller, joint_friction,
    )
}

__all__ = ["KINDS", "ForceKind"]
