"""From a scene to a result: the only loop over time.

    t_k = k h,   y_{k+1} = step(y_k, t_k, h),   k = 0 … n-1,   n = ⌈duration/h⌉        loop.advance              (1)
    record j:   y, λ, Φ, Φ̇ and energies at t_k,  k = j · record_every                  loop.record               (2)
    E(t) - E(0) - W(t)                                                                  status.py: divergence     (3)

    y          state          x (slots, 3) [m], quat (bodies, 4), v (slots, 3), λ, and the memory of a method
    h, n       plan["dt"], plan["steps"]
    W          state.ledger   work of drivers, of forces without potential, of contacts [J]

    plan.py        the plan of a run: method, step, options
    session.py     one run in progress: the model, the loop, the records so far
    run.py         simulate() and resume()
    loop.py        the compiled loop over steps between two records
    simulation.py  Simulation: step by step, for controllers and live pages
    status.py      whether a run is finished, diverged or interrupted, and why
    reuse.py       the model of a scene that is simulated again
    warm.py        compile before it is needed; native.py: for this processor, in the background; ship.py: for others
"""
