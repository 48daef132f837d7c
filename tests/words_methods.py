"""Words for tests that run over all methods."""

from __future__ import annotations

from taut.methods import METHODS

# Of springs in place of constraints: as stiff as the steps of tests can follow.
SOFT = {
    name: {"alpha": 1e3, "beta": 10.0}
    for name, method in METHODS.items()
    if method.is_soft and not method.is_for_deformables_only
}
