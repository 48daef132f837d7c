"""Serial joint: a's body slides along up to three directions of b's, then turns about up to three axes, one by one.

It is what slides and hinges do one after the other, with nothing of mass between them. With s_i the slides, on b, and
h_1 on b, the last hinge on a, d = x_a - x_b:

    n·d = 0 for each direction n of b that is across all slides                                         (1)
    rotation: all three axes held; z_a along z_b; h_1·h_2 constant; free, with 0, 1, 2 and 3 hinges     (2)
    displacement_i: s_i·d                                                                               (3)

Three hinges count Cardan angles, R = R(h_1, q_1) R(h_2, q_2) R(h_3, q_3), where h_2 stays across the other two. With
σ the sign of (h_1 × h_2)·h_3:

    h_1·h_3 = σ sin q_2                                                                                 (4)
    σ h_3 = cos q_2 (h_1 × h_2) + sin q_2 h_1,   σ h_1 = cos q_2 (h_2 × h_3) + sin q_2 h_3              (5)

q_1 is the turn of σ h_3 about h_1 as b sees it, and -q_3 that of σ h_1 about h_3 as a sees it. At q_2 = ±90° h_1 and
h_3 lie along each other, and q_1 and q_3 are not decided: bodies pass it, their coordinates do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Coordinate, Layout, Part
from .base import (
    across,
    aligned,
    angle,
    coincident,
    displacement,
    frame,
    joint,
    locked,
    on_body,
    points_of,
    rate,
    unit,
)

ACROSS = 1e-6  # of the product of two unit vectors that are perpendicular
ASLANT = 0.9  # of slide_1 and z: below it x of the joint's frame is along slide_1


def pack(positions, arguments):
    slides, hinges = ([unit(arguments[name], name) for name in (f"{which}_{k}" for k in (1, 2, 3))
                       if arguments[name] is not None] for which in ("slide", "hinge"))  # fmt: skip
    _check(arguments, slides, hinges)
    second = arguments["frames"][1]
    along = [
        displacement(arguments, positions, second.direction(slide), f"displacement_{k}", f"speed_{k}")
        for k, slide in enumerate(slides, 1)
    ]  # (3)
    rotation, turns = turning(arguments, hinges)
    z = hinges[0] if hinges else _across(slides)[-1] if len(slides) < 3 else slides[2]
    leans = [slide - float(slide @ z) * z for slide in slides[:1] if abs(float(slide @ z)) < ASLANT]
    return Layout(
        parts=(*_held(arguments, slides), *rotation),
        coordinates=(*along, *turns),
        frame=frame(arguments, on_body(second, unit(leans[0], "slide_1") if leans else across(z), z)),
    )


def _check(arguments: dict[str, Any], slides: list[np.ndarray], hinges: list[np.ndarray]) -> None:
    for which, found in (("slide", slides), ("hinge", hinges)):
        given = [name for name in (f"{which}_{k}" for k in (1, 2, 3)) if arguments[name] is not None]
        if given != [f"{which}_{k}" for k in range(1, len(found) + 1)]:
            raise ValueError(f"it has {' and '.join(given)}; number them from {which}_1 on")
    if not slides and not hinges:
        raise ValueError("it has neither slides nor hinges; give slide_1=(x, y, z) or hinge_1=(x, y, z), or use a weld")
    if len(slides) == len(hinges) == 3:
        raise ValueError("with three slides and three hinges it holds nothing; leave it out")
    for names, count, which in ((("displacement", "speed"), len(slides), "slide"),
                                (("angle", "rate"), len(hinges), "hinge")):  # fmt: skip
        for name in (f"{name}_{k}" for k in range(count + 1, 4) for name in names):
            if arguments[name] is not None:
                raise ValueError(f"it has {name} but no {which}_{name[-1]}; give that, too, or leave {name} out")
    moves = {frame.moves for frame in arguments["frames"]}
    if "in_plane" in moves and "freely" not in moves:
        for which, found in (("slide", slides), ("hinge", hinges)):
            for k, one in enumerate(found, 1):
                if (abs(one[2]) > 1e-9) if which == "slide" else (abs(one[2]) < 1.0 - 1e-9):
                    raise ValueError(f"its {which}_{k} is ({', '.join(f'{c:g}' for c in one)}), but planar bodies move "
                                     "across z and turn about z alone; give such axes, or planar=False")
    pairs = [("slide", i, j, slides) for i in range(len(slides)) for j in range(i)]
    pairs += [("hinge", i, i - 1, hinges) for i in range(1, len(hinges)) if len(hinges) == 3]
    for which, i, j, found in pairs:
        product = float(found[i] @ found[j])
        if abs(product) > ACROSS:
            apart = np.degrees(np.arccos(np.clip(product, -1.0, 1.0)))
            raise ValueError(f"its {which}_{j + 1} and {which}_{i + 1} stand at {apart:.4g} degrees; they must be "
                             "perpendicular")
    if len(hinges) == 2 and np.linalg.norm(np.cross(hinges[0], hinges[1])) < ACROSS:
        raise ValueError("its hinge_1 and hinge_2 lie along each other; leave one of them out")
    if len(hinges) == 3 and np.linalg.norm(np.cross(hinges[0], hinges[2])) < ACROSS:
        raise ValueError("its hinge_1 and hinge_3 lie along each other, where its angles are not decided; start from a "
                         "pose with angle_2 away from 90 degrees")


def _across(slides: list[np.ndarray]) -> list[np.ndarray]:
    """An orthonormal basis of what is across the slides; none: x, y and z."""
    found = list(slides)
    for axis in np.eye(3)[np.argsort([sum(abs(float(axis @ s)) for s in slides) for axis in np.eye(3)], kind="stable")]:
        rest = axis - sum(float(axis @ one) * one for one in found)
        if len(found) < 3 and np.linalg.norm(rest) > 1e-3:
            found.append(rest / np.linalg.norm(rest))
    return found[len(slides) :]


def _held(arguments: dict[str, Any], slides: list[np.ndarray]) -> tuple[Part, ...]:
    """(1)"""
    if not slides:
        return (coincident(arguments),)
    second = arguments["frames"][1]
    return tuple(Part("offset", (*points_of(arguments), second.direction(n)), (0.0,)) for n in _across(slides))


def turning(arguments: dict[str, Any], hinges: list[np.ndarray]) -> tuple[tuple[Part, ...], tuple[Coordinate, ...]]:
    """(2), and the angles."""
    first, second = arguments["frames"]
    if not hinges:
        return locked(*(on_body(body, np.eye(3)[0], np.eye(3)[2]) for body in (first, second))), ()
    if len(hinges) == 1:
        x = _across(hinges)[0]
        a, b = (on_body(body, x, hinges[0]) for body in (first, second))
        return aligned(a, b), (angle(arguments, a.x, b.x, b.y, "angle_1", "rate_1"),)
    h_1, h_last = hinges[0], hinges[-1]
    on_b, on_a = second.direction(h_1), first.direction(h_last)
    held: list[Part] = []
    if len(hinges) == 2:
        middle, sign = unit(np.cross(h_1, h_last).tolist(), "hinge_2"), 1.0
        held.append(Part("perpendicular", (on_a, on_b), (float(h_1 @ h_last),)))
        x_b, x_a = np.cross(middle, h_1), np.cross(h_last, middle)  # h_2 across h_1, and h_1 across h_2
    else:
        middle = hinges[1]
        sign = 1.0 if float(np.cross(h_1, middle) @ h_last) > 0.0 else -1.0
        x_b, x_a = sign * np.cross(h_1, middle), sign * np.cross(middle, h_last)  # (5)
    turns = [
        angle(arguments, on_a, second.direction(x_b), second.direction(np.cross(h_1, x_b)), "angle_1", "rate_1"),
        angle(arguments, on_b, first.direction(x_a), first.direction(-np.cross(h_last, x_a)), f"angle_{len(hinges)}",
              f"rate_{len(hinges)}"),
    ]  # fmt: skip
    if len(hinges) == 3:
        turned, start = second.direction(sign * h_1), arguments["angle_2"]
        measured = float(np.arcsin(np.clip(sign * h_1 @ h_last, -1.0, 1.0)))  # (4)
        turns.insert(1, Coordinate("angle_2", "elevation", (on_a, turned, turned, turned),
                                   0.0 if start is None else start - measured, arguments["rate_2"]))  # fmt: skip
    return tuple(held), tuple(turns)


def _numbered(name: str, doc: str, type_: str = "constant_vector", default: Any = None) -> tuple[Argument, ...]:
    return tuple(Argument(f"{name}_{k}", type_, doc.format(k), default=default) for k in (1, 2, 3))


def _rates(name: str, of: str, unit_: str) -> tuple[Argument, ...]:
    return tuple(rate(f"{name}_{k}", f"{of}_{k}", unit_) for k in (1, 2, 3))


KIND = joint(
    "serial_joint", "A body slides along up to three directions of another, then turns about up to three axes.", pack,
    rows=0,
    arguments=(
        *_numbered("slide", "direction {} it slides along, in the world at the start; all perpendicular"),
        *_numbered("hinge", "axis {} it turns about, in the world at the start; of three, the second is across both "
                            "others"),
        *_numbered("displacement", "value of displacement_{} at the start [m]; default: as measured from b to a",
                   "constant"),
        *_numbered("angle", "value of angle_{} at the start [rad]; default: 0, of the second of three as it stands",
                   "constant"),
        *_rates("speed", "displacement", "m/s"), *_rates("rate", "angle", "rad/s"),
    ),
    synonyms=("gimbal", "cartesian", "rectangular", "pin_slot", "composite_joint", "six_dof"),
    examples=(
        example("box", ("rod", (0.5, 0, 0)), slide_1=(2, -2, 1), slide_2=(2, 1, -2), hinge_1=(1, 2, 2)),
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), hinge_1=(1, 2, 2), hinge_2=(2, 1, -2)),
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), hinge_1=(1, 2, 2), hinge_2=(2, 1, -2),
                hinge_3=(1, 0, 1)),
        example("box", ("rod", (0.5, 0, 0)), slide_1=(1, 2, 2), hinge_1=(2, 1, -2), hinge_2=(0, 1, 1)),
        example("box", ("rod", (0.5, 0, 0)), slide_1=(1, 2, 2), slide_2=(2, 1, -2)),
    ),
)  # fmt: skip
