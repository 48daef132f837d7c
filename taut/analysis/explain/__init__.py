"""One instant of a scene with inequalities, and what each rule for the active set makes of it.

    w = S λ + c,   λ ≥ 0,  w ≥ 0,  λ·w = 0     the problem at the instant        instant.Problem
    S, c           Problem.S, Problem.c        J W Jᵀ of the rows that touch, and their slack without forces
    λ, w           Iteration.lam, Iteration.w  multipliers [N], and the slack with them
    active set     Iteration.before, .after    of each iteration of a rule
    v̇ = v̇₀ + U λ   Problem.free, Problem.push  accelerations of the bodies

    explain.py   explain(): the only entry
    instant.py   from a scene and a time to the problem that the rules solve there
    rules.py     each rule, iteration by iteration: the set, λ, w, accelerations, and which condition decided
    text.py      tables for the terminal;  drawing.py  the same as bars
"""

from __future__ import annotations

from .explain import Explanation, explain
from .rules import STATES, Iteration, Trace

__all__ = ["STATES", "Explanation", "Iteration", "Trace", "explain"]
