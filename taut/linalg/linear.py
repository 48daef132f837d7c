"""What a planned linear system holds: one named tuple of arrays, the same type for every solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import structure
from taut.linalg.groups import Groups
from taut.linalg.supernodes import Supernodes

SOLVERS = ("dense", "banded", "sparse", "pcg", "minres", "bicgstab")
DENSE, BANDED, SPARSE, PCG, MINRES, BICGSTAB = range(len(SOLVERS))
PRECONDITIONERS = ("jacobi", "ic0")
JACOBI, IC0 = range(len(PRECONDITIONERS))

# What `Linear.state` remembers between factor and solve.
DEPENDENT, ITERATIONS, DOUBTFUL, FAILED, ASYMMETRIC, NULLITY, LEFT_OUT, KEPT_OUT, FIRST_KEPT = range(9)
OF_SINGULAR = 11  # work vectors before this one belong to iterative solvers, the next to singular.py,
OF_PAIRS = 14  # and from here on to Ja W Jbᵀ where the solver at hand is a direct one (methods/full_newton.py)
OF_NULL = 20  # a basis of the null space (singular.py), of small systems
MOST_NULL, SMALL_SYSTEM = 8, 2_000
CLOSED = 1e40  # a diagonal without a λ


@structure
class Products(NamedTuple):
    """Which products of blocks make up A: entry e of its lower triangle is the sum over first[e]:first[e+1]."""

    first: np.ndarray  # (e+1,) uint64
    left: np.ndarray  # (p,) uint32: block of the entry's row
    right: np.ndarray  # (p,) uint32: block of the entry's column
    pair_slot: np.ndarray  # (p,) uint32: the slot both blocks belong to
    pos: np.ndarray  # (e,) uint32: the entry's place in val
    mirror: np.ndarray  # (e,) uint32: its transpose's place in val; equal to pos where only half is stored
    entry_row: np.ndarray  # (e,) uint32
    entry_col: np.ndarray  # (e,) uint32


@structure
class Linear(NamedTuple):
    """A = J W Jᵀ with a fixed pattern. A `row` is the user's, a `place` is where an order puts it.

    Only `val`, the factor and the work arrays change after `plan`. Arrays that a solver does not
    need are short, never of another type, so that one compiled step serves every solver.
    """

    kind: int  # index into SOLVERS
    named: int  # 1: the user named the solver; 0: choose picked it
    preconditioner: int  # index into PRECONDITIONERS
    tolerance: float  # iterative solvers: |b - Aλ| <= tolerance |b|, each row in its own scale
    bandwidth: int  # half bandwidth of the order in use (at least 1)
    fill: int  # predicted entries of the sparse factor; 0: not needed for the choice
    factor_address: int  # taut/compiled/function_pointers.py
    solve_address: int
    supernodal_factor_address: int  # 0: no supernodes
    supernodal_solve_address: int

    products: Products
    val: np.ndarray  # (.,) float64: A, never overwritten by factor
    diag: np.ndarray  # (m,) uint32: place in val of the diagonal, by row
    perm: np.ndarray  # (m,) uint32: the row at each place
    ptr: np.ndarray  # (m+1,) uint64: rows of val (sparse: lower triangle by place; iterative: all by row)
    idx: np.ndarray  # (.,) uint32: their columns

    fac: np.ndarray  # (.,) float64: unit lower triangle L; with supernodes or groups, panels of the Cholesky factor
    inverse: np.ndarray  # (m,) float64: 1/D by place, with supernodes or groups 1/√D; 0 at a dependent pivot
    col_ptr: np.ndarray  # (m+1,) uint64: columns of the sparse L
    col_idx: np.ndarray  # (.,) uint32
    row_ptr: np.ndarray  # (m+1,) uint64: rows of the sparse L
    row_idx: np.ndarray  # (.,) uint32
    filled: np.ndarray  # (m,) uint64: how much of each column of L is known so far
    supernodes: Supernodes  # where the columns of L are long (supernodes.py), in place of the five arrays above
    groups: Groups  # where rows come in groups, as those of joints do (groups.py), in place of them as well

    weight: np.ndarray  # (m,) float64: the metric of singular systems (singular.py)
    y: np.ndarray  # (m,) float64
    work: np.ndarray  # (OF_NULL, m) float64, of small systems MOST_NULL more
    state: np.ndarray  # (FIRST_KEPT + MOST_NULL,) int64: dependent pivots, iterations of the last solve, 1: rank in
    # doubt, 1: S b failed, 1: A is not symmetric, dimension of the null space where its basis is known, 1: the factor
    # has no dependent rows, how many rows are kept out of A, and which
