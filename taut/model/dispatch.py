"""Call a kind's kernel by its address: compiled code need not know which kinds there are."""

from __future__ import annotations

from functools import cache

import numba
from numba import types

from .. import constraints, forces
from ..compiled.function_pointers import address_of, indirect_call, pick
from ..constraints.base import At

CONSTRAINT_CODES = {name: code for code, name in enumerate(constraints.ALL)}
FORCE_CODES = {name: code for code, name in enumerate(forces.KINDS)}

evaluate_kind = indirect_call(types.none, pick([kind.kernel for kind in constraints.ALL.values()]))
rechart_kind = indirect_call(types.none, pick([kind.rechart for kind in constraints.ALL.values()]))
force_kind = indirect_call(types.float64, pick([kind.kernel for kind in forces.KINDS.values()]))

sample_kind = indirect_call(types.int64, pick([kind.sample for kind in forces.KINDS.values()]))

NUMBER = types.float64
WHOLE = types.int64
VECTOR = types.float64[::1]
TABLE = types.float64[:, ::1]
INTS = types.int64[::1]
INDEX = types.uint32[::1]
AT = numba.typeof(At(0, 0, 0, 0, 0))


@cache
def constraint_address(name: str) -> int:
    return address_of(
        constraints.ALL[name].kernel, types.none,
        WHOLE, AT, INDEX, VECTOR, VECTOR, VECTOR, INTS, TABLE, TABLE, NUMBER, types.boolean, TABLE,
        VECTOR, TABLE, VECTOR, VECTOR,
    )  # fmt: skip


@cache
def chart_address(name: str) -> int:
    rechart = constraints.ALL[name].rechart
    return address_of(rechart, types.none, WHOLE, AT, INDEX, INTS, TABLE) if rechart else 0


@cache
def force_address(name: str) -> int:
    return address_of(
        forces.KINDS[name].kernel, types.float64,
        WHOLE, AT, INDEX, VECTOR, VECTOR, INTS, TABLE, TABLE, NUMBER, TABLE, TABLE, VECTOR,
    )  # fmt: skip


@cache
def sample_address(name: str) -> int:
    sample = forces.KINDS[name].sample
    return address_of(sample, types.int64, WHOLE, AT, INDEX, VECTOR, INTS, TABLE, TABLE, NUMBER) if sample else 0
