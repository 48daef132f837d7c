"""All springs implicit: one step of linearised backward Euler for the whole cloth [Baraff, Witkin 1998].

    (M - h ∂f/∂v - h² ∂f/∂x) Δv = h (f + h ∂f/∂x v)                                  (1)
    v' = v + Δv,   x' = x + h v'                                                     (2)
    -∂f_i/∂x_i = T' u uᵀ + max(0, T/l) (I - u uᵀ),   -∂f_i/∂v_i = c u uᵀ             (3)
    F = κ max(0, -g'),   g' = g + h (ġ + n·(Δv_i - Δv_j))                            (4)

T is the tension without damping. Without the maximum a compressed spring would make the matrix indefinite.
The matrix is a sum over springs of blocks S between x_i - x_j, so it is kept as the masses and one symmetric
3 × 3 block per spring, and multiplied spring by spring. Conjugate gradients start from the last Δv and are
preconditioned by the inverses of the blocks on the diagonal; pinned nodes keep Δv = 0, which takes their rows
out of the system. The iteration ends when the residual, measured by the preconditioner, has fallen by `tolerance`.

Contacts, where there are any, are one-sided springs in the same system (4): g is a gap and n its gradient, and κ is
`contact_firmness` times what a node has of springs and mass, or what presses on it. The active set is found by solving
(1) again until no contact enters or leaves. The caller corrects the remaining depth F/κ. Departs from the paper, which
removes the motion of nodes along n from the system: then the body that they push would feel no reaction.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, entry, inline, specialise, structure
from ...compiled.vectors import add_pair
from ...forces.spring_law import tension
from ...linalg.matrix_free_cg import matrix_free_cg
from ..settings import BaselineSettings, current

Array = np.ndarray


@structure
class Implicit(NamedTuple):
    block: Array  # (s, 6) S of each spring: xx, xy, xz, yy, yz, zz
    inverse: Array  # (n, 6) inverse diagonal blocks
    dv: Array  # Δv, kept as the next start
    r: Array
    z: Array
    p: Array
    ap: Array
    touch: Touch
    solves: Array  # (1,) linear systems of the last step
    settings: BaselineSettings


@structure
class Touch(NamedTuple):
    """Contacts; n and ahead are given by the caller at each step."""

    slot: Array  # (c, 2) members, -1: none
    n: Array  # (c, 3) ∂g/∂x of the first; of the second it is the opposite
    ahead: Array  # (c,) g/h + ġ at the start of the step [m/s]
    after: Array  # (c,) g'/h [m/s]
    firm: Array  # (c,) h² κ [kg]; 0: it does not push
    load: Array  # (n,) what a contact of a node has to hold: its own mass and springs, or what presses on it [kg]
    least: Array  # (1,) what is less deep counts as outside [m]


def implicit(springs: int, n: int, contacts: Array | None = None, least: float = 0.0) -> Implicit:
    """Workspace for that many springs on n nodes, and for contacts with the members (c, 2)."""
    slot = np.zeros((0, 2), np.int64) if contacts is None else np.ascontiguousarray(contacts)
    ahead, after, firm = np.zeros((3, len(slot)))
    dv, r, z, p, ap = np.zeros((5, n, 3))
    touch = Touch(slot, np.zeros((len(slot), 3)), ahead, after, firm, np.zeros(n), np.full(1, least))
    solves, settings = np.zeros(1, np.int64), current().baselines
    return Implicit(np.zeros((springs, 6)), np.zeros((n, 6)), dv, r, z, p, ap, touch, solves, settings)


@inline
def times_block(S, q, a, b, c):
    """The symmetric block S[q] times a vector."""
    return (
        S[q, 0] * a + S[q, 1] * b + S[q, 2] * c,
        S[q, 1] * a + S[q, 3] * b + S[q, 4] * c,
        S[q, 2] * a + S[q, 4] * b + S[q, 5] * c,
    )


@compiled
def linearise(work, s, x, v, w, external, h):
    """The matrix of (1), its right-hand side into r, and the preconditioner."""
    block, inverse, r = work.block, work.inverse, work.r
    for i in range(x.shape[0]):
        for c in range(3):
            r[i, c] = h * external[i, c]
        for c in range(6):
            inverse[i, c] = 0.0
    for q in range(s.rest.shape[0]):
        i = s.i[q]
        j = s.j[q]
        d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        e0, e1, e2 = v[i, 0] - v[j, 0], v[i, 1] - v[j, 1], v[i, 2] - v[j, 2]
        l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        scale = 1.0 / l if l > 0.0 else 0.0
        u0, u1, u2 = d0 * scale, d1 * scale, d2 * scale
        pull = tension(l, s.rest[q], s.k[q], s.k2[q], s.elongation2[q])
        stiffness = s.k2[q] if l > (1.0 + s.elongation2[q]) * s.rest[q] else s.k[q]
        across = max(0.0, pull * scale)  # (3)
        rate = u0 * e0 + u1 * e1 + u2 * e2
        # h f + h² ∂f/∂x v: along the spring and across it
        along = -h * (pull + s.damping[q] * rate) - h * h * (stiffness - across) * rate
        sideways = -h * h * across
        g0, g1, g2 = along * u0 + sideways * e0, along * u1 + sideways * e1, along * u2 + sideways * e2
        add_pair(r, i, j, 1.0, 1.0, g0, g1, g2)
        lateral = h * h * across
        along = h * h * (stiffness - across) + h * s.damping[q]
        block[q, 0] = along * u0 * u0 + lateral
        block[q, 1] = along * u0 * u1
        block[q, 2] = along * u0 * u2
        block[q, 3] = along * u1 * u1 + lateral
        block[q, 4] = along * u1 * u2
        block[q, 5] = along * u2 * u2 + lateral
        for c in range(6):
            inverse[i, c] += block[q, c]
            inverse[j, c] += block[q, c]
    press(work.touch, inverse, r, w, work.settings.contact_firmness)
    for i in range(x.shape[0]):
        invert_diagonal(inverse, i, w[i])


@inline
def press(touch, inverse, r, w, firmness):
    """Add (4) of contacts that push to the right-hand side and to the diagonal blocks of the springs."""
    if touch.firm.shape[0] == 0:
        return
    load = touch.load
    for i in range(load.shape[0]):
        load[i] = (inverse[i, 0] + inverse[i, 3] + inverse[i, 5]) / 3.0 + 1.0 / w[i] if w[i] > 0.0 else 0.0
    for q in range(touch.firm.shape[0]):
        i, j = touch.slot[q, 0], touch.slot[q, 1]
        if touch.firm[q] > 0.0 and j >= 0:
            load[i] = max(load[i], load[j])  # a heavy ball may press a node against something else
    for q in range(touch.firm.shape[0]):
        i, j = touch.slot[q, 0], touch.slot[q, 1]
        if touch.firm[q] > 0.0:
            touch.firm[q] = firmness * (max(load[i], load[j]) if j >= 0 else load[i])
    for q in range(touch.firm.shape[0]):
        if touch.firm[q] > 0.0:
            n0, n1, n2 = touch.n[q, 0], touch.n[q, 1], touch.n[q, 2]
            sign = 1.0
            for k in range(2):
                i = touch.slot[q, k]
                if i >= 0:
                    firm = touch.firm[q]
                    push = -sign * firm * touch.ahead[q]  # (4)
                    r[i, 0] += push * n0
                    r[i, 1] += push * n1
                    r[i, 2] += push * n2
                    inverse[i, 0] += firm * n0 * n0
                    inverse[i, 1] += firm * n0 * n1
                    inverse[i, 2] += firm * n0 * n2
                    inverse[i, 3] += firm * n1 * n1
                    inverse[i, 4] += firm * n1 * n2
                    inverse[i, 5] += firm * n2 * n2
                sign = -1.0


@inline
def invert_diagonal(inverse, i, w):
    """(M + Σ S)⁻¹ of one node by cofactors; zero for a pinned one, which keeps it out of the iteration."""
    if w == 0.0:
        for c in range(6):
            inverse[i, c] = 0.0
        return
    m = 1.0 / w
    a, b, c = inverse[i, 0] + m, inverse[i, 1], inverse[i, 2]
    d, e, f = inverse[i, 3] + m, inverse[i, 4], inverse[i, 5] + m
    ca, cb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * ca + b * cb + c * cc)
    inverse[i, 0] = ca * scale
    inverse[i, 1] = cb * scale
    inverse[i, 2] = cc * scale
    inverse[i, 3] = (a * f - c * c) * scale
    inverse[i, 4] = (b * c - a * e) * scale
    inverse[i, 5] = (a * d - b * b) * scale


@inline
def nearing(touch, q, p):
    """n·(p_i - p_j)"""
    total = 0.0
    sign = 1.0
    for k in range(2):
        i = touch.slot[q, k]
        if i >= 0:
            total += sign * (touch.n[q, 0] * p[i, 0] + touch.n[q, 1] * p[i, 1] + touch.n[q, 2] * p[i, 2])
        sign = -1.0
    return total


@inline
def multiply(problem, p, out):
    """out = (M - h ∂f/∂v - h² ∂f/∂x) p; rows of pinned nodes are left out."""
    work, s, w = problem
    block = work.block
    for i in range(p.shape[0]):
        m = 1.0 / w[i] if w[i] > 0.0 else 0.0
        for c in range(3):
            out[i, c] = m * p[i, c]
    for q in range(block.shape[0]):
        i = s.i[q]
        j = s.j[q]
        y0, y1, y2 = times_block(block, q, p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2])
        add_pair(out, i, j, 1.0, 1.0, y0, y1, y2)
    touch = work.touch
    for q in range(touch.firm.shape[0]):
        if touch.firm[q] > 0.0:
            resist = touch.firm[q] * nearing(touch, q, p)
            sign = 1.0
            for k in range(2):
                i = touch.slot[q, k]
                if i >= 0:
                    for c in range(3):
                        out[i, c] += sign * resist * touch.n[q, c]
                sign = -1.0
    for i in range(p.shape[0]):
        if w[i] == 0.0:
            for c in range(3):
                out[i, c] = 0.0


@inline
def precondition(problem, r, z):
    """z = P r; returns r·z."""
    inverse = problem[0].inverse
    total = 0.0
    for i in range(r.shape[0]):
        z[i, 0], z[i, 1], z[i, 2] = times_block(inverse, i, r[i, 0], r[i, 1], r[i, 2])
        total += r[i, 0] * z[i, 0] + r[i, 1] * z[i, 1] + r[i, 2] * z[i, 2]
    return total


_iterate = specialise(
    matrix_free_cg, "conjugate_gradients_of_springs", compiled, multiply=multiply, precondition=precondition
)


@compiled
def solve_velocities(work, s, w, tolerance, max_iterations):
    """Solve (1) for dv from r. Returns the iterations taken, negative when `max_iterations` did not suffice."""
    problem, dv, r = (work, s, w), work.dv, work.r
    goal = tolerance * tolerance * precondition(problem, r, work.z)
    multiply(problem, dv, work.ap)
    for i in range(r.shape[0]):
        for c in range(3):
            r[i, c] -= work.ap[i, c]
    return _iterate(problem, dv, r, work.z, work.p, work.ap, goal, max_iterations)


@inline
def can_move(touch, q, w):
    i, j = touch.slot[q, 0], touch.slot[q, 1]
    return w[i] > 0.0 or (j >= 0 and w[j] > 0.0)


@compiled
def change_contacts(touch, w, dv, h):
    """Update the active set: contacts that pull leave, contacts that penetrate enter. Returns the number of changes."""
    changed = 0
    for q in range(touch.firm.shape[0]):
        touch.after[q] = touch.ahead[q] + nearing(touch, q, dv)  # (4)
        if touch.firm[q] > 0.0:
            if touch.after[q] > 0.0:
                touch.firm[q] = 0.0
                changed += 1
        elif touch.after[q] * h < -touch.least[0] and can_move(touch, q, w):
            touch.firm[q] = 1.0  # until `press` sets it
            changed += 1
    return changed


@entry
def step_implicit(work, s, x, v, w, external, h, tolerance, max_iterations):
    """Advance x and v by h. Returns the iterations taken, negative when `max_iterations` did not suffice."""
    touch = work.touch
    for q in range(touch.firm.shape[0]):
        touch.firm[q] = 1.0 if touch.ahead[q] * h < touch.least[0] and can_move(touch, q, w) else 0.0
    taken = 0
    for k in range(work.settings.max_contact_rounds):
        work.solves[0] = k + 1
        linearise(work, s, x, v, w, external, h)
        taken = solve_velocities(work, s, w, tolerance, max_iterations)  # (1)
        if change_contacts(touch, w, work.dv, h) == 0:
            break
    for i in range(x.shape[0]):
        for c in range(3):
            v[i, c] += work.dv[i, c]  # (2)
            x[i, c] += h * v[i, c]
    return taken
