"""The plan of a run: its method, its steps and its options, from the user's arguments and the scene's suggestions."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from ..cloth.algorithms import ACTIVE_LIMITS, CHOICE, DEFORMABLE_METHODS
from ..constraints import KINDS as CONSTRAINTS
from ..contact.algorithms import CONTACT_METHODS, STEP_METHODS
from ..errors import TautError, chosen, shown, unknown, warn
from ..forces import KINDS as FORCES
from ..initial import AS_GIVEN, REPAIR, start_mode
from ..methods import METHODS, Method
from ..model import build
from ..scene.groups import can_touch
from ..scene.scene import Scene
from ..settings import differing

# What simulate takes besides options of methods.
ARGUMENTS = ("method", "dt", "duration", "record_every", "solver", "tolerance", "out", "overwrite", "start", "progress")
SUGGESTED = ("method", "dt", "duration", "start")  # by a scene, besides options of methods
DEFAULT_METHOD = "implicit_second"
DEFAULT_UNILATERAL = "implicit_first"


def plan_of(
    scene: Scene, method: str | None, dt: float | None, start: str | None, repair: bool, project_initial: bool,
    options: dict[str, Any], **given: Any,
) -> dict[str, Any]:
    """The plan of a run, as stores keep it; `given` are further entries."""
    suggested = scene.suggested
    name = method if method is not None else suggested.get("method") or usual_method(scene)
    chosen("method", name, METHODS)
    if start is None and project_initial and not repair:
        start = suggested.get("start")
    mode = start_mode(start, repair, project_initial)  # stored in the older words, which tell the three apart
    known = {option.name for option in method_for(scene, name, options).options}
    _check_names(scene, name, options, known)
    return {
        "method": name, "dt": positive("dt", dt if dt is not None else suggested.get("dt")),
        "project_initial": mode != AS_GIVEN, "repair": mode == REPAIR,
        "options": {**{key: value for key, value in suggested.items() if key in known}, **options},
        "settings": differing(), **given,
    }  # fmt: skip


def _check_names(scene: Scene, method: str, options: Mapping[str, Any], known: set[str]) -> None:
    """Refuse options that are none, before what else may be missing; tell of suggestions that no method could take."""
    for name in options:
        if name in known or scene.deformables:  # of which a method's own message knows more
            continue
        with_contacts = CONTACT_METHODS.get(method), STEP_METHODS.get(method)
        if not scene.is_unilateral and any(option.name == name for form in with_contacts if form is not None
                                           for option in form.options):
            raise TautError(f"option '{name}' of method '{method}' is about inequalities, of which scene "
                            f"'{scene.name}' has none; leave it out.")
        near = get_close_matches(name, ARGUMENTS, n=1, cutoff=0.5)
        if near and not get_close_matches(name, known, n=1, cutoff=0.5):
            raise TautError(f"simulate has no '{name}'; did you mean '{near[0]}'?")
        raise unknown(f"option of method '{method}'", name, known)
    suggested = [name for name in scene.suggested if name not in known and name not in SUGGESTED]
    if not suggested:
        return
    every = (*METHODS.values(), *CONTACT_METHODS.values(), *STEP_METHODS.values(), *DEFORMABLE_METHODS.values(),
             ACTIVE_LIMITS, CHOICE)  # fmt: skip
    taken = {option.name for one in every for option in one.options}
    for name in suggested:
        if name not in taken:
            near = get_close_matches(name, [*taken, *ARGUMENTS], n=1, cutoff=0.5)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            warn(f"scene '{scene.name}' suggests '{name}', which no method takes: it is left out{hint}")


def usual_method(scene: Scene) -> str:
    """Limits of joints are few enough to be located as events, with the order that the default has between them."""
    smooth = not scene.deformables and (not scene.is_unilateral or only_joints_are_limited(scene))
    return DEFAULT_METHOD if smooth else DEFAULT_UNILATERAL


def only_joints_are_limited(scene: Scene) -> bool:
    """Whether all of the scene's inequalities are limits of joints."""
    if scene.deformables or any(can_touch(scene, group) for group in scene.groups.values()):
        return False
    kinds = [spec.kind for spec in scene.constraints.values() if spec.sense != "=="]
    return bool(kinds) and all(CONSTRAINTS[kind].joints for kind in kinds)


def warn_of_samples(scene: Scene, dt: float) -> None:
    """Samples are taken at the starts of steps: tell where a force asks for others."""
    for spec in scene.forces.values():
        rate = spec.arguments.get("rate") if FORCES[spec.kind].sample is not None else None
        if not rate:
            continue
        every = 1.0 / (rate * dt)
        if abs(every - round(every)) > 1e-6 * every or every < 1.0 - 1e-6:
            warn(f"the sampling period 1/rate = {1.0 / rate:g} s of {spec.kind} '{spec.name}' is {every:.4g} steps of "
                 f"dt = {dt:g} s; samples are taken at the starts of steps only: choose dt so that 1/rate is a whole "
                 "number of steps")


def method_for(scene: Scene, name: str, options: Mapping[str, Any] | None = None) -> Method:
    """The method of that name, in its form for cloth or for inequalities where the scene has any.

    `options` say which form of several: contacts="steps".
    """
    method = METHODS[name]
    if scene.deformables:
        # Springs and hard edges alone are forces and equalities like any others.
        form = DEFORMABLE_METHODS.get(name) or (None if scene.is_unilateral else method)
        systems = {one.system for one in scene.deformables.values()}
        if name == ACTIVE_LIMITS.name and "active" in systems:
            form = ACTIVE_LIMITS
        elif name == CHOICE.name and systems == {"auto"}:
            form = CHOICE
        what = "cloth or solids with limits or contacts"
    else:
        is_unilateral = scene.is_unilateral
        form = CONTACT_METHODS.get(name) if is_unilateral else method
        if name == DEFAULT_UNILATERAL and "contacts" in (options or {}):
            others = ", ".join(other for other in CONTACT_METHODS if other != name)
            raise TautError(f"option contacts is given, but method '{name}' meets inequalities in fixed steps alone; "
                            f"leave it out, or use {others}, which locate events.")
        if is_unilateral and (options or {}).get("contacts") == "steps":
            form = STEP_METHODS.get(name, form)
            if form is not None and form.algorithm == "event_driven":
                raise TautError(f"contacts is 'steps', but method '{name}' meets inequalities at located events only; "
                                f"leave contacts out, or use {', '.join(STEP_METHODS)} or {DEFAULT_UNILATERAL}.")
        what = "inequalities"
    if form is None:
        able = _able(scene)
        remedy = f"use {', '.join(able)}" if able else "no method treats all of them together, so leave some out"
        raise TautError(f"method '{name}' can not treat scene '{scene.name}', which has {what}; {remedy}.")
    return form


def _able(scene: Scene) -> list[str]:
    """The methods that treat the inequalities of a scene."""
    if not scene.deformables:
        return list(CONTACT_METHODS)
    model = build(scene)
    return [name for name, method in DEFORMABLE_METHODS.items() if method.refusal(model) is None]


def positive(what: str, value: float | None) -> float:
    if value is None:
        raise TautError(f"{what} is not given and the scene suggests none; give {what} in seconds.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e300:
        raise TautError(f"{what} is {shown(value)}; it must be a positive number of seconds.")
    return float(value)
