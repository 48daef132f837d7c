"""Springs that are part of the implicit system of nodes, and their places in its matrix.

A spring along an edge or across a cell has the block of its two nodes in the matrix, their pair. One that reaches
over a node k, as bending springs do, would make the factor fill in much more. It is represented by two pairs that are
at least as stiff:

    (u·(x_i - x_j))² ≤ 2 (u·(x_i - x_k))² + 2 (u·(x_k - x_j))²                                   (1)

Forces are those of the spring itself; only the matrix is a bound instead of the true one.
"""

from __future__ import annotations

import numpy as np

from ..forces.spring_law import Springs, joined
from ..model.model import Model

ONE_FIXED, BOTH_FIXED, UNCOUPLED = -1, -2, -3
DIRECT = -4  # in place of a second pair


def near_springs(model: Model) -> Springs | None:
    """Springs along edges and across cells."""
    families = ("structural", "shear")
    near = [one.springs[name] for one in model.deformables for name in families if name in one.springs]
    return joined(*near) if near else None


def all_springs(model: Model) -> Springs:
    return joined(*(springs for deformable in model.deformables for springs in deformable.springs.values()))


def with_neighbours(model: Model, unknown: np.ndarray, node_pairs: np.ndarray) -> np.ndarray:
    """Couples also for near springs.

    They hardly increase the fill, and they are by far the stiffest springs: explicit steps would have to get shorter
    with the size of cells.
    """
    springs = near_springs(model)
    if springs is None:
        return node_pairs
    ends = unknown[_slots(springs)]
    return np.concatenate([node_pairs, ends[_coupled(ends, node_pairs) == UNCOUPLED]])


def place_springs(
    model: Model, unknown: np.ndarray, node_pairs: np.ndarray, edges: np.ndarray, reaching: bool
) -> tuple[Springs, np.ndarray, Springs]:
    """Springs in the system, their pairs (s, 2), and the springs that are stepped before it.

    edges (e, 2): slots. `reaching`: those that reach over a node are in the system, too (1).
    """
    springs = all_springs(model)
    slots = _slots(springs)
    node_pair = np.full((len(slots), 2), DIRECT)
    node_pair[:, 0] = _coupled(unknown[slots], node_pairs) if len(node_pairs) else UNCOUPLED
    if reaching and len(node_pairs):
        far = np.flatnonzero(node_pair[:, 0] == UNCOUPLED)
        near = near_springs(model)
        pairs = edges if near is None else np.concatenate([edges, _slots(near)])
        over = _between(slots[far], pairs, model.x)
        far, over = far[over >= 0], over[over >= 0]
        for end in range(2):
            node_pair[far, end] = _coupled(unknown[np.stack([slots[far, end], over], axis=1)], node_pairs)
    inside = node_pair[:, 0] >= ONE_FIXED

    def some(which: np.ndarray) -> Springs:
        return Springs(*(np.ascontiguousarray(column[which]) for column in springs))

    return some(inside), np.ascontiguousarray(node_pair[inside]), some(~inside)


def _slots(springs: Springs) -> np.ndarray:
    return np.stack([springs.i, springs.j], axis=1).astype(np.int64)


def _coupled(ends: np.ndarray, node_pairs: np.ndarray) -> np.ndarray:
    """(s,) the pair of two unknowns each; or ONE_FIXED, one of them, BOTH_FIXED, or UNCOUPLED."""
    ends = np.sort(ends, axis=1)
    count = int(max(node_pairs.max(initial=0), ends.max(initial=0))) + 2
    keys, first = np.unique(node_pairs.min(axis=1) * count + node_pairs.max(axis=1), return_index=True)
    key = ends[:, 0] * count + ends[:, 1]
    at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
    pair = np.where(keys[at] == key, first[at], UNCOUPLED) if len(keys) else np.full(len(ends), UNCOUPLED)
    return np.where(ends[:, 0] < 0, np.where(ends[:, 1] < 0, BOTH_FIXED, ONE_FIXED), pair)


def _between(ends: np.ndarray, pairs: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(s,) of the slots that pairs join with both ends, the one nearest to their middle; -1: there is none."""
    import scipy.sparse as sp

    size = len(x)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    joins = sp.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), (size, size))
    common = joins[ends[:, 0]].multiply(joins[ends[:, 1]]).tocoo()
    off = np.linalg.norm(x[common.col] - 0.5 * x[ends[common.row]].sum(axis=1), axis=1)
    order = np.lexsort((common.col, off, common.row))
    spring, first = np.unique(common.row[order], return_index=True)
    between = np.full(len(ends), -1)
    between[spring] = common.col[order][first]
    return between
