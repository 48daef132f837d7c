"""SIMD micro-kernels of grouped.py: tiles of eight rows and as many columns as a group has, 1 to 8.

    X = Σ_k w_k A_k B_kᵀ             A_k, B_k: columns of micro-panels (simd_kernels.py)      (1)
    -A Bᵀ,    X - A Bᵀ                                                                        (2)
    z - T y,    z - Tᵀ y,    T Tᵀ y                          T: a tile                        (3)
    Σ_k A_k v_k,    v_k + s w_k A_kᵀ y                       A_k: columns of a micro-panel    (4)

For every number of columns there is code of its own: its sums stay in registers and none is for nothing. Without
compilation, reference_kernels.py does the same.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from taut.linalg.simd_kernels import LANES, MANY, REAL, SHORT, WORD, ZERO, Lanes, repeat, sum_of_lanes

AT_ONCE = LANES if MANY else LANES // 2  # columns of (1) and (2) whose sums fit into registers
PLACE = types.uint64


def by_width(builder: Any, columns: Any, make: Any, most: int = LANES) -> None:
    """make(w) for w = columns."""
    end = builder.append_basic_block("end")
    choice = builder.switch(columns, end)
    for w in range(1, most + 1):
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

        def lower(context, builder, signature, arguments):
            panels, weight, out = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 4, 6))
            a, b, count, at_weight, at, columns = (arguments[k] for k in (1, 2, 3, 5, 7, 8))

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


def tile_product_kernel(begins: bool) -> Any:
    """(2), alone or from what is there."""

    @intrinsic
    def tile_product(typingctx, fac, a, b, count, at, columns):
        """The tile fac[at] = -A Bᵀ or fac[at] - A Bᵀ, A and B with `count` columns at a and b of fac (2)."""

        def lower(context, builder, signature, arguments):
            fac = Lanes(context, builder, signature.args[0], arguments[0])
            a, b, count, at, columns = arguments[1:]

            def make(width):
                for first in range(0, width, AT_ONCE):
                    some = range(first, min(width, first + AT_ONCE))

                    def term(k, sums, some=some):
                        column, row = builder.fneg(fac.load(shifted(builder, a, k))), shifted(builder, b, k)
                        numbers = [fac.in_all_lanes(fac.number(builder.add(row, WORD(c)))) for c in some]
                        return [fac.add_product(s, column, x) for s, x in zip(sums, numbers, strict=True)]

                    places = [builder.add(at, WORD(LANES * c)) for c in some]
                    start = [ZERO] * len(some) if begins else [fac.load(place) for place in places]
                    for place, total in zip(places, repeat(builder, count, start, term), strict=True):
                        fac.store(total, place)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(fac, PLACE, PLACE, PLACE, PLACE, PLACE), lower

    return tile_product


negate_product, subtract_product = tile_product_kernel(True), tile_product_kernel(False)


def tile_kernel(adds: bool) -> Any:
    """The tile fac[at] = source[start], or added to it."""

    @intrinsic
    def take_tile(typingctx, source, start, fac, at, columns):
        def lower(context, builder, signature, arguments):
            source, fac = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 2))
            start, at, columns = (arguments[k] for k in (1, 3, 4))

            def make(width):
                for c, column in enumerate(all_columns(builder, source, start, width)):
                    place = builder.add(at, WORD(LANES * c))
                    fac.store(builder.fadd(column, fac.load(place)) if adds else column, place)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(source, PLACE, fac, PLACE, PLACE), lower

    return take_tile


copy_tile, add_tile = tile_kernel(False), tile_kernel(True)


@intrinsic
def times_upper(typingctx, source, start, fac, k, at, columns):
    """The tile fac[at] = source[start] K, K: the upper triangle in the tile at k of fac."""

    def lower(context, builder, signature, arguments):
        source, fac = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 2))
        start, k, at, columns = (arguments[p] for p in (1, 3, 4, 5))

        def make(width):
            tile = all_columns(builder, source, start, width)
            for c in range(width):
                x = ZERO
                for p in range(c + 1):
                    entry = fac.number(builder.add(k, WORD(LANES * c + p)))
                    x = fac.add_product(x, tile[p], fac.in_all_lanes(entry))
                fac.store(x, builder.add(at, WORD(LANES * c)))

        by_width(builder, columns, make)
        return context.get_dummy_value()

    return types.void(source, PLACE, fac, PLACE, PLACE, PLACE), lower


@intrinsic
def times_lower(typingctx, fac, at, k, columns):
    """The tile fac[at] times Kᵀ, K: the upper triangle in the tile at k."""

    def lower(context, builder, signature, arguments):
        fac = Lanes(context, builder, signature.args[0], arguments[0])
        at, k, columns = arguments[1:]

        def make(width):
            tile = all_columns(builder, fac, at, width)
            for c in range(width):
                x = ZERO
                for p in range(c, width):
                    entry = fac.number(builder.add(k, WORD(LANES * p + c)))
                    x = fac.add_product(x, tile[p], fac.in_all_lanes(entry))
                fac.store(x, builder.add(at, WORD(LANES * c)))

        by_width(builder, columns, make)
        return context.get_dummy_value()

    return types.void(fac, PLACE, PLACE, PLACE), lower


def tile_times(builder: Any, tile: list, y: Any, fac: Lanes) -> Any:
    """Σ_c T_c y_c, in two sums that run side by side."""
    sums = [ZERO, ZERO]
    for c, column in enumerate(tile):
        x = builder.shuffle_vector(y, y, ir.Constant(ir.VectorType(SHORT, LANES), [c] * LANES))
        sums[c % 2] = fac.add_product(sums[c % 2], column, x)
    return builder.fadd(*sums)


def tile_transposed(builder: Any, tile: list, y: Any) -> Any:
    """Tᵀ y"""
    return sum_of_lanes(builder, [builder.fmul(column, y) for column in tile] + [ZERO] * (LANES - len(tile)))


def vector_kernel(apply: Any) -> Any:
    """The kernel rhs[target] = apply(builder, fac, tile, y, z) of a tile at a and y = rhs[source], z = rhs[target]."""

    @intrinsic
    def apply_tile(typingctx, fac, a, columns, rhs, source, target):
        def lower(context, builder, signature, arguments):
            fac, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3))
            a, columns, source, target = (arguments[k] for k in (1, 2, 4, 5))

            def make(width):
                tile = all_columns(builder, fac, a, width)
                rhs.store(apply(builder, fac, tile, rhs.load(source), rhs.load(target)), target)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(fac, PLACE, PLACE, rhs, PLACE, PLACE), lower

    return apply_tile


# (3)
subtract_times = vector_kernel(lambda builder, fac, tile, y, z: builder.fsub(z, tile_times(builder, tile, y, fac)))
subtract_transposed = vector_kernel(lambda builder, fac, tile, y, z: builder.fsub(z, tile_transposed(builder, tile, y)))
times_square = vector_kernel(
    lambda builder, fac, tile, y, z: tile_times(builder, tile, tile_transposed(builder, tile, y), fac)
)


def panel_kernel(begins: bool) -> Any:
    """Σ_k A_k v_k of (4), alone or added to what is there."""

    @intrinsic
    def times_panel(typingctx, panels, a, count, v, at_v, rhs, at):
        """Eight numbers rhs[at] from `count` columns of the micro-panel at a and as many numbers v."""

        def lower(context, builder, signature, arguments):
            panels, v, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3, 5))
            a, count, at_v, at = (arguments[k] for k in (1, 2, 4, 6))

            def term(k, sums):
                x = v.in_all_lanes(v.number(builder.add(at_v, k)))
                return [panels.add_product(sums[0], panels.load(shifted(builder, a, k)), x)]

            (total,) = repeat(builder, count, [ZERO if begins else rhs.load(at)], term)
            rhs.store(total, at)
            return context.get_dummy_value()

        return types.void(panels, PLACE, PLACE, v, PLACE, rhs, PLACE), lower

    return times_panel


set_panel_times, add_panel_times = panel_kernel(True), panel_kernel(False)


@intrinsic
def add_panel_transposed(typingctx, panels, a, slots, rhs, at, weight, scale, v, at_v):
    """v_k + s w_k A_kᵀ y of (4) for the columns of one or two neighbouring slots; y: eight numbers rhs[at]."""

    def lower(context, builder, signature, arguments):
        panels, rhs, weight, v = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3, 5, 7))
        a, slots, at, scale, at_v = (arguments[k] for k in (1, 2, 4, 6, 8))

        def make(some):
            size = 3 * some
            few = ir.VectorType(REAL, size)
            total = tile_transposed(builder, all_columns(builder, panels, a, size), rhs.load(at))
            total = builder.fmul(total, panels.in_all_lanes(scale))
            total = builder.shuffle_vector(total, total, ir.Constant(ir.VectorType(SHORT, size), list(range(size))))
            target, known = (builder.bitcast(array.place(at_v), few.as_pointer()) for array in (v, weight))
            change = builder.fmul(total, builder.load(known, align=8))
            builder.store(builder.fadd(builder.load(target, align=8), change), target, align=8)

        by_width(builder, slots, make, 2)
        return context.get_dummy_value()

    return types.void(panels, PLACE, PLACE, rhs, PLACE, weight, types.float64, v, PLACE), lower
