"""Conditions as text, such as "t > 2 and tip.y < 0": comparisons of formulas, joined by and, or, not.

Like formulas they are read without being executed. Each side of a comparison is a formula of its own; what joins the
comparisons is written out again from the tree, never copied from the text.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import NamedTuple

from taut.errors import TautError
from taut.expressions import formula, source
from taut.expressions.call import FORCE
from taut.expressions.compiled import generated_address

_SIGNS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class _Read(NamedTuple):
    """The sides of all comparisons as formulas, and what joins them, in which side k is called s<k>."""

    sides: list[str]
    joined: str


def check_condition(text: str, symbols: Collection[str]) -> None:
    """Judge a condition; raises TautError where it is none."""
    for side in _read(text).sides:
        formula.check(side, symbols)


def names_in(text: str) -> list[str]:
    """The names before a dot, or alone, in the order in which a condition has them."""
    tree = ast.parse("\n".join(f"({side})" for side in _read(text).sides))
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    return list(dict.fromkeys(found))


def condition_address(text: str, places: Sequence[str], speeds: Sequence[str]) -> int:
    """void f(double* x, double* v, double t, double* out): out is 1 where the condition holds, else 0."""

    def make() -> str:
        read = _read(text)
        sides = [formula.parse(side, [*places, *speeds, "t"]) for side in read.sides]
        return source.condition_source(sides, read.joined, places, speeds)

    return generated_address(("condition", text, tuple(places), tuple(speeds)), FORCE, (1,), make)


def _read(text: str) -> _Read:
    plain = " ".join(text.split())
    if len(plain) > formula.LONGEST_TEXT:
        raise TautError(f"condition '{plain[:60]}…' has {len(plain)} characters; at most {formula.LONGEST_TEXT} are "
                        "read")
    sides: list[str] = []

    def side(node: ast.expr) -> str:
        sides.append(ast.unparse(node))
        return f"s{len(sides) - 1}"

    def walk(node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=op, values=values):
                word = " and " if isinstance(op, ast.And) else " or "
                return "(" + word.join([walk(value) for value in values]) + ")"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(not {walk(operand)})"
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _SIGNS for op in ops):
                parts = [side(part) for part in (left, *others)]
                signs = [_SIGNS[type(op)] for op in ops]
                return "(" + " and ".join(f"{a} {sign} {b}" for a, sign, b in zip(parts, signs, parts[1:])) + ")"
            case ast.Compare():
                raise TautError(f"condition '{plain}' compares with something else than <, <=, > and >=; numbers that "
                                "change in steps are hardly ever equal, so write a range")
            case _:
                raise TautError(f"'{plain}' is not a condition: '{ast.unparse(node)}' is neither true nor false; "
                                "compare formulas with <, <=, > or >=, as in 't > 2 and b.y < 0'")

    try:
        return _Read(sides, walk(ast.parse(plain, mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TautError(f"condition '{plain}' can not be read; write comparisons such as 't > 2 and b.y < 0'") from None
