"""Which of the user's formulas and functions stopped being a number during a run.

    a function of time s(t), with ṡ and s̈ where it moves something                          (1)
    Φ, J, Φ_t and γ of a constraint, at the last record that is whole                         (2)
    f of a force, at the last record that is whole                                            (3)

What a controller returns is judged as it returns it (expressions/functions.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..compiled import entry
from ..constraints.base import At
from ..errors import shown
from ..expressions import Signal
from ..methods.acceleration import constrained
from ..model import Model
from ..model.arrays import State, System
from ..model.evaluate import evaluate_forces, set_time
from ..scene.scene import Scene

INSTANTS = 9  # between the last record and the end of the step, at which functions of time are looked at
WRITTEN = ("formula", "function", "value", "angle", "potential")  # arguments that hold what the user wrote


@entry
def evaluate_all(system, state, t):
    """Φ, J, Φ_t and γ at t into work."""
    constrained(system, t, state.x, state.quat, state.v, 0.0, 0.0, state.lam)


@entry
def evaluate_some_forces(system, state, t):
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_forces(system, t, state.x, state.quat, state.v)


def formula_at_fault(scene: Scene, model: Model, system: System, last: State, t: float, until: float) -> str:
    """Which formula is not a number, in words; "" where all are.

    last   the state of the last record, at t
    until  [s] the end of the step that failed
    """
    for what, signal, moves in _signals(scene):
        for instant in np.linspace(t, until, INSTANTS):
            values = signal.at(float(instant))[: 3 if moves else 1]
            if not np.isfinite(values).all():
                which = "is" if not np.isfinite(values[0]) else "has a derivative that is"
                return f"{what}: {_written(signal.source)} {which} not a number at t = {instant:.6g} s"
    if not all(np.isfinite(values).all() for values in (last.x, last.v, last.quat)):
        return ""
    return _constraint(scene, model, system, last, until) or _force(scene, model, system, last, until)


def _signals(scene: Scene) -> Iterator[tuple[str, Signal, bool]]:
    """Every function of time with its owner, and whether it moves something."""
    for body in scene.bodies.values():
        for signal in _within((body.path, body.rotation)):
            yield f"body '{body.name}'", signal, True
    for constraint in scene.constraints.values():
        for signal in _within(constraint.arguments):
            yield f"constraint '{constraint.name}'", signal, True
    for force in scene.forces.values():
        for signal in _within(force.arguments):
            yield f"force '{force.name}'", signal, False


def _within(value: Any) -> Iterator[Signal]:
    if isinstance(value, Signal):
        if not value.is_constant:
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _within(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _within(part)


def _written(source: Any) -> str:
    if isinstance(source, str):
        return f"formula {shown(source)}"
    return f"function {shown(source.__name__)}" if callable(source) and hasattr(source, "__name__") else "its value"


def _text(arguments: dict[str, Any]) -> str:
    found = [arguments[name] for name in WRITTEN if arguments.get(name) is not None]
    if not found:
        return "its value"
    source = found[0] if isinstance(found[0], str) or callable(found[0]) else ", ".join(map(str, found[0]))
    return _written(source)


def _constraint(scene: Scene, model: Model, system: System, last: State, t: float) -> str:
    if not model.row_count:
        return ""
    evaluate_all(system, last, t)
    work, ptr = system.work, model.rows.ptr
    for info in model.constraint_info:
        rows = list(info.rows)
        values = [work.phi[rows], work.phi_t[rows], work.gamma[rows], *(work.J[ptr[r] : ptr[r + 1]] for r in rows)]
        if not all(np.isfinite(one).all() for one in values):
            spec = scene.constraints.get(info.name)
            text = "its Φ" if spec is None else _text(spec.arguments)
            return f"constraint '{info.name}': {text} or a derivative of it is not a number at t = {t:.6g} s"
    return ""


def _force(scene: Scene, model: Model, system: System, last: State, t: float) -> str:
    """The first force that alone is no number."""
    batches = system.forces
    for info in model.force_info:
        spec = scene.forces.get(info.name)
        if spec is None or spec.owner is not None or not any(spec.arguments.get(name) is not None for name in WRITTEN):
            continue
        members, at = np.zeros_like(batches.members), batches.at.copy()
        members[info.batch] = 1
        at[info.batch][[At._fields.index(name) for name in ("idx", "p", "ints")]] = info.at
        alone = system._replace(forces=batches._replace(members=members, at=at))
        evaluate_some_forces(alone, last, t)
        if not np.isfinite(system.work.f).all():
            return f"force '{info.name}': {_text(spec.arguments)} is not a number at t = {t:.6g} s"
    return ""
