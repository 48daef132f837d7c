"""Reference version of simd_kernels.py and group_kernels.py in plain Python: the same sums in the same order, each
product rounded."""

from __future__ import annotations

import numpy as np

LANES, PIECES = 8, 4


def micro_panel_at(fac: np.ndarray, a: int, count: int) -> np.ndarray:
    """A view (columns, lanes)."""
    return fac[int(a) : int(a) + LANES * int(count)].reshape(int(count), LANES)


def lanes_at(rhs: np.ndarray, at: int) -> np.ndarray:
    return rhs[int(at) : int(at) + LANES]


def tile_product(fac: np.ndarray, a: int, b: int, count: int) -> np.ndarray:
    """(1) of simd_kernels.py, by columns."""
    tile = np.zeros((LANES, LANES))
    for column, row in zip(micro_panel_at(fac, a, count), micro_panel_at(fac, b, count), strict=True):
        tile += row[:, None] * column
    return tile


def sum_of_lanes(vectors: np.ndarray) -> np.ndarray:
    while vectors.shape[1] > 1:
        vectors = vectors[:, ::2] + vectors[:, 1::2]
    return vectors[:, 0]


def tile_kernels(micro_panels: int) -> tuple:
    """As in simd_kernels.py."""

    def set_updates(fac, a, step, b, count, updates, at, apart):
        for k in range(micro_panels):
            tile = micro_panel_at(updates, int(at) + k * int(apart), LANES)
            tile[:] = 0.0 - tile_product(fac, int(a) + k * int(step), b, count)

    def finish_tiles(fac, a, step, b, count, columns):
        known = micro_panel_at(fac, b + LANES * count, columns)
        for k in range(micro_panels):
            start = int(a) + k * int(step)
            left = micro_panel_at(fac, start + LANES * int(count), columns)
            rest = left - tile_product(fac, start, b, count)[: int(columns)]
            for c in range(int(columns)):
                left[c] = 0.0
                for p in range(c + 1):
                    left[c] += rest[p] * known[c, p]

    return set_updates, finish_tiles


set_update, finish_tile = tile_kernels(1)
set_two_updates, finish_two_tiles = tile_kernels(2)


def add_lanes(source, q, target, at, low, high):
    lanes_at(target, at)[int(low) : int(high)] += lanes_at(source, q)[int(low) : int(high)]


def prefetch(fac, at):
    pass


def factor_tile(fac, a, count, columns, least, inverse, at):
    kept = micro_panel_at(fac, a + LANES * count, columns)
    x = kept - tile_product(fac, a, a, count)[: int(columns)]
    k, one_by = np.eye(LANES), np.zeros(LANES)
    for c in range(int(columns)):
        for p in range(c):
            entry = one_by[p] * x[p, c]
            x[c] -= x[p] * entry
            k[c] -= k[p] * entry
        one_by[c] = 0.0 if x[c, c] <= least[c] else 1.0 / x[c, c]
        r = np.sqrt(one_by[c])
        inverse[int(at) + c] = r
        kept[c] = k[c] * r


def micro_panel_times_rhs(fac: np.ndarray, a: int, count: int, rhs: np.ndarray, pieces: int) -> np.ndarray:
    terms = micro_panel_at(fac, a, count) * rhs[: int(count), None]
    whole = int(count) // pieces * pieces
    sums = np.zeros((PIECES, LANES))
    for k in range(0, whole, pieces):
        sums[:pieces] += terms[k : k + pieces]
    for k in range(whole, int(count)):
        sums[0] += terms[k]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def rhs_kernels(rhs_count: int) -> tuple:
    """As in simd_kernels.py."""
    pieces = PIECES // rhs_count

    def of(rhs, span, r):
        return rhs[r * int(span) :]

    def set_below(fac, a, count, rhs, span, at):
        for r in range(rhs_count):
            b = of(rhs, span, r)
            lanes_at(b, at)[:] = 0.0 - micro_panel_times_rhs(fac, a, count, b, pieces)

    def solve_own(fac, a, count, rhs, span):
        tile = micro_panel_at(fac, a + LANES * count, LANES)
        for r in range(rhs_count):
            b = of(rhs, span, r)
            x = lanes_at(b, count) - micro_panel_times_rhs(fac, a, count, b, pieces)
            lanes_at(b, count)[:] = sum_of_lanes(tile * x)

    def solve_back(fac, a, step, count, columns, rhs, span, at):
        for r in range(rhs_count):
            b = of(rhs, span, r)
            sums = np.zeros((LANES, LANES))
            for k in range(1, int(count) + 1):
                sums += micro_panel_at(fac, int(a) + k * int(step), LANES) * lanes_at(b, int(at) + LANES * k)
            x = lanes_at(b, at) - sum_of_lanes(sums)
            total = np.zeros(LANES)
            for c, column in enumerate(micro_panel_at(fac, a, columns)):
                total += column * x[c]
            lanes_at(b, at)[:] = total

    return set_below, solve_own, solve_back


