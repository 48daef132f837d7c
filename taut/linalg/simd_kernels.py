"""SIMD micro-kernels of multifrontal.py: products of micro-panels of eight rows.

A micro-panel holds eight rows of a matrix, column after column: entry (i, k) is its number 8 k + i. So the eight
rows of a column are one vector, and a tile of 8 × 8 entries stays in registers while the columns run by.
The compiler does not find this by itself; the kernels are therefore written for vectors. Each lane adds in an
order of its own, so the result does not depend on the width of the machine's vectors, only on whether it adds
products without rounding them first.

    T = A Bᵀ                 A, B: micro-panels                                      (1)
    X = (F - T) K,    K = L⁻ᵀ    F: the next eight columns of A, L: those of B (2)

K is kept in place of L: a product waits for nothing, where a division waits for the column before it.
Without compilation, reference_kernels.py does the same.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from taut.compiled.level import features

LANES = 8
WORD, SHORT, REAL = ir.IntType(64), ir.IntType(32), ir.DoubleType()
VECTOR = ir.VectorType(REAL, LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)
FUSED = features().get("fma", False)
MANY = features().get("avx512f", False)  # 32 registers of eight numbers, not 16 of four
PIECES = 4  # sums that run side by side, where one would wait for itself; also right-hand sides solved at once


class Lanes:
    """Vectors in memory, by the index of their first number."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any):
        self.builder = builder
        self.data = context.make_array(kind)(context, builder, array).data

    def place(self, at: Any) -> Any:
        return self.builder.gep(self.data, [at])

    def number(self, at: Any) -> Any:
        return self.builder.load(self.place(at))

    def load(self, at: Any) -> Any:
        return self.builder.load(self.builder.bitcast(self.place(at), VECTOR.as_pointer()), align=8)

    def store(self, vector: Any, at: Any) -> None:
        self.builder.store(vector, self.builder.bitcast(self.place(at), VECTOR.as_pointer()), align=8)

    def add_product(self, total: Any, x: Any, y: Any) -> Any:
        """total + x y of vectors or numbers, in one rounding where the machine has an instruction for it."""
        if FUSED:
            kind, name = total.type, "llvm.fma.f64" if total.type == REAL else f"llvm.fma.v{LANES}f64"
            fma = cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(kind, [kind] * 3), name)
            return self.builder.call(fma, [x, y, total])
        return self.builder.fadd(total, self.builder.fmul(x, y))

    def in_all_lanes(self, number: Any) -> Any:
        return in_all(self.builder, number)


def in_all(builder: Any, number: Any) -> Any:
    """A vector of one number."""
    unset = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    one = builder.insert_element(unset, number, SHORT(0))
    return builder.shuffle_vector(one, unset, ir.Constant(ir.VectorType(SHORT, LANES), [0] * LANES))


