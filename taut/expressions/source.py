"""From sympy expressions to the source text of one function of raw pointers.

    D = Σ_i v_i ∂/∂x_i + ∂/∂t            total derivative at constant velocity      (1)
    J = ∂Φ/∂x,  Φ_t = ∂Φ/∂t              first derivatives                          (2)
    γ = D(DΦ)                            = (Jv)_x v + 2 Φ_xt v + Φ_tt               (3)
    A = ∂g/∂v,  b = g at v = 0,  γ = D g  of a condition g = A v + b on velocities  (4)
    H = ∂²T/∂q̇²,  g = ∂T/∂q - D ∂T/∂q̇    of H q̈ = g + Q, with T(q, q̇, t)           (5)  Lagrange's equations
    ω = 2 p* ⊗ dp/dt                     of the unit quaternion p(q, t)             (6)

The text is plain Python: numba compiles it, and without numba it runs as it is. Entries that are zero
for all x are written as the constant 0.0 and cost no arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from taut.errors import TautError

if TYPE_CHECKING:
    import sympy


def symbol(name: str) -> sympy.Symbol:
    """The symbol that `formula.parse` makes of a name."""
    import sympy

    return sympy.Symbol(name, real=True)


def signal_source(expression: sympy.Expr) -> str:
    """evaluate(t, out): value and two derivatives."""
    t = symbol("t")
    value = _smooth_names(expression)
    derivatives = [value, value.diff(t), value.diff(t, 2)]
    return _function("t, out", [], [(f"out[{k}]", d) for k, d in enumerate(derivatives)])


def rows_source(rows: Sequence[sympy.Expr], names: Sequence[str], arguments: str) -> str:
    """evaluate(x, v, t, *arguments): Φ, J, Φ_t and γ of the rows.

    `arguments` lists the four outputs by name (phi, J, phi_t, gamma) in the order wanted.
    """
    import sympy

    renamed, loads = _inputs(names, "x")
    t = symbol("t")
    values = [_smooth_names(row).xreplace(renamed) for row in rows]
    places = list(renamed.values())
    speeds = {place: symbol(f"v{k}") for k, place in enumerate(places)}
    loads = loads + [(str(speed), f"v[{k}]") for k, speed in enumerate(speeds.values())]

    def total(expression: sympy.Expr) -> sympy.Expr:  # (1)
        used = [place for place in places if expression.has(place)]
        return sympy.Add(expression.diff(t), *(expression.diff(place) * speeds[place] for place in used))

    stores = []
    for r, value in enumerate(values):
        stores.append((f"phi[{r}]", value))
        for k, place in enumerate(places):
            stores.append((f"J[{r * len(places) + k}]", value.diff(place)))  # (2)
        stores.append((f"phi_t[{r}]", value.diff(t)))  # (2)
        stores.append((f"gamma[{r}]", total(total(value))))  # (3)
    return _function(f"x, v, t, {arguments}", loads, stores)


def velocity_source(rows: Sequence[sympy.Expr], places: Sequence[str], speeds: Sequence[str]) -> str:
    """evaluate(x, v, t, phi, J, phi_t, gamma): 0, A, b and γ of rows that are linear in the speeds."""
    import sympy

    renamed_x, loads_x = _inputs(places, "x")
    renamed_v, loads_v = _inputs(speeds, "v")
    t, x, v = symbol("t"), list(renamed_x.values()), list(renamed_v.values())
    stores: list[tuple[str, sympy.Expr]] = []
    for r, row in enumerate(rows):
        value = _smooth_names(row).xreplace({**renamed_x, **renamed_v})
        stores.append((f"phi[{r}]", sympy.S.Zero))
        stores += [(f"J[{r * len(v) + k}]", value.diff(speed)) for k, speed in enumerate(v)]  # (4)
        stores.append((f"phi_t[{r}]", value.subs({speed: 0 for speed in v})))
        along = [value.diff(place) * speed for place, speed in zip(x, v) if value.has(place)]
        stores.append((f"gamma[{r}]", sympy.Add(value.diff(t), *along)))
    return _function("x, v, t, phi, J, phi_t, gamma", loads_x + loads_v, stores)


def kinetic_source(kinetic: sympy.Expr, names: Sequence[str]) -> str:
    """evaluate(q, qd, t, T, H, g, T_rates): (5) of a kinetic energy T, quadratic in the rates `name.v`.

    T_rates: ∂T/∂q̇, then dT/dt at q̈ = 0.
    """
    import sympy

    renamed_q, loads_q = _inputs(names, "x")
    renamed_v, loads_v = _inputs([f"{name}.v" for name in names], "v")
    t, q, v = symbol("t"), list(renamed_q.values()), list(renamed_v.values())
    T = _smooth_names(kinetic).xreplace({**renamed_q, **renamed_v})
    flow = sympy.Add(T.diff(t), *(T.diff(place) * speed for place, speed in zip(q, v)))
    stores: list[tuple[str, sympy.Expr]] = [("T[0]", T), (f"T_rates[{len(v)}]", flow)]
    if not any(sympy.simplify(T.diff(rate, other)) != 0 for k, rate in enumerate(v) for other in v[k:]):
        raise TautError("kinetic of scene.reduced is not quadratic in the rates: no product of two of "
                        f"{', '.join(f'{name}.v' for name in names)} stands in it; write T as a sum of products of two "
                        "rates, or leave kinetic out and give forces by scene.custom_force")  # fmt: skip
    for i, rate in enumerate(v):
        momentum = T.diff(rate)
        row = [sympy.expand(momentum.diff(other)) for other in v]
        for name, entry in zip(names, row):
            if entry.has(*v) and sympy.simplify(entry).has(*v):
                raise TautError(f"kinetic of scene.reduced is not quadratic in the rates: its second derivative by "
                                f"{names[i]}.v and {name}.v still depends on a rate; write T as a sum of products of "
                                "two rates")  # fmt: skip
        stores += [(f"H[{i * len(v) + k}]", sympy.simplify(e) if e.has(*v) else e) for k, e in enumerate(row)]
        carried = [momentum.diff(place) * speed for place, speed in zip(q, v)]
        stores.append((f"T_rates[{i}]", momentum))
        stores.append((f"g[{i}]", T.diff(q[i]) - sympy.Add(momentum.diff(t), *carried)))
    return _function("x, v, t, T, H, g, T_rates", loads_q + loads_v, stores)


def turns_source(turns: Sequence[Sequence[tuple[Sequence[float], sympy.Expr]]], ends: Sequence[Sequence[float]],
                 names: Sequence[str]) -> str:
    """evaluate(q, qd, t, p, B, c, w_t): of each body the quaternion p, and (6) as ω = B q̇ + w_t, dω/dt = B q̈ + c.

    turns  of each body rotations (axis, angle), each about axes that those before it have turned
    ends   of each body the quaternion from its principal axes to its own; ω is in principal axes
    """
    import sympy

    renamed, loads = _inputs(names, "x")
    q, t = list(renamed.values()), symbol("t")
    v = [symbol(f"v{k}") for k in range(len(q))]
    loads = loads + [(str(speed), f"v[{k}]") for k, speed in enumerate(v)]
    stores: list[tuple[str, sympy.Expr]] = []
    for i, (rotations, end) in enumerate(zip(turns, ends)):
        p = sympy.Quaternion(1, 0, 0, 0)
        for axis, angle in rotations:
            half = _smooth_names(angle).xreplace(renamed) / 2
            p = p * sympy.Quaternion(sympy.cos(half), *(sympy.Float(a) * sympy.sin(half) if a else 0 for a in axis))
        p = p * sympy.Quaternion(*(sympy.Float(e) if e not in (0.0, 1.0) else int(e) for e in end))
        stores += [(f"p[{4 * i + k}]", part) for k, part in enumerate(p.args[:4])]
        slopes = [_spin(p, by) for by in q]
        drift = _spin(p, t)
        for c in range(3):
            row = 3 * i + c
            omega = sympy.Add(drift[c], *(slope[c] * speed for slope, speed in zip(slopes, v)))
            stores += [(f"B[{row * len(q) + k}]", slope[c]) for k, slope in enumerate(slopes)]
            stores.append((f"w_t[{row}]", drift[c]))
            stores.append((f"c[{row}]", sympy.Add(omega.diff(t), *(omega.diff(x) * speed for x, speed in zip(q, v)))))
    return _function("x, v, t, p, B, c, w_t", loads, stores)


def _spin(p: Any, by: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """(6) of a rate one of `by`."""
    (a, b, c, d), (A, B, C, D) = p.args[:4], [part.diff(by) for part in p.args[:4]]
    return 2 * (a * B - b * A - c * D + d * C), 2 * (a * C - c * A - d * B + b * D), 2 * (a * D - d * A - b * C + c * B)


def force_source(components: Sequence[sympy.Expr], places: Sequence[str], speeds: Sequence[str]) -> str:
    """evaluate(x, v, t, out): the components of the force."""
    renamed_x, loads_x = _inputs(places, "x")
    renamed_v, loads_v = _inputs(speeds, "v")
    renamed = {**renamed_x, **renamed_v}
    stores = [(f"out[{k}]", _smooth_names(c).xreplace(renamed)) for k, c in enumerate(components)]
    return _function("x, v, t, out", loads_x + loads_v, stores)


def condition_source(
    sides: Sequence[sympy.Expr], joined: str, places: Sequence[str], speeds: Sequence[str]
) -> str:
    """evaluate(x, v, t, out): 1.0 where `joined`, in which side k is called s<k>, is true."""
    renamed_x, loads_x = _inputs(places, "x")
    renamed_v, loads_v = _inputs(speeds, "v")
    stores = [(f"s{k}", _smooth_names(side).xreplace({**renamed_x, **renamed_v})) for k, side in enumerate(sides)]
    return _function("x, v, t, out", loads_x + loads_v, stores) + f"    out[0] = 1.0 if {joined} else 0.0\n"


def keyframes_source(times: Sequence[float], polynomials: Any, last: float, smooth: bool) -> str:
    """evaluate(t, out) of piecewise cubics: binary search, then Horner; constant outside.

    The first time belongs to the curve, and so does the last of a smooth one: what moves from the start of a run to its
    end has its acceleration at both.
    """
    pieces = ",\n    ".join(repr([float(c) for c in piece]) for piece in polynomials)
    return f"""import numpy as np

