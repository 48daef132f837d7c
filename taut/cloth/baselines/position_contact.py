"""Contacts of steps that move positions: nodes and balls against obstacles, and nodes against balls.

    gap = n·Σ ω_k (x_k - x̄_k) - φ                                                              (1)
    Δλ = max(-λ, -gap / (n·n Σ w_k)),    x_k += w_k ω_k n Δλ                                   (2)
    f' = f - s / Σ w_k,   at most μ λ,   x_k += w_k ω_k (f' - f)                               (3)
    m = n - c n̂,   c = n·n̂ < 0,   λ̂ -= c Δλ                                                   (4)

φ and n are those of x̄, where the sweep began, and s is what the members of a row slid along each other since the
step began. (2) and (3) go row after row, with λ and f of all sweeps of a step added up: corrections that were too large
are reduced again, and no contact pulls. Both members of a row get the same push, so momentum is kept. (3) is the
friction of position-based dynamics [Macklin, Müller, Chentanez, Kim 2014], with Coulomb's bound on the sum. Velocities
follow from positions, so contacts are inelastic.

A node that a ball presses against an obstacle, whose normal is n̂, can move along m only, and the obstacle bears the
rest (4). With (2) alone a heavy ball would sink in, since it pushes a light node further than the obstacle pushes it
back.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, inline, structure
from ...contact.problem import EventBuffers, event_buffers
from ...model.arrays import Inequalities, State
from ...model.model import Model
from ..constraint_errors import ROUNDING, recovery_of
from ..contact_events import Impulses, add_impulses, impulses
from ..contact_rows import ContactRows, external_rows
from ..dissipation import accumulate_row_losses, add_driver_work
from ..external_contact import evaluate_rows
from ..friction import sliding
from ..settings import ToleranceSettings, current


@structure
class PositionContacts(NamedTuple):
    ineq: Inequalities
    rows: ContactRows  # of these, then nodes against balls; λ and f of a step in kg m, after it in N
    radius: np.ndarray  # (pairs,) at which distance these last touch [m]
    unknown: np.ndarray  # (points,) -1: held
    x_start: np.ndarray  # (points, 3) x at the start of the step,
    v_start: np.ndarray  # (points, 3) and v
    at: np.ndarray  # (points, 3) x̄
    backed: np.ndarray  # (points,) row of the obstacle that a node leans on, -1: none
    least: float  # what is less deep counts as outside [m]
    events: EventBuffers
    impulses: Impulses
    settings: ToleranceSettings


def contact_memory(model: Model) -> int:
    """How many numbers of state.memory contacts take: the last ones."""
    return len(model.inequality_names) + _pairs(model)


def position_contacts(model: Model, state: State) -> PositionContacts:
    unknown = np.where(model.bodies.inverse_mass[:, 0] > 0.0, 0, -1)
    rows, radius = external_rows(model, unknown, np.zeros(contact_memory(model)))
    least = ROUNDING * float(np.concatenate([deformable.lengths for deformable in model.deformables]).mean())
    x_start, v_start, at = np.zeros((3, *model.x.shape))
    backed = np.full(len(model.x), -1)
    return PositionContacts(
        model.inequalities, rows, radius, unknown, x_start, v_start, at, backed, least, event_buffers(keep_log=False),
        impulses(state, len(rows.phi)), current().tolerances,
    )


def _pairs(model: Model) -> int:
    return sum(len(model.deformables[k].slots) for k in model.touching.ball_deformable)


@compiled
def begin_contacts(system, state, t, h, contacts):
    """Begin a step with λ = 0. Penetration at its start is corrected gradually: a full correction in one step would
    become a large velocity."""
    rows, x = contacts.rows, state.x
    if rows.phi.shape[0] == 0:
        return
    evaluate_rows(system, contacts.ineq, rows, contacts.radius, t, x, state.quat, state.v)
    for i in range(x.shape[0]):
        for c in range(3):
            contacts.x_start[i, c] = x[i, c]
            contacts.v_start[i, c] = state.v[i, c]
    recovery = recovery_of(contacts.settings, h)
    for r in range(rows.phi.shape[0]):
        rows.depth_allowed[r] = (1.0 - recovery) * max(rows.phi[r], 0.0)
        rows.lam[r] = 0.0
        rows.friction_force[r, 0], rows.friction_force[r, 1], rows.friction_force[r, 2] = 0.0, 0.0, 0.0


@inline
def apply_correction(rows, r, w, x, f0, f1, f2):
    """x_k += w_k ω_k f"""
    for k in range(2):
        i = rows.slot[r, k]
        if i >= 0:
            size = w[i] * rows.weight[r, k]
            x[i, 0] += size * f0
            x[i, 1] += size * f1
            x[i, 2] += size * f2


@inline
def gap_now(rows, r, x, at):
    """(1)"""
    gap = -rows.phi[r]
    for k in range(2):
        i = rows.slot[r, k]
        if i >= 0:
            for c in range(3):
                gap += rows.weight[r, k] * rows.n[r, c] * (x[i, c] - at[i, c])
    return gap


@inline
def apply_friction(rows, r, w, x, x_start, weight):
    """(3)"""
    s0, s1, s2 = sliding(rows, r, x, x_start)
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    f0, f1, f2 = rows.friction_force[r, 0], rows.friction_force[r, 1], rows.friction_force[r, 2]
    across = f0 * n0 + f1 * n1 + f2 * n2  # the normal has turned since the last sweep, and nothing is to move along it
    f0, f1, f2 = f0 - across * n0, f1 - across * n1, f2 - across * n2
    t0, t1, t2 = f0 - s0 / weight, f1 - s1 / weight, f2 - s2 / weight
    size, bound = sqrt(t0 * t0 + t1 * t1 + t2 * t2), rows.friction[r] * rows.lam[r]
    if size > bound:
        scale = bound / size
        t0, t1, t2 = scale * t0, scale * t1, scale * t2
    rows.friction_force[r, 0], rows.friction_force[r, 1], rows.friction_force[r, 2] = t0, t1, t2
    apply_correction(rows, r, w, x, t0 - f0, t1 - f1, t2 - f2)


@inline
def press_on(rows, r, w, x, gap, back):
    """(4) with (2); False where the first member of a row leans on nothing."""
    if back < 0:
        return False
    i, j = rows.slot[r, 0], rows.slot[r, 1]
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    b0, b1, b2 = rows.n[back, 0], rows.n[back, 1], rows.n[back, 2]
    c = (n0 * b0 + n1 * b1 + n2 * b2) / (b0 * b0 + b1 * b1 + b2 * b2)
    m0, m1, m2 = n0 - c * b0, n1 - c * b1, n2 - c * b2
    size = w[i] * (m0 * m0 + m1 * m1 + m2 * m2) + w[j] * (n0 * n0 + n1 * n1 + n2 * n2)
    if c >= 0.0 or size == 0.0:
        return False
    change = max(-rows.lam[r], -gap / size)
    if rows.lam[back] - c * change < 0.0:
        return False
    rows.lam[r] += change
    rows.lam[back] -= c * change
    x[i, 0] += w[i] * change * m0
    x[i, 1] += w[i] * change * m1
    x[i, 2] += w[i] * change * m2
    x[j, 0] -= w[j] * change * n0
    x[j, 1] -= w[j] * change * n1
    x[j, 2] -= w[j] * change * n2
    return True


@compiled
def push_out(system, state, t, contacts, w):
    """(1) to (3) once over all rows; returns how many were inside. The time is set."""
    rows, x, at = contacts.rows, state.x, contacts.at
    if rows.phi.shape[0] == 0:
        return 0
    evaluate_rows(system, contacts.ineq, rows, contacts.radius, t, x, state.quat, state.v)
    for i in range(x.shape[0]):
        contacts.backed[i] = -1
        for c in range(3):
            at[i, c] = x[i, c]
    inside = 0
    for r in range(rows.phi.shape[0]):
        j = rows.slot[r, 1]
        weight = w[rows.slot[r, 0]] + (w[j] if j >= 0 else 0.0)
        n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
        size = weight * (n0 * n0 + n1 * n1 + n2 * n2)
        if size == 0.0:
            continue
        gap = gap_now(rows, r, x, at)
        if gap >= 0.0 and rows.lam[r] == 0.0:
            continue
        if gap < -contacts.least:
            inside += 1
        if j < 0 or not press_on(rows, r, w, x, gap, contacts.backed[rows.slot[r, 0]]):
            change = max(-rows.lam[r], -gap / size)  # (2)
            rows.lam[r] += change
            apply_correction(rows, r, w, x, change * n0, change * n1, change * n2)
        if j < 0 and rows.lam[r] > 0.0:
            contacts.backed[rows.slot[r, 0]] = r
        if rows.friction[r] > 0.0:
            apply_friction(rows, r, w, x, contacts.x_start, weight)
    return inside


@compiled
def finish_contacts(system, state, contacts, h):
    """End a step: convert λ and f to forces [N] and add up the energy that they took, between the velocities v before
    and after."""
    rows = contacts.rows
    scale = 1.0 / (h * h)
    for r in range(rows.phi.shape[0]):
        rows.active[r] = rows.lam[r] > 0.0
        rows.depth_allowed[r] = 0.0
        rows.lam[r] *= scale
        for c in range(3):
            rows.friction_force[r, c] *= scale
    count, ledger, places, ineq = rows.phi.shape[0], state.ledger, system.places, contacts.ineq
    for v in (contacts.v_start, state.v):
        accumulate_row_losses(places, ineq, rows, count, v, h, True, ledger)
    add_driver_work(places, ineq, rows, state.v, h, ledger)
    add_impulses(rows, contacts.impulses, h)