def repeat(builder: Any, count: Any, sums: list, body: Any) -> list:
    """sums = body(k, sums) for k = 0 … count - 1."""
    before = builder.block
    loop, after = builder.append_basic_block("columns"), builder.append_basic_block("after")
    builder.cbranch(builder.icmp_unsigned(">", count, WORD(0)), loop, after)
    builder.position_at_end(loop)
    k, running = builder.phi(WORD), [builder.phi(s.type) for s in sums]
    following = body(k, running)
    one_more = builder.add(k, WORD(1))
    last = builder.block
    for phi, start, end in zip([k, *running], [WORD(0), *sums], [one_more, *following], strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(end, last)
    builder.cbranch(builder.icmp_unsigned("<", one_more, count), loop, after)
    builder.position_at_end(after)
    result = [builder.phi(s.type) for s in sums]
    for phi, start, end in zip(result, sums, following, strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(end, last)
    return result


def tile_products(builder: Any, fac: Lanes, micro_panels: list, b: Any, count: Any) -> list:
    """(1) for some micro-panels A, by columns. All in registers at once if there are many: a number of B then serves
    each micro-panel, and fewer are read than multiplied."""
    at_once, wide = (len(micro_panels), LANES) if MANY else (1, LANES // 2)
    tiles: list = []
    for first in range(0, len(micro_panels), at_once):
        some, tile = micro_panels[first : first + at_once], []
        for c in range(0, LANES, wide):

            def add_column(k: Any, sums: list, some: list = some, c: int = c) -> list:
                shift = builder.mul(k, WORD(LANES))
                columns, row = [fac.load(builder.add(a, shift)) for a in some], builder.add(b, shift)
                numbers = [fac.in_all_lanes(fac.number(builder.add(row, WORD(c + d)))) for d in range(wide)]
                every = [(column, x) for x in numbers for column in columns]
                return [fac.add_product(s, *pair) for s, pair in zip(sums, every, strict=True)]

            tile += repeat(builder, count, [ZERO] * wide * len(some), add_column)
        tiles += [tile[k :: len(some)] for k in range(len(some))]
    return tiles


def some_columns(builder: Any, columns: Any, make: Any) -> None:
    """make(c) for c = 0 … columns - 1; what it makes may be used by those that follow."""
    end = builder.append_basic_block("end")
    for c in range(LANES):
        make(c)
        if c + 1 < LANES:
            more = builder.append_basic_block("column")
            builder.cbranch(builder.icmp_unsigned(">", columns, WORD(c + 1)), more, end)
            builder.position_at_end(more)
    builder.branch(end)
    builder.position_at_end(end)


def minus_tile(builder: Any, fac: Lanes, a: Any, tile: list) -> list:
    """F - T; the tile begins at a."""
    return [builder.fsub(fac.load(builder.add(a, WORD(LANES * c))), t) for c, t in enumerate(tile)]


def sum_of_lanes(builder: Any, vectors: list) -> Any:
    """One vector with the sum of each: neighbours of two vectors become one vector."""
    even, odd = (ir.Constant(ir.VectorType(SHORT, LANES), list(range(p, 2 * LANES, 2))) for p in (0, 1))
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [
            builder.fadd(builder.shuffle_vector(u, v, even), builder.shuffle_vector(u, v, odd)) for u, v in pairs
        ]
    return vectors[0]


def tile_kernels(micro_panels: int) -> tuple[Any, Any]:
    """The kernels for as many micro-panels, which begin `step` numbers apart."""

    @intrinsic
    def set_updates(typingctx, fac, a, step, b, count, updates, at, apart):
        """The tile updates[at] = - micro-panel at a × (micro-panel at b)ᵀ over `count` columns (1); others `apart`."""

        def lower(context, builder, signature, arguments):
            fac, updates = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 5))
            a, step, b, count, at, apart = (arguments[k] for k in (1, 2, 3, 4, 6, 7))
            starts = [builder.add(a, builder.mul(step, WORD(k))) for k in range(micro_panels)]
            for k, tile in enumerate(tile_products(builder, fac, starts, b, count)):
                here = builder.add(at, builder.mul(apart, WORD(k)))
                for c, x in enumerate(tile):
                    updates.store(builder.fsub(ZERO, x), builder.add(here, WORD(LANES * c)))
            return context.get_dummy_value()

        place = types.uint64
        return types.void(fac, place, place, place, place, updates, place, place), lower

    @intrinsic
    def finish_tiles(typingctx, fac, a, step, b, count, columns):
        """Columns count … count + columns - 1 of L in micro-panels from a on (2); the one at b has their K."""

        def lower(context, builder, signature, arguments):
            fac = Lanes(context, builder, signature.args[0], arguments[0])
            a, step, b, count, columns = arguments[1:]
            starts = [builder.add(a, builder.mul(step, WORD(k))) for k in range(micro_panels)]
            products = tile_products(builder, fac, starts, b, count)
            shift = builder.mul(count, WORD(LANES))
            b, starts = builder.add(b, shift), [builder.add(start, shift) for start in starts]
            left = [minus_tile(builder, fac, start, tile) for start, tile in zip(starts, products, strict=True)]

            def column(c):
                numbers = [fac.in_all_lanes(fac.number(builder.add(b, WORD(LANES * c + p)))) for p in range(c + 1)]
                for start, tile in zip(starts, left, strict=True):
                    x = ZERO
                    for p, k in enumerate(numbers):
                        x = fac.add_product(x, tile[p], k)
                    fac.store(x, builder.add(start, WORD(LANES * c)))

            some_columns(builder, columns, column)
            return context.get_dummy_value()

        place = types.uint64
        return types.void(fac, place, place, place, place, place), lower

    return set_updates, finish_tiles


set_update, finish_tile = tile_kernels(1)
set_two_updates, finish_two_tiles = tile_kernels(2)


@intrinsic
def add_lanes(typingctx, source, q, target, at, low, high):
    """target[at + i] += source[q + i] for the lanes i = low … high - 1 of a vector."""

    def lower(context, builder, signature, arguments):
        source, target = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 2))
        q, at, low, high = (arguments[k] for k in (1, 3, 4, 5))
        lane = ir.Constant(ir.VectorType(WORD, LANES), list(range(LANES)))
        low, high = (in_all(builder, x) for x in (low, high))
        meant = builder.and_(builder.icmp_unsigned(">=", lane, low), builder.icmp_unsigned("<", lane, high))
        before = target.load(at)
        target.store(builder.select(meant, builder.fadd(before, source.load(q)), before), at)
        return context.get_dummy_value()

    place = types.uint64
    return types.void(source, place, target, place, place, place), lower


