"""Large mechanisms: rolled code and its tables, called like any other kernel.

Straight-line code suits some sixty bodies. Beyond that the loops of the algorithm are printed once (`rolled_loops`),
with constants and operands in tables; those are kept with the code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm.rolled_loops import rolled_to_llvm, tables
from knuckle.engine.emit.llvm.streaming_stores import padded, runs
from knuckle.engine.trace.program import Program
from knuckle.engine.trace.regions import Rolled

from . import machine_code

Array: TypeAlias = np.ndarray[Any, Any]

BODIES = 60
"""Mechanisms with more bodies are rolled."""
NODES = 100_000
"""Texts with more operations are rolled too: straight-line code of that length takes many seconds to compile. Up to
there it is as soon compiled, in segments, and a quarter to a half faster, for one state more than for many."""


def is_too_long(program: Program) -> bool:
    """Whether a program is to be rolled for its length; one with rounds is not, since each of them would be written."""
    return program.size() > NODES and not program.has_rounds


def compile_rolled(program: Rolled, lanes: Lanes) -> tuple[dict[str, Any], bytes]:
    """What to keep of a rolled program: a description, and code and tables as bytes."""
    tables = _tables(program, lanes)
    code = machine_code.compile_text(rolled_to_llvm(program, lanes))
    parts = [code, *(table.tobytes() for table in tables)]
    description = {"shape": program.shape, "slots": program.slots, "parts": [len(part) for part in parts]}
    return description, b"".join(parts)


def _tables(program: Rolled, lanes: Lanes) -> list[Array]:
    rows, slots, numbers = tables(program)
    dtype = np.float64 if lanes.dtype == "f64" else np.float32
    return [
        np.array(rows, np.int32),
        np.array(slots, np.int32),
        np.array(numbers, dtype),
        np.array(padded(program.outputs), np.int32),
        np.array(padded(runs(program.zeros)), np.int32),
    ]


def rolled_entry(description: Mapping[str, Any], payload: bytes, lanes: Lanes, arguments: int) -> Callable[..., None]:
    """The kernel as a Python callable: start, end, (pointer, stride) per argument, output."""
    parts: list[bytes] = []
    place = 0
    for size in description["parts"]:
        parts.append(payload[place : place + size])
        place += size
    code, *tables = parts
    dtype = np.float64 if lanes.dtype == "f64" else np.float32
    rows, slots, results, zeros = (np.frombuffer(tables[k], np.int32) for k in (0, 1, 3, 4))
    numbers = np.frombuffer(tables[2], dtype)
    loaded = machine_code.Loaded(code)
    pair = [ctypes.c_void_p, ctypes.c_int64]
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.c_int64, *pair * arguments, *[ctypes.c_void_p] * 3, ctypes.c_int64,
        *[ctypes.c_void_p] * 4,
    )  # fmt: skip
    call: Any = kind(loaded.address("kernel"))
    count = len(rows) // 3
    bytes_needed = max(1, int(description["slots"])) * lanes.width * np.dtype(dtype).itemsize

    def rest() -> tuple[Array, tuple[int, ...]]:
        scratch = np.empty(bytes_needed + 64, np.uint8)
        aligned = -(-scratch.ctypes.data // 64) * 64
        tables_at = (table.ctypes.data for table in (slots, numbers, results, zeros))
        return scratch, (aligned, rows.ctypes.data, count, *tables_at)

    def run(start: int, end: int, *places: int) -> None:
        _scratch, words = rest()
        call(start, end, *places, *words)

    run.keeps, run.rest = loaded, rest  # type: ignore[attr-defined]
    return run


def words_after_output(entry: Any) -> tuple[Any, tuple[int, ...]]:
    """What an entry passes to its kernel after the output, with room of its own, and what to keep for as long.

    For code that calls the kernel without the entry, one state at a time.
    """
    return entry.rest() if hasattr(entry, "rest") else (None, ())
