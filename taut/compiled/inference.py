"""Types of the variables of a kernel, inferred quickly.

numba looks for the type of each expression among all its rules, every time: a product of two numbers asks a hundred
rules, and everything is asked twice, since the second round shows that nothing changes any more. Here

- what an operator, a function of numba or an attribute gives for some types is looked up once in a process;
- a constraint is looked at again only where the type of a variable that it names has changed.

The types are those that numba finds: whatever is not known yet is asked of numba itself.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

from numba.core import errors, ir, typed_passes, typeinfer, types, utils
from numba.core.compiler_machinery import register_pass
from numba.core.errors import WarningsFixer, new_error_context  # type: ignore[attr-defined]
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing import signature

_calls: dict[Any, Any] = {}  # signatures, by function and types of the arguments
_attributes: dict[Any, Any] = {}  # types of attributes, by type and name
PLAIN = {  # operators of numbers and arrays, to which a literal is the number that it stands for
    getattr(operator, f"{prefix}{name}")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_")
    for prefix in ("", "i")
    if hasattr(operator, f"{prefix}{name}")
} | {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.getitem, operator.setitem}
EXTREMES = {max: operator.gt, min: operator.lt}  # of numbers of one type; numba compiles a function for each
Remembered = types.Function | types.NumberClass | str  # their rules do not depend on the caller


@cache
def operator_type(op: Any) -> Any:
    """The type of an operator, one object in a process: it remembers which rule it found for which types."""
    return cpu_target.typing_context.resolve_value_type(op)


@cache
def operator_signature(op: Any, arguments: tuple) -> Any:
    return operator_type(op).get_call_type(cpu_target.typing_context, arguments, {})


def extreme_of(arguments: tuple) -> bool:
    """Whether these are several numbers of one type."""
    first = types.unliteral(arguments[0]) if len(arguments) > 1 else None
    return isinstance(first, types.Integer | types.Float) and all(types.unliteral(kind) == first for kind in arguments)


class KernelInferer(typeinfer.TypeInferer):
    """numba's inference with a memory."""

    def __init__(self, context: Any, func_ir: Any, warnings: Any) -> None:
        super().__init__(context, func_ir, warnings)
        self.constraints = Network()
        flags = ConfigStack.top_or_none()
        self._inlined = flags is not None and bool(flags.forceinline)  # overloads are compiled as their caller is

    def resolve_call(self, fnty: Any, pos_args: Any, kw_args: Any) -> Any:
        if fnty is operator.getitem:
            fnty = operator_type(fnty)
        if getattr(fnty, "typing_key", None) in EXTREMES and extreme_of(pos_args):
            plain = tuple(map(types.unliteral, pos_args))
            return signature(plain[0], *plain)
        if isinstance(fnty, types.Dispatcher):  # for a literal it would be compiled once more
            pos_args = tuple(map(types.unliteral, pos_args))
        if kw_args or not isinstance(fnty, Remembered):
            return super().resolve_call(fnty, pos_args, kw_args)
        if getattr(fnty, "typing_key", None) in PLAIN and isinstance(pos_args[0], types.Number | types.Array):
            plain = tuple(map(types.unliteral, pos_args))
            # Two literals can be compared when compiling.
            pos_args = pos_args if all(map(operator.is_not, plain, pos_args)) else plain
        key = id(fnty), self._inlined, *map(id, pos_args)  # types that are equal are one object
        known = _calls.get(key)
        if known is None:
            found = super().resolve_call(fnty, pos_args, kw_args)
            known = _calls[key] = found, fnty, pos_args  # which must stay alive
        return known[0]

    def resolve_value_type(self, inst: Any, val: Any) -> Any:
        return operator_type(val) if inst is None else super().resolve_value_type(inst, val)

    def attribute(self, kind: Any, name: str) -> Any:
        known = _attributes.get((kind, name))
        if known is None:
            known = self.context.resolve_getattr(kind, name)
            if known is not None and not isinstance(kind, types.Module):  # modules may change
                _attributes[kind, name] = known
        return known

    def setitem(self, target: Any, index: Any, value: Any) -> Any:
        return self.resolve_call(operator_type(operator.setitem), (target, index, value), {})

    def typeof_expr(self, inst: Any, target: Any, expr: Any) -> None:
        if expr.op == "getattr":
            self.constraints.append(Attribute(target.name, expr.attr, expr.value, inst.loc, inst))
        else:
            super().typeof_expr(inst, target, expr)

    def typeof_setitem(self, inst: Any) -> None:
        constraint = SetItem(inst.target, inst.index, inst.value, inst.loc)
        self.constraints.append(constraint)
        self.calls.append((inst, constraint))

    def get_state_token(self) -> Any:
        return [entry.type for entry in self.typevars.values()]


