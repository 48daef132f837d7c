"""One instant of a scene with inequalities, and what each rule for the active set makes of it.

    instant.py   from a scene and a time to the problem that the rules solve there
    rules.py     each rule, iteration by iteration: the set, λ, w, accelerations, and which condition fired
    text.py      tables for the terminal
    drawing.py   the same as bars
"""

from __future__ import annotations

from .explain import Explanation, explain
from .rules import STATES, Iteration, Trace

__all__ = ["STATES", "Explanation", "Iteration", "Trace", "explain"]
