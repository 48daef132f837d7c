"""Known ways to step cloth, to compare with; springs are springs to them.

    explicit.py          springs alone: symplectic Euler, Adams-Bashforth 2
    xpbd.py              springs as compliant position constraints
    provot.py            springs integrated explicitly, then over-long ones cut back by moving nodes
    implicit_euler.py    one linear system for all springs; implicit_solve.py builds and solves it
    position_contact.py  nodes and balls moved out of each other and of obstacles, as in PBD
    common.py            what they share: all springs of a scene as arrays, forces without them

Kernels work on positions x [m] and velocities v [m/s], shape (n, 3), and inverse masses w [1/kg], shape (n,), where 0
means that nothing but its own velocity moves a node.
"""
