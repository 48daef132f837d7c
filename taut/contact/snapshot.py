"""One instant opened up: the problem that the rules solve there, in numbers that Python can look at.

    w = S λ + c,    S = J P W Jᵀ,    c = J v̇₀ - d                                       (1)
    v̇ = v̇₀ + P W Jᵀ λ                                                                    (2)

v̇₀ are the accelerations with no inequality handled but all equalities held; P keeps of a change of acceleration
what the equalities allow. Only for boxes of steps at acceleration level (events.py).
"""

from __future__ import annotations

from ..compiled import entry
from ..model.evaluate import begin, copy
from .active_set import free_acceleration
from .collect import add_rows, dot_row
from .context import open_box
from .event_driven import collide_here, whole_step
from .rules import choose
from .solve_contacts import clear_column, column, settle


@entry
def evaluate(box, t):
    """Φ, dΦ/dt and -d of all rows into par.ineq.phi, par.rate and par.demand; accelerations of forces into work.a."""
    system, state, par = open_box(box)
    begin(system, t, state.x, state.quat, state.v)
    free_acceleration((box, t, state.x, state.quat, state.v))


@entry
def open_up(box, n, S, c, free, push):
    """(1) of the rows par.wanted[:n] after `evaluate`; v̇₀ into free, P W Jᵀ of (2) into push."""
    system, state, par = open_box(box)
    settle((box, system.work.a, par.target, par.spare))
    copy(system.work.a, free)
    add_rows((box, 0, n))
    for j in range(n):
        column(box, system, par, par.cand.J, j)
        copy(par.u, push[j])  # (2)
        for i in range(n):
            S[i, j] = dot_row(par.cand, par.cand.J, i, par.u)  # (1)
        clear_column(par, j)
        c[j] = dot_row(par.cand, par.cand.J, j, free) + par.demand[par.wanted[j]]  # (1)


@entry
def ask(rule, S, c, m, member, lam, w, work, log):
    """What a rule makes of the problem (1): λ, w and the set; returns its status."""
    return choose(rule, S, c, m, member, lam, w, work, log, 0)


@entry
def march(box, t, h):
    """One step of the box's own rule; returns its status."""
    system, state, par = open_box(box)
    begin(system, t, state.x, state.quat, state.v)
    return whole_step((box, t, h))


@entry
def strike(box, t):
    """The impacts of this instant; returns how many rows take part.

    Which rows, their dΦ/dt before and their impulses stand in par.source, par.slack and par.normal.
    """
    return collide_here((box, t, True))