set_below, solve_own, solve_back = rhs_kernels(1)
set_below_four, solve_own_four, solve_back_four = rhs_kernels(PIECES)


def product_kernels(step: int) -> tuple:
    """(1) of group_kernels.py."""

    def added(panels, a, b, count, weight, at_weight, out, at, columns):
        tile, first, size = micro_panel_at(out, at, columns), int(at_weight), step * int(count)
        w = weight.reshape(-1)[first : first + size]
        for column, row, x in zip(micro_panel_at(panels, a, size), micro_panel_at(panels, b, size), w, strict=True):
            tile += (column * x) * row[: int(columns), None]

    def alone(panels, a, b, count, weight, at_weight, out, at, columns):
        micro_panel_at(out, at, columns)[:] = 0.0
        added(panels, a, b, count, weight, at_weight, out, at, columns)

    return alone, added


set_product, add_product = product_kernels(3)
set_square, add_square = product_kernels(1)


def add_own(panels, runs, q, weight, out, at, columns, v, at_total):
    a, _, count, first = (int(number) for number in runs[int(q)])
    add_product(panels, a, a, count, weight, first, out, at, columns)
    for column, x in zip(micro_panel_at(panels, a, 3 * count), v.reshape(-1)[first : first + 3 * count], strict=True):
        lanes_at(out, at_total)[:] += column * x


def set_own(panels, runs, q, weight, out, at, columns, v, at_total):
    micro_panel_at(out, at, columns)[:] = 0.0
    add_own(panels, runs, q, weight, out, at, columns, v, at_total)


def factor_diagonal(source, start, fac, base, at, columns, tolerance, pivots):
    """(2) of group_kernels.py."""
    own = micro_panel_at(source, start, columns)
    x, k = own + micro_panel_at(fac, base, columns), np.eye(LANES)
    least, kept = tolerance * np.diagonal(own), micro_panel_at(fac, at, columns)
    for c in range(int(columns)):
        for p in range(c):
            entry = pivots[LANES * c + p] = pivots[LANES * LANES + p] * x[p, c]
            x[c] += x[p] * entry
            k[c] += k[p] * entry
        one_by = 0.0 if x[c, c] <= least[c] else 1.0 / x[c, c]
        pivots[LANES * LANES + c] = -one_by
        pivots[LANES * LANES + LANES + c] = r = np.sqrt(one_by)
        kept[c] = k[c] * r


def eliminate(source, start, fac, base, at, columns, pivots, out, to):
    x = micro_panel_at(source, start, columns) + micro_panel_at(fac, base, columns)
    for c in range(int(columns)):
        for p in range(c):
            x[c] += x[p] * pivots[LANES * c + p]
    micro_panel_at(out, to, columns)[:] = x
    micro_panel_at(fac, at, columns)[:] = x * lanes_at(pivots, LANES * LANES + LANES)[: int(columns), None]


def add_times(source, start, by, rhs, at):
    lanes_at(rhs, at)[:] += by * lanes_at(source, start)


def times_lower(fac, at, k, columns):
    kept, known = micro_panel_at(fac, at, columns), micro_panel_at(fac, k, columns)
    tile = kept.copy()
    for c, out in enumerate(kept):
        out[:] = 0.0
        for p in range(c, int(columns)):
            out += tile[p] * known[p, c]


def tile_times(fac, a, columns, y):
    sums = np.zeros((2, LANES))
    for c, column in enumerate(micro_panel_at(fac, a, columns)):
        sums[c % 2] += column * y[c]
    return sums[0] + sums[1]


def tile_transposed(fac, a, columns, y):
    tile = np.zeros((LANES, LANES))
    tile[: int(columns)] = micro_panel_at(fac, a, columns)
    return sum_of_lanes(tile * y)


def subtract_times(fac, a, columns, rhs, source, target):
    lanes_at(rhs, target)[:] -= tile_times(fac, a, columns, lanes_at(rhs, source))


def subtract_transposed(fac, a, columns, rhs, source, target):
    lanes_at(rhs, target)[:] -= tile_transposed(fac, a, columns, lanes_at(rhs, source))


def times_square(fac, a, columns, rhs, source, target):
    lanes_at(rhs, target)[:] = tile_times(fac, a, columns, tile_transposed(fac, a, columns, lanes_at(rhs, source)))


def add_panel_transposed(panels, a, slots, rhs, at, weight, scale, v, at_v):
    size, first = 3 * int(slots), int(at_v)
    total = scale * tile_transposed(panels, a, size, lanes_at(rhs, at))[:size]
    v.reshape(-1)[first : first + size] += total * weight.reshape(-1)[first : first + size]
