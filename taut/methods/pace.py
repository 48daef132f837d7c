"""Whether a step with error control still gets anywhere: of reference, radau and reduced.

Where no motion goes on (a driver asks for more than its linkage can reach) each step is shorter than the one before,
and the time comes ever nearer to one that it never reaches, or creeps beyond it. A step is given up where

    size < 1e-14 max(1, |t|)                                                    (1)
    Σ of the last LOOK tries < LOOK PACE h                                      (2)
    |Φ| > LOST times its rounding, however it is corrected                      (3)

At the pace of (2) an interval h between records would take 10⁸ tries.
"""

from __future__ import annotations

from ..compiled import inline
from ..model.slot_vectors import largest
from .base import NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, ROUNDING

LOOK = 2000
PACE = 1e-8
SHORTEST = 1e-14
LOST = 1e6


@inline
def is_stuck(size, now, tries, mark, h):
    """(1), NaN too, or (2). mark: the time at the last look, at every LOOK-th try."""
    if not size >= SHORTEST * max(1.0, abs(now)):
        return True
    return tries % LOOK == 0 and now - mark < LOOK * PACE * h


@inline
def judged(system, options, status):
    """The status of a step whose corrections ended with this one: small residuals are borne (3)."""
    if status == OK or options[RESIDUAL_ACCEPTED] != 0.0 or largest(system.work.phi) <= LOST * options[ROUNDING]:
        return OK
    return NOT_CONVERGED
