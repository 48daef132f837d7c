"""Benchmarks: what a step costs, beside a kernel written for one purpose, and what accuracy costs.

    t_step = min over repeats of (seconds of n steps) / n        ../timing.py: the compiled loop of a run, started again
    growth of t_step with the number of bodies or nodes          chains, mechanisms, cloth: time per unknown
    error against seconds, over a series of steps h              precision, mechanisms: work-precision curves

A report has tables, and targets: a claim, what was measured, its limit, and whether it is met (base.py).

    base        how to write a part;  frames  cloth frame by frame
    yardstick   a first-order step written by hand for chains and nothing else
    chains      µs per step and memory of chains of 2 to 100,000 links;  precision  error against wall time
    calls       how often Python is entered while a run goes on
    load        saving and loading scene files of many constraints;  storing  records, with checksums and durably
    contact     balls dropped into a box: time per step, overlap, rest
    cloth       sheets of 30 to 200 nodes a side: time per frame, elongation, memory; and XPBD beside them
    systems     the choice of the system of limits, on scenes that it was not fitted on
    start       first and second runs of common commands, from nothing;  compiling  what those compile
    levels      steps in shipped code beside those in code for the processor at hand
    viewing     opening and playing runs on the page, in a browser (browser.py)
    mechanisms  rigid chains and machines: time per step, growth, error against wall time

Other engines, from the extra `bench`: peers (chains), spheres (balls), pypbd (sheets); for mechanisms machines
(MuJoCo), drake_machines, exudyn_machines and pinocchio_machines, called through rivals.
"""

from __future__ import annotations

from . import (
    calls,
    chains,
    cloth,
    compiling,
    contact,
    levels,
    load,
    mechanisms,
    precision,
    start,
    storing,
    systems,
    viewing,
)
from .base import Part, Report, Settings, Table, Target

_PARTS = (
    chains, precision, calls, load, storing, contact, cloth, systems, mechanisms, start, compiling, levels, viewing,
)  # fmt: skip
PARTS: dict[str, Part] = {part.PART.name: part.PART for part in _PARTS}

__all__ = ["PARTS", "Part", "Report", "Settings", "Table", "Target"]
