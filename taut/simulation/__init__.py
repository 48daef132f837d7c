"""From a scene to a result: the only loop over time.

    run.py         simulate() and resume(): checks, the session of one run, what is stored when
    loop.py        the compiled loop over steps between two records
    simulation.py  Simulation: step by step, for controllers and live pages
    status.py      whether a run is finished, diverged or interrupted, and why
    warm.py        compile before it is needed
"""
