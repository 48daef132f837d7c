"""Solvers that only some scenes need. They are called by address, so that other scenes need not compile them.

A solver is a function (system, state, ctx, t, h) -> status. `NEEDED` declares which scenes need it. One that was not
declared for a scene and is called all the same ends the run with a message that names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from ..compiled import compiled, specialise
from ..compiled.function_pointers import address_of, indirect_call
from ..methods.base import STATUSES
from .context import ClothContext, Solvers

INTERIOR_POINT, AUGMENTED_LAGRANGIAN, LENGTH_PROJECTION, SELF_CONTACT = range(4)
NOT_PREPARED = 200  # + the number of a solver: a status
STATUSES.update(
    {NOT_PREPARED + k: f"the solver {name} was not prepared for this scene; please report that" for k, name in
     enumerate(Solvers._fields)}
)  # fmt: skip


def projects_lengths(context: ClothContext) -> bool:
    """Fast projection knows hard edges alone; with pins its steps are those of Newton's method."""
    return bool(context.problem.projects) and not len(context.attachments.row)


def has_two_sided_limits(context: ClothContext) -> bool:
    """Limits that may also be released within a step."""
    return bool(context.problem.has_limits) and not context.problem.paper_rule


def changes_active_set(context: ClothContext) -> bool:
    problem = context.problem
    return bool(problem.has_limits or problem.has_self_contact or len(context.external.phi))


NEEDED: dict[str, Callable[[ClothContext], bool]] = {
    "interior_point": lambda c: not projects_lengths(c) and has_two_sided_limits(c),
    "augmented_lagrangian": lambda c: not projects_lengths(c) and changes_active_set(c) and not has_two_sided_limits(c),
    "length_projection": projects_lengths,
    "self_contact": lambda c: bool(c.problem.has_self_contact),
}


def functions() -> list[Any]:
    """The solvers, in the order of their numbers."""
    from .augmented_lagrangian import minimise_augmented_lagrangian  # they call other solvers through this module
    from .interior_point import interior_point
    from .length_projection import project_lengths
    from .self_contact import solve_with_self_contact

    return [interior_point, minimise_augmented_lagrangian, project_lengths, solve_with_self_contact]


call_solver = indirect_call(types.int64, lambda number: functions()[number])


def not_prepared(system, state, ctx, t, h):
    return np.int64(STATUS)


STATUS = 0  # bound by specialise
MISSING = [
    specialise(not_prepared, f"not_prepared_{name}", compiled, STATUS=NOT_PREPARED + k)
    for k, name in enumerate(Solvers._fields)
]


def with_solvers(system: Any, state: Any, context: ClothContext) -> ClothContext:
    """The context with the addresses of the solvers that the scene needs; they are compiled, or loaded, now."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return context
    kinds = (numba.typeof(system), numba.typeof(state), numba.typeof(context), types.float64, types.float64)
    chosen = [
        function if NEEDED[name](context) else missing
        for name, function, missing in zip(Solvers._fields, functions(), MISSING)
    ]
    return context._replace(solvers=Solvers(*(address_of(function, types.int64, *kinds) for function in chosen)))
