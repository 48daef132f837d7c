"""Known ways to step cloth, to compare with: XPBD, Provot's correction, implicit Euler.

They treat deformables alone: springs are springs to them, a hard edge a stiff one. Here are their declarations; the
algorithms, with their equations, stand in cloth/baselines, one file each, and are listed in cloth/algorithms.py.
"""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from .base import Method, Option
from .style import DASHDOT, DASHED, SOLID, Style

ELONGATION = 0.1  # above which provot cuts springs back


def refuses(model: Model) -> str | None:
    """Why these methods can not treat a model."""
    if not model.sheets:
        return "it has no cloth or solid (scene.cloth, scene.solid)"
    hard = sum(len(sheet.hard_edges) for sheet in model.sheets)
    if model.row_count > hard:
        return "it has constraints besides the hard edges of its sheets, which this method does not know"
    if len(model.touching.sheet_pairs):
        return (
            "its cloth may touch itself or other cloth (self_contact, contacts between sheets), and this method knows "
            "contacts of nodes with obstacles and balls only; use implicit_first"
        )
    if model.inequalities.restitution.any():
        return "it has restitution, but contacts beside cloth are inelastic; set it to 0"
    if (np.diff(model.inequalities.rows.ptr.astype(np.int64)) > 2).any():
        return "it has an inequality between more than two points, which this method does not know"
    if any(info.kind == "rigid" and info.motion == "free" for info in model.body_info):
        return "it has rigid bodies, which this method does not know; use implicit_first"
    return None


def refuses_hard_edges(model: Model) -> str | None:
    if any(len(sheet.hard_edges) for sheet in model.sheets):
        return "it has hard edges; give them a limit instead"
    return refuses(model)


XPBD = Method(
    name="xpbd",
    doc="Cloth: springs and edges as compliant position constraints, swept over.",
    source="Macklin, Müller, Chentanez 2016",
    style=Style("#AA4499", SOLID, "<"),
    level="position, iterated",
    order=1,
    order_position=0,
    order_velocity=0,
    step=None,
    takes_tolerance=False,
    options=(
        Option("substeps", 20, "small steps in one", minimum=1),
        Option("iterations", 1, "sweeps in each", minimum=1),
    ),
    solves="0",
    refuses=refuses,
)

PROVOT = Method(
    name="provot",
    doc="Cloth: explicit springs, then over-long ones are cut back by moving their nodes.",
    source="Provot 1995",
    style=Style("#661100", DASHDOT, ">"),
    level="position, iterated",
    order=1,
    order_position=0,
    order_velocity=0,
    step=None,
    takes_tolerance=False,
    options=(
        Option("substeps", 1, "small steps in one", minimum=1),
        Option("iterations", 20, "corrections over all springs", minimum=1),
        Option("limit", ELONGATION, "elongation above which springs are cut back", minimum=0.0),
    ),
    solves="0",
    refuses=refuses_hard_edges,
)

IMPLICIT_EULER = Method(
    name="implicit_euler",
    doc="Cloth: stiff springs, all in one linear system per step.",
    source="Baraff and Witkin 1998",
    style=Style("#44AA99", DASHED, "H"),
    level="forces",
    order=1,
    order_position=0,
    order_velocity=0,
    step=None,
    takes_tolerance=False,
    options=(
        Option("stiffness", 1e4, "of hard edges and beyond limits [N/m]", minimum=0.0),
        Option("residual", 1e-6, "of the linear system", minimum=0.0),
    ),
    refuses=refuses,
    memory=lambda model: model.x.size,
)
