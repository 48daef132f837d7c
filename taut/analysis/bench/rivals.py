"""Who else is given the mechanisms of machines.py. What is not installed is named in the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from ...model import Model
from . import drake_machines, exudyn_machines, pinocchio_machines
from .machines import Tree
from .peers import Engine


class Rival(NamedTuple):
    name: str
    package: str
    module: str
    prepare: Callable[[Tree, Model, Sequence[str], float], Engine]
    trees_alone: bool = False  # without loops or ball joints

    def takes(self, tree: Tree) -> bool:
        return not self.trees_alone or (not tree.loops and all(kind != "BALL" for _, _, kind, _, _ in tree.joints))


RIVALS = (
    Rival("Exudyn, generalized-α", "exudyn", "exudyn", exudyn_machines.prepare),
    Rival("Pinocchio, RK4 in Python", "pin", "pinocchio", pinocchio_machines.prepare),
    Rival("Drake, discrete", "drake", "pydrake", drake_machines.prepare, trees_alone=True),
)


def missing() -> list[str]:
    """What to tell of those that are not at hand."""
    absent = [rival.package for rival in RIVALS if find_spec(rival.module) is None]
    return [f"not installed: {', '.join(absent)}; pip install {' '.join(absent)}"] if absent else []
