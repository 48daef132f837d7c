"""SIMD micro-kernels of grouped.py: tiles of eight rows and as many columns as a group has, 1 to 8.

    X = Σ_k w_k A_k B_kᵀ             A_k, B_k: columns of micro-panels (simd_kernels.py)      (1)
    A = U D Uᵀ,    K = U⁻ᵀ D^-½,    X = A' U⁻ᵀ               A, A': tiles                     (2)
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

from taut.linalg.simd_kernels import LANES, MANY, REAL, SHORT, VECTOR, WORD, ZERO, Lanes, repeat, sum_of_lanes

AT_ONCE = LANES if MANY else LANES // 2  # columns of (1) whose sums fit into registers
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


def product_kernel(begins: bool, step: int) -> Any:
    """(1), alone or added to what is there, with `step` columns at a time."""

    @intrinsic
    def weighted_product(typingctx, panels, a, b, count, weight, at_weight, out, at, columns):
        """out[at] = Σ_k w_k A_k B_kᵀ over `count` times `step` columns of the micro-panels at a and b (1)."""

        def lower(context, builder, signature, arguments):
            panels, weight, out = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 4, 6))
            a, b, count, at_weight, at, columns = (arguments[k] for k in (1, 2, 3, 5, 7, 8))

            def make(width):
                for first in range(0, width, AT_ONCE):
                    some = range(first, min(width, first + AT_ONCE))
                    places = [builder.add(at, WORD(LANES * c)) for c in some]
                    start = [ZERO] * len(some) if begins else [out.load(place) for place in places]
                    term = product_term(builder, (panels, a, b), weight, at_weight, some, step)
                    for place, total in zip(places, repeat(builder, count, start, term), strict=True):
                        out.store(total, place)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(panels, PLACE, PLACE, PLACE, weight, PLACE, out, PLACE, PLACE), lower

    return weighted_product


def product_term(
    builder: Any, tiles: tuple, weight: Lanes, at_weight: Any, some: range, step: int, v: Any = None
) -> Any:
    """What (1) adds to sums for the k-th `step` columns: of the columns `some`, and of A_k v_k where v is given."""
    panels, a, b = tiles

    def term(k: Any, sums: list) -> list:
        sums = list(sums)
        for p in range(step):
            number = builder.add(builder.mul(k, WORD(step)), WORD(p))
            own, row = panels.load(shifted(builder, a, number)), shifted(builder, b, number)
            place = builder.add(at_weight, number)
            column = builder.fmul(own, weight.in_all_lanes(weight.number(place)))
            for i, c in enumerate(some):
                x = panels.in_all_lanes(panels.number(builder.add(row, WORD(c))))
                sums[i] = panels.add_product(sums[i], column, x)
            if v is not None:
                sums[-1] = panels.add_product(sums[-1], own, v.in_all_lanes(v.number(place)))
        return sums

    return term


set_product, add_product = product_kernel(True, 3), product_kernel(False, 3)
set_square, add_square = product_kernel(True, 1), product_kernel(False, 1)


def own_kernel(begins: bool) -> Any:
    """(1) with B = A, alone or added to what is there, and Σ_k A_k v_k of (4), added to what is there."""

    @intrinsic
    def own_product(typingctx, panels, runs, q, weight, out, at, columns, v, at_total):
        """out[at] = Σ_k w_k A_k A_kᵀ and out[at_total] += Σ_k A_k v_k over run q (groups.py)."""

        def lower(context, builder, signature, arguments):
            kinds = signature.args
            panels, runs, weight, out, v = (Lanes(context, builder, kinds[k], arguments[k]) for k in (0, 1, 3, 4, 7))
            at, columns, at_total = (arguments[k] for k in (5, 6, 8))
            run = builder.mul(arguments[2], WORD(4))
            numbers = [builder.zext(runs.number(builder.add(run, WORD(k))), WORD) for k in (0, 2, 3)]
            a, count, at_weight = numbers

            def make(width):
                for first in range(0, width, AT_ONCE):
                    some = range(first, min(width, first + AT_ONCE))
                    places = [builder.add(at, WORD(LANES * c)) for c in some]
                    sums = [ZERO] * len(some) if begins else [out.load(place) for place in places]
                    with_v = [out.load(at_total)] if first == 0 else []
                    term = product_term(
                        builder, (panels, a, a), weight, at_weight, some, 3, v if first == 0 else None
                    )  # fmt: skip
                    sums = repeat(builder, count, sums + with_v, term)
                    for place, found in zip(places, sums):
                        out.store(found, place)
                    if with_v:
                        out.store(sums[-1], at_total)

            by_width(builder, columns, make)
            return context.get_dummy_value()

        return types.void(panels, runs, PLACE, weight, out, PLACE, PLACE, v, PLACE), lower

    return own_product


set_own, add_own = own_kernel(True), own_kernel(False)


@intrinsic
def factor_diagonal(typingctx, source, start, fac, base, at, columns, tolerance, pivots):
    """K of the tile source[start] + fac[base] to fac[at] (2); to `pivots` the multipliers of each column, then -1 / D
    and D^-½, both zero where a pivot is up to `tolerance` times source's own."""

    def lower(context, builder, signature, arguments):
        source, fac, pivots = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 2, 7))
        start, base, at, columns, tolerance = (arguments[k] for k in (1, 3, 4, 5, 6))
        root = builder.module.declare_intrinsic("llvm.sqrt", [REAL])

        def make(width):
            own, done = all_columns(builder, source, start, width), []
            rest = [builder.fadd(*pair) for pair in zip(own, all_columns(builder, fac, base, width), strict=True)]
            for c in range(width):
                x, k = rest[c], ir.Constant(VECTOR, [float(i == c) for i in range(LANES)])
                pivot = builder.extract_element(x, SHORT(c))
                for p, (before, k_before, less) in enumerate(done):
                    entry = builder.extract_element(before, SHORT(c))
                    # a pivot waits for the quotient before it only, and not for a vector
                    pivot = fac.add_product(builder.extract_element(x, SHORT(c)), builder.fmul(entry, entry), less)
                    entry = builder.fmul(less, entry)
                    builder.store(entry, pivots.place(WORD(LANES * c + p)))
                    entry = fac.in_all_lanes(entry)
                    x, k = fac.add_product(x, before, entry), fac.add_product(k, k_before, entry)
                least = builder.fmul(tolerance, builder.extract_element(own[c], SHORT(c)))
                small = builder.fcmp_ordered("<=", pivot, least)
                one_by = builder.select(small, REAL(0.0), builder.fdiv(REAL(1.0), pivot))
                # columns that follow do not wait for its root
                less = builder.fneg(one_by)
                done.append((x, k, less))
                builder.store(less, pivots.place(WORD(LANES * LANES + c)))
                r = builder.call(root, [one_by])
                builder.store(r, pivots.place(WORD(LANES * LANES + LANES + c)))
                fac.store(builder.fmul(k, fac.in_all_lanes(r)), builder.add(at, WORD(LANES * c)))

        by_width(builder, columns, make)
        return context.get_dummy_value()

    return types.void(source, PLACE, fac, PLACE, PLACE, PLACE, types.float64, pivots), lower


