"""Every equation number that a docstring declares is cited in its file's code, and every one cited exists."""

import importlib
import inspect
import re

import pytest

from taut import constraints, forces, methods

# The mathematics of methods that are for cloth alone stands with their algorithms.
BASELINES = "taut.cloth.baselines"
ELSEWHERE = {name: f"{BASELINES}.{name}" for name in ("xpbd", "provot")} | {
    "implicit_euler": f"{BASELINES}.implicit_solve"
}
MODULES = sorted(
    {inspect.getmodule(kind.pack).__name__ for kind in [*constraints.KINDS.values(), *forces.KINDS.values()]}
    | {ELSEWHERE.get(name, f"taut.methods.{name}") for name in methods.METHODS}
    | {f"{BASELINES}.position_contact", "taut.methods.acceleration", "taut.initial.constraints", "taut.model.rotation"}
)


@pytest.mark.parametrize("name", MODULES)
def test_equations_declared_are_cited_and_cited_are_declared(name):
    module = importlib.import_module(name)
    docstring = module.__doc__ or ""
    source = inspect.getsource(module).replace(docstring, "", 1)
    declared = set(re.findall(r"\s{2,}\((\d+)\)(?:\s|$)", docstring))
    cited = set(re.findall(r"\((\d+)\)", " ".join(re.findall(r'(?:#|""")[^\n]*', source))))
    assert declared, f"{name}: its docstring numbers no equation"
    assert cited == declared, f"{name}: declared {sorted(declared)}, cited {sorted(cited)}"
