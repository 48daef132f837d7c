"""Springs, and the known ways to step nodes that they join. Meshes and collisions: taut/geometry.

    springs.py    Springs: arrays of springs, and their two-phase force            ┐ compiled;
    explicit.py   springs alone: symplectic Euler, Adams-Bashforth 2               │ import these
    provot.py     springs, then over-long ones cut back by moving nodes            │ modules by
    xpbd.py       springs as compliant position constraints                        │ name: they
    implicit.py   one linear system for all springs (Baraff-Witkin)                ┘ load numba

Everything works on positions x [m] and velocities v [m/s], shape (n, 3), and inverse masses w [1/kg],
shape (n,), where 0 means that nothing but its own velocity moves a node. Scenes are not known here.
"""
