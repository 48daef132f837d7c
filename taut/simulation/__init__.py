"""From a scene to a result: the only loop over time.

    plan.py        what a run is asked to do: method, step, options
    session.py     one run under way: the model, the loop, what has been kept
    run.py         simulate() and resume()
    loop.py        the compiled loop over steps between two records
    simulation.py  Simulation: step by step, for controllers and live pages
    status.py      whether a run is finished, diverged or interrupted, and why
    reuse.py       the model of a scene that is simulated again
    warm.py        compile before it is needed; native.py: for this processor, in the background; ship.py: for others
"""
