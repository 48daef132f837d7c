"""Preconditioned conjugate gradients without a matrix, for unknowns u of shape (n, 3) [Hestenes and Stiefel 1952].

    α = rᵀz / pᵀAp,    u += α p,    r -= α A p                                 (1)
    z = P r,    p ← z + (rᵀz)_new / (rᵀz)_old p                                (2)

`multiply` and `precondition` are bound by each system: `specialise` compiles a copy. The other conjugate gradients of
taut solve other problems: linalg/pcg.py a stored sparse matrix that may be singular (it stops at a direction without
curvature); cloth/active_system.py the same plus a term of low rank that is not stored; cloth/contact_schur.py a Schur
complement, of which each product is a solve for the nodes; cloth/bounded_tensions.py has bounds on the unknowns;
contact/conjugate_residuals.py lowers the residual instead of the energy, on a face of Coulomb's cones.
"""

from __future__ import annotations


def multiply(problem, p, out):
    """Bound by each system: out = A p."""
    raise NotImplementedError


def precondition(problem, r, z):
    """Bound by each system: z = P r; returns rᵀz."""
    raise NotImplementedError


def matrix_free_cg(problem, u, r, z, p, product, goal, most):
    """From r = b - A u until rᵀz <= goal. Returns the iterations taken, negative when `most` did not suffice."""
    rz = precondition(problem, r, z)
    for i in range(r.shape[0]):
        for c in range(3):
            p[i, c] = z[i, c]
    for k in range(most):
        if rz <= goal:
            return k
        multiply(problem, p, product)
        curvature = 0.0
        for i in range(r.shape[0]):
            curvature += p[i, 0] * product[i, 0] + p[i, 1] * product[i, 1] + p[i, 2] * product[i, 2]
        alpha = rz / curvature
        for i in range(r.shape[0]):
            for c in range(3):
                u[i, c] += alpha * p[i, c]  # (1)
                r[i, c] -= alpha * product[i, c]
        before = rz
        rz = precondition(problem, r, z)
        beta = rz / before
        for i in range(r.shape[0]):
            for c in range(3):
                p[i, c] = z[i, c] + beta * p[i, c]  # (2)
    return most if rz <= goal else -most
