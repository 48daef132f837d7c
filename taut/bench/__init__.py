"""Benchmarks: what a step costs, beside a kernel written for one purpose, and what accuracy costs.

    base        how to write a part
    timing      the compiled loop of a run, started again and again; minima of repeats
    yardstick   a first-order step written by hand for chains and nothing else
    chains      µs per step and memory of chains of 2 to 100,000 links
    precision   error against wall time
    calls       how often Python is entered while a run goes on
    contact     balls dropped into a box: time per step, overlap, rest
    peers       other engines on the chains, from the extra `bench`
    spheres     and on the balls
"""

from __future__ import annotations

from . import calls, chains, contact, precision
from .base import Part, Report, Settings, Table, Target

PARTS: dict[str, Part] = {module.PART.name: module.PART for module in (chains, precision, calls, contact)}

__all__ = ["PARTS", "Part", "Report", "Settings", "Table", "Target"]
