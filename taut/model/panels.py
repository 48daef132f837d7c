"""J straight into the panels that rows are eliminated from (linalg/groups.py), where a step needs it nowhere else.

Of the blocks on rotations, r × Rᵀ J of a place's own (constraint_rows.py), nothing is written to J then, and of those
that never change nothing is read but once. Long chains are bound by memory.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ..compiled import inline, on_demand
from ..constraints import ALL
from ..linalg import Linear
from .arrays import Batches, Panels, Places, Rows
from .carry_kernel import carry_block, carry_to_panel

KINDS = tuple(ALL.values())
_pairs, _fours = np.zeros((0, 2), np.uint32), np.zeros((0, 4), np.uint32)
NONE = Panels(_fours, _pairs, _pairs, _fours, _pairs, np.zeros(1, np.int64))


def panels_of(linear: Linear, batches: Batches, rows: Rows, places: Places) -> Panels:
    """Where the numbers of each panel come from; nothing where J is eliminated otherwise, or no body turns."""
    groups, index = linear.groups, np.uint32
    if not groups.complete or not len(rows.spin_block):
        return NONE
    count, blocks = len(groups.width), int(rows.ptr[-1])
    taken = groups.taken.astype(np.int64)
    source, to = groups.source.astype(np.int64), groups.to.astype(np.int64)
    group = np.repeat(np.arange(count), taken[:, 2] - taken[:, 0])
    is_added = np.arange(len(source)) >= taken[group, 1]
    spin = np.maximum(source - blocks, 0)
    place = rows.spin_place[spin].astype(np.int64)
    turns = (source >= blocks) & ~is_added
    still = _constant_blocks(batches, rows)[np.minimum(source, blocks - 1)] & (source < blocks)
    still &= ~np.isin(to, to[is_added])
    columns = {
        "constant": (still, (source, to)), "block": (~still & ~turns & ~is_added, (source, to)),
        "carried": (turns, (rows.spin_from[spin].astype(np.int64), places.body[place].astype(np.int64), place, to)),
        "added": (is_added, (source, to)),
    }  # fmt: skip
    lists, first = {}, []
    for name, (chosen, values) in columns.items():
        table = np.stack(values, axis=1)[chosen]
        order = np.lexsort((place[chosen], group[chosen]))  # what belongs to a place is read once for all its blocks
        lists[name] = table[order].astype(index)
        first.append(np.searchsorted(group[chosen][order], np.arange(count + 1)))
    return Panels(np.stack(first, axis=1).astype(index), **lists, primed=np.zeros(1, np.int64))


def _constant_blocks(batches: Batches, rows: Rows) -> np.ndarray:
    """Which blocks of points never change."""
    constant = np.array([KINDS[code].constant_jacobian for code in batches.code], bool)
    width = np.diff(rows.ptr).astype(np.int64)
    batch = np.searchsorted(batches.at[:, 3], np.arange(len(width)), "right") - 1
    return np.repeat(constant[batch], width)


@inline
def takes_panels(system):
    """Whether `constrain_by_panels` treats the system: no row is changed or left out on the way, and none needs γ."""
    return (
        system.panels.first.shape[0] > 0 and system.selective == 0 and system.nonholonomic == 0
        and system.switches.equalities.row.shape[0] == 0
    )  # fmt: skip


@on_demand(types.none)
def fill_panels(system, J, begin, end):
    """The panels of groups begin … end - 1 from the blocks of points in J."""
    own, places, panels = system.panels, system.places, system.linear.groups.panels
    first, spins = own.first, system.rows.spin_block
    if own.primed[0] == 0:
        take(panels, J, own.constant, first[begin, 0], first[end, 0])
    take(panels, J, own.block, first[begin, 1], first[end, 1])
    for k in range(np.uint64(first[begin, 2]), np.uint64(first[end, 2])):
        block, body, place, to = own.carried[k, 0], own.carried[k, 1], own.carried[k, 2], own.carried[k, 3]
        carry_to_panel(J, block, panels, to, places.frame, body, places.arm, place)
    for k in range(first[begin, 3], first[end, 3]):
        block, to = own.added[k, 0], own.added[k, 1]
        if block >= spins[0]:
            turn, place = block - spins[0], system.rows.spin_place[block - spins[0]]
            carry_block(J, system.rows.spin_from[turn], block, places.frame, places.body[place], places.arm, place)
        for c in range(3):
            panels[to + 8 * c] += J[block, c]


@inline
def take(panels, J, pairs, begin, end):
    """Blocks of J as they are."""
    for k in range(np.uint64(begin), np.uint64(end)):
        block, to = pairs[k, 0], pairs[k, 1]
        panels[to], panels[to + np.uint64(8)], panels[to + np.uint64(16)] = J[block, 0], J[block, 1], J[block, 2]
