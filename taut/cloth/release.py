"""Release rules of contacts, and contacts as bounds on velocities [Hong ICRA 2005 V.A].

Every rule releases a contact where its multiplier would pull: contacts push and never pull. A rule may add

    velocity   both would part without the contact:  n·Σ ω v* + ∂Φ/∂t > 0                        (1)
    voronoi    the node has left the Voronoi region of the flat face that it was on              (2)

and the paper's has both. A released contact is activated again like any other, when it would penetrate. (1) is judged
before a substep is solved and (2) after it. A face is flat where the normal at a place beside the node is the same, so
that (2) serves every obstacle: a box, the end of a cylinder, a user's own. A ball or a half-space is one region.

    φ = φ₀ - n₀·Σ ω (x - x₀)                                                                     (3)

With approach "velocity" a node that is outside at the start of a substep is stopped by (3), which is linear in its
velocity (x - x₀)/h: φ₀ and n₀ are those of the start x₀ with obstacles where they are at the end. The larger of (3) and
the true φ is used, since a hollow obstacle curves towards the node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..model.model import Model
from .codes import BY_REGION, BY_VELOCITY, RELEASE_RULES
from .constraint_errors import ROUNDING
from .dissipation import member_velocity, obstacle_rate
from .external_contact import evaluate_rows

RULES = {  # what users choose from
    "lambda": "its multiplier would pull",
    "velocity": "its multiplier would pull, or both sides would part without it",
    "voronoi": "its multiplier would pull, or the node has left the flat face that it was on",
    "paper": "any of these, as in Hong ICRA 2005 V.A",
}
PROBE = (0.61e-3, 0.43e-3, 0.67e-3)  # a place beside a node [mean edges], along no axis
TURNED = 1e-9  # |n - n₀|² of normals that are not the same


@structure
class ReleaseRules(NamedTuple):
    """Release rules of external rows."""

    rule: np.ndarray  # (r,) BY_VELOCITY and BY_REGION, or their sum
    bounds_velocity: np.ndarray  # (r,) bool: approach "velocity"
    linear: np.ndarray  # (r,) bool: (3) holds in this substep,
    phi0: np.ndarray  # (r,) φ₀ of (3) [m],
    n0: np.ndarray  # (r, 3) and n₀
    face: np.ndarray  # (r, 3) normal at the start of a substep,
    flat: np.ndarray  # (r,) bool: of a flat face
    all_rules: int  # the bits that some row has
    any_bound: int  # 1: some row has approach "velocity"


def release_rules(model: Model, slots: np.ndarray) -> ReleaseRules:
    """Release rules of rows with the members `slots` (r, 2): those of the deformable that takes part, else the
    default."""
    rule_of, bound_of = np.zeros(len(model.x) + 1, np.int64), np.zeros(len(model.x) + 1, bool)
    for deformable in model.deformables:
        rule_of[deformable.slots] = RELEASE_RULES[deformable.release]
        bound_of[deformable.slots] = deformable.approach == "velocity"
    members = np.where(slots >= 0, slots, len(model.x))
    rule, bound = rule_of[members].max(axis=1), np.asarray(bound_of[members].any(axis=1))
    r = len(slots)
    return ReleaseRules(
        rule, bound, np.zeros(r, bool), np.zeros(r), np.zeros((r, 3)), np.zeros((r, 3)), np.zeros(r, bool),
        int(np.bitwise_or.reduce(rule)) if r else 0, int(bound.any()),
    )  # fmt: skip


@inline
def release_row(rows, r):
    rows.active[r] = False
    rows.lam[r] = 0.0
    rows.lam_est[r] = 0.0


@inline
def squared_distance(a, b, r):
    """|a - b|² of row r."""
    return (a[r, 0] - b[r, 0]) ** 2 + (a[r, 1] - b[r, 1]) ** 2 + (a[r, 2] - b[r, 2]) ** 2


@inline
def evaluate_beside(system, state, ineq, rows, release, radius, t, x, x_scratch, distance):
    """φ and n at a place beside each node; `x_scratch` (slots, 3) is overwritten."""
    for i in range(x.shape[0]):
        for c in range(3):
            x_scratch[i, c] = x[i, c]
    for r in range(rows.phi.shape[0]):
        i = rows.slot[r, 0]
        if release.rule[r] & BY_REGION and rows.rotation[r] < 0:
            for c in range(3):
                x_scratch[i, c] = x[i, c] + distance * PROBE[c]
    evaluate_rows(system, ineq, rows, radius, t, x_scratch, state.quat, state.v)


@inline
def find_flat_faces(system, state, ineq, rows, release, radius, t, x, x_scratch, edge):
    """Which rows begin a substep on a flat face, and its normal: that of x and of a place on one side of it, so that a
    node beside the end of a face is on it. `x_scratch` (slots, 3) is overwritten, and φ and n are those of x."""
    if release.all_rules & BY_REGION:
        evaluate_both_sides(system, state, ineq, rows, release, radius, t, x, x_scratch, edge)


@on_demand(types.none)
def evaluate_both_sides(system, state, ineq, rows, release, radius, t, x, x_scratch, edge):
    """`find_flat_faces`, where a rule asks for them."""
    evaluate_rows(system, ineq, rows, radius, t, x, state.quat, state.v)
    for r in range(rows.phi.shape[0]):
        release.flat[r] = False
        for c in range(3):
            release.face[r, c] = rows.n[r, c]
    for side in range(2):
        evaluate_beside(system, state, ineq, rows, release, radius, t, x, x_scratch, edge - 2.0 * side * edge)
        for r in range(rows.phi.shape[0]):
            if release.rule[r] & BY_REGION and rows.rotation[r] < 0:
                release.flat[r] = release.flat[r] or squared_distance(rows.n, release.face, r) < TURNED
    evaluate_rows(system, ineq, rows, radius, t, x, state.quat, state.v)


@compiled
def release_separating(places, ineq, rows, release, v, min_rate):
    """(1) with the velocities v* of the unconstrained motion; `min_rate` [m/s] is rounding. φ and n are those of x₀."""
    if release.all_rules & BY_VELOCITY:
        for r in range(rows.phi.shape[0]):
            if rows.active[r] and release.rule[r] & BY_VELOCITY:
                m0, m1, m2 = member_velocity(places, rows, r, v, False)
                rate = m0 * rows.n[r, 0] + m1 * rows.n[r, 1] + m2 * rows.n[r, 2] + obstacle_rate(ineq, r)
                if rate > min_rate:
                    release_row(rows, r)


@compiled
def release_outside(rows, release):
    """(2); φ and n are those at the end of the substep."""
    if release.all_rules & BY_REGION:
        for r in range(rows.phi.shape[0]):
            if rows.active[r] and release.flat[r] and squared_distance(rows.n, release.face, r) > TURNED:
                release_row(rows, r)


@inline
def is_outside(rows, release, r, edge):
    """Whether (3) can hold a row that begins a substep with φ as it stands."""
    return release.bounds_velocity[r] and rows.phi[r] < -ROUNDING * edge and rows.rotation[r] < 0


@inline
def bound_velocities(system, state, ineq, rows, release, radius, t, positions, edge):
    """φ₀ and n₀ of (3); positions: x0, x and `x_scratch` (slots, 3), which is overwritten.

    The time is set to the end of the substep, and driven bodies stand in x; what is free is taken from x0. Before, φ is
    that of the start.
    """
    if release.any_bound != 0:
        set_velocity_bounds(system, state, ineq, rows, release, radius, t, positions, edge)


@on_demand(types.none)
def set_velocity_bounds(system, state, ineq, rows, release, radius, t, positions, edge):
    """`bound_velocities`, where a rule asks for them."""
    x0, x, x_scratch = positions
    for r in range(rows.phi.shape[0]):
        release.linear[r] = is_outside(rows, release, r, edge)
    for i in range(x.shape[0]):
        free = system.bodies.inverse_mass[i, 0] > 0.0
        for c in range(3):
            x_scratch[i, c] = x0[i, c] if free else x[i, c]
    evaluate_rows(system, ineq, rows, radius, t, x_scratch, state.quat, state.v)
    for r in range(rows.phi.shape[0]):
        release.phi0[r] = rows.phi[r]
        for c in range(3):
            release.n0[r, c] = rows.n[r, c]


@compiled
def apply_velocity_bounds(rows, release, x0, x):
    """(3) in place of φ and n at x, where it is the larger one."""
    if release.any_bound == 0:
        return
    for r in range(rows.phi.shape[0]):
        if not release.linear[r]:
            continue
        phi = release.phi0[r]
        for k in range(2):
            i = rows.slot[r, k]
            if i >= 0 and rows.unknown[r, k] >= 0:
                for c in range(3):
                    phi -= rows.weight[r, k] * release.n0[r, c] * (x[i, c] - x0[i, c])
        if phi > rows.phi[r]:
            rows.phi[r] = phi
            for c in range(3):
                rows.n[r, c] = release.n0[r, c]
