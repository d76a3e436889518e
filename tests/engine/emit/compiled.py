"""Printed code, compiled and called with NumPy arrays."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.emit import Lanes, to_c, to_llvm
from knuckle.engine.emit.llvm.batches.lane_blocks import places_of, to_lane_blocks
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Program, trace

Array = np.ndarray[Any, Any]
DTYPES: dict[str, type[np.floating[Any]]] = {"f64": np.float64, "f32": np.float32}
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")


def record(text: Callable[..., Any], gain: float = 0.0, **shapes: tuple[int, ...]) -> Program:
    """A function of scalars as a program."""
    return trace(text, shapes, lambda r: (scalars_of(r), shape_of(r)), gain)


class Vectors:
    """The LLVM code of a program, in this process."""

    def __init__(self, program: Program, dtype: str = "f64", width: int = 4) -> None:
        self.program, self.dtype = program, DTYPES[dtype]
        text = to_llvm(program, Lanes(dtype, width))
        self._entry = machine_code.entry(
            machine_code.Loaded(machine_code.compile_text(text)), "kernel", len(program.arguments)
        )

    def __call__(self, *arrays: Any, states: int | None = None) -> Array:
        """The outputs (states, n). An argument with one axis is the same for all states."""
        given = [np.ascontiguousarray(a, self.dtype) for a in arrays]
        if states is None:
            states = max((len(a) for a in given if a.ndim == 2), default=1)
        out = np.full((states + 1, len(self.program.outputs)), 12345.0, self.dtype)
        places = [x for a in given for x in (a.ctypes.data, a.shape[1] if a.ndim == 2 else 0)]
        self._entry(0, states, *places, out.ctypes.data)
        assert np.all(out[states] == 12345.0), "written beyond the last state"
        return out[:states]


class LaneBlocks:
    """The LLVM code of a program whose results stay in blocks of states."""

    def __init__(self, program: Program, lanes: Lanes, is_large: bool) -> None:
        self.lanes, self.places = lanes, places_of(program)
        self.text = to_lane_blocks(program, lanes, is_large=is_large)
        loaded = machine_code.Loaded(machine_code.compile_text(self.text))
        self._entry = machine_code.entry(loaded, "kernel", len(program.arguments))

    def __call__(self, *arrays: Any) -> Array:
        """The outputs (states, n), each read where it lies."""
        given, count = [np.ascontiguousarray(x, DTYPES[self.lanes.dtype]) for x in arrays], max(self.places) + 1
        states, width = len(given[0]), self.lanes.width
        size = -(-states // width) * width * count
        room = np.full(size + 64, 12345.0, DTYPES[self.lanes.dtype])
        first = (-room.ctypes.data % 64) // self.lanes.bytes
        inputs = [y for x in given for y in (x.ctypes.data, x.shape[1])]
        self._entry(0, states, *inputs, room[first:].ctypes.data)
        assert np.all(room[:first] == 12345.0), "written before the first block"
        assert np.all(room[first + size :] == 12345.0), "written beyond the last block"
        values = room[first : first + size].reshape(-1, count, width)
        return np.moveaxis(values, 1, 2).reshape(-1, count)[:states, self.places]


class C:
    """The C code of a program, compiled with warnings as errors."""

    def __init__(self, program: Program, folder: Path, dtype: str = "f64", options: Sequence[str] = ("-O1",)) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        assert compiler, "these tests compile the printed C and need a C compiler on the path: cc, gcc or clang"
        self.program, self.dtype = program, DTYPES[dtype]
        self.text = to_c(program, "kernel", dtype, about="a test")
        source, library = folder / "kernel.c", folder / "kernel.so"
        source.write_text(self.text, encoding="ascii")
        command = [compiler, *FLAGS, *options, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self._entry = ctypes.CDLL(str(library)).kernel
        self._entry.restype = None

    def __call__(self, *arrays: Any) -> Array:
        """The outputs for one state."""
        given = [np.ascontiguousarray(a, self.dtype).ravel() for a in arrays]
        out = np.full(len(self.program.outputs) + 1, 12345.0, self.dtype)
        self._entry(*(ctypes.c_void_p(a.ctypes.data) for a in given), ctypes.c_void_p(out.ctypes.data))
        assert out[-1] == 12345.0, "written beyond the last output"
        return out[:-1]
