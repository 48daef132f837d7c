"""Sums of the slopes of stages, eight numbers at a time: what Runge-Kutta formulas with many stages spend beside them.

    y' = y + h Σ w_j k_j                                              (1)
    Σ_i (Σ_j d_j k_ji / s_i)²,    s_i = ε (1 + max(|y_i|, |y'_i|))    (2)

Arrays are read as one row of numbers, so that rows of three or four fill vectors, too; the compiler does not find this
by itself. Each lane adds in an order of its own, so the result does not depend on the width of the machine's vectors,
only on whether it adds products without rounding them first. Without compilation it is plain Python.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..compiled import inline
from ..linalg.group_kernels import by_width
from ..linalg.simd_kernels import LANES, REAL, SHORT, VECTOR, WORD, ZERO, Lanes, in_all, repeat

FLAGS = ir.VectorType(ir.IntType(1), LANES)
LANE = ir.Constant(ir.VectorType(WORD, LANES), list(range(LANES)))
SIZE = types.uint64
SIDE_BY_SIDE = 4  # vectors of (1), which do not wait for each other


class _Rows:
    """Arrays as rows of `size` numbers: the lanes of a vector beyond the last of them are left alone."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, size: Any):
        self.context, self.builder, self.signature, self.arguments = context, builder, signature, arguments
        self.size = size
        self.vectors = builder.udiv(builder.add(size, WORD(LANES - 1)), WORD(LANES))

    def lanes(self, k: int) -> Lanes:
        return Lanes(self.context, self.builder, self.signature.args[k], self.arguments[k])

    def meant(self, at: Any) -> Any:
        """Which lanes of a vector from number `at` on."""
        return self.builder.icmp_unsigned("<", LANE, in_all(self.builder, self.builder.sub(self.size, at)))

    def load(self, array: Lanes, at: Any, meant: Any) -> Any:
        pointer = self.builder.bitcast(array.place(at), VECTOR.as_pointer())
        kind = ir.FunctionType(VECTOR, [pointer.type, SHORT, FLAGS, VECTOR])
        load = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.masked.load.v{LANES}f64.p0v{LANES}f64")
        return self.builder.call(load, [pointer, SHORT(8), meant, ZERO])

    def store(self, vector: Any, array: Lanes, at: Any, meant: Any) -> None:
        pointer = self.builder.bitcast(array.place(at), VECTOR.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [VECTOR, pointer.type, SHORT, FLAGS])
        name = f"llvm.masked.store.v{LANES}f64.p0v{LANES}f64"
        store = cgutils.get_or_insert_function(self.builder.module, kind, name)
        self.builder.call(store, [vector, pointer, SHORT(8), meant])


@intrinsic
def _add_slopes(typingctx, y, h, weights, count, apart, slopes, size, out):
    def lower(context, builder, signature, arguments):
        h, count, apart, size = (arguments[k] for k in (1, 3, 4, 6))
        rows = _Rows(context, builder, signature, arguments, size)
        y, weights, slopes, out = (rows.lanes(k) for k in (0, 2, 5, 7))

        def add(vectors, first):
            places = [builder.add(first, WORD(LANES * i)) for i in range(vectors)]
            every = [(at, rows.meant(at)) for at in places]

            def term(j, sums):
                weight, begin = slopes.in_all_lanes(builder.fmul(h, weights.number(j))), builder.mul(j, apart)
                return [
                    slopes.add_product(s, rows.load(slopes, builder.add(at, begin), meant), weight)
                    for s, (at, meant) in zip(sums, every, strict=True)
                ]

            sums = repeat(builder, count, [rows.load(y, *one) for one in every], term)
            for total, one in zip(sums, every, strict=True):
                rows.store(total, out, *one)

        def many(k, none):
            add(SIDE_BY_SIDE, builder.mul(k, WORD(SIDE_BY_SIDE * LANES)))
            return none

        whole = builder.udiv(rows.vectors, WORD(SIDE_BY_SIDE))
        repeat(builder, whole, [], many)
        begun = builder.mul(whole, WORD(SIDE_BY_SIDE))
        rest, first = builder.sub(rows.vectors, begun), builder.mul(begun, WORD(LANES))
        by_width(builder, rest, lambda vectors: add(vectors, first), SIDE_BY_SIDE - 1)
        return context.get_dummy_value()

    return types.void(y, types.float64, weights, SIZE, SIZE, slopes, SIZE, out), lower


@intrinsic
def _scaled_squares(typingctx, y, new, one, two, count, apart, slopes, size, tolerance):
    def lower(context, builder, signature, arguments):
        count, apart, size, tolerance = (arguments[k] for k in (4, 5, 7, 8))
        rows = _Rows(context, builder, signature, arguments, size)
        y, new, one, two, slopes = (rows.lanes(k) for k in (0, 1, 2, 3, 6))
        ones = ir.Constant(VECTOR, [1.0] * LANES)
        absolute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.fabs.v{LANES}f64"
        )

        def block(k, totals):
            at = builder.mul(k, WORD(LANES))
            meant = rows.meant(at)
            before, after = (builder.call(absolute, [rows.load(array, at, meant)]) for array in (y, new))
            larger = builder.select(builder.fcmp_ordered(">", before, after), before, after)
            scale = builder.fmul(slopes.in_all_lanes(tolerance), builder.fadd(ones, larger))

            def term(j, sums):
                slope = rows.load(slopes, builder.add(at, builder.mul(j, apart)), meant)
                return [
                    slopes.add_product(s, slope, slopes.in_all_lanes(d.number(j)))
                    for s, d in zip(sums, (one, two), strict=True)
                ]

            sums = [builder.fdiv(s, scale) for s in repeat(builder, count, [ZERO, ZERO], term)]
            return [slopes.add_product(total, s, s) for total, s in zip(totals, sums, strict=True)]

        found = []
        for total in repeat(builder, rows.vectors, [ZERO, ZERO], block):
            number = REAL(0.0)
            for lane in range(LANES):
                number = builder.fadd(number, builder.extract_element(total, SHORT(lane)))
            found.append(number)
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.float64, 2)(y, new, one, two, SIZE, SIZE, slopes, SIZE, types.float64), lower


def _plain_sum(y, h, weights, count, apart, slopes, size, out):
    total = y.reshape(-1)[:size].copy()
    for j in range(count):
        total += h * weights[j] * slopes[j].reshape(-1)[:size]
    out.reshape(-1)[:size] = total


def _plain_squares(y, new, one, two, count, apart, slopes, size, tolerance):
    flat = np.array([slopes[j].reshape(-1)[:size] for j in range(count)])
    scale = tolerance * (1.0 + np.maximum(abs(y.reshape(-1)[:size]), abs(new.reshape(-1)[:size])))
    return tuple(float(np.sum((weights[:count] @ flat / scale) ** 2)) for weights in (one, two))


config: Any = numba.config
sum_kernel: Any = _plain_sum if config.DISABLE_JIT else _add_slopes
squares_kernel: Any = _plain_squares if config.DISABLE_JIT else _scaled_squares


@inline
def add_weighted(y, h, weights, count, rows, slopes, out):
    """(1): out = y + h Σ weights_j slopes_j, of that many rows."""
    width = y.shape[1]
    sum_kernel(y, h, weights, count, slopes.shape[1] * width, slopes, rows * width, out)


@inline
def scaled_squares(y, new, one, two, count, rows, slopes, tolerance):
    """(2) of that many rows and slopes, for two sets of weights."""
    width = y.shape[1]
    return squares_kernel(y, new, one, two, count, slopes.shape[1] * width, slopes, rows * width, tolerance)
