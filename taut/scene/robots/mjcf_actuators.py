"""Actuators of an MJCF file as motors and servos of a scene's joints.

    F = gear (gain u + b0 + b1 gear q + b2 gear q̇)        u: the control, within its range                       (1)

The motor has what u and b0 say, and a spring on the joint the rest. A range of forces bounds a motor; where it is the
same to both sides also a servo, which then is one motor for all of (1). Of other servos it is listed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import TautError
from ...expressions.formula import check
from .build import Built
from .xml import Element

HINGE = 3  # mjtJoint
ON_JOINT = 0  # mjtTrn
FIXED_GAIN, NO_BIAS, AFFINE_BIAS = 0, 0, 1


def add_actuators(reader: Any, built: Built, controls: str) -> None:
    m = reader.model
    given = _controls(controls, reader.path)
    names = [m.actuator(i).name or f"actuator_{i}" for i in range(m.nu)]
    for wrong in set(given) - set(names):
        raise TautError(f"{reader.path}: controls name the actuator '{wrong}', which does not exist; there are "
                        f"{', '.join(names) or 'none'}.")
    for i, name in enumerate([] if reader.is_off("actuation") else names):
        element = reader.features.nth("actuator", i, m.nu)
        joint = int(m.actuator_trnid[i, 0])
        plain = m.actuator_gaintype[i] == FIXED_GAIN and m.actuator_biastype[i] in (NO_BIAS, AFFINE_BIAS)
        on_joint = m.actuator_trntype[i] == ON_JOINT and reader.joint(joint) in built.along
        if not on_joint or not plain or m.actuator_dyntype[i]:
            tag = "" if element is None else f"<{element.tag}> "
            reader.features.drop(f"actuator {tag}'{name}'", element)
            continue
        try:
            _add_motor(reader, built, i, name, given.get(name, repr(float(reader.data.ctrl[i]))), element)
        except TautError as mistake:
            where = reader.path if element is None else element.where
            raise TautError(f"{where}: actuator '{name}': {mistake}") from None


def _add_motor(reader: Any, built: Built, i: int, name: str, control: str, element: Element | None) -> None:
    """gear (gain u + b0 + b1 gear q + b2 gear q̇), u within its range."""
    m = reader.model
    joint = int(m.actuator_trnid[i, 0])
    gear, gain, bias = float(m.actuator_gear[i, 0]), float(m.actuator_gainprm[i, 0]), m.actuator_biasprm[i]
    if m.actuator_ctrllimited[i] and not reader.is_off("clampctrl"):
        control = _clamped(control, *map(float, m.actuator_ctrlrange[i]))
    ref, which = built.along[reader.joint(joint)]
    name = built.unused(name, "motor")  # in MJCF an actuator may have the name of its joint
    force = f"{gain!r}*({control}) + {float(bias[0])!r}"
    given: dict[str, Any] = {}
    stiffness, damping = -float(bias[1]) * gear**2, -float(bias[2]) * gear**2
    lower, upper = map(float, m.actuator_forcerange[i])
    limited = bool(m.actuator_forcelimited[i])
    is_servo = bool(stiffness or damping)
    if limited and is_servo and lower == -upper and stiffness >= 0.0 and damping >= 0.0:
        given = {"target": 0.0, "stiffness": stiffness, "damping": damping, "limit": abs(gear) * upper}
    elif is_servo:
        built.scene.spring_on(ref, stiffness=stiffness, damping=damping, **which, name=f"{name}_servo")
        if limited:
            reader.features.drop(f"force range of actuator '{name}', a servo", element)
    elif limited:
        force = _clamped(force, lower, upper)
    size = "torque" if m.jnt_type[joint] == HINGE else "force"
    built.scene.motor(ref, **{size: f"{gear!r}*({force})"}, **which, **given, name=name)


def _clamped(formula: str, lower: float, upper: float) -> str:
    """The formula within a range: a number, where it is one."""
    try:
        return repr(min(max(float(formula), lower), upper))
    except ValueError:
        return f"(abs(({formula}) - ({lower!r})) - abs(({formula}) - ({upper!r})) + ({lower + upper!r}))/2"


def _controls(text: str, path: Path) -> dict[str, str]:
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, formula = part.partition("=")
        if not equals or not formula.strip():
            raise TautError(f"{path}: controls are '{text}'; write them as 'shoulder = 0.5; elbow = sin(t)'.")
        if name.strip() in found:
            raise TautError(f"{path}: controls give actuator '{name.strip()}' twice; keep one of them.")
        try:
            check(formula.strip(), ("t",))
        except TautError as mistake:
            raise TautError(f"{path}: the control of actuator '{name.strip()}': {mistake}") from None
        found[name.strip()] = formula.strip()
    return found
