"""A second target, of some forty lines: C text through the system's compiler. Nothing outside of it knows it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit import to_c
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.targets.base import Launched, Target
from knuckle.engine.trace import Program
from knuckle.testing import random_tree

from ...seeds import quick

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
TYPES = {"f64": "double", "f32": "float"}


class SystemC(Target):
    """The C printer, the system's compiler and its loader."""

    def __init__(self) -> None:
        self.compiled, self.run, self._own = 0, 0, uuid4().hex

    @property
    def key(self) -> Any:
        return "the system's C compiler", COMPILER, self._own

    def width(self, dtype: str) -> int:
        return 1

    def batch(self, program: Program, dtype: str) -> bytes:
        """One state in C, and a loop over states around it."""
        self.compiled += 1
        T, n = TYPES[dtype], len(program.outputs)
        inputs = "".join(f"const {T} *in{k}, long long stride{k}, " for k in range(len(program.arguments)))
        places = "".join(f"in{k} + b * stride{k}, " for k in range(len(program.arguments)))
        loop = f"""void batch(long long start, long long end, {inputs}{T} *out)
{{ for (long long b = start; b < end; b++) kernel({places}out + b * {n}); }}
"""
        assert COMPILER
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            source.write_text(to_c(program, "kernel", dtype) + loop, "ascii")
            flags = ["-std=c99", "-O0", "-shared", "-fPIC", "-ffp-contract=off"]
            subprocess.run([COMPILER, *flags, str(source), "-o", str(library), "-lm"], check=True)
            return library.read_bytes()

    def load_batch(self, code: bytes, arguments: int) -> Launched:
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(code)
            file.flush()
            library = ctypes.CDLL(file.name)
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        library.batch.argtypes = [number, number, *[pointer, number] * arguments, pointer]
        library.batch.restype = None

        def run(*args: Any) -> None:
            self.run += 1
            library.batch(*args)

        return Launched(run, library)


@pytest.fixture
def target() -> Iterator[SystemC]:
    """Everything that is called goes to the C compiler, and nothing else is left behind."""
    if COMPILER is None:
        pytest.fail("this test compiles printed C and needs a C compiler on the path: cc, gcc or clang")
    before, made = kernels.target, SystemC()
    kn.compilation.set_policy("always")
    kernels.target = made
    yield made
    kernels.target = before
    kn.compilation.set_policy("auto")


FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "center_of_mass", "kinetic_energy")


@pytest.mark.sampled
@pytest.mark.parametrize("name", quick(FUNCTIONS, ["inverse_dynamics", "mass_matrix", "center_of_mass"]))
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)], ids=str)
def test_functions(target: SystemC, name: str, batch: tuple[int, ...]):
    """Public functions, alone and in batches, in double and single precision, agree with those of the processor."""
    model, rng = random_tree(4, 3, floating=True), np.random.default_rng(1)
    q = np.array([kn.random_configuration(model, k) for k in range(int(np.prod(batch)))]).reshape(*batch, model.nq)
    arrays = [q, *rng.standard_normal((2, *batch, model.nv))]
    function = getattr(kn, name)
    arrays = arrays[: len([x for x in function.__signature__.parameters if x in ("q", "v", "a", "tau")])]
    found = function(model, *arrays)
    assert (target.compiled, target.run) == (1, 1)
    single = function(model, *(x.astype(np.float32) for x in arrays))
    assert (target.compiled, target.run) == (2, 2)
    before, kernels.target = kernels.target, CPU_TARGET
    expected = function(model, *arrays)
    kernels.target = before
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-3 * scale)


CPU_TARGET = kernels.target


def test_kernels_of_users_and_blocks(target: SystemC):
    """A user's text, a piece of which is called twice and another repeated."""
    from knuckle.spatial import called, repeated

    @kn.kernel
    def settle(model: kn.Model, q: Any, v: Any) -> Any:
        fall = called(lambda q, v: kn.forward_dynamics(model, q, v, 0 * v))
        v = v + 0.01 * fall(q, v)
        v = v + 0.01 * fall(q + 0.01 * v, v)
        _, slow = repeated(lambda left, v: (left - 1, 0.9 * v), (3.5, v), 10)
        return {"v": v, "slow": slow}

    model = kn.robots.load("arm").without_friction()
    q, v = np.random.default_rng(0).uniform(-1, 1, (2, 4, model.nv))
    found = settle(model, q, v)
    assert target.run > 0
    np.testing.assert_allclose(found["slow"], 0.9**4 * found["v"], rtol=1e-14)
    before, kernels.target = kernels.target, CPU_TARGET
    expected = settle(model, q, v)
    kernels.target = before
    np.testing.assert_allclose(found["v"], expected["v"], rtol=0, atol=1e-12 * np.abs(expected["v"]).max())


@pytest.mark.slow
def test_what_it_has_not_is_done_another_way(target: SystemC):
    """There is no loop through time: a rollout and a simulation call the code of a step, and come to the same end."""
    model = kn.robots.load("double_pendulum")
    found = kn.rollout(model, [[1.0, 0.5]], [[0.0, 0.0]], None, 1e-3, steps=20)
    alone = kn.simulate(model, [1.0, 0.5], [0.0, 0.0], 0.02, dt=1e-3, progress=False)
    before, kernels.target = kernels.target, CPU_TARGET
    expected = kn.rollout(model, [[1.0, 0.5]], [[0.0, 0.0]], None, 1e-3, steps=20)
    kernels.target = before
    np.testing.assert_allclose(found.q, expected.q, rtol=1e-13)
    np.testing.assert_allclose(alone.q[-1], expected.q[0, -1], rtol=1e-13)


def test_its_code_is_kept_apart(target: SystemC):
    """What one target compiled is not what another is given, in memory or on the disk, nor the other way round."""
    model = kn.robots.load("pendulum")
    one, runs = kn.inverse_dynamics(model, [[0.3]], [[0.1]], [[0.2]]), target.run
    before, kernels.target = kernels.target, CPU_TARGET
    two = kn.inverse_dynamics(model, [[0.3]], [[0.1]], [[0.2]])
    assert target.run == runs
    kernels.target = before
    kn.inverse_dynamics(model, [[0.3]], [[0.1]], [[0.2]])
    assert target.run == runs + 1
    np.testing.assert_allclose(one, two, rtol=1e-14)
