"""Springs in two phases, soft up to an elongation and stiff beyond, with damping along the spring.

    T = k (l - L) + (k₂ - k) max(0, l - L₂) + c u·(v_i - v_j),    L₂ = (1 + e₂) L      (1)
    f_i = -T u,   f_j = +T u,    u = (x_i - x_j) / l                                    (2)
    V = k (l - L)²/2 + (k₂ - k) max(0, l - L₂)²/2                                       (3)
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from ..compiled.vectors import add_pair
from ..errors import TautError

Array = np.ndarray


@structure
class Springs(NamedTuple):
    """Arrays over springs. k2 is used beyond the elongation elongation2 (inf: one phase only)."""

    i: Array  # uint32
    j: Array  # uint32
    rest: Array  # L [m]
    k: Array  # [N/m]; inf is a rod where a method can hold one (xpbd)
    damping: Array  # c [N s/m]
    k2: Array  # k₂ [N/m]
    elongation2: Array  # e₂, 0.1 for ten percent


def springs(
    pairs: Array,
    x: Array,
    k: float | Array,
    damping: float | Array = 0.0,
    k2: float | Array = 0.0,
    elongation2: float | Array = np.inf,
    rest: Array | None = None,
) -> Springs:
    """Springs between the pairs (s, 2) of nodes, by default as long as they are in x."""
    pairs = np.asarray(pairs)
    lengths = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) if rest is None else np.asarray(rest, float)
    filled = [np.array(np.broadcast_to(np.asarray(value, float), lengths.shape)) for value in
              (k, damping, k2, elongation2)]
    for what, values in (("rest length", lengths - 1e-300), ("stiffness", filled[0]), ("damping", filled[1]),
                         ("second stiffness", filled[2]), ("elongation limit", filled[3])):
        wrong = np.flatnonzero(~(values >= 0.0))
        if wrong.size:
            a, b = pairs[wrong[0]]
            raise TautError(f"spring {wrong[0]} between nodes {a} and {b}: its {what} is {values[wrong[0]]:.3g}; "
                            "it must be positive" + ("." if what == "rest length" else " or zero."))
    return Springs(pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32), lengths, *filled)


def joined(*families: Springs) -> Springs:
    """All springs of the families; of none, no springs."""
    if not families:
        nodes = np.zeros(0, np.uint32)
        return Springs(nodes, nodes, *(np.zeros(0) for _ in Springs._fields[2:]))
    return Springs(*(np.concatenate(arrays) for arrays in zip(*families)))


@inline
def tension(l, rest, k, k2, elongation2):
    """T of (1) without damping."""
    pull = k * (l - rest)
    over = l - (1.0 + elongation2) * rest
    if over > 0.0:
        pull += (k2 - k) * over  # (1)
    return pull


@compiled
def add_forces(s, x, v, f):
    """f += forces of the springs; returns V."""
    energy = 0.0
    for q in range(s.rest.shape[0]):
        i = s.i[q]
        j = s.j[q]
        d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        inverse = 1.0 / l if l > 0.0 else 0.0
        rate = (d0 * (v[i, 0] - v[j, 0]) + d1 * (v[i, 1] - v[j, 1]) + d2 * (v[i, 2] - v[j, 2])) * inverse
        pull = tension(l, s.rest[q], s.k[q], s.k2[q], s.elongation2[q]) + s.damping[q] * rate  # (1)
        pull *= inverse
        add_pair(f, i, j, -pull, -pull, d0, d1, d2)  # (2)
        over = max(0.0, l - (1.0 + s.elongation2[q]) * s.rest[q])
        energy += 0.5 * s.k[q] * (l - s.rest[q]) ** 2
        if over > 0.0:
            energy += 0.5 * (s.k2[q] - s.k[q]) * over * over  # (3)
    return energy


@entry
def spring_energy(s, x, v, f):
    """V, with the forces added to f."""
    return add_forces(s, x, v, f)


@entry
def elongations(s, x, out):
    """out = l/L - 1 of each spring."""
    for q in range(out.shape[0]):
        i = s.i[q]
        j = s.j[q]
        d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        out[q] = sqrt(d0 * d0 + d1 * d1 + d2 * d2) / s.rest[q] - 1.0


@entry
def colour(i, j, used, out):
    """Give each spring the first colour that no other spring on its two nodes has; returns how many there are.

    `used` (n,) uint64 holds zeros; a node can have 63 springs, beyond that -1 is returned.
    """
    colours = 0
    for q in range(out.shape[0]):
        taken = used[i[q]] | used[j[q]]
        c = 0
        while c < 64 and (taken >> np.uint64(c)) & np.uint64(1):
            c += 1
        if c >= 63:
            return -1
        bit = np.uint64(1) << np.uint64(c)
        used[i[q]] |= bit
        used[j[q]] |= bit
        out[q] = c
        colours = max(colours, c + 1)
    return colours


def in_colours(s: Springs, n: int) -> Springs:
    """The springs sorted by colour: no two neighbours in the list share a node, save where a colour ends.

    A sweep over them (xpbd, provot) has no preferred direction then, and the processor need not wait for
    one spring before it begins the next.
    """
    colours = np.zeros(s.rest.size, np.int64)
    if colour(s.i, s.j, np.zeros(n, np.uint64), colours) < 0:
        raise TautError("a node has 63 springs or more; its springs can not be sorted into colours.")
    order = np.argsort(colours, kind="stable")
    return Springs(*(array[order] for array in s))
