"""Users' formulas and functions, as compiled code whose address is data of a scene.

    f(x, v, t; p)      text → sympy → ∂f/∂x, ∂f/∂t, second derivatives → source → machine code → address
    s(t), ṡ, s̈         signal.Signal: a number, formula, keyframes or Python function of time; values (3,)
    f > g, and, or     condition: whether it holds, from comparisons of formulas
    Im f(x + iε)/ε     differences: derivatives of Python functions by complex steps, or by finite differences

    formula      text → sympy, by a walk that accepts only what it knows;  condition  the same for conditions
    source       sympy → source text of one function with its derivatives
    inspection   checks of a Python function before it is used;  functions  Python functions → address
    compiled     source text → file → machine code → address, kept in numba's cache
    codegen      the addresses that scenes ask for;  call  calling an address, from kernels and from Python
"""

from taut.expressions.call import call_constraint, call_force, call_map, call_signal
from taut.expressions.condition import check_condition, condition_address, names_in
from taut.expressions.formula import check, check_linear, parse
from taut.expressions.signal import Keyframes, Signal

__all__ = [
    "Keyframes",
    "Signal",
    "call_constraint",
    "call_force",
    "call_map",
    "call_signal",
    "check",
    "check_condition",
    "check_linear",
    "condition_address",
    "names_in",
    "parse",
]
