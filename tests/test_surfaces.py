"""Distances from surfaces are those to their nearest place: boxes, capsules, ropes and hollows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from words_constraints import P as START
from words_constraints import Probe, scene_of

import taut
from taut.arguments import Example, example
from taut.model.frames import rotate

P = np.array(START)
SHAKEN = ("0.1*sin(3*t)", "0.2*t**2", "-0.1*cos(2*t)")
TURNED = np.array([0.8, 0.2, -0.4, 0.4])  # a unit quaternion
# In the axes of a box of these half sizes: faces, edges, a corner; and inside, nearest to each face.
HALF = (0.8, 0.7, 0.9)
OUTSIDE = {1: [(1.5, 0.2, 0.1), (0.1, -1.5, 0.2), (-0.1, 0.0, 1.6)],
           2: [(1.5, -1.4, 0.1), (0.1, 1.4, -1.6), (-1.6, 0.1, 1.6)],
           3: [(-1.5, -1.4, 1.6)]}  # fmt: skip
WIDE = (2.0, 2.1, 1.9)
INSIDE = [(1.3, 0.2, -0.1), (0.2, -1.4, 0.1), (0.1, 0.0, -1.2), (-1.2, 0.3, 0.2)]
# Along the axis of a capsule of length 1.6, and off it: before the start, beside the middle, after the end.
BESIDE = [(-0.5, 0.6), (0.8, -0.7), (2.1, 0.5)]
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)


def shaken(place) -> tuple[str, ...]:
    return tuple(f"{float(c)!r} + {motion}" for c, motion in zip(place, SHAKEN))


def turned(local) -> np.ndarray:
    return rotate(TURNED[None], np.array([local]))[0]


def boxes() -> list[Example]:
    """The point p before faces, edges and a corner of boxes, and inside of wide ones."""
    places = [(HALF, place) for places in OUTSIDE.values() for place in places] + [(WIDE, place) for place in INSIDE]
    return [example("p", center=shaken(P - turned(place)), half=half, orientation=TURNED) for half, place in places]


def capsules() -> list[Example]:
    starts = [P - along * AXIS - off * ACROSS for along, off in BESIDE]
    return [example("p", start=shaken(start), end=start + 1.6 * AXIS, radius="0.3 + 0.1*sin(t)") for start in starts]


def phi_of(kind: str, examples: list[Example]) -> np.ndarray:
    """Φ at the start, at t = 0."""
    probe = Probe(scene_of(kind, examples), seed=0)
    probe.x = probe.model.x.copy()
    return probe.at(t=0.0).phi.copy()


def test_distance_from_a_box_is_that_to_the_nearest_place_on_it():
    """Outside to the clipped place, inside (negative) to the nearest face, less the radius of the ball."""
    at_start = np.array([0.0, 0.0, -0.1])  # how far the centres are shaken at t = 0
    found = phi_of("outside_box", boxes())
    wanted = []
    for half, places in ((HALF, sum(OUTSIDE.values(), [])), (WIDE, INSIDE)):
        for place in places:
            local = np.array(place) - rotate(TURNED[None] * (1, -1, -1, -1), at_start[None])[0]
            beyond = np.linalg.norm(local - np.clip(local, -np.array(half), half))
            wanted.append((beyond or (np.abs(local) - half).max()) - 0.05)
    assert np.abs(found - wanted).max() < 1e-14, f"{found} instead of {wanted}"


def test_a_box_pushes_across_faces_edges_and_corners():
    """The direction in the box's axes has as many components as faces meet there."""
    probe = Probe(scene_of("outside_box", boxes()), seed=0)
    J = probe.at().J[: sum(map(len, OUTSIDE.values()))]
    local = rotate(np.broadcast_to(TURNED * (1, -1, -1, -1), (len(J), 4)), J)
    faces = (np.abs(local) > 1e-9).sum(axis=1).tolist()
    wanted = [count for count, places in OUTSIDE.items() for _ in places]
    assert faces == wanted, f"{faces} instead of {wanted}"
    assert np.abs(np.linalg.norm(J, axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize("kind, side", [("outside_capsule", 1.0), ("inside_capsule", -1.0)])
def test_distance_from_a_capsule_is_that_to_the_nearest_place_on_its_axis(kind, side):
    found = phi_of(kind, capsules())
    wanted = []
    for along, off in BESIDE:
        start = P - along * AXIS - off * ACROSS
        end, start = start + 1.6 * AXIS, start + (0, 0, -0.1)
        on_axis = start + np.linspace(0, 1, 200_001)[:, None] * (end - start)
        wanted.append(side * (np.linalg.norm(P - on_axis, axis=1).min() - 0.3) - 0.05)
    assert np.abs(found - wanted).max() < 1e-9, f"{found} instead of {wanted}"


def test_where_ropes_and_hollows_have_no_direction_they_give_none():
    """A slack rope whose ends meet, a ball in the middle of a hollow: Φ is right and nothing is not a number."""
    scene = taut.Scene()
    p, q = scene.particle((1, 2, 3), radius=0.1), scene.particle((1, 2, 3))
    scene.max_distance(p, q, length=2.0)
    scene.inside_sphere(p, center=(1, 2, 3), radius=4.0)
    scene.inside_capsule(p, start=(0, 2, 3), end=(2, 2, 3), radius=4.0)
    for name, constraint in scene.constraints.items():
        scene._constraints[name] = replace(constraint, sense="==")
    probe = Probe(scene, seed=0)
    probe.x = probe.model.x.copy()
    work = probe.at()
    by_name = {info.name: work.phi[info.rows[0]] for info in probe.model.constraint_info}
    assert list(by_name.values()) == [2.0, 3.9, 3.9], f"Φ is {by_name}"
    assert not work.J.any() and not work.gamma.any(), f"J is {work.J}, γ is {work.gamma}"