@intrinsic
def eliminate(typingctx, source, start, fac, base, at, columns, pivots, out, to):
    """X of the tile source[start] + fac[base] to out[to], and L = X D^-½ to fac[at] (2)."""

    def lower(context, builder, signature, arguments):
        source, fac, pivots, out = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 2, 6, 7))
        start, base, at, columns, to = (arguments[k] for k in (1, 3, 4, 5, 8))

        def make(width):
            own, known = (all_columns(builder, *tile, width) for tile in ((source, start), (fac, base)))
            done = []
            for c in range(width):
                x = builder.fadd(own[c], known[c])
                for p, before in enumerate(done):
                    x = fac.add_product(x, before, fac.in_all_lanes(pivots.number(WORD(LANES * c + p))))
                done.append(x)
                out.store(x, builder.add(to, WORD(LANES * c)))
            for c, x in enumerate(done):
                r = fac.in_all_lanes(pivots.number(WORD(LANES * LANES + LANES + c)))
                fac.store(builder.fmul(x, r), builder.add(at, WORD(LANES * c)))

        by_width(builder, columns, make)
        return context.get_dummy_value()

    return types.void(source, PLACE, fac, PLACE, PLACE, PLACE, pivots, out, PLACE), lower


@intrinsic
def add_times(typingctx, source, start, by, rhs, at):
    """Eight numbers rhs[at] + by · source[start]."""

    def lower(context, builder, signature, arguments):
        source, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3))
        start, by, at = arguments[1], arguments[2], arguments[4]
        rhs.store(rhs.add_product(rhs.load(at), source.load(start), rhs.in_all_lanes(by)), at)
        return context.get_dummy_value()

    return types.void(source, PLACE, types.float64, rhs, PLACE), lower


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
