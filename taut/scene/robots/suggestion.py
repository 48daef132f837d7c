"""The method that suits a robot: files often have dampers and servos that are stiff for the step they name.

    ρ = max (c/I, √(k/I)),   1/I = J W Jᵀ                                                            (1)

of each joint with damping c and stiffness k, its servos among them. I is what the joint's coordinate feels of its two
bodies alone, with its armature: never more than what the whole robot lets it feel. Forces that are taken at the start
of a step are stable, if coarse, while ρ h < 1.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .build import Built
from .pose import matrix


def suggest(built: Built, dt: float) -> None:
    """The step that a file names, and a method that is stable with it."""
    is_stiff = fastest_joint(built) * dt > 1.0
    built.scene.suggest(dt=dt, duration=5.0, method="generalized_alpha" if is_stiff else "rattle")


def fastest_joint(built: Built) -> float:
    """(1) in 1/s."""
    armatures: dict[tuple[str, str], float] = {}
    for joint in built.tree.joints:
        for one in joint.along or [joint]:
            if one.name in built.along:
                ref, which = built.along[one.name]
                armatures[ref.name, which.get("coordinate", "")] = one.armature
    sizes: dict[tuple[str, str], tuple[float, float]] = {}
    for force in built.scene.forces.values():
        if force.kind in ("spring_on", "motor"):
            stiffness, damping, gain = (_size(force.arguments.get(name)) for name in ("stiffness", "damping", "gain"))
            at = force.arguments["joint"], force.arguments.get("coordinate") or ""
            k, c = sizes.get(at, (0.0, 0.0))
            sizes[at] = k + stiffness, c + damping + gain
    rates = [0.0]
    for at, (k, c) in sizes.items():
        mobility = _mobility(built, *at)
        if mobility > 0.0:
            inertia = 1.0 / mobility + armatures.get(at, 0.0)
            rates.append(max(c / inertia, sqrt(k / inertia)))
    return max(rates)


def _size(given: Any) -> float:
    """A number as a motor or a spring has it; nothing of a function of time."""
    value = getattr(given, "value", given) if getattr(given, "is_constant", True) else None
    return abs(float(value)) if value is not None else 0.0


def _mobility(built: Built, name: str, coordinate: str) -> float:
    """1/I of (1) without armature."""
    joint = built.scene.constraints.get(name)
    slides = coordinate.startswith("displacement") or (joint is not None and joint.kind == "slider")
    argument = f"{'slide' if slides else 'hinge'}_{coordinate[-1]}" if coordinate else "axis"
    given = None if joint is None else joint.arguments.get(argument)
    if joint is None or given is None:
        return 0.0
    axis, found = np.array(given, float), 0.0
    for point in joint.points:
        body = None if point.body is None else built.scene.bodies[point.body]
        if body is None or body.inertia is None:
            continue
        along = matrix(np.array(body.orientation)).T @ axis
        found += 1.0 / body.mass if slides else float(along @ np.linalg.solve(body.inertia, along))
    return found / float(axis @ axis)
