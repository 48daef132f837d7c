"""Words for tests of comparisons: a small one, and its rows by method and step."""

from __future__ import annotations

import taut


def compared(scene="two_link", **arguments):
    found = {"dt": 0.01, "duration": 1.0, "processes": 1, **arguments}
    return taut.compare(taut.gallery(scene) if isinstance(scene, str) else scene, **found)


def rows(comparison):
    return {(row["method"], row["dt"]): row for row in comparison.table}
