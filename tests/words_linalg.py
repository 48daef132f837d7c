"""Words for tests of taut.linalg: systems of many structures, their dense twins, and the answer that is right."""

import numpy as np

from taut.compiled import entry
from taut.linalg import assemble, factor, plan, solve


@entry
def assemble_factor_solve(lin, J, w, b, out):
    assemble(lin, J, w)
    dependent = factor(lin)
    return dependent, solve(lin, b, out)


class System:
    """Blocks of J, and the dense twin of A."""

    def __init__(self, row_ptr, slot, J, w):
        self.row_ptr, self.slot, self.J, self.w = row_ptr, slot, J, w
        self.m = len(row_ptr) - 1
        self.A = self.product(J, J)

    def product(self, Ja, Jb):
        return self.matrix(Ja) @ (self.w.ravel()[:, None] * self.matrix(Jb).T)

    def matrix(self, J):
        dense = np.zeros((self.m, self.w.size))
        for r in range(self.m):
            for k in range(self.row_ptr[r], self.row_ptr[r + 1]):
                dense[r, 3 * self.slot[k] : 3 * self.slot[k] + 3] += J[k]
        return dense

    def plan(self, solver="auto", **options):
        return plan(self.row_ptr, self.slot, self.w[:, 0] > 0, solver, **options)

    def solve(self, solver, b, **options):
        out = np.zeros(self.m)
        lin = self.plan(solver, **options)
        dependent, status = assemble_factor_solve(lin, self.J, self.w, b, out)
        return out, dependent, status

    def repeat_rows(self, rows, scale=1.0):
        """The same system with copies of some rows, multiplied by `scale`, at its end."""
        blocks = [np.arange(self.row_ptr[r], self.row_ptr[r + 1]) for r in rows]
        extra = np.concatenate(blocks)
        sizes = np.append(np.diff(self.row_ptr), [b.size for b in blocks])
        return System(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([self.slot, self.slot[extra]]),
            np.concatenate([self.J, scale * self.J[extra]]),
            self.w,
        )


def scattered(seed=0, m=20, slots=15, blocks=2):
    rng = np.random.default_rng(seed)
    slot = np.concatenate([rng.choice(slots, blocks, replace=False) for _ in range(m)])
    w = rng.uniform(0.5, 2.0, (slots, 3))
    w[slots // 2] = 0.0  # a fixed slot
    J = rng.normal(size=(m * blocks, 3))
    return System(np.arange(0, m * blocks + 1, blocks), slot, J, w)


def chain(n, straight=False, closed=False, seed=0):
    rng = np.random.default_rng(seed)
    u = np.tile([1.0, 0.0, 0.0], (n, 1)) if straight else rng.normal(size=(n, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    w = np.ones((n + 1, 3))
    w[0] = 0.0
    if closed:
        w[-1] = 0.0
    slot = np.stack([np.arange(n), np.arange(n) + 1], 1).ravel()
    return System(np.arange(0, 2 * n + 1, 2), slot, np.stack([u, -u], 1).reshape(-1, 3), w)


def cloth_blocks(n, seed=0):
    node = np.arange(n * n).reshape(n, n)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], 1)
    along = np.stack([node[:-1].ravel(), node[1:].ravel()], 1)
    edges = np.concatenate([across, along])
    x = np.stack([np.repeat(np.arange(n), n), np.tile(np.arange(n), n), np.zeros(n * n)], 1).astype(float)
    x[:, 2] = 0.3 * np.random.default_rng(seed).normal(size=n * n)
    u = x[edges[:, 0]] - x[edges[:, 1]]
    u /= np.linalg.norm(u, axis=1)[:, None]
    w = np.ones((n * n, 3))
    w[[0, n - 1]] = 0.0
    return np.arange(0, 2 * len(edges) + 1, 2), edges.ravel(), np.stack([u, -u], 1).reshape(-1, 3), w


def cloth(n):
    return System(*cloth_blocks(n))


def shortest_least_squares(A, b):
    """Equations (1) and (2) of singular.py, by numpy."""
    a = np.diag(A)
    g = np.exp(np.log(a[a > 0]).mean()) if a.any() else 1.0
    e = np.where(a > 0, np.clip(g, a / 100, a * 100), g)
    s = 1 / np.sqrt(e)
    return s * np.linalg.lstsq(s[:, None] * A * s, s * b, rcond=1e-11)[0]


def relative(x, expected):
    return np.abs(x - expected).max() / (np.abs(expected).max() or 1.0)


def fix_slots(system, slots):
    w = system.w.copy()
    w[slots] = 0.0
    return System(system.row_ptr, system.slot, system.J, w)