TIMES = np.array({[float(t) for t in times]!r})
PIECES = np.array([
    {pieces},
])


def evaluate(t, out):
    out[1] = 0.0
    out[2] = 0.0
    if t < TIMES[0]:
        out[0] = PIECES[0, 3]
        return
    if t {">" if smooth else ">="} TIMES[{len(times) - 1}]:
        out[0] = {float(last)!r}
        return
    low = 0
    high = {len(times) - 1}
    while high - low > 1:
        middle = (low + high) // 2
        if TIMES[middle] <= t:
            low = middle
        else:
            high = middle
    s = t - TIMES[low]
    a = PIECES[low, 0]
    b = PIECES[low, 1]
    c = PIECES[low, 2]
    out[0] = ((a * s + b) * s + c) * s + PIECES[low, 3]
    out[1] = (3.0 * a * s + 2.0 * b) * s + c
    out[2] = 6.0 * a * s + 2.0 * b
"""


def _inputs(names: Sequence[str], array: str) -> tuple[dict, list[tuple[str, str]]]:
    renamed = {symbol(name): symbol(f"{array}{k}") for k, name in enumerate(names)}
    return renamed, [(f"{array}{k}", f"{array}[{k}]") for k in range(len(names))]


def _smooth_names(expression: sympy.Expr) -> sympy.Expr:
    """Replace |u| by our own function: sympy's derivative assumes that u may be complex."""
    import sympy

    magnitude, _ = _magnitude()
    return sympy.sympify(expression).replace(sympy.Abs, magnitude)


