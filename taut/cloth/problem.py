"""The `par` of the steps in step.py, and how it is made."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..forces.spring_law import Springs
from ..geometry.ccd_filter import Motion
from ..geometry.ccd_filter import motion as motion_room
from ..geometry.proximity import Rows as Near
from ..geometry.proximity import Surface, surface
from ..geometry.proximity import rows as near_room
from ..model.arrays import Inequalities
from ..model.dispatch import FORCE_CODES
from ..model.model import Model
from .contact_rows import no_rows
from .contact_schur import Bonds, bonds_for
from .length_projection import Lengths, lengths_of
from .rigid_coupling import NONE
from .unknowns import Net, net_of

SUBSTEPS, SYMPLECTIC, ADAMS_BASHFORTH = range(3)
UNCONSTRAINED = ("substeps", "symplectic", "adams_bashforth")
LONGEST_SUBSTEP = 0.7  # of 1/ω: springs are followed, not only kept from blowing up


@structure
class Held(NamedTuple):
    numbers: np.ndarray  # par of methods/base.py
    net: Net
    ineq: Inequalities
    lengths: Lengths  # of hard edges, for fast projection
    bonds: Bonds  # of rows between sheets
    surface: Surface  # triangles that may touch each other; those of one sheet with no thickness where none may
    near: Near
    motion: Motion
    has_facets: int
    limited: int  # 1: some edges have a limit
    paper: int  # 1: limits by the rule of the paper
    rule: int  # index into UNCONSTRAINED
    projects: int  # 1: fast projection
    frequency: float  # largest ω of springs [1/s], over 1 for one substep
    edge: float  # mean length of edges [m]
    extent: float  # largest side of the smallest sheet [m]
    unit: float  # mean mass of a node [kg]
    w: np.ndarray  # (slots,) inverse masses, zero for rotations
    w_alone: np.ndarray  # (slots,) the same, zero for pinned nodes: these can not be stopped on their way alone
    adrift: np.ndarray  # (unknowns,) of which part that nothing holds each is, -1: of none
    centre: np.ndarray  # (sheets, 4) room
    holding: np.ndarray  # (.,) T, λ and F of all edges, rows and pins: what these have in common
    thickness: np.ndarray  # (sheets, sheets) at which distance two sheets touch [m]
    friction: np.ndarray  # (sheets, sheets)
    apart: np.ndarray  # (facet rows,) distance that a row asks for in this step [m]
    fraction: np.ndarray  # (slots,)
    safe: np.ndarray  # (slots, 3) the last positions known to be free of crossings
    lag: np.ndarray  # (slots, 3) by how much the speed of springs in small steps differs from x' - x over h
    memory: np.ndarray  # (3 + 3 slots,) size of pieces, how many until it may grow; h of the last one and its forces
    ball: float  # smallest radius of a ball [m]; inf: there is none
    kept: np.ndarray  # (2, 3, slots, 3) x, v and lags at the start of a step, and of a piece
    kept_quat: np.ndarray  # (2, rigid, 4) orientations there,
    kept_holding: np.ndarray  # (2, .) `holding`,
    kept_memory: np.ndarray  # (2, .) and `memory`
    begun: np.ndarray  # (.,) `holding` where Newton's method began,
    begun_at: np.ndarray  # (slots, 3) and x
    wander: np.ndarray  # (3, slots, 3) x, v and slow forces of the unconstrained part
    pieces: np.ndarray  # (1,) in how many pieces the last step was taken
    in_rounds: np.ndarray  # (1,) 1: friction goes by the λ of the round before (newton.py)
    whole: np.ndarray  # (1,) the step that is being taken [s], whatever its pieces
    free: Springs  # springs that are stepped explicitly; their damping is that of small steps
    damping: np.ndarray  # (springs,) c of these as the scene has it
    batch: np.ndarray  # batches of springs in system.forces, which stay out of work.f,
    members: np.ndarray  # and how many each has


def held(model: Model, state, par: np.ndarray, named: dict[str, float], projects: bool) -> Held:
    rule = int(named["unconstrained"])
    reaching = rule == SUBSTEPS and not model.is_unilateral
    net, free = net_of(model, state.memory, reaching, lean=reaching and projects)
    edges, slots = len(net.edges.i), len(model.x)
    first = edges + len(net.solids.phi) + 3 * len(net.joins.row)
    of, thickness, friction = _surface(model)
    has_facets = len(model.touching.sheet_pairs) > 0
    lengths = np.concatenate([sheet.lengths for sheet in model.sheets])
    w = model.bodies.w[:, 0].copy()
    w[model.bodies.spin_slot] = 0.0
    w_alone = w.copy()
    w_alone[[*net.joins.node[:, 1], *net.joins.to[:, 1]]] = 0.0
    near = near_room(of)
    pairs = np.stack([net.edges.i, net.edges.j], axis=1)
    batch = np.flatnonzero(model.forces.code == FORCE_CODES["springs"])
    tables = Held(
        numbers=par, net=net, ineq=model.inequalities, lengths=lengths_of(pairs[: edges * projects], w),
        bonds=bonds_for(0, False, 0), surface=of, near=near, motion=motion_room(of),
        has_facets=int(has_facets), limited=int(net.edges.one_sided.any()),
        paper=int(any(sheet.limit_rule == "paper" for sheet in model.sheets)),
        rule=rule, projects=int(projects), frequency=frequency(w, free),
        edge=float(lengths.mean()), extent=_extent(model), unit=float(net.mass[: len(net.nodes.order), 0].mean()), w=w,
        w_alone=w_alone, adrift=_adrift(model, net), centre=np.zeros((len(model.sheets), 4)),
        holding=state.memory[:first],
        thickness=thickness, friction=friction, apart=np.zeros(0), fraction=np.ones(slots), safe=np.zeros((slots, 3)),
        lag=state.memory[first : first + 3 * slots].reshape(slots, 3), memory=state.memory[first + 3 * slots :],
        ball=float(model.touching.ball_radius.min(initial=np.inf)), kept=np.zeros((2, 3, slots, 3)),
        kept_quat=np.zeros((2, *model.quat.shape)), kept_holding=np.zeros((2, first)),
        kept_memory=np.zeros((2, 3 + 3 * slots)),
        begun=np.zeros(first), begun_at=np.zeros((slots, 3)),
        wander=np.zeros((3, slots, 3)), pieces=np.ones(1, np.int64), in_rounds=np.zeros(1, np.int64), whole=np.ones(1),
        free=free, damping=free.damping.copy(), batch=batch, members=model.forces.members[batch].copy(),
    )  # fmt: skip
    return with_room(tables)


def with_room(tables: Held) -> Held:
    """Facet rows for as many as the search can find."""
    room = len(tables.near.distance) if tables.has_facets else 0
    bonds = bonds_for(room, bool(tables.friction.any()), len(tables.net.nodes.order))
    return tables._replace(net=tables.net._replace(facets=no_rows(room)), apart=np.zeros(room), bonds=bonds)


def more_room(tables: Held) -> Held:
    """More room for what lies near: the last search did not fit."""
    of = tables.surface
    return with_room(tables._replace(near=near_room(of, tables.near), motion=motion_room(of, tables.motion)))


def _extent(model: Model) -> float:
    return float(min(np.ptp(model.x[sheet.slots], axis=0).max() for sheet in model.sheets))


def _adrift(model: Model, net: Net) -> np.ndarray:
    """Sheets, and what is pinned to them, are one part, called by the number of its first sheet."""
    count = len(model.sheets)
    part = np.full(len(model.x), count)
    for k, sheet in enumerate(model.sheets):
        part[sheet.slots] = k
    for a, b in zip(net.joins.node[:, 1], net.joins.to[:, 1]):
        first, second = sorted((part[a], part[b]))
        part[part == second if second < count else b] = first
    for sheet in model.sheets:
        if (net.unknown[sheet.slots] < 0).any():
            part[part == part[sheet.slots[0]]] = count
    return np.where(part < count, part, NONE)[net.slot]


def _surface(model: Model) -> tuple[Surface, np.ndarray, np.ndarray]:
    sheets, touching = model.sheets, model.touching
    count = len(sheets)
    allowed, friction = np.zeros((count, count), bool), np.zeros((count, count))
    for (i, j), rough in zip(touching.sheet_pairs, touching.pair_friction):
        allowed[i, j] = allowed[j, i] = True
        friction[i, j] = friction[j, i] = rough
    sheet_of = np.zeros(len(model.x), np.int64)
    for k, sheet in enumerate(sheets):
        sheet_of[sheet.slots] = k
    own = np.array([sheet.thickness for sheet in sheets])
    triangles = np.concatenate([sheet.triangles for sheet in sheets])
    of = surface(triangles, sheet_of, allowed)
    return of, 0.5 * (own[:, None] + own), friction


def frequency(w: np.ndarray, springs: Springs) -> float:
    """An upper bound of what springs and their dampers bring into motion [1/s]: ω² ≤ max 2 w Σ k, and 2 w Σ c."""
    stiff, damped = np.zeros(len(w)), np.zeros(len(w))
    for end in (springs.i, springs.j):
        np.add.at(stiff, end, np.maximum(springs.k, springs.k2))
        np.add.at(damped, end, springs.damping)
    return max(sqrt(2.0 * float((w * stiff).max())), 2.0 * float((w * damped).max()))
