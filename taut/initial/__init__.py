"""Before the first step: constraints that the start violates are named, repaired where asked, or refused.

    min |δ|²_M   with   Φ(q ⊞ δ, 0) = 0                       projection.py: the nearest configuration (Newton)  (1)
    (J W Jᵀ) μ = -Φ,    q ← q ⊞ W Jᵀ μ                        one step of it; rank from linalg/singular.py          (2)
    (J W Jᵀ) ν = -(J v + Φ_t),    v ← v + W Jᵀ ν              the nearest velocity                                   (3)
    Φ ≥ -tolerance                                            inequalities: refused where violated, or repaired (4)

    q, v, M, W     state.x and state.quat, state.v, bodies.mass, bodies.inverse_mass
    Φ, J, Φ_t      work.phi, work.J, work.phi_t, as everywhere
    μ, ν           work.mu: multipliers of the repair, no forces

    constraints.py   equalities, their velocities, and inequalities between bodies
    dependence.py    rows that depend on each other: redundant, or in conflict; also later than at the start
    equalities.py    how large an error of the start may be; the messages
    projection.py    the nearest configuration in which equalities hold
    alignment.py     axes that would end up opposed, which satisfies the rows as well, are turned before the search
    deformables.py   errors of cloth and solids: edges, nodes inside solids, crossings; the messages
    repair.py        nodes moved out of solids and edges brought back, by the least motion
    untangle.py      crossings taken apart
"""

from typing import Any

from ..contact.algorithms import contact_of
from ..model import Model
from ..model.arrays import State, System
from .constraints import Start, check_inequalities, prepare_start
from .deformables import check_deformables
from .dependence import Clash, changing_rows, clashes, contradiction, schur_complement
from .equalities import AS_GIVEN, REPAIR, start_mode


def check_start(model: Model, system: System, state: State, context: Any, mode: str) -> None:
    """Refuse or repair what the start breaks beside equalities: inequalities, lengths, contacts of cloth and solids."""
    if model.deformables:
        check_deformables(model, system, state, context, mode)
    elif model.is_unilateral:
        check_inequalities(model, system, state, contact_of(context), mode)


__all__ = [
    "AS_GIVEN",
    "REPAIR",
    "Clash",
    "Start",
    "changing_rows",
    "check_start",
    "clashes",
    "contradiction",
    "prepare_start",
    "schur_complement",
    "start_mode",
]