@cache
def _magnitude() -> tuple[Any, Any]:
    import sympy

    class side(sympy.Function):  # the sign of u, with derivative zero
        def fdiff(self, argindex=1):
            return sympy.S.Zero

    class magnitude(sympy.Function):  # |u|
        def fdiff(self, argindex=1):
            return side(self.args[0])

    return magnitude, side


@cache
def _printer() -> Any:
    from sympy.printing.precedence import PRECEDENCE
    from sympy.printing.pycode import PythonCodePrinter

    class Printer(PythonCodePrinter):
        def _print_Float(self, number):
            return repr(float(number))

        def _print_Rational(self, number):
            return repr(float(number))

        def _print_Integer(self, number):
            return str(number) if abs(number) < 2**31 else repr(float(number))

        def _print_Pow(self, power, rational=False):
            if power.exp.is_Integer and power.exp < 0:  # numba's own t**(-2) raises at t = 0
                return f"(1.0/{self.parenthesize(power.base**-power.exp, PRECEDENCE['Pow'])})"
            return super()._print_Pow(power, rational=rational)

        def _print_magnitude(self, call):
            return f"math.fabs({self._print(call.args[0])})"

        def _print_side(self, call):
            inner = self._print(call.args[0])
            return f"(0.0 if {inner} == 0.0 else math.copysign(1.0, {inner}))"

    return Printer({"strict": True})


def _function(arguments: str, loads: list[tuple[str, str]], stores: list[tuple[str, sympy.Expr]]) -> str:
    """Load what is used, compute common parts once, store everything."""
    import sympy

    common, results = sympy.cse(
        [value for _, value in stores], symbols=sympy.numbered_symbols("c"), order="none"
    )
    for expression in [*(value for _, value in common), *results]:
        if not all(number.is_finite and abs(number) < 1.7e308 for number in expression.atoms(sympy.Number)):
            raise TautError("a formula or one of its derivatives contains numbers too large for a float")
    used = {str(s) for e in [*(value for _, value in common), *results] for s in e.free_symbols}
    show = _printer().doprint
    lines = [f"{name} = {place}" for name, place in loads if name in used]
    lines += [f"{name} = {show(value)}" for name, value in common]
    lines += [
        f"{place} = {'0.0' if value == 0 else show(value)}" for (place, _), value in zip(stores, results)
    ]
    body = "\n    ".join(lines)
    return f"import math\n\n\ndef evaluate({arguments}):\n    {body}\n"
