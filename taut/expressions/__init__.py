"""Users' formulas and functions, as compiled code whose address is data of a scene.

formula      text → sympy, by a walk that accepts only what it knows
condition    text → whether it holds, from comparisons of formulas
signal       a scalar function of time: number, formula, keyframes or Python function
source       sympy → source text of one function with its derivatives
differences  derivatives of Python functions by complex steps or differences
inspection   what is asked of a Python function before it is relied on
functions    Python functions → address
compiled     source text → file → machine code → address, kept in numba's cache
codegen      the addresses that scenes ask for
call         calling an address, from kernels and from Python
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
