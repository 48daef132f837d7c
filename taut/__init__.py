"""taut: constrained dynamics. State the condition; taut enforces it and tells you the force it took.

    M v̇ = f(q, v, t) + Jᵀ λ,   q̇ = N(q) v
    Φ(q, t) = 0,   Φ(q, t) ≥ 0,   A(q, t) v + b(q, t) = 0

A `Scene` states bodies (q, v, M), constraints (Φ, A, b) and forces (f); `simulate` makes a `Run` of it, whose `data`
have position, velocity, multiplier (λ), constraint_error (Φ) and constraint_rate (Φ̇). docs/notation.md has all letters.

Names are imported when first used, so that `import taut` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Scene": "taut.scene",
    "load": "taut.scene",
    "gallery": "taut.scene",
    "open_scene": "taut.scene",
    "schema": "taut.scene",
    "build": "taut.model",
    "simulate": "taut.simulation.run",
    "resume": "taut.simulation.run",
    "Simulation": "taut.simulation.simulation",
    "compare": "taut.analysis.compare",
    "equilibrium": "taut.analysis.mechanics",
    "kinematics": "taut.analysis.mechanics",
    "linearise": "taut.analysis.mechanics",
    "open": "taut.result",
    "Run": "taut.result",
    "TautError": "taut.errors",
    "TautWarning": "taut.errors",
}

if TYPE_CHECKING:
    from .analysis.compare.compare import compare
    from .analysis.mechanics.equilibrium import equilibrium
    from .analysis.mechanics.kinematics import kinematics
    from .analysis.mechanics.linearise import linearise
    from .errors import TautError, TautWarning
    from .model.build import build
    from .result import Run, open
    from .scene.gallery import gallery
    from .scene.load import load
    from .scene.open import open_scene
    from .scene.scene import Scene
    from .scene.schema import schema
    from .simulation.run import resume, simulate
    from .simulation.simulation import Simulation

__all__ = [
    "Run", "Scene", "Simulation", "TautError", "TautWarning", "build", "compare", "equilibrium", "gallery",
    "kinematics", "linearise", "load", "open", "open_scene", "resume", "schema", "simulate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise _missing(name)
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def _missing(name: str) -> AttributeError:
    """Plain where Python itself asks (for __path__ and the like)."""
    if name.startswith("_"):
        return AttributeError(f"module 'taut' has no attribute '{name}'")
    from .errors import no_attribute

    return no_attribute("taut", name, sorted(__all__))


def __dir__() -> list[str]:
    return [*sorted(__all__), "__version__"]
