"""Benchmarks: what a step costs, beside a kernel written for one purpose, and what accuracy costs.

    base        how to write a part
    timing      the compiled loop of a run, started again and again; minima of repeats
    yardstick   a first-order step written by hand for chains and nothing else
    chains      µs per step and memory of chains of 2 to 100,000 links
    precision   error against wall time
    calls       how often Python is entered while a run goes on
    load        saving and loading scene files of many constraints
    storing     storing records with checksums, durably and not
    contact     balls dropped into a box: time per step, overlap, rest
    peers       other engines on the chains, from the extra `bench`
    spheres     and on the balls
    cloth       sheets of 30 to 200 nodes a side: time per frame, elongation, memory; and XPBD beside them
    frames      cloth frame by frame
    systems     the choice of the system of limits, on scenes that it was not fitted on
    start       first and second runs of common commands, from nothing
    compiling   what those commands compile, and where its time goes
    viewing     opening and playing runs on the page
    mechanisms  rigid chains and machines: time per step, growth, error against wall time
    machines    and the same in MuJoCo, from the extra `bench`
    pypbd       the same sheets in pyPBD, from the extra `bench`
"""

from __future__ import annotations

from . import calls, chains, cloth, compiling, contact, load, mechanisms, precision, start, storing, systems, viewing
from .base import Part, Report, Settings, Table, Target

_PARTS = (chains, precision, calls, load, storing, contact, cloth, systems, mechanisms, start, compiling, viewing)
PARTS: dict[str, Part] = {part.PART.name: part.PART for part in _PARTS}

__all__ = ["PARTS", "Part", "Report", "Settings", "Table", "Target"]
