"""Provot's correction of over-long springs (equations: cloth/baselines/provot.py)."""

from __future__ import annotations

from ..model.model import Model
from .base import Option
from .cloth_baselines import baseline
from .cloth_baselines import refuses as refuses_any
from .style import DASHDOT, Style

ELONGATION = 0.1  # above which springs are cut back


def refuses(model: Model) -> str | None:
    if any(len(deformable.hard_edges) for deformable in model.deformables):
        return "it has hard edges; give them a limit instead"
    return refuses_any(model)


METHOD = baseline(
    name="provot", source="Provot 1995", style=Style("#661100", DASHDOT, ">"),
    doc="Cloth: explicit springs, then over-long ones are cut back by moving their nodes.",
    options=(Option("substeps", 1, "small steps in one", minimum=1),
             Option("iterations", 20, "corrections over all springs", minimum=1),
             Option("limit", ELONGATION, "elongation above which springs are cut back", minimum=0.0)),
    refuses=refuses,
)  # fmt: skip
