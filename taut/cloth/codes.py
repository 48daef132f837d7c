"""Numeric codes of options and statuses in compiled code."""

from __future__ import annotations

from ..methods.base import Option, option_index

SUBSTEPS, SYMPLECTIC, ADAMS_BASHFORTH = range(3)
UNCONSTRAINED = ("substeps", "symplectic", "adams_bashforth")  # how forces alone move nodes (predict.py)
BY_VELOCITY, BY_REGION = 1, 2  # what a release rule of contacts adds to the sign of λ (release.py)
RELEASE_RULES = {"lambda": 0, "velocity": BY_VELOCITY, "voronoi": BY_REGION, "paper": BY_VELOCITY + BY_REGION}
SYSTEMS = ("active", "nodes")  # what a step solves for (choice.py)
OPTIONS = (
    Option("unconstrained", "substeps", "how forces move nodes before constraints act", choices=UNCONSTRAINED),
)
UNCONSTRAINED_RULE = option_index(OPTIONS, "unconstrained")  # in `options` of methods/base.py
FACTORS, SOLVES, CORRECTIONS = range(3)  # of context.StepWork.counts
STEP_START, SUBSTEP_START = range(2)  # where a saved state was taken (step.py)
# context.StepMemory.history: length of substeps, in units of h / max_substeps; how many to take before it may grow; h
# of the substep before (0: there was none), and from FORCE_BEFORE on its forces, for Adams-Bashforth
SUBSTEP_SIZE, SUBSTEPS_TO_GROWTH, H_BEFORE, FORCE_BEFORE = range(4)

# Answers of a solver besides the statuses of methods/base.py
NOT_DEFINITE = -1  # of a Newton direction: the matrix is not positive definite
BUCKLING = -1  # not converged: pressed springs have not found yet where they go
ALMOST_CONVERGED = -2  # Newton's method may end what the interior point has begun
