"""Unilateral rows: who pushes, how hard, what an impact does, and what friction adds.

    S           (capacity, capacity)    J W Jᵀ of the unilateral rows; may be singular
    c           (capacity)              the slack without any of their forces: J v̇ - d
    λ, P        lam, impulse            multipliers ≥ 0: contacts push and never pull
    w = Sλ + c  w                       the slack with them

Everything here is dense and small, knows nothing of scenes, and uses the leading m rows of arrays of a
fixed capacity. Scratch room, log and statuses: work.py. Equalities on a set of rows, redundant or not:
face.py. The complementarity problem λ ≥ 0, w ≥ 0, λ·w = 0: qp.py. The rules by which users choose who is
handled, one file each: rules/. Restitution: impact.py. Coulomb friction: friction.py.
"""
