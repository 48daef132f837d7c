"""Formulas as text, read without ever executing them.

Python's own grammar reads the text into a tree; we walk it and accept only what is listed here. The
walk happens twice. `check` needs no sympy: it judges every node and computes what is constant (in
floats, so no chain of powers can grow a huge integer). `parse` then builds the sympy expression, in
which each constant part is already one number, the one Python itself would give.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from taut import limits
from taut.errors import TautError, shown, unknown

if TYPE_CHECKING:
    import sympy

LONGEST_TEXT = 2000
DEEPEST = 150
MOST_NODES = 1000
LARGEST_EXPONENT = 100
LARGEST_INTEGER = 2**53  # beyond it a float would silently be another number

UNUSED = ".unused_"  # in symbols that stand for numbers which mean nothing, so that each point has three
CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "atan2": math.atan2,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "abs": abs,
}  # fmt: skip
_OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def check(text: str, symbols: Collection[str]) -> float | None:
    """Judge a formula; its value where it is constant, None where it depends on a symbol."""
    tree = _Formula(text, symbols)
    return tree.constant(tree.root)


def check_linear(text: str, symbols: Collection[str], speeds: Collection[str]) -> None:
    """Judge a formula that must be linear in the speeds, which are among the symbols, and name one of them."""
    tree = _Formula(text, symbols)
    if tree.degree(tree.root, speeds) == 0:
        raise tree.error(f"names no velocity such as {next(iter(speeds))}; a condition on places is a formula= instead")


def parse(text: str, symbols: Collection[str]) -> sympy.Expr:
    """The sympy expression of a formula in the given symbols (all real; "b.x" is one symbol)."""
    import sympy

    tree = _Formula(text, symbols)
    expression = tree.build(tree.root)
    # x/(y - y), sqrt(-x**2) and 1e300*x*1e300 are only seen to be wrong once they are symbols.
    if expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise tree.error("divides by zero wherever it is evaluated", tree.root)
    if expression.has(sympy.I):
        raise tree.error("is not a real number wherever it is evaluated", tree.root)
    if not all(abs(number) < 1.7e308 for number in expression.atoms(sympy.Number)):
        raise tree.error("contains numbers too large for a float", tree.root)
    return expression


class _Formula:
    """One text with its judged tree; `value` holds the constant nodes."""

    def __init__(self, text: str, symbols: Collection[str]):
        self.text = " ".join(text.split()) if len(text) <= LONGEST_TEXT else text[:60] + "…"
        self.symbols = symbols
        self.nodes = 0
        self.value: dict[ast.expr, float] = {}
        if len(text) > LONGEST_TEXT:
            raise self.error(f"has {len(text)} characters; at most {LONGEST_TEXT} are read")
        if not self.text:
            raise TautError("a formula is empty; write a number or an expression such as '0.1*sin(t)'")
        if "#" in self.text:
            raise self.error("contains '#'; a formula has no comments", column=self.text.index("#"))
        self.root = self._read()
        self._judge(self.root, 1)
        size = self._written_out(self.root)[2]
        if size > limits.most("formula_size"):
            raise self.error(
                f"is too large: its second derivative, written out, has about {size:,} operations, and at most "
                f"{limits.most('formula_size'):,} are made; write it shorter or as a Python function, or raise the "
                f"bound with the environment variable {limits.variable('formula_size')}"
            )

    def constant(self, node: ast.expr) -> float | None:
        return self.value.get(node)

    def error(self, reason: str, node: ast.expr | None = None, column: int | None = None) -> TautError:
        if node is not None:  # ast counts bytes
            column = len(self.text.encode()[: node.col_offset].decode())
        if column is None:
            return TautError(f"formula '{self.text}' {reason}")
        first = max(0, column - 60)  # a long formula is shown around the place only
        shown = self.text[first : first + 100]
        return TautError(
            f"formula, column {column + 1}: {reason}\n    {shown}\n    {' ' * (column - first)}^"
        )

    def _read(self) -> ast.expr:
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as mistake:
            column = min(max((mistake.offset or 1) - 1, 0), len(self.text) - 1)
            raise self.error(
                "can not be read from here; write products with * and close every parenthesis", column=column
            ) from None
        except (ValueError, RecursionError, MemoryError):
            raise self.error("can not be read: it is nested too deeply or holds a null character") from None

    def _judge(self, node: ast.expr, depth: int) -> None:
        """Accept the node and everything below it, or raise."""
        self.nodes += 1
        if depth > DEEPEST:
            raise self.error(f"is nested more than {DEEPEST} levels deep", node)
        if self.nodes > MOST_NODES:
            raise self.error(f"has more than {MOST_NODES} parts", node)
        match node:
            case ast.Constant():
                self.value[node] = self._number(node)
            case ast.Name() | ast.Attribute():
                self._judge_name(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self._judge(operand, depth + 1)
                sign = operator.neg if isinstance(node.op, ast.USub) else operator.pos
                self._fold(node, sign, [operand])
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.BitXor):
                    column = self.text.index("^", len(self.text.encode()[: left.end_col_offset].decode()))
                    raise self.error("'^' is not a power here; use **", column=column)
                if type(op) not in _OPERATORS:
                    raise self.error("only + - * / ** join two terms", node)
                self._judge(left, depth + 1)
                self._judge(right, depth + 1)
                self._judge_operands(op, right)
                self._fold(node, _OPERATORS[type(op)], [left, right])
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                self._judge_call(node, name)
                for argument in arguments:
                    self._judge(argument, depth + 1)
                self._fold(node, FUNCTIONS[name], arguments)
            case _:
                raise self.error(f"{_NAMES.get(type(node), 'this')} is not allowed in a formula", node)

    def _number(self, node: ast.Constant) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = "text" if isinstance(value, str) else f"the value {shown(value)}"
            raise self.error(f"{kind} is not allowed in a formula; write a number", node)
        if isinstance(value, int) and value > LARGEST_INTEGER:
            raise self.error("this integer is too large to be exact; write it as a float, like 1e20", node)
        if math.isinf(value):
            raise self.error("this number is too large for a float", node)
        return float(value)

    def _judge_name(self, node: ast.Name | ast.Attribute) -> None:
        name = _dotted(node)
        if name is None:
            raise self.error("a dot may only follow a name, as in b.x", node)
        if name in self.symbols:
            return
        if name in CONSTANTS:
            self.value[node] = CONSTANTS[name]
            return
        if name in FUNCTIONS:
            raise self.error(f"the function {name} needs its argument in parentheses", node)
        known = [symbol for symbol in self.symbols if UNUSED not in symbol]
        if f"{name[:-2]}{name[-1:]}" in known and name[-2:-1] in ("v", "w") and name[-3:-2] == ".":
            raise self.error(f"'{name}' is a velocity, which can not stand here; custom takes a condition on "
                             "velocities as velocity=", node)
        raise self.error(str(unknown("symbol", name, [*known, *CONSTANTS])), node)

    def _judge_call(self, node: ast.Call, name: str) -> None:
        if name not in FUNCTIONS:
            if name in self.symbols or name in CONSTANTS:
                raise self.error(f"{name} is not a function; write products with *", node)
            raise self.error(str(unknown("function", name, FUNCTIONS)), node)
        wanted = 2 if name == "atan2" else 1
        if len(node.args) != wanted:
            raise self.error(f"{name} takes {wanted} argument(s), not {len(node.args)}", node)

    def _judge_operands(self, op: ast.operator, right: ast.expr) -> None:
        known = self.constant(right)
        if isinstance(op, ast.Div) and known == 0:
            raise self.error("divides by zero", right)
        if isinstance(op, ast.Pow) and known is not None and abs(known) > LARGEST_EXPONENT:
            raise self.error(f"the exponent {known:g} is beyond ±{LARGEST_EXPONENT}", right)

    def _fold(self, node: ast.expr, function: Callable[..., float], parts: list[ast.expr]) -> None:
        known = [self.value[part] for part in parts if part in self.value]
        if len(known) < len(parts):
            return
        try:
            value = function(*known)
        except ValueError:
            raise self.error("this constant part is not a real number", node) from None
        except OverflowError:
            value = math.inf
        if math.isinf(value):
            raise self.error("this constant part is too large for a float", node)
        self.value[node] = value

    def _written_out(self, node: ast.expr) -> tuple[int, int, int]:
        """Operations in f, f' and f'' written out by the rules for sums, products and functions.

        A product of n factors has n² in its first and n³ in its second derivative, and so do n functions inside each
        other; sympy makes them all before common parts are found, so this bounds its time.
        """
        if self.constant(node) is not None:
            return 1, 0, 0
        match node:
            case ast.UnaryOp(operand=operand):
                return self._written_out(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                (f, f1, f2), (g, g1, g2) = self._written_out(left), self._written_out(right)
                return f + g + 1, f1 + g1 + 1, f2 + g2 + 1
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return _product(self._written_out(left), self._written_out(right))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return _product(self._written_out(left), _composed(self._written_out(right)))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                if self.constant(right) is not None:
                    return _composed(self._written_out(left))
                # f**g = exp(g log f), of which sympy keeps the shorter form
                return _composed(_product(self._written_out(right), _composed(self._written_out(left))))
            case ast.Call(args=[first, second]):
                quotient = _product(self._written_out(first), _composed(self._written_out(second)))
                return _composed(quotient)
            case ast.Call(args=[argument]):
                return _composed(self._written_out(argument))
            case _:
                return 1, 1, 1

    def degree(self, node: ast.expr, speeds: Collection[str]) -> int:
        """1 where a judged node depends on the speeds, linearly, and 0 where it does not depend on them."""
        match node:
            case ast.UnaryOp(operand=operand):
                return self.degree(operand, speeds)
            case ast.BinOp(left=left, op=op, right=right):
                upper, lower = self.degree(left, speeds), self.degree(right, speeds)
                if isinstance(op, ast.Add | ast.Sub):
                    return max(upper, lower)
                linear = upper + lower < 2 if isinstance(op, ast.Mult) else not lower
                found, linear = upper + lower, linear and not (upper and isinstance(op, ast.Pow))
            case ast.Call(args=arguments):
                found, linear = 0, not any([self.degree(argument, speeds) for argument in arguments])
            case _:
                return int(_dotted(node) in speeds)
        if not linear:
            raise self.error("is not linear in velocities here; write a sum of velocities, each times something that "
                             "depends on places and time", node)
        return found

    def build(self, node: ast.expr) -> sympy.Expr:
        """The sympy expression of a judged node."""
        import sympy

        value = self.constant(node)
        if value is not None:
            return _exact(value)
        match node:
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.build(operand)
                return -inner if isinstance(op, ast.USub) else inner
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                exponent = self.build(right)
                if self.constant(left) == math.e:
                    return sympy.exp(exponent)
                known = self.constant(right)
                if known is not None and (2 * known).is_integer():  # x**0.5 is a square root
                    exponent = sympy.Rational(int(2 * known), 2)
                return self.build(left) ** exponent
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](self.build(left), self.build(right))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                function = sympy.Abs if name == "abs" else getattr(sympy, name)
                return function(*(self.build(argument) for argument in arguments))
            case _:
                return sympy.Symbol(str(_dotted(node)), real=True)


def _product(f: tuple[int, int, int], g: tuple[int, int, int]) -> tuple[int, int, int]:
    """(f g)' = f' g + f g',  (f g)'' = f'' g + 2 f' g' + f g''; a constant factor stays one."""
    if f[1] == 0 or g[1] == 0:
        return f[0] + g[0] + 1, f[1] + g[1] + 1, f[2] + g[2] + 1
    size, first = f[0] + g[0] + 1, f[1] + g[0] + f[0] + g[1] + 3
    return size, first, f[2] + g[0] + 2 * (f[1] + g[1]) + f[0] + g[2] + 6


def _composed(f: tuple[int, int, int]) -> tuple[int, int, int]:
    """h(f)' = h'(f) f',  h(f)'' = h''(f) f'² + h'(f) f''; f stands once or twice in h' and h''."""
    return f[0] + 1, 2 * f[0] + f[1] + 2, 4 * f[0] + 2 * f[1] + f[2] + 4


def _exact(value: float) -> sympy.Expr:
    import sympy

    whole = value.is_integer() and abs(value) <= LARGEST_INTEGER
    return sympy.Integer(int(value)) if whole else sympy.Float(value)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


_NAMES: dict[type, str] = {
    ast.Lambda: "lambda",
    ast.Subscript: "indexing with [ ]",
    ast.Compare: "a comparison",
    ast.IfExp: "if … else",
    ast.BoolOp: "and/or",
    ast.ListComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Call: "a call with keywords, or of anything but the listed functions,",
    ast.Tuple: "a comma outside a function's parentheses",
}
