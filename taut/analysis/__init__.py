"""What is made of runs: numbers, comparisons, explanations, benchmarks and the papers' figures.

    metrics.py  drift, errors against a reference, horizon;  timing.py  seconds per step, least of repeats
    compare/   one scene under several methods: drift, errors, cost, a report
    explain/   one instant of one run: which rows are active, which forces act, and why
    bench/     speed on this machine, beside peers and yardsticks
    mechanics/ equilibrium, linearisation and degrees of freedom of a mechanism at one instant
    papers/    the figures and claims of the five papers, computed again
"""
