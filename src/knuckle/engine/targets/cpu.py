"""The processor of this machine, through LLVM."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from math import prod
from typing import Any

from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.emit.llvm.feedback_loop import Feedback, to_loop
from knuckle.engine.native import machine_code as native
from knuckle.engine.native import rolled_code
from knuckle.engine.trace import Program, Rolled

from .base import Arguments, Launched, Target


class CPU(Target):
    """Vectors of states on the processor."""

    @property
    def key(self) -> Any:
        return native.host(), native.LEVEL

    def width(self, dtype: str) -> int:
        return native.host().lanes(dtype)

    def lanes(self, dtype: str) -> Lanes:
        """The vectors."""
        return Lanes(dtype, self.width(dtype))

    def batch(self, program: Program, dtype: str) -> bytes:
        return native.compile_text(to_llvm(program, self.lanes(dtype)))

    def load_batch(self, code: bytes, arguments: int) -> Launched:
        loaded = native.Loaded(code)
        return Launched(native.entry(loaded, "kernel", arguments), loaded, loaded.address("kernel"))

    def lane_blocks(self, program: Program, dtype: str, is_large: bool) -> bytes:
        from knuckle.engine.emit.llvm.batches.lane_blocks import to_lane_blocks

        return native.compile_text(to_lane_blocks(program, self.lanes(dtype), is_large=is_large))

    def rolled(self, program: Rolled, dtype: str) -> tuple[dict[str, Any], bytes]:
        return rolled_code.compile_rolled(program, self.lanes(dtype))

    def load_rolled(self, description: Mapping[str, Any], code: bytes, dtype: str, arguments: int) -> Launched:
        entry = rolled_code.rolled_entry(description, code, self.lanes(dtype), arguments)
        return Launched(entry, entry)

    def one_state(self, program: Program, dtype: str) -> bytes:
        from knuckle.engine.emit.llvm.single_state import to_one_state

        return native.compile_text(to_one_state(program, self.lanes(dtype)))

    def load_one_state(self, code: bytes) -> Launched:
        loaded = native.Loaded(code)
        return Launched(_not_called, loaded, loaded.address("one_state"))

    def one_of_batch(self, batch: Launched, arguments: int) -> Launched:
        """A call of the kernel, which fills its vectors with the one state.

        Rolled code for single numbers would take as long again to make, and save a quarter of the time. Only the thread
        that has Python's lock calls it, so that one room for its intermediate results is enough.
        """
        from knuckle.engine.emit.llvm.single_state import kernel_to_one_state

        room, rest = rolled_code.words_after_output(batch.run)
        address = batch.address or batch.run.keeps.address("kernel")  # type: ignore[attr-defined]
        loaded = native.Loaded(native.compile_text(kernel_to_one_state(address, arguments, rest)))
        return Launched(_not_called, (batch, room, loaded), loaded.address("one_state"))

    def loop(self, program: Program, dtype: str, feedback: Feedback, is_single: bool) -> bytes:
        wide = self.lanes(dtype)
        lanes = Lanes(dtype, 1) if is_single else wide
        return native.compile_text(to_loop(program, lanes, feedback, wide=wide if is_single else None))

    def load_loop(self, code: bytes, feedback: Feedback, arguments: Arguments) -> Launched:
        loaded = native.Loaded(code)
        size, parts = 0, 0
        for shape in arguments.values():
            parts += size < feedback.state
            size += prod(shape)
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        inputs = [pointer, number, number] * (len(arguments) - parts)
        kind = ctypes.CFUNCTYPE(
            None, *[number] * 8, pointer, *inputs, *[pointer, number, number] * len(feedback.kept)
        )  # fmt: skip
        call: Any = kind(loaded.address("loop"))
        call.keeps = loaded
        return Launched(call, loaded)


def _not_called(*_: Any) -> None:
    raise RuntimeError("code for one state is called by its address")
