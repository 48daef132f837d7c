"""Positions as formulas of a few coordinates, checked: what Scene.reduced takes and the method `reduced` uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import TautError, chosen, shown, unknown
from ..expressions.formula import check as check_formula
from . import checks
from .specs import Body, BodyRef, ReducedMap, Vector

Known = tuple[tuple[str, float, float], ...]  # name, value, rate


def read_reduced(
    bodies: Mapping[str, Body], coordinates: Any, positions: Mapping[str, Any], turns: Mapping[str, Any], kinetic: str
) -> ReducedMap:
    """The map from coordinates to positions (body -> three formulas) and turns (rigid body -> axes and angles)."""
    known = read_coordinates(bodies, coordinates)
    symbols = [name for name, _, _ in known] + ["t"]
    formulas: dict[str, tuple[str, str, str]] = {}
    for body, texts in _named(positions, "reduced positions").items():
        chosen("body in reduced positions", body, bodies)
        what = f"reduced position of '{body}'"
        three = checks.texts(texts, what)
        if len(three) != 3:
            raise TautError(f"{what} is {shown(texts)}; give three formulas (x, y, z).")
        for text in three:
            judge(text, symbols, what)
        formulas[body] = (three[0], three[1], three[2])
    for name, _, _ in known:
        if name in bodies:
            formulas.setdefault(name, (name, "0", "0"))  # the scene's own coordinate shows q
    if not known or not formulas:
        raise TautError("reduced needs at least one coordinate and the position of one body, or a coordinate of the "
                        "scene's own (scene.coordinate).")
    turned = {}
    for body, of in _named(turns, "reduced turns").items():
        if chosen("body in reduced turns", body, bodies).kind != "rigid":
            raise TautError(f"reduced turns are given for '{body}', a {bodies[body].kind}; only rigid bodies turn.")
        if body not in formulas:
            raise TautError(f"reduced turns are given for '{body}', but no position; add formulas for its centre.")
        turned[body] = read_turns(of, symbols, f"reduced turns of '{body}'")
    if not isinstance(kinetic, str):
        raise TautError(f"kinetic of scene.reduced is {shown(kinetic)}; give a formula such as 'm*l**2*theta.v**2/2'.")
    if kinetic:
        judge(kinetic, [*symbols, *(f"{name}.v" for name, _, _ in known)], "kinetic of scene.reduced")
    return ReducedMap(known, formulas, turned, kinetic)


def read_coordinates(bodies: Mapping[str, Body], coordinates: Any) -> Known:
    """Name -> value, or (value, rate); or a list of coordinates of the scene, which have both."""
    if isinstance(coordinates, BodyRef | str) or not isinstance(coordinates, Mapping | Sequence):
        raise TautError(f"the coordinates of scene.reduced are {shown(coordinates)}; give name -> (value, rate), or a "
                        "list of the scene's coordinates.")
    known = []
    for name in coordinates:
        name = name.name if isinstance(name, BodyRef) else name
        what = f"reduced coordinate {shown(name)}"
        if not isinstance(name, str) or not name.isidentifier() or name == "t":
            raise TautError(f"{what} can not be used in a formula; choose one word, not t.")
        own = bodies.get(name)
        if own is not None and (own.kind != "coordinate" or own.motion != "free"):
            raise TautError(f"{what} is the name of a {own.motion} {own.kind}; choose another, or a free coordinate.")
        if isinstance(coordinates, Mapping):
            start = coordinates[name]
        elif own is None:
            raise unknown("coordinate", name, [body.name for body in bodies.values() if body.kind == "coordinate"])
        else:
            start = (own.position[0], own.velocity[0])
        pair = checks.numbers(start, what) if hasattr(start, "__len__") else (start, 0.0)
        if len(pair) != 2:
            raise TautError(f"{what} is {shown(start)}; give its value, or (value, rate).")
        known.append((name, checks.number(pair[0], what), checks.number(pair[1], f"{what}: rate")))
    return tuple(known)


def read_turns(of: Any, symbols: Sequence[str], what: str) -> tuple[tuple[Vector, str], ...]:
    """Pairs (axis, angle), or one of them."""
    pairs = []
    is_pair = isinstance(of, list | tuple) and len(of) == 2 and isinstance(of[1], str)
    for item in of if isinstance(of, list | tuple) and not is_pair else [of]:
        if not isinstance(item, list | tuple) or len(item) != 2:
            raise TautError(f"{what}: {shown(item)} is no pair (axis, angle), such as ((0, 0, 1), 'theta').")
        angle = checks.texts(item[1], f"{what}: angle")[0]
        judge(angle, symbols, what)
        pairs.append((checks.direction(item[0], f"{what}: axis"), angle))
    return tuple(pairs)


def judge(text: str, symbols: Sequence[str], what: str) -> None:
    try:
        check_formula(text, symbols)
    except TautError as mistake:
        raise TautError(f"{what}: {mistake}") from None


def _named(given: Any, what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TautError(f"{what} are {shown(given)}; give body -> formulas.")
    return {key.name if isinstance(key, BodyRef) else key: value for key, value in given.items()}
