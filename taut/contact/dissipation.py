"""What impacts and friction take, for state.ledger.

    T - T' + W                        impulses at one instant: kinetic energy before and after, work of drivers    (1)
    T - T' + W + h f·(v + v')/2 - F   a fixed step with impacts, F being what friction took of it                  (2)
    F = -P_t·(T v + T v')/2           friction P_t along its tangents T                                            (3)

A fixed step has impacts where something that pushes came on faster than one step of gravity would make it. The rest
of its contacts' work is not told apart from the error of the method, of which it is a part that falls with h.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from .collect import dot_row
from .context import NOTHING, NUMBER, TABLE, TRUTH, WHOLE, far, open_box


@far(NUMBER, TABLE)
@compiled
def kinetic(box, v):
    """Of free bodies [J]."""
    system, state, par = open_box(box)
    mass = system.bodies.mass
    total = 0.0
    for i in range(mass.shape[0]):
        for c in range(3):
            total += 0.5 * mass[i, c] * v[i, c] ** 2
    return total


@inline
def impact_speed(par, h):
    """Approach from which on a fixed step has impacts [m/s]."""
    return max(par.resting, 2.0 * h * par.gravity)


@far(TRUTH, WHOLE, NUMBER)
@compiled
def has_impacts(box, n, h):
    """Whether one of the first n candidates pushes and came on fast; par.saved_v is the velocity of the start."""
    system, state, par = open_box(box)
    for i in range(n):
        if par.cand.lam[i, 0] > 0.0:
            drift = par.ineq.phi_t[par.source[i]] if par.source[i] >= 0 else 0.0
            if dot_row(par.cand, par.cand.J, i, par.saved_v) + drift < -impact_speed(par, h):
                return True
    return False


@far(NOTHING, NUMBER, NUMBER, NUMBER)
@compiled
def count_impacts(box, h, work, rubbed):
    """(2) after a step from par.saved_v to state.v in which drivers did `work` and friction took `rubbed`."""
    system, state, par = open_box(box)
    free, f = system.bodies.free, system.work.f
    total = kinetic((box, par.saved_v)) - kinetic((box, state.v)) + work - rubbed
    for i in range(free.shape[0]):
        for c in range(3):
            total += 0.5 * h * free[i, c] * f[i, c] * (par.saved_v[i, c] + state.v[i, c])
    state.ledger[2] += total


@far(NOTHING, WHOLE, NUMBER)
@compiled
def count_friction(box, n, share):
    """(3): add `share` of what the friction of the first n candidates took."""
    system, state, par = open_box(box)
    cand = par.cand
    total = 0.0
    for i in range(n):
        for a in range(1, 3):
            if cand.lam[i, a] != 0.0:
                T = cand.T1 if a == 1 else cand.T2
                slide = dot_row(cand, T, i, par.saved_v) + dot_row(cand, T, i, state.v)
                total -= 0.5 * cand.lam[i, a] * slide
    state.ledger[3] += share * total
