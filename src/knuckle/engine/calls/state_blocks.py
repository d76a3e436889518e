"""Results in blocks of states, as vectors of a processor hold them: for those who go on computing with all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.arrays.base import Shape, common_batch
from knuckle.engine.emit.llvm.batches.lane_blocks import places_of
from knuckle.engine.kernels.fetch_or_compile import Native, Traced, fetch_or_compile
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels, laid_out
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native import result_memory
from knuckle.engine.native.threads import in_parallel
from knuckle.engine.targets.base import Launched
from knuckle.engine.trace.inline import without_sparse_products
from knuckle.engine.trace.node_order import in_good_order

from .arguments import Sorted
from .numpy_arrays import NumPyArrays, numbers

MANY = 1024
"""States from which on a result counts as large: it is written past the caches, where they are."""
LINE = 64
"""Bytes of a line of a cache."""
STRAIGHT = 30_000
"""Operations up to which products of matrices are written out, so that each value goes out as it is computed; longer
code takes longer to fetch than its loops to run."""


@dataclass(frozen=True)
class StateBlocks:
    """Scalars in blocks of states: values[block, place, state in the block], and the place of each scalar."""

    values: Any
    places: Any
    batch: Shape

    def rows(self, places: Any) -> Any:
        """The scalars in some places, of every state (..., scalars)."""
        blocks, count, width = self.values.shape
        turned = np.moveaxis(self.values, 1, 2).reshape(blocks * width, count)
        return turned[: math.prod(self.batch), places].reshape(*self.batch, len(places))


def in_blocks(specialization: Specialization, call: Sorted) -> StateBlocks:
    """The scalars of the results of a call with arrays of numbers."""
    values = {name: numbers(name, value, shape) for name, (value, shape) in call.arrays.items()}
    batch = common_batch(values, call.arrays)
    dtype = NumPyArrays(call.weak).precision(values)
    shapes = {name: shape for name, (_, shape) in call.arrays.items()}
    states = math.prod(batch)
    kind = "large blocks" if states >= MANY else "blocks"
    slot = kernels.slot(specialization, shapes, dtype, kind)
    code: Native | None = None
    if dtype in DTYPES and kernels.policy != "never":
        code = kernels.filled(
            slot, specialization, "kernel", lambda: _code(specialization, shapes, DTYPES[dtype], kind)
        )
    if code is None:
        why = slot.refused or f"of {dtype} numbers, or while compilation is off"
        raise TypeError(f'{specialization.name} has no layout="blocks" here: there is no native code ({why})')
    lanes = [np.ascontiguousarray(x, dtype) for x in values.values()]
    places, launched = code.launched.keeps[1], code.launched
    width, count = kernels.target.width(DTYPES[dtype]), max(places, default=-1) + 1
    out = _from_a_line(-(-states // width) * width * count, dtype)
    laid = [laid_out(array, batch, shape) for array, shape in zip(lanes, shapes.values(), strict=True)]
    inputs = [x for flat, stride in laid for x in (flat.ctypes.data, stride)]

    def work(start: int, end: int, _alive: Any = (laid, out)) -> None:
        launched.run(start, end, *inputs, out.ctypes.data)

    if out.size:
        in_parallel(states, width, work)
    return StateBlocks(out.reshape(-1, count, width), np.array(places, int), batch)


def _from_a_line(size: int, dtype: np.dtype[Any]) -> Any:
    """Room for numbers that begins at a line of a cache."""
    room = result_memory.empty((size + LINE // dtype.itemsize,), dtype)
    start = -room.ctypes.data % LINE // dtype.itemsize
    return room[start : start + size]


def _code(specialization: Specialization, shapes: Mapping[str, Shape], dtype: str, kind: str) -> Native:
    target = kernels.target

    def make(traced: Traced | None) -> tuple[dict[str, Any], bytes]:
        assert traced is not None
        is_short = traced[0].count().total <= STRAIGHT
        program = in_good_order(without_sparse_products(traced[0]) if is_short else traced[0])
        code = target.lane_blocks(program, dtype, kind == "large blocks")
        if code is None:
            raise TypeError(f"{type(target).__name__} has no results in blocks")
        return {"places": places_of(program)}, code

    def load(description: Mapping[str, Any], code: bytes) -> Launched:
        loaded = target.load_batch(code, len(shapes))
        return Launched(loaded.run, (loaded, description["places"]))

    return fetch_or_compile(target, specialization, shapes, dtype, (kind,), make, load)[0]
