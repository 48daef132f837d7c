"""Many springs between the same points, each in two phases: soft up to an elongation and stiff beyond.

    T = k (l - L) + (k₂ - k) max(0, l - L₂) + c u·(v_i - v_j),    L₂ = (1 + e₂) L       (1)
    f_i = -T u,   f_j = T u,     l = |x_i - x_j|, u = (x_i - x_j) / l                   (2)
    V = k (l - L)²/2 + (k₂ - k) max(0, l - L₂)²/2                                       (3)
    power = -c (u·(v_i - v_j))²                                                         (4)

One record holds a whole family of a cloth's springs, so that a sheet of 80,000 springs is one force.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..arguments import example
from ..compiled import compiled
from ..compiled.vectors import add_pair
from ..constraints.base import Argument, Layout
from .base import ForceKind, coupled_by
from .spring_law import tension


def pack(positions, arguments):
    pairs = numbered_points(arguments["pairs"], 2, "pairs", len(positions))
    twice = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if twice.size:
        raise ValueError(f"pairs[{twice[0]}] joins point {pairs[twice[0], 0]} with itself; join two points")
    second_k, second_e = arguments["second_stiffness"], arguments["second_elongation"]
    if (second_k is None) != (second_e is None):
        raise ValueError("it has only one of second_stiffness and second_elongation; give both or neither")
    length = arguments["length"]
    if length is None:
        length = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    columns = {
        "stiffness": arguments["stiffness"],
        "length": length,
        "damping": arguments["damping"],
        "second_stiffness": (0.0,) if second_k is None else second_k,
        "second_elongation": (np.inf,) if second_e is None else second_e,
    }
    table = np.empty((len(pairs), len(columns)))
    for c, (name, column) in enumerate(columns.items()):
        values = np.asarray(column, float)
        if values.size not in (1, len(pairs)):
            raise ValueError(f"{name} has {values.size} numbers for {len(pairs)} pairs; give one for all, or one each")
        least = values.min()
        if least < 0.0 or (name == "length" and least == 0.0):
            raise ValueError(f"{name} holds {least:g}; it must be positive" + ("" if name == "length" else " or zero"))
        table[:, c] = values
    return Layout(tuple(table.ravel().tolist()), (len(positions), len(pairs), *pairs.ravel().tolist()))


def is_damped(arguments):
    return any(arguments["damping"])


def numbered_points(given, width, name, count):
    """Point numbers as rows of `width`, each from 0 to count - 1."""
    numbers = np.asarray(given, float)
    if numbers.size == 0 or numbers.size % width:
        raise ValueError(f"{name} holds {numbers.size} numbers; give {width} for each")
    whole = numbers.astype(np.int64)
    wrong = np.flatnonzero((whole != numbers) | (whole < 0) | (whole >= count))
    if wrong.size:
        raise ValueError(f"{name} holds {numbers[wrong[0]]:g}; its points are numbered from 0 to {count - 1}")
    return whole.reshape(-1, width)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    energy = 0.0
    nodes, pair, m = at.idx, at.ints, at.p
    for _ in range(n):
        points, count = ints[pair], ints[pair + 1]
        pair += 2
        for _ in range(count):
            i = idx[nodes + ints[pair]]
            j = idx[nodes + ints[pair + 1]]
            d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
            inverse = 1.0 / l if l > 0.0 else 0.0
            rate = (d0 * (v[i, 0] - v[j, 0]) + d1 * (v[i, 1] - v[j, 1]) + d2 * (v[i, 2] - v[j, 2])) * inverse
            k, rest, k2, elongation2 = p[m], p[m + 1], p[m + 3], p[m + 4]
            pull = (tension(l, rest, k, k2, elongation2) + p[m + 2] * rate) * inverse  # (1)
            add_pair(f, i, j, -pull, -pull, d0, d1, d2)  # (2)
            energy += 0.5 * k * (l - rest) ** 2  # (3)
            power[0] -= p[m + 2] * rate * rate  # (4)
            over = l - (1.0 + elongation2) * rest
            if over > 0.0:
                energy += 0.5 * (k2 - k) * over * over
            pair += 2
            m += 5
        nodes += points
    return energy


KIND = ForceKind(
    name="springs",
    doc="Many springs between the listed points, each pair of which is given by two numbers.",
    points=None,
    arguments=(
        Argument("pairs", "numbers", "two point numbers per spring, counted from 0", required=True),
        Argument("stiffness", "numbers", "stiffness [N/m], one for all or one each", required=True),
        Argument("length", "numbers", "rest lengths [m]; default: as at the start"),
        Argument("damping", "numbers", "damping along the springs [N s/m]", default=(0.0,)),
        Argument("second_stiffness", "numbers", "stiffness beyond second_elongation [N/m]"),
        Argument("second_elongation", "numbers", "elongation from which on it acts, 0.1 for ten percent"),
    ),
    pack=pack, kernel=kernel, may_be_infinite=True, feels_velocity=is_damped, works=is_damped, coupled=coupled_by(2),
    is_spring=True,
    synonyms=("bushing",),
    examples=(
        example("p", "q", "box", pairs=[(0, 1), (1, 2)], stiffness=[7, 8], length=[0.5, 1.0], damping=[0.3],
                second_stiffness=[90], second_elongation=[0.01]),
    ),
)  # fmt: skip
