"""Baseline methods for cloth, for comparison; they treat hard edges and limits as springs.

    x' = x + h v',  v' = v + h W f                              explicit.py: symplectic Euler, Adams-Bashforth 2
    Δλ = -(C + α̃ λ)/(w_i + w_j + α̃),  α̃ = 1/(k h²)             xpbd.py: springs as compliant constraints
    x_i -= w_i δ u,  x_j += w_j δ u  where l > (1 + limit) L    provot.py: explicit springs, then cut back
    (M - h ∂f/∂v - h² ∂f/∂x) Δv = h (f + h ∂f/∂x v)             implicit_euler.py, solved by implicit_solve.py

    x, v    state.x, state.v   positions [m] and velocities [m/s], (n, 3)
    w       w                  inverse masses [1/kg], (n,); 0: the node is fixed or driven
    k, L    springs.k, .length stiffness [N/m] and rest length [m] (forces/spring_law.py)

Their declarations are in methods/ with those of all other methods; this package holds the steps. position_contact.py
moves nodes and balls out of each other and out of obstacles, as in PBD; common.py holds the code that they share.
"""
