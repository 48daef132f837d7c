"""Words for tests of the dense contact kernels: an answer of a rule, and random problems."""

from functools import cache

import numpy as np

from taut.compiled import entry
from taut.contact.rules import RULES, after, choose, rule_work
from taut.contact.work import empty_log


@entry
def choose_only(rule, S, c, m, member, lam, w, work, log, instant):
    return choose(rule, S, c, m, member, lam, w, work, log, instant)


@entry
def after_only(rule, m, member, lam, w, phi, tolerance, log, instant):
    after(rule, m, member, lam, w, phi, tolerance, log, instant)


@cache
def room(capacity=90):
    return rule_work(capacity)


class Answer:
    def __init__(self, rule, S, c, member=(), log=None):
        """Solve in arrays larger than needed, whose other entries must not matter."""
        m, cap = len(c), len(c) + 3
        S_, c_, self.lam, self.w = np.full((cap, cap), np.nan), *np.full((3, cap), np.nan)
        S_[:m, :m], c_[:m] = S, c
        self.set = np.zeros(cap, np.int64)
        self.set[list(member)] = 1
        log = empty_log(0) if log is None else log
        self.status = choose_only(RULES[rule].code, S_, c_, m, self.set, self.lam, self.w, room(), log, 0)
        self.lam, self.w, self.set = self.lam[:m], self.w[:m], self.set[:m]

    @property
    def members(self):
        return set(np.flatnonzero(self.set).tolist())

    def next_set(self, rule, phi=None, tolerance=0.0):
        member = self.set.copy()
        phi = np.zeros(member.size) if phi is None else np.array(phi, float)
        after_only(RULES[rule].code, member.size, member, self.lam, self.w, phi, tolerance, empty_log(0), 0)
        return set(np.flatnonzero(member).tolist())


def problem(rng, dependent=False):
    """2 to 8 active rows that act on 6 unknowns: J, the inverse masses, the free accelerations."""
    m = rng.integers(2, 9)
    J = rng.normal(size=(m, 6))
    for i in range(1, m if dependent else 0):
        kind = rng.integers(6)
        if kind < 2:
            J[i] = (kind + 1) * J[rng.integers(i)]
        elif kind == 2:
            J[i] = J[rng.integers(i)] + J[rng.integers(i)]
    return J, np.exp(rng.normal(size=6)), rng.normal(size=6)
