"""Method and step that suit a robot: files often have dampers and servos that are stiff for the step they name.

    ρ = max (c/I, √(k/I)),   1/I = J W Jᵀ                                                            (1)

of each joint with damping c and stiffness k, its servos among them. I is what the joint's coordinate feels of its two
bodies alone, with its armature: never more than what the whole robot lets it feel. Forces that are taken at the start
of a step are stable, if coarse, while ρ h < 1.
"""

from __future__ import annotations

from math import floor, log10, sqrt
from typing import Any

import numpy as np

from ...errors import warn
from .build import Built
from .pose import matrix

LEAST = 0.01  # of the step that a file names: the smallest that is suggested in its place


def suggest(built: Built, dt: float) -> None:
    """The step that a file names and a method that is stable with it; with limits, where none is, a smaller step."""
    scene = built.scene
    rate, joint = fastest_joint(built)
    if not scene.is_unilateral:
        scene.suggest(dt=dt, duration=5.0, method="generalized_alpha" if rate * dt > 1.0 else "rattle")
    elif rate * dt > 1.0:
        step = max(_round_down(1.0 / rate), LEAST * dt)
        warn(f"{built.tree.where}: springs, dampers or servos of joint '{joint}' are stiff ({rate:.3g} 1/s) for a step "
             f"of {dt:g} s: dt = {step:g} s is suggested. With limits=false generalized_alpha bears {dt:g} s")
        scene.suggest(dt=step, duration=5.0)
    else:
        scene.suggest(dt=dt, duration=5.0)


def fastest_joint(built: Built) -> tuple[float, str]:
    """(1) in 1/s, and of which joint."""
    sizes: dict[str, tuple[float, float]] = {}
    for force in built.scene.forces.values():
        if force.kind in ("spring_on", "motor"):
            stiffness, damping, gain = (_size(force.arguments.get(name)) for name in ("stiffness", "damping", "gain"))
            k, c = sizes.get(force.arguments["joint"], (0.0, 0.0))
            sizes[force.arguments["joint"]] = k + stiffness, c + damping + gain
    armatures = {joint.name: joint.armature for joint in built.tree.joints}
    rates = [(0.0, "")]
    for joint, (k, c) in sizes.items():
        mobility = _mobility(built, joint)
        if mobility > 0.0:
            inertia = 1.0 / mobility + armatures.get(joint, 0.0)
            rates.append((max(c / inertia, sqrt(k / inertia)), joint))
    return max(rates)


def _size(given: Any) -> float:
    """A number as a motor or a spring has it; nothing of a function of time."""
    value = getattr(given, "value", given) if getattr(given, "is_constant", True) else None
    return abs(float(value)) if value is not None else 0.0


def _mobility(built: Built, name: str) -> float:
    """1/I of (1) without armature."""
    joint = built.scene.constraints.get(name)
    if joint is None or joint.kind not in ("hinge", "slider"):
        return 0.0
    axis, found = np.array(joint.arguments["axis"], float), 0.0
    for point in joint.points:
        body = None if point.body is None else built.scene.bodies[point.body]
        if body is None or body.inertia is None:
            continue
        along = matrix(np.array(body.orientation)).T @ axis
        found += 1.0 / body.mass if joint.kind == "slider" else float(along @ np.linalg.solve(body.inertia, along))
    return found / float(axis @ axis)


def _round_down(step: float) -> float:
    """To one digit."""
    unit = 10.0 ** floor(log10(step))
    return float(f"{floor(step / unit + 1e-9) * unit:.1g}")