class Attribute(typeinfer.GetAttrConstraint):
    def __call__(self, typeinfer: Any) -> None:
        kind = typeinfer.typevars[self.value.name].type
        found = None if kind is None else typeinfer.attribute(kind, self.attr)
        if found is None:
            super().__call__(typeinfer)  # which says what is wrong
        else:
            typeinfer.add_type(self.target, found, loc=self.loc)
            typeinfer.refine_map[self.target] = self


class SetItem(typeinfer.SetItemConstraint):
    def __call__(self, typeinfer: Any) -> None:
        target, index, value = (typeinfer.typevars[part.name].type for part in (self.target, self.index, self.value))
        if target is None or index is None or value is None:
            return
        with new_error_context("typing of setitem at {loc}", loc=self.loc):
            self.signature = typeinfer.setitem(target, index, value)
            self._refine_target_type(typeinfer, target, index, value, self.signature)


class Network:
    """Constraints between the types of variables; those whose variables have not changed hold still."""

    def __init__(self) -> None:
        self.constraints: list[tuple[Any, list[str]]] = []
        self._seen: dict[int, list[Any]] = {}

    def append(self, constraint: Any) -> None:
        fallback = getattr(constraint, "fallback", None)
        self.constraints.append((constraint, _names(constraint) + ([] if fallback is None else _names(fallback))))

    def propagate(self, inferer: Any) -> list[Exception]:
        found: list[Exception] = []
        typevars, seen = inferer.typevars, self._seen
        for number, (constraint, names) in enumerate(self.constraints):
            if number in seen and seen[number] == [typevars[name].type for name in names]:
                continue
            try:
                constraint(inferer)
                seen[number] = [typevars[name].type for name in names]
            except errors.ForceLiteralArg as mistake:
                found.append(mistake)
            except errors.TypingError as mistake:
                told = errors.TypingError(str(mistake), loc=constraint.loc, highlighting=False)
                found.append(utils.chain_exception(told, mistake))
        return found


def _names(constraint: Any) -> list[str]:
    """The variables that a constraint speaks of."""
    parts = vars(constraint)
    found = [value.name for value in parts.values() if isinstance(value, ir.Var)]
    found += [value.name for name in ("args", "items") for value in parts.get(name, ())]
    found += [value.name for _, value in parts.get("kws") or ()]
    found += [parts[name] for name in ("dst", "src", "target") if isinstance(parts.get(name), str)]
    if type(constraint) is typeinfer.CallConstraint:  # of operators it is no variable
        found.append(constraint.func)
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelInference(typed_passes.NopythonTypeInference):
    _name = "kernel_inference"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        context, func_ir = state.typingctx, state.func_ir
        inferer = KernelInferer(context, func_ir, WarningsFixer(errors.NumbaWarning))
        with context.callstack.register(state.targetctx.target, inferer, func_ir.func_id, state.args):
            for number, (name, kind) in enumerate(zip(func_ir.arg_names, state.args)):
                inferer.seed_argument(name, number, kind)
            inferer.build_constraint()
            inferer.propagate()
            state.typemap, state.return_type, state.calltypes = inferer.unify()
        if isinstance(state.return_type, types.Array | types.Function | types.Phantom):
            return super().run_pass(state)  # which judges whether that can be returned
        return True
