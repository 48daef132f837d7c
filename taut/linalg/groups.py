"""Groups of rows: where the numbers of a factor by tiles lie (group_plan.py makes it).

Rows of A that meet the same rows, as those of one joint between two bodies do, form a group, of at most eight. L has
a tile for each pair of groups that meet in it, zeros included: one row in each of eight lanes, and one column for each
row of the earlier group,

    entry (i, j) of a tile is its number 8 j + i                                        (1)

A's tiles lie in `val` as those of L do in `fac`, tile after tile by columns of groups, the one on the diagonal first.
J is kept by groups as well: three columns of eight rows for each slot that a group touches, its panel. Slots that are
neighbours are so in the panels, too, and make a run:

    tile of A = Σ_runs P_i W P_jᵀ                                                       (2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import structure

LANES = 8
AT_ONCE = 64  # groups that a sweep treats together: what they need fits a cache near the processor
BEYOND = LANES * LANES  # zeros after the last tile, which vectors may read


@structure
class Groups(NamedTuple):
    """g groups in the order of elimination, with t tiles."""

    width: np.ndarray  # (g,) uint32: rows
    place: np.ndarray  # (g,) uint32: place of the first row
    first: np.ndarray  # (g+1,) uint32: its tiles, the diagonal one first
    at: np.ndarray  # (t,) uint32: where the tile begins
    below: np.ndarray  # (t,) uint32: the group of the tile's rows
    base: np.ndarray  # (t,) uint32: where the sum of products that go to the tile begins: itself, or zeros
    update: np.ndarray  # (g+1,) uint32: products of tiles below each group:
    updates: np.ndarray  # (., 6) uint32: where both begin, from the diagonal tile on, and the tile they go to; its
    # columns; 1: the first there; where they go in a sweep that does not keep the factor
    ring: np.ndarray  # (g,) uint32: where the diagonal tile is in such a sweep: few places, in turns
    run: np.ndarray  # (t+1,) uint32: runs of each tile,
    runs: np.ndarray  # (r, 4) uint32: their panels of rows and of columns, how many slots, 3 · the first slot
    piece_ptr: np.ndarray  # (g+1,) uint32: pieces piece_ptr[j] : piece_ptr[j + 1] of group j's panels,
    pieces: np.ndarray  # (., 3) uint32: where they begin, one or two neighbouring slots, 3 · the first slot
    reach: np.ndarray  # (g,) uint32: of how many groups panels enter the tiles of this group and of those before
    taken: np.ndarray  # (g, 3) uint32: of what follows, blocks that go to the group's panels, those that are added to
    # others, and the end
    source: np.ndarray  # (.,) uint32: blocks of J, and
    to: np.ndarray  # (.,) uint32: where they go in `panels`
    complete: int  # 1: every block on a slot that moves stands in a panel, so that P v is J v
    lane: np.ndarray  # (m,) uint32: where a row lies in `rhs`
    panels: np.ndarray  # (.,) float64: P
    rhs: np.ndarray  # (8g,) float64
    column: np.ndarray  # (.,) float64: A's tiles of two groups, where A is not kept; then eight numbers of each group
    # that a sweep treats together, its right-hand side
    pivots: np.ndarray  # (80,) float64: of a group, the multipliers of each column, then -1 / D and D^-½


def no_groups() -> Groups:
    """For systems that are factored otherwise."""
    short, none = np.zeros(0, np.uint32), np.zeros(0)
    return Groups(
        width=short, place=short, first=short, at=short, below=short, base=short, update=short,
        updates=np.zeros((0, 6), np.uint32), ring=short, run=short, runs=np.zeros((0, 4), np.uint32),
        piece_ptr=short, pieces=np.zeros((0, 3), np.uint32), reach=short, taken=np.zeros((0, 3), np.uint32),
        source=short, to=short, complete=0, lane=short, panels=none, rhs=none, column=none, pivots=none,
    )  # fmt: skip
