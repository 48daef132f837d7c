"""taut doctor: what there is to know of a scene before it runs."""

from __future__ import annotations

from .parameters import AS_IT_IS, Opening, SceneName
from .table import print_table


def doctor(
    scene: SceneName,
    /,
    *,
    dt: float | None = None,
    opening: Opening = AS_IT_IS,
) -> int:
    """Examine a scene before it runs: degrees of freedom, rank, redundant and conflicting constraints, step and method.

    Exit code 0: nothing stands in the way; 1: constraints contradict each other, or the start is refused.

    Parameters
    ----------
    dt
        The step that is meant [s]; default: what the scene suggests.
    """
    from ..analysis.mechanics.doctor import examine

    findings = examine(opening.open(scene), dt)
    print_table([(one.topic, ("! " if one.is_warning else "") + one.value, one.reason) for one in findings])
    return 1 if any(one.topic in ("conflict", "start") for one in findings) else 0
