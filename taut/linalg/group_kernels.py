"""SIMD micro-kernels of grouped.py: tiles of eight rows and as many columns as a group has, 1 to 8.

    X = Σ_k w_k A_k B_kᵀ             A_k, B_k: columns of micro-panels (simd_kernels.py)      (1)
    X ← X - A Bᵀ                                                                              (2)
    y ← Kᵀ y,    y ← K y,    z ← z - L y,    y ← y - Lᵀ z    K, L: tiles                      (3)

For every number of columns there is code of its own: its sums stay in registers and none is for nothing. Without
compilation, reference_kernels.py does the same.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from taut.linalg.simd_kernels import LANES, MANY, WORD, ZERO, Lanes, repeat, sum_of_lanes

AT_ONCE = LANES if MANY else LANES // 2  # columns of (1) and (2) whose sums find room in registers
PLACE = types.uint64


def by_width(builder: Any, columns: Any, make: Any) -> None:
    """make(w) for w = columns."""
    end = builder.append_basic_block("end")
    choice = builder.switch(columns, end)
    for w in range(1, LANES + 1):
        block = builder.append_basic_block("width")
        choice.add_case(WORD(w), block)
        builder.position_at_end(block)
        make(w)
        builder.branch(end)
    builder.position_at_end(end)


def shifted(builder: Any, at: Any, k: Any) -> Any:
    """Where column k of a tile at `at` begins."""
    return builder.add(at, builder.mul(k, WORD(LANES)))


def all_columns(builder: Any, tile: Lanes, at: Any, columns: int) -> list:
    return [tile.load(builder.add(at, WORD(LANES * c))) for c in range(columns)]


def product_kernel(begins: bool) -> Any:
    """(1), alone or added to what is there."""

    @intrinsic
    def weighted_product(typingctx, panels, a, b, count, weight, at_weight, out, at, columns):
        """out[at] = Σ_k w_k A_k B_kᵀ over `count` columns of the micro-panels at a and b (1)."""

        def lower(context, builder, signature, given):
            panels, weight, out = (Lanes(context, builder, signature.args[k], given[k]) for k in (0, 4, 6))
            a, b, count, at_weight, at, columns = (given[k] for k in (1, 2, 3, 5, 7, 8))

            def make(width):
                for first in range(0, width, AT_ONCE):
                    some = range(first, min(width, first + AT_ONCE))

                    def term(k, sums, some=some):
                        column = panels.load(shifted(builder, a, k))
                        w = weight.in_all_lanes(weight.number(builder.add(at_weight, k)))
                        column, row = builder.fmul(column, w), shifted(builder, b, k)
                        numbers = [panels.in_all_lanes(panels.number(builder.add(row, WORD(c)))) for c in some]
                        return [panels.add_product(s, column, x) for s, x in zip(sums, numbers, strict=True)]

                    places = [builder.add(at, WORD(LANES * c)) for c in some]
                    start = [ZERO] * len(some) if begins else [out.load(place) for place in places]
                    for place, total in zip(places, repeat(builder, count, start, term), strict=True):
                        out.store(total, place)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(panels, PLACE, PLACE, PLACE, weight, PLACE, out, PLACE, PLACE), lower

    return weighted_product


set_product, add_product = product_kernel(True), product_kernel(False)


@intrinsic
def subtract_product(typingctx, fac, a, b, count, at, columns):
    """(2) of the tile at `at`, A and B with `count` columns at a and b."""

    def lower(context, builder, signature, given):
        fac = Lanes(context, builder, signature.args[0], given[0])
        a, b, count, at, columns = given[1:]

        def make(width):
            for first in range(0, width, AT_ONCE):
                some = range(first, min(width, first + AT_ONCE))

                def term(k, sums, some=some):
                    column, row = builder.fneg(fac.load(shifted(builder, a, k))), shifted(builder, b, k)
                    numbers = [fac.in_all_lanes(fac.number(builder.add(row, WORD(c)))) for c in some]
                    return [fac.add_product(s, column, x) for s, x in zip(sums, numbers, strict=True)]

                places = [builder.add(at, WORD(LANES * c)) for c in some]
                start = [fac.load(place) for place in places]
                for place, total in zip(places, repeat(builder, count, start, term), strict=True):
                    fac.store(total, place)

        by_width(builder, columns, make)
        return context.get_dummy_value()

    return types.void(fac, PLACE, PLACE, PLACE, PLACE, PLACE), lower


def vector_kernel(sums_lanes: bool, adds: bool) -> Any:
    """One of (3): T y or Tᵀ y of a tile T, in place of y or subtracted from z."""

    @intrinsic
    def multiply_tile(typingctx, fac, a, columns, rhs, source, target):
        """rhs[target] = T rhs[source], or Tᵀ, or what is left when it is subtracted; T: the tile at a."""

        def lower(context, builder, signature, given):
            fac, rhs = (Lanes(context, builder, signature.args[k], given[k]) for k in (0, 3))
            a, columns, source, target = (given[k] for k in (1, 2, 4, 5))

            def make(width):
                tile = all_columns(builder, fac, a, width)
                if sums_lanes:
                    y = rhs.load(source)
                    products = [builder.fmul(column, y) for column in tile]
                    total = sum_of_lanes(builder, products + [ZERO] * (LANES - width))
                else:
                    total = ZERO
                    for c, column in enumerate(tile):
                        x = rhs.in_all_lanes(rhs.number(builder.add(source, WORD(c))))
                        total = rhs.add_product(total, column, x)
                rhs.store(builder.fsub(rhs.load(target), total) if adds else total, target)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(fac, PLACE, PLACE, rhs, PLACE, PLACE), lower

    return multiply_tile


set_times, set_transposed = vector_kernel(False, False), vector_kernel(True, False)
subtract_times, subtract_transposed = vector_kernel(False, True), vector_kernel(True, True)
