"""What the dense kernels work in: scratch arrays, the log of who entered and left, statuses."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taut.compiled import compiled, structure

Array = np.ndarray

OK = 0
NOT_UNIQUE = 1  # redundant rows: λ is the smallest of many
INFEASIBLE = 2  # no motion satisfies all inequalities; the rows with λ > 0 contradict each other
NOT_CONVERGED = 4  # w or λ misses its condition by more than rounding; NaN where S or c is not finite

KEPT, ENTERED, LEFT, KEPT_OUT = range(4)


@structure
class Log(NamedTuple):
    """What happened to each row that was looked at, in order."""

    count: Array  # type: ignore[assignment]  # (1,) events so far; above the capacity: the last ones are missing
    ints: Array  # (capacity, 5) instant, iteration, row, member before (0 or 1), action
    numbers: Array  # (capacity, 2) λ, w


def empty_log(capacity: int) -> Log:
    """A log with room for `capacity` events; with room for none it counts none and costs nothing."""
    return Log(np.zeros(1, np.int64), np.zeros((capacity, 5), np.int64), np.zeros((capacity, 2)))


@structure
class RuleWork(NamedTuple):
    """Room for one problem of at most `capacity` rows, allocated once."""

    A: Array  # scaled S
    L: Array  # factor of A + εI on the active set, rows in the order of `order`
    K: Array  # factor of A on a face, rows in the order of `rows`
    X: Array  # null vectors of a face, one per row
    G: Array  # their Gram matrix, factored
    sub: Array  # S of the rows that take part in a collision
    d: Array  # scale of each row, 0 where nothing can move
    q: Array  # scaled c
    g: Array  # linear term of the proximal problem
    x: Array  # its solution
    centre: Array
    y: Array  # multipliers of a face, all rows
    s: Array  # their slack
    reach: Array  # size of the terms that make up s
    best: Array
    z: Array  # in the order of a factor
    r: Array
    t: Array
    pivot: Array
    free: Array  # c of the rows that take part in a collision
    push: Array  # their multipliers
    slack: Array  # their w
    bounce: Array  # their restitution
    rows: Array  # a face in the order of its pivots
    order: Array
    inside: Array  # the active set
    face: Array
    barred: Array
    before: Array  # members at the last look
    subset: Array
    subset_member: Array
    quiet: Log  # for solves that nobody asks about
    size: Array  # (2,) largest |q|: what the caller knows of numbers that made up c (or 0), and of this problem
    address: Array  # of each rule's `choose` (taut/compiled/function_pointers.py)


def scratch(capacity: int, rules: int) -> RuleWork:
    """Empty arrays; `rules.rule_work` adds the addresses."""
    square = [np.zeros((capacity, capacity)) for _ in range(6)]
    line = [np.zeros(capacity) for _ in range(17)]
    whole = [np.zeros(capacity, np.int64) for _ in range(8)]
    return RuleWork._make([*square, *line, *whole, empty_log(0), np.zeros(2), np.zeros(rules, np.int64)])


@compiled
def give_up(m, lam, w):
    """The answer to numbers that are none."""
    for i in range(m):
        lam[i] = math.nan
        w[i] = math.nan
    return NOT_CONVERGED


@compiled
def record(log, instant, iteration, row, before, after, lam, w):
    """Note that a row, a member before or not, is a member now or not."""
    capacity = log.ints.shape[0]
    if capacity == 0:
        return
    k = log.count[0]
    log.count[0] = k + 1
    if k >= capacity:
        return
    log.ints[k, 0] = instant
    log.ints[k, 1] = iteration
    log.ints[k, 2] = row
    log.ints[k, 3] = before
    if after != 0:
        log.ints[k, 4] = KEPT if before != 0 else ENTERED
    else:
        log.ints[k, 4] = LEFT if before != 0 else KEPT_OUT
    log.numbers[k, 0] = lam
    log.numbers[k, 1] = w


@compiled
def record_all(log, instant, iteration, m, before, after, lam, w):
    """One event per row."""
    if log.ints.shape[0] > 0:
        for i in range(m):
            record(log, instant, iteration, i, before[i], after[i], lam[i], w[i])
