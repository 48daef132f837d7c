"""XPBD: springs and edges as compliant position constraints (equations: cloth/baselines/xpbd.py)."""

from __future__ import annotations

from .base import Option
from .cloth_baselines import baseline
from .style import SOLID, Style

METHOD = baseline(
    name="xpbd", source="Macklin, Müller, Chentanez 2016", style=Style("#AA4499", SOLID, "<"),
    doc="Cloth: springs and edges as compliant position constraints, swept over.",
    options=(Option("substeps", 20, "small steps in one", minimum=1),
             Option("iterations", 1, "sweeps in each", minimum=1)),
)  # fmt: skip
