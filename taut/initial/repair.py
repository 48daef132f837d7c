"""The least motion of nodes after which edges and contacts are as they should be.

    x' = x - W Jᵀ λ,    (J W Jᵀ) λ = φ                                                   (1)

φ are all hard edges, and of limits and contacts those that are or were broken, until their λ would be negative. (1)
is repeated, since a move may break others, until none is broken or too many rounds are over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..model import Model

Array = np.ndarray
ROUNDS = 100
LONGEST_MOVE = 0.5  # of the mean edge, in one round
SLACK = 1e-7  # of an edge: contacts and limits are left a little inside


@structure
class Edges(NamedTuple):
    ends: Array  # (e, 2) slots
    length: Array  # (e,) [m] that they have (hard), or may have at most
    is_hard: Array  # (e,)


@structure
class Contacts(NamedTuple):
    """Rows of obstacles and balls at given places: see cloth/contact_rows.py."""

    slot: Array  # (r, 4) -1: none
    weight: Array
    n: Array
    phi: Array


EvaluateContacts = Callable[[Array], Contacts]  # at places x


def edges_of(model: Model) -> Edges:
    hard = [(deformable.hard_edges, deformable.hard_lengths, True) for deformable in model.deformables]
    limited = [(deformable.limit_edges, (1.0 + float(deformable.limit or 0.0)) * deformable.limit_lengths, False)
               for deformable in model.deformables if deformable.is_limited]  # fmt: skip
    all_of_them = [*hard, *limited]
    return Edges(
        np.concatenate([ends for ends, _, _ in all_of_them]).astype(np.int64).reshape(-1, 2),
        np.concatenate([length for _, length, _ in all_of_them]),
        np.concatenate([np.full(len(length), is_hard) for _, length, is_hard in all_of_them]),
    )


def projected(model: Model, x: Array, edges: Edges, evaluate: EvaluateContacts, tolerance: float) -> Array:
    """Places near x where no edge is off by more than `tolerance` [m] and nothing is broken, if they are found."""
    w = model.bodies.inverse_mass[:, 0]
    mean = float(np.concatenate([deformable.lengths for deformable in model.deformables]).mean())
    x = x.copy()
    is_hard = np.concatenate([edges.is_hard, np.zeros(len(evaluate(x).phi), bool)])
    taken = is_hard.copy()
    for _ in range(ROUNDS):
        slot, gradient, phi = _rows(edges, evaluate(x), x)
        able = np.where(slot >= 0, w[slot], 0.0).sum(axis=1) > 0.0
        hard = able & is_hard
        broken = able & ~hard & (phi > 0.0)
        if not broken.any() and np.abs(phi[hard]).max(initial=0.0) <= tolerance:
            break
        taken |= broken
        rows = np.flatnonzero(taken & able)
        margin = np.where(hard[rows], 0.0, SLACK * mean)
        move, lam = _move(slot[rows], gradient[rows], phi[rows] + margin, x, w)
        taken[rows] = hard[rows] | (lam > 0.0)  # what would pull leaves
        farthest = float(np.abs(move).max(initial=0.0))
        x += move * min(1.0, LONGEST_MOVE * mean / max(farthest, 1e-300))
    return x


def _rows(edges: Edges, contacts: Contacts, x: Array) -> tuple[Array, Array, Array]:
    """All edges, then all contacts: slots (r, 4), gradients (r, 4, 3), φ (r,)."""
    arm = x[edges.ends[:, 0]] - x[edges.ends[:, 1]]
    l = np.linalg.norm(arm, axis=1)
    u = arm / np.maximum(l, 1e-300)[:, None]
    none = np.full_like(edges.ends, -1)
    of_edges = np.stack([u, -u, 0.0 * u, 0.0 * u], axis=1)
    of_contacts = -contacts.weight[:, :, None] * contacts.n[:, None, :]
    return (
        np.concatenate([np.concatenate([edges.ends, none], axis=1), contacts.slot]),
        np.concatenate([of_edges, of_contacts]),
        np.concatenate([l - edges.length, contacts.phi]),
    )


def _move(slot: Array, gradient: Array, phi: Array, x: Array, w: Array) -> tuple[Array, Array]:
    """x' - x and λ of (1)."""
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import spsolve

    r, k = np.nonzero(slot >= 0)
    places = (np.repeat(r, 3), (3 * slot[r, k][:, None] + np.arange(3)).ravel())
    J = csr_array((gradient[r, k].ravel(), places), shape=(len(phi), x.size))
    JW = csr_array(J * np.repeat(w, 3))
    A = csr_array(JW @ J.T)
    # Edges of a flat sheet depend on each other; what they ask for does not contradict itself.
    lam = np.atleast_1d(spsolve((A + 1e-9 * A.diagonal().mean() * eye_array(len(phi))).tocsc(), phi))
    return -(JW.T @ lam).reshape(x.shape), lam
