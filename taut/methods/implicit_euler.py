"""Implicit Euler on stiff springs (equations: cloth/baselines/implicit_euler.py)."""

from __future__ import annotations

from .base import Option
from .cloth_baselines import baseline
from .style import DASHED, Style

METHOD = baseline(
    name="implicit_euler", source="Baraff and Witkin 1998", style=Style("#44AA99", DASHED, "H"),
    doc="Cloth: stiff springs, all in one linear system per step.",
    level="forces", solves="1",
    options=(Option("stiffness", 1e4, "of hard edges and beyond limits [N/m]", minimum=0.0),
             Option("residual", 1e-6, "of the linear system", minimum=0.0)),
    memory=lambda model: model.x.size,
)  # fmt: skip
