"""Analysis of runs: metrics, comparisons, explanations, benchmarks and the papers' figures.

    e(t) = max_b |x_b - x_b^r|            metrics.trajectory_error    against a reference r
    Σ_i |Φ_i(t)|,  max |E - E(0) - W|     metrics.constraint_error, metrics.energy_drift
    horizon                               metrics.horizon             the first t with e(t) > size/10
    seconds per step                      timing.Loop, timing.in_turns: minima of repeats, taken in turns

These numbers are defined in metrics.py and timing.py alone; the packages below use them.

    compare/    one scene under several methods: drift, errors, cost, a report
    explain/    one instant of one run: which rows are active, which forces act, and why
    bench/      speed on this machine, beside peers and yardsticks
    mechanics/  equilibrium, linearisation and degrees of freedom of a mechanism at one instant
    papers/     the figures and claims of the five papers, computed again
"""
