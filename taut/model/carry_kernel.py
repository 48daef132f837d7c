"""A block of J carried from a place to the rotation of its body, three numbers at a time: r × Rᵀ J.

The same products and sums as one by one, in the same order, so that no bit depends on it. Without compilation it is
plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

REAL, SHORT, FLAG = ir.DoubleType(), ir.IntType(32), ir.IntType(1)
FOUR = ir.VectorType(REAL, 4)  # of which three are used
ZERO, THREE = ir.Constant(FOUR, [0.0] * 4), ir.Constant(ir.VectorType(FLAG, 4), [1, 1, 1, 0])
NEXT, AFTER = (1, 2, 0, 3), (2, 0, 1, 3)
PLACE = types.uint64


def plain(J, source, block, frame, body, arm, place):
    """J[block] = r × Rᵀ J[source], with R = frame[body] and r = arm[place]."""
    a, b, c = J[source]
    R, r = frame[body], arm[place]
    j = [R[k] * a + R[3 + k] * b + R[6 + k] * c for k in range(3)]
    for k in range(3):
        m, n = NEXT[k], AFTER[k]
        J[block, k] = r[m] * j[n] - r[n] * j[m]


def plain_to_panel(J, source, panels, to, frame, body, arm, place):
    """The same to a panel, whose columns have eight numbers each."""
    block = np.zeros((2, 3))
    block[0] = J[source]
    plain(block, 0, 1, frame, body, arm, place)
    panels[int(to) : int(to) + 24 : 8] = block[1]


def at(builder: Any, array: Any, row: Any, width: int, first: int = 0) -> Any:
    begin = builder.add(builder.mul(row, ir.IntType(64)(width)), ir.IntType(64)(first))
    return builder.gep(array, [begin])


def carried(builder: Any, block: Any, R: Any, body: Any, arm: Any, place: Any) -> Any:
    """r × Rᵀ J as a vector; block: where J begins."""

    def three(where: Any) -> Any:
        pointer = builder.bitcast(where, FOUR.as_pointer())
        kind = ir.FunctionType(FOUR, [pointer.type, SHORT, THREE.type, FOUR])
        load = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0v4f64")
        return builder.call(load, [pointer, SHORT(8), THREE, ZERO])

    def everywhere(number: Any) -> Any:
        one = builder.insert_element(ir.Constant(FOUR, ir.Undefined), number, SHORT(0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(SHORT, 4), [0] * 4))

    def turned(vector: Any, order: tuple) -> Any:
        return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(SHORT, 4), list(order)))

    r = three(at(builder, arm, place, 3))
    numbers = [builder.load(builder.gep(block, [SHORT(k)])) for k in range(3)]
    terms = [builder.fmul(three(at(builder, R, body, 9, 3 * k)), everywhere(numbers[k])) for k in range(3)]
    j = builder.fadd(builder.fadd(terms[0], terms[1]), terms[2])
    one, other = builder.fmul(turned(r, NEXT), turned(j, AFTER)), builder.fmul(turned(r, AFTER), turned(j, NEXT))
    return builder.fsub(one, other)


def data_of(context: Any, builder: Any, signature: Any, arguments: Any, *which: int) -> list:
    """Where the numbers of these arrays begin."""
    return [context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in which]


@intrinsic
def by_vectors(typingctx, J, source, block, frame, body, arm, place):
    def lower(context, builder, signature, arguments):
        rows, R, arms = data_of(context, builder, signature, arguments, 0, 3, 5)
        found = carried(builder, at(builder, rows, arguments[1], 3), R, arguments[4], arms, arguments[6])
        pair = builder.shuffle_vector(found, found, ir.Constant(ir.VectorType(SHORT, 2), [0, 1]))
        target = at(builder, rows, arguments[2], 3)
        builder.store(pair, builder.bitcast(target, pair.type.as_pointer()), align=8)
        builder.store(builder.extract_element(found, SHORT(2)), at(builder, rows, arguments[2], 3, 2))
        return context.get_dummy_value()

    return types.void(J, PLACE, PLACE, frame, PLACE, arm, PLACE), lower


@intrinsic
def by_vectors_to_panel(typingctx, J, source, panels, to, frame, body, arm, place):
    def lower(context, builder, signature, arguments):
        rows, columns, R, arms = data_of(context, builder, signature, arguments, 0, 2, 4, 6)
        found = carried(builder, at(builder, rows, arguments[1], 3), R, arguments[5], arms, arguments[7])
        for k in range(3):
            builder.store(builder.extract_element(found, SHORT(k)), at(builder, columns, arguments[3], 1, 8 * k))
        return context.get_dummy_value()

    return types.void(J, PLACE, panels, PLACE, frame, PLACE, arm, PLACE), lower


config: Any = numba.config
carry_block: Any = plain if config.DISABLE_JIT else by_vectors
carry_to_panel: Any = plain_to_panel if config.DISABLE_JIT else by_vectors_to_panel