@intrinsic
def prefetch(typingctx, fac, at):
    """Ask for the vector at fac[at] to come to the nearest cache but one."""

    def lower(context, builder, signature, arguments):
        where = Lanes(context, builder, signature.args[0], arguments[0]).place(arguments[1])
        where = builder.bitcast(where, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [where.type, SHORT, SHORT, SHORT])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(prefetch, [where, SHORT(0), SHORT(2), SHORT(1)])  # to read; locality 2 of 3; data
        return context.get_dummy_value()

    return types.void(fac, types.uint64), lower


@intrinsic
def factor_tile(typingctx, fac, a, count, columns, least, inverse, at):
    """K of columns count … count + columns - 1, whose rows are the micro-panel at a, and from inverse[at] on their
    1 / L_cc: 0 if dependent, with a pivot up to `least`."""

    def lower(context, builder, signature, arguments):
        fac, least, inverse = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 4, 5))
        a, count, columns, at = (arguments[k] for k in (1, 2, 3, 6))
        root = builder.module.declare_intrinsic("llvm.sqrt", [REAL])
        (tile,) = tile_products(builder, fac, [a], a, count)
        a = builder.add(a, builder.mul(count, WORD(LANES)))
        rest, done = minus_tile(builder, fac, a, tile), []

        def column(c):
            x, k = rest[c], ir.Constant(VECTOR, [float(i == c) for i in range(LANES)])
            pivot = builder.extract_element(x, SHORT(c))
            for before, k_before, less in done:
                entry = builder.extract_element(before, SHORT(c))
                # a pivot waits for the quotient before it only, and not for a vector
                pivot = fac.add_product(builder.extract_element(x, SHORT(c)), builder.fmul(entry, entry), less)
                entry = fac.in_all_lanes(builder.fmul(less, entry))
                x, k = fac.add_product(x, before, entry), fac.add_product(k, k_before, entry)
            small = builder.fcmp_ordered("<=", pivot, least.number(WORD(c)))
            one_by = builder.select(small, REAL(0.0), builder.fdiv(REAL(1.0), pivot))
            # columns that follow do not wait for its root
            done.append((x, k, builder.fneg(one_by)))
            r = builder.call(root, [one_by])
            builder.store(r, inverse.place(builder.add(at, WORD(c))))
            fac.store(builder.fmul(k, fac.in_all_lanes(r)), builder.add(a, WORD(LANES * c)))

        some_columns(builder, columns, column)
        return context.get_dummy_value()

    place = types.uint64
    return types.void(fac, place, place, place, least, inverse, place), lower


def micro_panel_times_rhs(builder: Any, fac: Lanes, a: Any, count: Any, rhs: Lanes, starts: list) -> list:
    """The micro-panel at a times `count` numbers of each right-hand side."""

    def term(k, start, total):
        column = fac.load(builder.add(a, builder.mul(k, WORD(LANES))))
        return rhs.add_product(total, column, rhs.in_all_lanes(rhs.number(builder.add(start, k))))

    pieces = PIECES // len(starts)

    def some(k, sums):
        k = builder.mul(k, WORD(pieces))
        every = [(builder.add(k, WORD(p)), start) for p in range(pieces) for start in starts]
        return [term(*ks, s) for ks, s in zip(every, sums, strict=True)]

    whole = builder.udiv(count, WORD(pieces))
    begun = builder.mul(whole, WORD(pieces))
    sums = repeat(builder, whole, [ZERO] * PIECES, some)
    if pieces == 1:
        return sums
    rest = builder.sub(count, begun)
    (first,) = repeat(builder, rest, sums[:1], lambda k, s: [term(builder.add(begun, k), starts[0], s[0])])
    return [builder.fadd(builder.fadd(first, sums[1]), builder.fadd(sums[2], sums[3]))]


