"""The papers' figures, made again: one file each, listed here; `base.py` says how to write one.

    run(quick) -> data      simulate; what the paper leaves open is a constant with its reason, or is varied
    check(data) -> claims   each claim as an inequality between measured numbers: reproduced, depends, differs, or not
    draw(data, path)        the picture

    Φ, λ, α, β, h           as in docs/notation.md; a file says where the paper's own letters differ
    errors, drift           ../metrics.py;  times  ../timing.py

    base.py      Figure, Claim, verdicts;  reproduce.py  runs them;  page.py  docs/claims.md
    common.py    cases and runs that figures share;  snapshots.py, cloth.py, sheet_cost.py  the same for arms and cloth
    plots.py     how the pictures look
"""

from __future__ import annotations

from ...registry import declared
from .base import VERDICTS, Claim, Figure

FIGURES: tuple[Figure, ...] = tuple(
    declared(__name__, "FIGURE", """
        icra2005_fig1 icra2005_fig2 icra2005_fig3 icra2005_fig4 icra2005_fig5 icra2005_fig6
        icra2005_initial icra2005_newton icra2005_stability
        hwc2005_fig1 hwc2005_fig2 hwc2005_fig3 hwc2005_fig4
        hong2008_fig1 hong2008_fig2 hong2008_fig3 hong2008_fig6 hong2008_energy hong2008_cost
        jonquet2008_fig2 jonquet2008_fig3 jonquet2008_fig4 jonquet2008_fig5 jonquet2008_fig6
        col865_penalty col865_drift col865_lambda col865_reduced
    """)
)  # fmt: skip

__all__ = ["FIGURES", "VERDICTS", "Claim", "Figure"]
