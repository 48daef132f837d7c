"""Kernels in LLVM's language, in few words.

numba keeps every variable that is used in more than one block on the stack, copies the whole record of an array (data,
shape, strides) there to read one entry, and writes loops over `range` with divisions and branches. LLVM removes all of
that again, but writing, reading and removing it was half of the time of compiling: 80 instructions for one entry of a
matrix. Kernels have no reference counts, so here

- a variable that is assigned once, before all its uses on every way through the code, is a value;
- an entry of an array is an address and a load, a row of it a view;
- a loop over `range` is a counter;
- what nobody reads is not written.

The results are the same in every bit: LLVM is given the same floating-point operations in the same order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from llvmlite import ir
from llvmlite.ir import instructions
from numba.core import cgutils, errors, types
from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering

from .inference import EXTREMES, PLAIN, extreme_of, operator_signature, operator_type
from .on_demand import OnDemandType, write_call
from .references import item_size

DATA, SHAPE = 4, 5  # places in the record of an array
PURE = (
    instructions.InsertValue, instructions.ExtractValue, instructions.GEPInstr, instructions.CastInstr,
    instructions.LoadInstr,
)  # fmt: skip
LONG = ir.IntType(64)
RANGES = {types.range_state64_type: types.int64, types.unsigned_range_state64_type: types.uint64}
ITERATORS = {kind.iterator_type for kind in RANGES}


def part(builder: Any, value: Any, *path: int) -> Any:
    """An entry of a record or tuple, without a new instruction where it was just put together."""
    found = value
    while isinstance(found, instructions.InsertValue):
        inserted = tuple(found.indices)
        if inserted == path[: len(inserted)]:
            rest = path[len(inserted) :]
            return part(builder, found.value, *rest) if rest else found.value
        if path == inserted[: len(path)]:
            break  # only a part of it was inserted here
        found = found.aggregate
    return builder.extract_value(value, list(path))


class KernelLower(Lower):
    """numba's writer of LLVM's language, with shorter words for what kernels are made of."""

    def init(self) -> None:
        super().init()
        self._counters: dict[int, tuple[Any, Any, Any]] = {}  # of loops, by the expression that begins them
        self._upward: set[int] = set()  # places of counters that begin at 0 or above and grow

    def lower_block(self, block: Any) -> None:
        """numba keeps a record of what it does at each statement for the message of a mistake; here mistakes do."""
        self._depth = self._depths[id(block)]
        self.library.depth = max(self.library.depth, self._depth)
        for statement in block.body:
            self.loc = statement.loc
            try:
                self.lower_inst(statement)
            except errors.NumbaError:
                raise
            except Exception as mistake:
                raise errors.LoweringError(f'lowering "{statement}": {mistake}', loc=self.loc) from mistake

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, numba_ir.Assign):
            self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        elif isinstance(inst, numba_ir.StaticSetItem) and isinstance(self.typeof(inst.target.name), types.Array):
            self.lower_setitem(inst.target, inst.index_var, inst.value, self.fndesc.calltypes[inst])
        else:
            super().lower_inst(inst)

    # Variables

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are values: assigned once, before all uses on every way, and in an earlier block or here."""
        blocks = self.func_ir.blocks
        assigned: dict[str, int] = {}  # where
        again: set[str] = set()
        used: dict[int, set[str]] = {label: set() for label in blocks}  # in a block that has not assigned it before
        for label, block in blocks.items():
            defined: set[str] = set()
            for statement in block.body:
                used[label].update(name for name in names_read(statement) if name not in defined)
                if isinstance(statement, numba_ir.Assign):
                    name = statement.target.name
                    again.update({name} & assigned.keys())
                    assigned[name] = label
                    defined.add(name)
        graph = compute_cfg_from_blocks(blocks)
        before = graph.dominators()
        self._depths = {id(block): len(graph.in_loops(label)) for label, block in blocks.items()}
        early = {
            name for label, names in used.items() for name in names
            if name in assigned and (assigned[name] not in before[label] or assigned[name] >= label)
        }  # fmt: skip
        self._singly_assigned_vars = assigned.keys() - again - early
        self._blk_local_varmap: dict[str, Any] = {}

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing is counted, so nothing is given back."""

    # Expressions

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op == "static_getitem" and isinstance(self.typeof(expr.value.name), types.Array):
            return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])
        write = getattr(self, f"_write_{expr.op}", None)
        found = None if write is None else write(expr)
        return super().lower_expr(resty, expr) if found is None else found

    def _write_pair_first(self, expr: Any) -> Any:
        return part(self.builder, self.loadvar(expr.value.name), 0)

    def _write_pair_second(self, expr: Any) -> Any:
        return part(self.builder, self.loadvar(expr.value.name), 1)

    def _write_static_getitem(self, expr: Any) -> Any:
        kind = self.typeof(expr.value.name)
        if not isinstance(kind, types.UniTuple) or not isinstance(expr.index, int):
            return None
        return part(self.builder, self.loadvar(expr.value.name), expr.index % len(kind))

    def _write_getattr(self, expr: Any) -> Any:
        kind = self.typeof(expr.value.name)
        if not isinstance(kind, types.Array) or expr.attr != "shape":
            return None
        array = self.loadvar(expr.value.name)
        return self._tuple([part(self.builder, array, SHAPE, k) for k in range(kind.ndim)])

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        signature = self.fndesc.calltypes[expr]
        if op not in PLAIN or not all(isinstance(kind, types.Number) for kind in signature.args):
            return super().lower_binop(resty, expr, op)
        given = [self._cast_var(part, kind) for part, kind in zip((expr.lhs, expr.rhs), signature.args)]
        write = self.context.get_function(operator_type(op), operator_signature(op, signature.args))
        found = write(self.builder, given)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def _tuple(self, values: list[Any]) -> Any:
        found = ir.Constant(ir.ArrayType(LONG, len(values)), ir.Undefined)
        for k, value in enumerate(values):
            found = self.builder.insert_value(found, value, k)
        return found

    # Loops

    def _write_call(self, expr: Any) -> Any:
        kind = self.typeof(expr.func.name)
        signature = self.fndesc.calltypes[expr]
        if isinstance(kind, OnDemandType):
            given = [self._cast_var(variable, wanted) for variable, wanted in zip(expr.args, signature.args)]
            return write_call(self, kind, given, signature.args)
        if isinstance(kind, types.Dispatcher):
            callee = kind.dispatcher.get_compile_result(signature).library
            if getattr(callee, "inline", False):
                self.library.depth = max(self.library.depth, self._depth + callee.depth)
            return None
        key = getattr(kind, "typing_key", None)
        if key in EXTREMES and not expr.kws and expr.vararg is None and extreme_of(signature.args):
            return self._write_extreme(EXTREMES[key], signature.args[0], expr.args)
        if key is not range or expr.kws or expr.vararg is not None:
            return None
        number = RANGES.get(signature.return_type)
        if number is None or any(given != number for given in signature.args):
            return None
        given = [self._cast_var(variable, number) for variable in expr.args]
        given = [ir.Constant(LONG, 0), *given] if len(given) == 1 else given
        given = [*given, ir.Constant(LONG, 1)] if len(given) == 2 else given
        found = ir.Constant(self.context.get_value_type(signature.return_type), ir.Undefined)
        for k, value in enumerate(given):
            found = self.builder.insert_value(found, value, k)
        return found

    def _write_extreme(self, op: Any, kind: Any, variables: Any) -> Any:
        """As Python finds a maximum or minimum: what is not a number is passed over unless it comes first."""
        found, *others = (self._cast_var(variable, kind) for variable in variables)
        compare = self.context.get_function(operator_type(op), operator_signature(op, (kind, kind)))
        for value in others:
            found = self.builder.select(compare(self.builder, (value, found)), value, found)
        return found

    def _write_getiter(self, expr: Any) -> Any:
        state_kind = self.typeof(expr.value.name)
        if state_kind not in RANGES:
            return None
        builder, state = self.builder, self.loadvar(expr.value.name)
        first, stop, step = (part(builder, state, k) for k in range(3))
        if not isinstance(step, ir.Constant) or not step.constant:
            return None
        forward, size = step.constant > 0, abs(step.constant)
        steps = builder.sub(stop, first) if forward else builder.sub(first, stop)
        if size != 1:
            steps = builder.sdiv(builder.add(steps, ir.Constant(LONG, size - 1)), ir.Constant(LONG, size))
        place, left = (cgutils.alloca_once(builder, LONG) for _ in range(2))
        builder.store(first, place)
        builder.store(steps, left)
        self._counters[id(expr)] = place, left, step
        if forward and self._never_negative(first):
            self._upward.add(id(place))
        found = ir.Constant(self.context.get_value_type(state_kind.iterator_type), ir.Undefined)
        for k, value in enumerate((place, stop, step, left)):
            found = builder.insert_value(found, value, k)
        return found

    def _write_iternext(self, expr: Any) -> Any:
        if self.typeof(expr.value.name) not in ITERATORS:
            return None
        builder = self.builder
        known = self._counters.get(id(guard(get_definition, self.func_ir, expr.value)))
        if known is None:
            iterator = self.loadvar(expr.value.name)
            known = part(builder, iterator, 0), part(builder, iterator, 3), part(builder, iterator, 2)
        place, left, step = known
        value, count = builder.load(place), builder.load(left)
        builder.store(builder.add(value, step), place)
        builder.store(builder.sub(count, ir.Constant(LONG, 1), flags=["nsw"]), left)
        kind = self.fndesc.calltypes[expr].return_type
        found = builder.insert_value(ir.Constant(self.context.get_value_type(kind), ir.Undefined), value, 0)
        return builder.insert_value(found, builder.icmp_signed(">", count, ir.Constant(LONG, 0)), 1)

    # Entries of arrays

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        array = self.typeof(value.name)
        indices = self._indices(array, index, signature.args[1])
        if indices is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        address, rest = self._address(array, self.loadvar(value.name), indices)
        if rest:
            found = self._view(array, signature.return_type, address, rest)
        else:
            found = self.context.unpack_value(self.builder, array.dtype, address, align=_alignment(array))
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        array = self.typeof(target_var.name)
        indices = self._indices(array, index_var, signature.args[1])
        if indices is None or len(indices) < array.ndim or isinstance(signature.args[2], types.Array):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(
            self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), array.dtype
        )
        address, _ = self._address(array, self.loadvar(target_var.name), indices)
        self.context.pack_value(self.builder, array.dtype, value, address, align=_alignment(array))
        return None

    def _indices(self, array: Any, index: Any, kind: Any) -> list[tuple[Any, bool]] | None:
        """Whole numbers that choose an entry, or a row, where entries lie side by side, with their signedness."""
        kinds = list(kind) if isinstance(kind, types.BaseTuple) else [kind]  # type: ignore[call-overload]
        if not isinstance(array, types.Array) or array.layout != "C" or isinstance(array.dtype, types.Record):
            return None
        if not 0 < len(kinds) <= array.ndim or any(not isinstance(entry, types.Integer) for entry in kinds):
            return None
        if self.context.enable_boundscheck:
            return None
        value = self.context.cast(self.builder, self.loadvar(index.name), self.typeof(index.name), kind)
        values = [part(self.builder, value, k) for k in range(len(kinds))] if kind is not kinds[0] else [value]
        return [
            (self.context.cast(self.builder, entry, given, types.intp if given.signed else types.uintp), given.signed)
            for entry, given in zip(values, kinds)
        ]

    def _address(self, array: Any, value: Any, indices: list[tuple[Any, bool]]) -> tuple[Any, list[Any]]:
        """Where entry i, j, … begins, and the lengths that are left: of the row that begins there."""
        builder = self.builder
        shape = [part(builder, value, SHAPE, k) for k in range(array.ndim)]
        offset = None
        for k, length in enumerate(shape):
            if offset is not None:
                offset = builder.mul(offset, length)
            if k < len(indices):
                index = self._from_end(*indices[k], length)
                offset = index if offset is None else builder.add(offset, index)
        return builder.gep(part(builder, value, DATA), [offset]), shape[len(indices) :]

    def _from_end(self, index: Any, signed: bool, length: Any) -> Any:
        """Negative indices count from the end."""
        if not signed or self._never_negative(index):
            return index
        if isinstance(index, ir.Constant):
            return self.builder.add(index, length)
        negative = self.builder.icmp_signed("<", index, ir.Constant(LONG, 0))
        return self.builder.select(negative, self.builder.add(index, length), index)

    def _never_negative(self, index: Any) -> bool:
        """Whether an index is a constant of at least 0, a counter from 0 on, or a sum or product of such."""
        if isinstance(index, ir.Constant):
            return isinstance(index.constant, int) and index.constant >= 0
        if isinstance(index, instructions.LoadInstr):
            return id(index.operands[0]) in self._upward
        return getattr(index, "opname", "") in ("add", "mul") and all(map(self._never_negative, index.operands))

    def _view(self, array: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
        """The record of a row. Kernels own no arrays, so it belongs to nobody."""
        builder = self.builder
        size = ir.Constant(LONG, item_size(self.context, array.dtype))
        strides = [size]
        for length in reversed(shape):
            strides.insert(0, builder.mul(strides[0], length))
        items = shape[0]
        for length in shape[1:]:
            items = builder.mul(items, length)
        found = ir.Constant(self.context.get_value_type(kind), None)
        for k, entry in ((2, items), (3, size), (DATA, address)):
            found = builder.insert_value(found, entry, k)
        for k, (length, stride) in enumerate(zip(shape, strides[1:])):
            found = builder.insert_value(found, length, [SHAPE, k])
            found = builder.insert_value(found, stride, [SHAPE + 1, k])
        return found

    # What nobody reads

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        drop_unread(self.function)


def names_read(statement: Any) -> Iterator[str]:
    """The variables that a statement of numba's language reads."""
    value = statement.value if isinstance(statement, numba_ir.Assign) else statement
    if isinstance(value, numba_ir.Var):
        yield value.name
    elif isinstance(value, numba_ir.Expr | numba_ir.Stmt):
        yield from _names_in((value._kws if isinstance(value, numba_ir.Expr) else vars(value)).values())


def _names_in(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, numba_ir.Var):
            yield value.name
        elif isinstance(value, list | tuple):
            yield from _names_in(value)
        elif isinstance(value, dict):
            yield from _names_in(value.values())


def drop_unread(function: Any) -> None:
    """Take out instructions without an effect whose value no other instruction reads, the last first."""
    reads: dict[int, int] = defaultdict(int)
    for block in function.blocks:
        for instruction in block.instructions:
            for value in instruction.operands:
                reads[id(value)] += 1
            for value, _ in getattr(instruction, "incomings", ()):
                reads[id(value)] += 1
    for block in reversed(function.blocks):
        kept = []
        for instruction in reversed(block.instructions):
            if reads[id(instruction)] or not isinstance(instruction, PURE):
                kept.append(instruction)
                continue
            for value in instruction.operands:
                reads[id(value)] -= 1
        block.instructions[:] = reversed(kept)


def _alignment(array: Any) -> int | None:
    return None if array.aligned else 1


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):
    _name = "kernel_lowering"  # type: ignore[assignment]

    @property
    def lowering_class(self) -> Any:
        return KernelLower
