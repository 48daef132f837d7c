"""What each rule does at an instant, iteration by iteration.

    jonquet, exact          rounds at the instant itself
    platt, platt_improved   their set changes only between steps, so a few steps are taken from the instant on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...contact.rules import RULES, rule_work
from ...contact.snapshot import solve_by_rule, take_step
from ...contact.work import INFEASIBLE, NOT_UNIQUE, Log, empty_log
from ...simulation.session import Session
from .instant import ZERO, Problem, problem_at

STATES = ("active", "entered", "left", "tested")
STEPS = 4  # of rules that change their set between steps
TOUCHING = 1e-8  # [m] likewise of Φ, and what methods at velocity level leave


@dataclass(frozen=True)
class Iteration:
    """The set once, what it gives, and who enters or leaves because of that."""

    label: str
    names: tuple[str, ...]
    before: np.ndarray  # (n,) the set that was held
    after: np.ndarray  # (n,) the set that follows
    lam: np.ndarray
    w: np.ndarray  # J v̇ - d
    acceleration: dict[str, np.ndarray]  # v̇ of the bodies that touch
    fired: tuple[str, ...]  # the condition that moved a row, or ""
    sizes: tuple[float, float]  # of λ and w in this problem
    phi: np.ndarray | None = None  # Φ after the step, of rules that step

    def state(self, i: int) -> str:
        if self.before[i]:
            return "active" if self.after[i] else "left"
        return "entered" if self.after[i] else "tested"

    @property
    def pulling(self) -> list[str]:
        return [name for name, value in zip(self.names, self.lam) if value < -ZERO * self.sizes[0]]

    @property
    def violated(self) -> list[str]:
        return [name for name, value in zip(self.names, self.w) if value < -ZERO * self.sizes[1]]

    @property
    def deepest(self) -> tuple[str, float] | None:
        """The row most violated after the step."""
        if self.phi is None or not self.phi.min(initial=0.0) < -TOUCHING:
            return None
        i = int(np.argmin(self.phi))
        return self.names[i], float(self.phi[i])

    def verdict(self) -> str:
        """Which conditions of complementarity the answer breaks."""
        parts = [f"{_joined(self.pulling)} would pull"] if self.pulling else []
        parts += [f"{_joined(self.violated)} will be violated"] if self.violated else []
        return "; ".join(parts) or "none pulls, none will be violated"


@dataclass(frozen=True)
class Trace:
    rule: str
    iterations: tuple[Iteration, ...]
    notes: tuple[str, ...] = ()

    @property
    def answer(self) -> Iteration:
        """What the rule does at the instant itself: of rules that step it is the first step."""
        return self.iterations[0] if self.iterations[0].phi is not None else self.iterations[-1]


def _joined(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _answer(rule: str, problem: Problem, member: np.ndarray, log: Log) -> tuple[np.ndarray, np.ndarray, int]:
    """λ, w and status; `member` becomes the set."""
    n = len(problem.c)
    lam, w = np.zeros(n), np.zeros(n)
    status = solve_by_rule(RULES[rule].code, problem.S, problem.c, n, member, lam, w, rule_work(max(n, 1)), log)
    return lam, w, int(status)


def _notes(status: int) -> tuple[str, ...]:
    notes = ["redundant rows share: of the possible λ the smallest is given"] if status & NOT_UNIQUE else []
    notes += ["these inequalities contradict each other"] if status & INFEASIBLE else []
    return tuple(notes)


def _iteration(label: str, problem: Problem, before: np.ndarray, after: np.ndarray, lam: np.ndarray, w: np.ndarray,
               fired: Sequence[str], phi: np.ndarray | None = None) -> Iteration:
    a = problem.accelerations(lam)
    return Iteration(label, problem.names, before, after, lam, w, a, tuple(fired), problem.sizes, phi)


def jonquet(problem: Problem) -> Trace:
    """Rounds in which rows only enter; the log of the rule tells everything."""
    n = len(problem.c)
    log = empty_log((n + 2) * n)
    _, _, status = _answer("jonquet", problem, np.zeros(n, np.int64), log)
    iterations = []
    for k in range(int(log.filled[0]) // n):
        ints, numbers = log.ints[k * n : (k + 1) * n], log.numbers[k * n : (k + 1) * n]
        before = ints[:, 3] == 1
        after = before | (ints[:, 4] == 1)
        fired = ["w < 0" if new else "" for new in after & ~before]
        iterations.append(_iteration(f"round {k + 1}", problem, before, after, numbers[:, 0], numbers[:, 1], fired))
    return Trace("jonquet", tuple(iterations), _notes(status))


def exact(problem: Problem) -> Trace:
    """Rounds in which one row enters or some leave; λ and w of each set are those of its rows held as equalities."""
    n = len(problem.c)
    log = empty_log(20 * n * n + 200)
    member = np.zeros(n, np.int64)
    lam, w, status = _answer("exact", problem, member, log)
    count = int(log.filled[0])
    moves, last = log.ints[: count - n], log.ints[count - n : count]
    current = np.zeros(n, bool)
    iterations: list[Iteration] = []
    for iteration in np.unique(moves[:, 1]):
        taken = moves[moves[:, 1] == iteration]
        before = current.copy()
        current[taken[:, 2]] = taken[:, 4] == 1
        fired = [""] * n
        for row in taken[:, 2]:
            fired[row] = "w < 0, lowest" if current[row] else "λ < 0"
        set_lam, set_w, _ = _answer("platt", problem, before.astype(np.int64), empty_log(0))
        label = f"round {len(iterations) + 1}"
        iterations.append(_iteration(label, problem, before, current.copy(), set_lam, set_w, fired))
    before, after = last[:, 3] == 1, member == 1
    fired = ["λ = 0" if gone else "" for gone in before & ~after]
    iterations.append(_iteration(f"round {len(iterations) + 1}", problem, before, after, lam, w, fired))
    return Trace("exact", tuple(iterations), _notes(status))


def stepping(rule: str, there: Session, t: float, h: float) -> Trace:
    """Platt's rules: hold the set, step, and change it by λ and by Φ (or w)."""
    state = there.state
    problem = problem_at(there, t)
    active = problem.rows
    state.contact[:, 3] = 0.0
    state.contact[active if rule == "platt" else active[problem.c < 0.0], 3] = 1.0
    iterations = []
    notes: tuple[str, ...] = ()
    for k in range(STEPS):
        problem = problem_at(there, t + k * h, active)
        before = state.contact[problem.rows, 3] == 1.0
        lam, w, status = _answer(rule, problem, before.astype(np.int64), empty_log(0))
        notes = notes or _notes(status)
        failed = take_step(there.system, state, there.context, t + k * h, h)
        after = state.contact[problem.rows, 3] == 1.0
        phi = there.context.contact.ineq.phi[problem.rows]
        fired = [_why(rule, problem.sizes[1], *row) for row in zip(before, after, w, phi)]
        iteration = _iteration(f"step {k + 1}", problem, before, after, lam, w, fired, phi)
        iterations.append(iteration)
        settled = (before == after).all() and not (iteration.pulling or iteration.violated or iteration.deepest)
        if failed or settled:
            break
    return Trace(rule, tuple(iterations), notes)


def _why(rule: str, size: float, before: bool, after: bool, w: float, phi: float) -> str:
    """The condition that moved a row; a number that rounding alone sets apart from zero is called so."""
    if before == after:
        return ""
    if before:
        return "λ ≤ 0"
    if rule == "platt":
        return "Φ < 0" if phi < -TOUCHING else "Φ < 0 by rounding"
    return "w < 0" if w < -ZERO * size else "w < 0 by rounding"
