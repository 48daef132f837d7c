"""One scene, every method: what each way of enforcing costs, and how well it holds.

    compare.py      compare(): which methods, steps and reference; the only entry
    jobs.py         runs them on all cores; worker.py is the second process
    measure.py      numbers from a run: drift, errors against the reference, tracking horizon
    timing.py       what a step costs, measured alone
    comparison.py   Comparison: table, Dataset, CSV; fields.py says what its columns mean
    curves.py       lines over time, thinned for pictures
    plots.py        pictures as PNG and SVG
    report.py       one HTML page, from report.html, report.css and report.js
"""

from __future__ import annotations

from .compare import compare
from .comparison import Comparison

__all__ = ["Comparison", "compare"]

