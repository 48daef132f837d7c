"""One scene, every method: what each way of enforcing constraints costs, and how well it does.

    x_m(t; h)      a run of the method m with the step h                       jobs.py, worker.py: on all cores
    x_r(t)         the reference, whose own error is a hundred times smaller    compare.py; metrics.resolved
    Φ, E, λ, x     errors of each, over time and their largest                 ../metrics.py
    µs per step    measured alone, one method after the other                  ../timing.py

A number below the error of the reference is marked as unresolved.

    compare.py      compare(): which methods, steps and reference; the only entry
    comparison.py   Comparison: table, Dataset, CSV; fields.py says what its columns mean; saving.py, printing.py
    curves.py       lines over time, thinned for pictures;  plots.py  pictures as PNG and SVG
    report.py       one HTML page, from report.html, report.css and report.js
"""

from __future__ import annotations

from .compare import compare
from .comparison import Comparison

__all__ = ["Comparison", "compare"]