def forward_kernels(rhs_count: int) -> tuple[Any, Any]:
    """The kernels of forward substitution, for `rhs_count` right-hand sides that begin `span` numbers apart."""

    @intrinsic
    def set_below(typingctx, fac, a, count, rhs, span, at):
        """Eight numbers rhs[at] = - micro-panel at a × the first `count` numbers of rhs."""

        def lower(context, builder, signature, arguments):
            fac, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3))
            a, count, span, at = (arguments[k] for k in (1, 2, 4, 5))
            starts = [builder.mul(span, WORD(r)) for r in range(rhs_count)]
            for start, x in zip(starts, micro_panel_times_rhs(builder, fac, a, count, rhs, starts), strict=True):
                rhs.store(builder.fsub(ZERO, x), builder.add(start, at))
            return context.get_dummy_value()

        place = types.uint64
        return types.void(fac, place, place, rhs, place, place), lower

    @intrinsic
    def solve_own(typingctx, fac, a, count, rhs, span):
        """Eight numbers rhs[count] = Kᵀ (rhs[count] - micro-panel at a × the numbers before them)."""

        def lower(context, builder, signature, arguments):
            fac, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 3))
            a, count, span = arguments[1], arguments[2], arguments[4]
            starts = [builder.mul(span, WORD(r)) for r in range(rhs_count)]
            products = micro_panel_times_rhs(builder, fac, a, count, rhs, starts)
            a = builder.add(a, builder.mul(count, WORD(LANES)))
            tile = minus_tile(builder, fac, a, [ZERO] * LANES)
            for start, product in zip(starts, products, strict=True):
                at = builder.add(start, count)
                x = builder.fsub(rhs.load(at), product)
                rhs.store(sum_of_lanes(builder, [builder.fmul(k, x) for k in tile]), at)
            return context.get_dummy_value()

        place = types.uint64
        return types.void(fac, place, place, rhs, place), lower

    return set_below, solve_own


def backward_kernel(rhs_count: int) -> Any:
    """The kernel of back substitution, likewise."""

    @intrinsic
    def solve_back(typingctx, fac, a, step, count, columns, rhs, span, at):
        """Eight numbers rhs[at] = K (rhs[at] - Σ (eight columns of a micro-panel)ᵀ × eight numbers after them) over
        `count` micro-panels, which begin `step` numbers apart, the first right after that of K, at a."""

        def lower(context, builder, signature, arguments):
            fac, rhs = (Lanes(context, builder, signature.args[k], arguments[k]) for k in (0, 5))
            a, step, count, columns, span, at = (arguments[k] for k in (1, 2, 3, 4, 6, 7))
            for r in range(rhs_count):
                here = builder.add(at, builder.mul(span, WORD(r)))

                def add_micro_panel(k, sums, here=here):
                    k = builder.add(k, WORD(1))
                    micro_panel = builder.add(a, builder.mul(k, step))
                    below = rhs.load(builder.add(here, builder.mul(k, WORD(LANES))))
                    vectors = [fac.load(builder.add(micro_panel, WORD(LANES * c))) for c in range(LANES)]
                    return [fac.add_product(s, v, below) for s, v in zip(sums, vectors, strict=True)]

                product = sum_of_lanes(builder, repeat(builder, count, [ZERO] * LANES, add_micro_panel))
                rhs.store(builder.fsub(rhs.load(here), product), here)

                def add_column(k, sums, here=here):
                    column = fac.load(builder.add(a, builder.mul(k, WORD(LANES))))
                    x = rhs.in_all_lanes(rhs.number(builder.add(here, k)))
                    return [fac.add_product(sums[0], column, x)]

                (x,) = repeat(builder, columns, [ZERO], add_column)
                rhs.store(x, here)
            return context.get_dummy_value()

        place = types.uint64
        return types.void(fac, place, place, place, place, rhs, place, place), lower

    return solve_back


(set_below, solve_own), solve_back = forward_kernels(1), backward_kernel(1)
(set_below_four, solve_own_four), solve_back_four = forward_kernels(PIECES), backward_kernel(PIECES)
