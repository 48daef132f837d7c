"""Workspace of the dense kernels, the log of rows that entered and left the active set, statuses."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, structure
from .settings import RuleSettings

Array = np.ndarray

OK = 0
NOT_UNIQUE = 1  # redundant rows: λ is the smallest of many
INFEASIBLE = 2  # no motion satisfies all inequalities; the rows with λ > 0 contradict each other
NOT_CONVERGED = 4  # w or λ misses its condition by more than rounding; NaN where S or c is not finite

KEPT, ENTERED, LEFT, KEPT_OUT = range(4)


@structure
class Log(NamedTuple):
    """What happened to each row that was evaluated, in order."""

    filled: Array  # (1,) events so far; above the capacity: the last ones are missing
    ints: Array  # (capacity, 5) instant, iteration, row, active before (0 or 1), action
    numbers: Array  # (capacity, 2) λ, w


def empty_log(capacity: int) -> Log:
    """A log of at most `capacity` entries; with capacity 0 it counts none and costs nothing."""
    return Log(np.zeros(1, np.int64), np.zeros((capacity, 5), np.int64), np.zeros((capacity, 2)))


@structure
class ImpactWork(NamedTuple):
    """The rows that take part in a round of impacts."""

    rows: Array  # which rows
    S: Array  # (rows, rows) of these rows
    gamma: Array  # their rates
    lam: Array  # their multipliers
    w: Array  # their slack
    restitution: Array
    active: Array


@structure
class RuleWork(NamedTuple):
    """Workspace for one problem of at most `capacity` rows, allocated once."""

    A: Array  # scaled S
    L: Array  # factor of A + εI on the active set, rows in the order of `order`
    K: Array  # factor of A on a face, rows in the order of `rows`
    X: Array  # null vectors of a face, one per row
    G: Array  # their Gram matrix, factored
    d: Array  # scale of each row, 0 where nothing can move
    q: Array  # scaled c
    g: Array  # linear term of the proximal problem
    x: Array  # its solution
    centre: Array  # of its proximal term
    y: Array  # multipliers of a face, all rows
    s: Array  # their slack
    magnitude: Array  # sum of the sizes of the terms that make up s
    y_best: Array
    z: Array  # in the order of a factor
    r: Array  # residual on a face,
    t: Array  # its null part; then the certificate (3) of qp.py
    pivot: Array  # what is left of each diagonal as a face is factored
    rows: Array  # a face in the order of its pivots
    order: Array  # the active set in the order of its factor L
    active: Array  # the active set
    face: Array  # 1: on the face, where w = 0 is asked
    excluded: Array  # rows that may not enter until x has changed
    was_active: Array  # the active set of the last evaluation
    impact: ImpactWork
    no_log: Log  # for solves that nobody asks about
    scale: Array  # (2,) largest |q|: what the caller knows of numbers that made up c (or 0), and of this problem
    address: Array  # of each rule's `choose` (taut/compiled/function_pointers.py)
    settings: RuleSettings


def workspace(capacity: int, rules: int, settings: RuleSettings) -> RuleWork:
    """Arrays of zeros; `rules.rule_work` adds the addresses."""
    def vectors(count: int) -> list[Array]:
        return [np.zeros(capacity) for _ in range(count)]

    def lists(count: int) -> list[Array]:
        return [np.zeros(capacity, np.int64) for _ in range(count)]

    square = [np.zeros((capacity, capacity)) for _ in range(5)]
    impact = ImpactWork._make([*lists(1), np.zeros((capacity, capacity)), *vectors(4), *lists(1)])
    last = [impact, empty_log(0), np.zeros(2), np.zeros(rules, np.int64), settings]
    return RuleWork._make([*square, *vectors(13), *lists(6), *last])


@compiled
def reject_nan(m, lam, w):
    """λ, w and status for input that is not finite."""
    for i in range(m):
        lam[i] = math.nan
        w[i] = math.nan
    return NOT_CONVERGED


@compiled
def record(log, instant, iteration, row, before, after, lam, w):
    """Note whether a row was active before, and whether it is now."""
    capacity = log.ints.shape[0]
    if capacity == 0:
        return
    k = log.filled[0]
    log.filled[0] = k + 1
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
