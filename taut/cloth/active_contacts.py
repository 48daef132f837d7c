"""Contacts in the papers' own step of cloth (active_limits.py): rows beside those of springs [Hong ICRA 2005 V.A].

A contact is one more row of the linear system: φ is the depth of a node in an obstacle or a ball, u = -n turns the pull
of a spring into a push, and n is that of the start of the substep. It enters where φ > 0, is an equality while (2) of
active_limits.py is solved, and leaves where λ < 0 before the substep ends, or by its release rule (release.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..contact.problem import EventBuffers, event_buffers
from ..model.arrays import Inequalities, State
from ..model.model import Model
from .constraint_errors import ROUNDING, recovery_of
from .contact_events import Impulses, add_impulses, impulses
from .contact_rows import ContactRows, external_rows
from .dissipation import accumulate_row_losses, add_driver_work
from .external_contact import evaluate_rows
from .release import (
    ReleaseRules,
    apply_velocity_bounds,
    bound_velocities,
    find_flat_faces,
    release_outside,
    release_rules,
    release_separating,
)
from .settings import Settings, current


@structure
class ActiveContacts(NamedTuple):
    ineq: Inequalities
    rows: ContactRows  # λ, φ and active are views of those of active_context.ActiveLimits
    radius: np.ndarray  # (pairs,) at which distance nodes and balls touch [m]
    rules: ReleaseRules
    events: EventBuffers
    impulses: Impulses
    near: np.ndarray  # (slots, 3) places that are looked at
    edge: float  # mean length of edges [m]
    travel: float  # how far anything may go in a substep [m]
    settings: Settings


def active_contacts(model: Model, state: State, memory: np.ndarray, active: np.ndarray, phi: np.ndarray):
    """Contacts of a model; `memory`, `active` and `phi` are those of their rows."""
    unknown = np.where(model.bodies.inverse_mass[:, 0] > 0.0, 0, -1)
    rows, radius = external_rows(model, unknown, memory)
    rows = rows._replace(active=active, phi=phi)
    edge = float(np.concatenate([deformable.lengths for deformable in model.deformables]).mean())
    travel = 0.5 * min(edge, float(model.touching.ball_radius.min(initial=np.inf)))
    return ActiveContacts(
        model.inequalities, rows, radius, release_rules(model, rows.slot[:, :2]), event_buffers(keep_log=False),
        impulses(state, len(rows.phi)), np.zeros_like(model.x), edge, travel if len(rows.phi) else np.inf,
        current(),
    )  # fmt: skip


@inline
def evaluate_contacts(system, state, of, t, x0):
    """φ and n at state.x; the time is set."""
    if of.rows.phi.shape[0] > 0:
        evaluate_rows(system, of.ineq, of.rows, of.radius, t, state.x, state.quat, state.v)
        apply_velocity_bounds(of.rows, of.rules, x0, state.x)


@compiled
def begin_contacts(system, state, of, t, dt, u, tol, fine):
    """Begin a substep at x with v* in state.v: apply the release rule, and set the allowed depths and u.

    `u`, `tol` and `fine` are those of contacts; on entry `fine` holds the relative tolerance of a length.
    """
    rows, x = of.rows, state.x
    count = rows.phi.shape[0]
    if count == 0:
        return
    for r in range(count):
        rows.depth_allowed[r] = 0.0
    find_flat_faces(system, state, of.ineq, rows, of.rules, of.radius, t, x, of.near, of.edge)
    evaluate_rows(system, of.ineq, rows, of.radius, t, x, state.quat, state.v)
    release_separating(system.places, of.ineq, rows, of.rules, state.v, ROUNDING * of.edge / dt)
    tolerances, share = of.settings.tolerances, of.settings.active.contact_share
    recovery, depth_tol = recovery_of(tolerances, dt), tolerances.depth_tolerance * of.edge
    for r in range(count):
        rows.depth_allowed[r] = (1.0 - recovery) * max(rows.phi[r], 0.0)
        tol[r] = max(depth_tol - rows.depth_allowed[r], 0.5 * recovery * depth_tol)
        fine[r] = min(tol[r], share * fine[r] * of.edge)
        for c in range(3):
            u[r, c] = -rows.n[r, c]


@compiled
def set_bounds(system, state, of, t, x0):
    """Set bounds on velocities, once the time is set to the end of the substep."""
    if of.rows.phi.shape[0] > 0:
        positions = x0, state.x, of.near
        bound_velocities(system, state, of.ineq, of.rows, of.rules, of.radius, t, positions, of.edge)


@compiled
def finish_contacts(system, state, of, u, v_free, t, dt):
    """End a substep: add the energy that contacts took and their impulses, and release nodes that have left their
    face."""
    rows, ledger = of.rows, state.ledger
    count = rows.phi.shape[0]
    if count == 0:
        return
    for r in range(count):
        for c in range(3):
            rows.n[r, c] = -u[r, c]
    for v in (v_free, state.v):
        accumulate_row_losses(system.places, of.ineq, rows, count, v, dt, True, ledger)
    add_driver_work(system.places, of.ineq, rows, state.v, dt, ledger)
    add_impulses(rows, of.impulses, dt)
    evaluate_rows(system, of.ineq, rows, of.radius, t, state.x, state.quat, state.v)
    release_outside(rows, of.rules)
