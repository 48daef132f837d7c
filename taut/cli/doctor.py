"""taut doctor: what there is to know of a scene before it runs."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from .table import print_table

Words = Annotated[list[str], Parameter(negative="", consume_multiple=False)]


def doctor(
    scene: str,
    /,
    *,
    dt: float | None = None,
    set: Words | None = None,
    allow_outside: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Examine a scene before it runs: degrees of freedom, rank, redundant and conflicting constraints, step and method.

    Exit code 0: nothing stands in the way; 1: constraints contradict each other.

    Parameters
    ----------
    scene
        A gallery name, a .yaml, .urdf or .xml file, or a .py file with build().
    dt
        The step that is meant [s]; default: what the scene suggests.
    set
        NAME=VALUE, a parameter of the scene; may be repeated.
    allow_outside
        Let a .yaml file name meshes and arrays outside of its folder.
    """
    from ..analysis.mechanics.doctor import examine
    from ..scene import open_scene, parse_parameters

    found = examine(open_scene(scene, allow_outside, **parse_parameters(set or ())), dt)
    print_table([(one.topic, ("! " if one.is_warning else "") + one.value, one.reason) for one in found])
    return 1 if any(one.topic == "conflict" for one in found) else 0
