"""From the blocks of J to a `Linear`: pattern, solver, order and memory, once per topology."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from taut.compiled.function_pointers import address_of
from taut.compiled.kinds import form, kind_of
from taut.errors import unknown
from taut.linalg.choose import Choice, choose
from taut.linalg.group_plan import plan_groups
from taut.linalg.groups import BEYOND, LANES, no_groups
from taut.linalg.linear import (
    BANDED,
    BICGSTAB,
    DENSE,
    FIRST_KEPT,
    MINRES,
    MOST_NULL,
    OF_NULL,
    PCG,
    PRECONDITIONERS,
    SMALL_SYSTEM,
    SOLVERS,
    SPARSE,
    Linear,
    Products,
)
from taut.linalg.multifrontal import factor_supernodes, solve_supernodes
from taut.linalg.pattern import Entries, Pattern, entries
from taut.linalg.solve import kernels_of
from taut.linalg.sparse import factor_columns, factor_pattern, symbolic
from taut.linalg.supernodes import PANEL, aligned, no_supernodes, plan_supernodes, worth_supernodes

_NAMES = {
    DENSE: "dense LDLᵀ",
    BANDED: "banded LDLᵀ",
    SPARSE: "sparse LDLᵀ",
    PCG: "preconditioned conjugate gradients",
    MINRES: "MINRES",
    BICGSTAB: "BiCGSTAB",
}


def plan(
    row_ptr: np.ndarray,
    slot: np.ndarray,
    free: np.ndarray,
    solver: str = "auto",
    preconditioner: str = "ic0",
    tolerance: float = 1e-12,
) -> Linear:
    """Analyse the pattern of A = J W Jᵀ and reserve its memory.

    row_ptr (m+1,): the blocks of row r are row_ptr[r]:row_ptr[r+1]; slot (blocks,): the slot of each
    block; free (slots,): whether the slot can move (w > 0).
    """
    if solver != "auto" and solver not in SOLVERS:
        raise unknown("solver", solver, ("auto", *SOLVERS))
    if preconditioner not in PRECONDITIONERS:
        raise unknown("preconditioner", preconditioner, PRECONDITIONERS)
    row_ptr, slot = np.asarray(row_ptr, np.int64), np.asarray(slot, np.int64)
    m = row_ptr.size - 1
    free = np.asarray(free, bool)
    pattern = Pattern(row_ptr, slot, free)
    choice = choose(pattern, solver)
    band = choice.kind in (DENSE, BANDED)
    table = entries(pattern.products, choice.perm, by_column=band)
    if band:
        store = _band(table, choice, m)
    elif choice.width.size:
        store = _grouped(pattern, table, choice)
    else:
        store = _sparse(table, m) if choice.kind == SPARSE else _full(table, m)
    rows, cols = choice.perm[table.place_row], choice.perm[table.place_col]
    products = Products(
        first=table.first.astype(np.uint64), left=table.left.astype(np.uint32), right=table.right.astype(np.uint32),
        pair_slot=slot[table.left].astype(np.uint32), pos=store.pop("pos"), mirror=store.pop("mirror"),
        entry_row=rows.astype(np.uint32), entry_col=cols.astype(np.uint32),
    )  # fmt: skip
    lin = Linear(
        kind=choice.kind,
        named=int(solver != "auto"),
        preconditioner=PRECONDITIONERS.index(preconditioner),
        tolerance=float(tolerance),
        bandwidth=choice.bandwidth,
        fill=choice.fill,
        factor_address=0,
        solve_address=0,
        supernodal_factor_address=0,
        supernodal_solve_address=0,
        products=products,
        diag=_diagonal(rows, cols, products.pos, m),
        perm=choice.perm.astype(np.uint32),
        inverse=np.zeros(m),
        weight=np.ones(m),
        y=np.zeros(m),
        work=np.zeros((OF_NULL + (MOST_NULL if m <= SMALL_SYSTEM else 0), m)),
        state=np.zeros(FIRST_KEPT + MOST_NULL, np.int64),
        **store,
    )
    return _with_addresses(lin)


def _with_addresses(lin: Linear) -> Linear:
    """The functions that this system needs, compiled, loaded or found again."""
    key = lin.kind, bool(lin.supernodes.row.size), form(lin)
    if key not in _addresses:
        _addresses[key] = _compile(lin)
    return lin._replace(**_addresses[key])


_addresses: dict[Any, dict[str, Any]] = {}  # by what the types of a system depend on


def _diagonal(rows: np.ndarray, cols: np.ndarray, pos: np.ndarray, m: int) -> np.ndarray:
    """Where the store holds the entry of each of m rows on the diagonal."""
    diag = np.empty(m, np.uint32)
    on_diagonal = rows == cols
    diag[rows[on_diagonal]] = pos[on_diagonal]
    return diag


def _compile(lin: Linear) -> dict[str, Any]:
    """Compile, or load, what all methods share; the fields of Linear that it goes to."""
    factor, solve = kernels_of(lin.kind)
    linear, vector, wide, narrow = kind_of(lin), types.float64[::1], types.uint64[::1], types.uint32[::1]
    found = {
        "factor_address": address_of(factor, types.int64, linear),
        "solve_address": address_of(solve, types.int64, linear, vector, vector),
    }
    if lin.supernodes.row.size:
        supernodes = kind_of(lin.supernodes)
        found |= {
            "supernodal_factor_address": address_of(
                factor_supernodes, types.int64, supernodes, wide, vector, vector, vector, types.float64
            ),
            "supernodal_solve_address": address_of(
                solve_supernodes, types.int64, supernodes, vector, narrow, vector, vector, vector
            ),
        }
    return found


def _band(table: Entries, choice: Choice, m: int) -> dict[str, Any]:
    """Columns of the band, banded.py (1)."""
    pos = table.place_col * (choice.bandwidth + 1) + table.place_row - table.place_col
    size = m * (choice.bandwidth + 1)
    # a tridiagonal L needs one number per row
    return _store(pos, pos, size, fac=m if choice.bandwidth == 1 else size)


def _sparse(table: Entries, m: int) -> dict[str, Any]:
    """Rows of the lower triangle, in the order of the entries themselves."""
    pos = np.arange(table.place_row.size)
    ptr = np.searchsorted(table.place_row, np.arange(m + 1))
    parent, count = symbolic(ptr, table.place_col)
    if worth_supernodes(count):
        columns = factor_columns(ptr, table.place_col, parent, count)
        supernodes = plan_supernodes(ptr, table.place_col, parent, count, *columns)
        store = _store(pos, pos, pos.size, fac=int(supernodes.table[PANEL, -1]), ptr=ptr, idx=table.place_col)
        return store | {"supernodes": supernodes}
    col_ptr, col_idx, row_ptr, row_idx = factor_pattern(ptr, table.place_col)
    store = _store(pos, pos, pos.size, fac=col_idx.size, ptr=ptr, idx=table.place_col)
    return store | {
        "col_ptr": col_ptr,
        "col_idx": col_idx,
        "row_ptr": row_ptr.astype(np.uint64),
        "row_idx": row_idx.astype(np.uint32),
        "filled": np.zeros(m, np.uint64),
    }


def _grouped(pattern: Pattern, table: Entries, choice: Choice) -> dict[str, Any]:
    """Tiles of groups of rows."""
    groups, pos = plan_groups(pattern, table, choice.perm, choice.width)
    size = int(groups.at[-1]) + LANES * int(groups.width[-1])
    return _store(pos, pos, size, fac=int(groups.ring.max()) + BEYOND) | {"groups": groups}


def _full(table: Entries, m: int) -> dict[str, Any]:
    """Full rows, columns ascending: the lower part of a row comes first, then its diagonal."""
    rows, cols = table.place_row, table.place_col
    below = rows != cols
    all_rows, all_cols = np.concatenate([rows, cols[below]]), np.concatenate([cols, rows[below]])
    order = np.lexsort((all_cols, all_rows))
    where = np.empty(order.size, np.int64)
    where[order] = np.arange(order.size)
    mirror = where[: rows.size].copy()
    mirror[below] = where[rows.size :]
    ptr = np.searchsorted(all_rows[order], np.arange(m + 1))
    return _store(where[: rows.size], mirror, order.size, fac=order.size, ptr=ptr, idx=all_cols[order])


def _store(
    pos: np.ndarray,
    mirror: np.ndarray,
    size: int,
    fac: int,
    ptr: np.ndarray | None = None,
    idx: np.ndarray | None = None,
) -> dict[str, Any]:
    """The arrays that depend on the storage; those of other storages stay empty."""
    return {
        "pos": pos.astype(np.uint32),
        "mirror": mirror.astype(np.uint32),
        "val": np.zeros(size),
        "fac": aligned(fac),
        "ptr": np.zeros(1, np.uint64) if ptr is None else ptr.astype(np.uint64),
        "idx": np.zeros(0, np.uint32) if idx is None else idx.astype(np.uint32),
        "col_ptr": np.zeros(1, np.uint64),
        "col_idx": np.zeros(0, np.uint32),
        "row_ptr": np.zeros(1, np.uint64),
        "row_idx": np.zeros(0, np.uint32),
        "filled": np.zeros(0, np.uint64),
        "supernodes": no_supernodes(),
        "groups": no_groups(),
    }


def describe(lin: Linear) -> str:
    """One sentence: which solver, why, and how large."""
    m = lin.inverse.size
    why = "as named" if lin.named else _reason(lin)
    name = "sparse Cholesky" if lin.supernodes.row.size or lin.groups.width.size else _NAMES[lin.kind]
    return f"{name}, {m} rows ({why})"


def _reason(lin: Linear) -> str:
    if lin.kind == DENSE:
        return "few rows that nearly all meet"
    if lin.kind == BANDED:
        reordered = np.any(np.diff(lin.perm.astype(np.int64)) != 1)
        return f"half bandwidth {lin.bandwidth} {'after reordering' if reordered else 'in the given order'}"
    if lin.groups.width.size:
        return f"{lin.groups.width.size} groups of rows that meet the same others, {lin.fill} entries in L"
    if lin.kind == SPARSE:
        return f"{lin.fill} entries in L, less work than a band of half width {lin.bandwidth}"
    return f"a direct factor would need {lin.fill} entries"
