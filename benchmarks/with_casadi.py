"""CasADi: knuckle's texts as its symbols, its generated C, compiled for this machine.

The batch goes through a loop in C over the generated function; a single call through `casadi.FunctionBuffer`.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from ours import FUNCTIONS, arguments, evaluator
from subjects import States, Subject
from timing import Case

Array = np.ndarray[Any, Any]
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
PATIENCE = 60
"""Seconds that the C compiler gets."""


class LeftOutError(Exception):
    """Why there is no generated code."""


def cases(subject: Subject, function: str, states: States, few: int, folder: Path) -> Iterator[Case]:
    """The generated code of a function, or LeftOutError."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise LeftOutError("no C compiler")
    ca: Any = import_module("casadi")
    name = f"{subject.name}_{FUNCTIONS[function][0]}"
    sizes = [x.shape[-1] for x in arguments(function, states)]
    symbols = [ca.SX.sym(f"x{k}", n) for k, n in enumerate(sizes)]
    f = ca.Function(name, symbols, [ca.densify(evaluator(subject, function)(*symbols))])
    library = _compiled(compiler, f, sizes, folder)
    rows, columns = f.size_out(0)

    entry = ctypes.CDLL(str(library)).many
    entry.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * (len(sizes) + 1)]
    inputs = [np.ascontiguousarray(x) for x in arguments(function, states)]
    out = np.zeros((len(states.q), columns, rows))  # CasADi has columns first

    def batch() -> None:
        entry(len(out), *(x.ctypes.data for x in inputs), out.ctypes.data)

    def result() -> Array:
        batch()
        found = np.swapaxes(out[:few], -1, -2)
        return found[..., 0] if columns == 1 else found

    single = _single(ca.external(name, str(library)), inputs, out[0].copy())
    one = partial(single, *(x[0].copy() for x in inputs))

    def each() -> Array:
        found = np.array([single(*state).T for state in zip(*(x[:few] for x in inputs), strict=True)])
        return found[..., 0] if columns == 1 else found

    case = partial(Case, function, "CasADi's C")
    yield case("batch", "loop in C", batch, len(out), result)
    yield case("one state", "casadi.FunctionBuffer", one, 1, each)


def _single(external: Any, inputs: list[Array], out: Any) -> Callable[..., Array]:
    """CasADi's shortest way from Python: memory that is told once, and a call without arguments."""
    memory: list[Any] = [np.zeros_like(x[0]) for x in inputs]
    buffer, evaluate = external.buffer()
    for k, x in enumerate(memory):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(out))

    def call(*state: Array, _keeps: Any = (external, buffer)) -> Array:
        for target, x in zip(memory, state, strict=True):
            target[:] = x
        evaluate()
        return out.copy()

    return call


def _compiled(compiler: str, f: Any, sizes: list[int], folder: Path) -> Path:
    """The generated C and a loop over it, as a library."""
    name = f.name()
    source, library = _generated(f, folder), folder / f"{name}.so"
    rows, columns = f.size_out(0)
    takes = ", ".join(f"const double *x{k}" for k in range(len(sizes)))
    steps = ", ".join(f"x{k} + i * {n}" for k, n in enumerate(sizes))
    loop = f"""
void many(long n, {takes}, double *y) {{
  static casadi_int iw[{f.sz_iw() + 1}];
  static double w[{f.sz_w() + 1}];
  for (long i = 0; i < n; ++i) {{
    const double *arg[{f.sz_arg() + 1}] = {{{steps}}};
    double *res[{f.sz_res() + 1}] = {{y + i * {rows * columns}}};
    {name}(arg, res, iw, w, 0);
  }}
}}
"""
    source.write_text(source.read_text("utf-8") + loop, "utf-8")
    try:
        subprocess.run(
            [compiler, *FLAGS, str(source), "-o", str(library), "-lm"],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise LeftOutError(f"the C compiler was not done after {PATIENCE} s") from None
    except subprocess.CalledProcessError as error:
        raise LeftOutError(f"the C compiler says: {error.stderr.strip().splitlines()[0]}") from None
    return library


def _generated(f: Any, folder: Path) -> Path:
    """CasADi's C in a folder."""
    ca: Any = import_module("casadi")
    generator = ca.CodeGenerator(f"{f.name()}.c")
    generator.add(f)
    return Path(generator.generate(f"{folder}/"))
