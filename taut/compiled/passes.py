"""The way from Python's byte code to LLVM's language: numba's passes that kernels need.

Kernels have no closures, no array expressions, no loops in parallel and no generators, and nothing in them is counted,
so numba's bookkeeping after each pass (where variables live and die) serves nobody: it was half of the time of these
passes.
"""

from __future__ import annotations

from typing import Any

from numba.core import event, interpreter, typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.errors import new_error_context  # type: ignore[attr-defined]
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.registry import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg

from .inference import KernelInference
from .lowering import KernelLowering

UNUSED = (interpreter.peep_hole_delete_with_exit, interpreter.peep_hole_fuse_dict_add_updates)


class Reader(interpreter.Interpreter):
    """Python's byte code in numba's language, for functions without `with` and dictionaries."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return super().post_process([change for change in peepholes if change not in UNUSED], func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class Read(untyped_passes.TranslateByteCode):
    _name = "kernel_read"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        state.func_ir = Reader(state.func_id).interpret(state.bc)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Loops(untyped_passes.IRProcessing):
    """Every loop gets one way back to its head."""

    _name = "kernel_loops"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Constants(untyped_passes.GenericRewrites):
    """numba's changes before types are known: indices and exponents that are constants."""

    _name = "kernel_constants"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        for kind in rewrite_registry.rewrites["before-inference"]:
            change, left = kind(state), list(blocks)
            while left:
                label = left[-1]
                if change.match(state.func_ir, blocks[label], state.typemap, state.calltypes):
                    blocks[label] = change.apply()
                else:
                    left.pop()
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Assignments(untyped_passes.ReconstructSSA):
    """Variables that are assigned once."""

    _name = "kernel_assignments"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Phis(typed_passes.PreLowerStripPhis):
    """Where ways join, each has assigned the variable before."""

    _name = "kernel_phis"  # type: ignore[assignment]

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


PASSES: tuple[Any, ...] = tuple(
    kind() for kind in (
        Read, untyped_passes.FixupArgs, Loops, untyped_passes.RewriteSemanticConstants,
        untyped_passes.DeadBranchPrune, Constants, Assignments, KernelInference, Phis,
        typed_passes.NoPythonSupportedFeatureValidation, KernelLowering, typed_passes.NoPythonBackend,
    )
)  # fmt: skip


class KernelPasses(PassManager):
    """numba's manager, which only runs the passes."""

    def run(self, state: Any) -> None:
        name = state.func_id.func_qualname
        for single in PASSES:
            single.analysis = {untyped_passes.RewriteSemanticConstants: None, untyped_passes.DeadBranchPrune: None}
            told = f"{single.name()} [{name}]"
            with event.trigger_event("numba:run_pass", data={"name": told}), new_error_context(told):
                single.run_pass(state)
