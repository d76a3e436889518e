"""When native code is made, what happens where it cannot be, and how long work is announced."""

import io
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.compile_notice import CompileNotice
from knuckle.engine.kernels.kernel_registry import CALLS, STATES, kernels
from knuckle.engine.native import machine_code

from ..calls.mechanisms import chain

pytestmark = pytest.mark.usefixtures("native_code")


def test_auto_waits_for_repeated_calls(built: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "policy", "auto")
    model = chain(2)
    q = np.zeros(2)
    for _ in range(CALLS - 1):
        kn.gravity_force(model, q)
    assert built == []
    for _ in range(3):
        kn.gravity_force(model, q)
    assert built == ["gravity_force"]


def test_auto_takes_large_batches_at_once(built: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "policy", "auto")
    model = chain(2)
    kn.gravity_force(model, np.zeros((STATES - 1, 2)))
    assert built == []
    kn.gravity_force(model, np.zeros((STATES, 2)))
    assert built == ["gravity_force"]


def test_auto_does_not_compile_models_that_change_every_call(built: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "policy", "auto")
    model, before = chain(2), len(kernels._slots._of)
    for k in range(2 * CALLS):
        kn.gravity_force(model.with_gravity((0, 0, -9.0 - k)), np.zeros(2))
    assert built == []
    assert len(kernels._slots._of) < before + CALLS, "models that are gone are forgotten"


def test_never(built: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "policy", "never")
    kn.gravity_force(chain(2), np.zeros((STATES, 2)))
    assert built == []


def test_the_policy_is_checked():
    with pytest.raises(ValueError, match='the policy is "auto", "always" or "never", not \'sometimes\''):
        kn.compilation.set_policy("sometimes")  # type: ignore[arg-type]
    kn.compilation.set_policy("auto")
    assert kernels.policy == "auto"


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        ("nonsense", "auto"),
        pytest.param("always", "always", marks=pytest.mark.slow),
        pytest.param("never", "never", marks=pytest.mark.slow),
        pytest.param("", "auto", marks=pytest.mark.slow),
    ],
)
def test_the_policy_of_the_environment(said: str, policy: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_COMPILATION", said)
    code = "from knuckle.engine.kernels.kernel_registry import kernels; print(kernels.policy)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == policy, done.stderr
    assert ("KNUCKLE_COMPILATION is 'nonsense'" in done.stderr) == (said == "nonsense")


def test_a_failure_to_compile_loses_no_call(monkeypatch: pytest.MonkeyPatch):
    def fails(text: str, level: int = 2) -> bytes:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(machine_code, "compile_text", fails)
    model = chain(3)
    q = np.linspace(0, 1, 12).reshape(4, 3)
    with pytest.warns(RuntimeWarning, match="gravity_force runs as plain Python.*no such instruction") as warned:
        found = kn.gravity_force(model, q)
    assert warned[0].filename == __file__
    monkeypatch.setattr(kernels, "policy", "never")
    np.testing.assert_array_equal(found, kn.gravity_force(model, q))
    monkeypatch.setattr(kernels, "policy", "always")
    np.testing.assert_array_equal(kn.gravity_force(model, q), found)  # and warns no more: a warning here is an error


# what takes long is announced


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_notebook_is_watched_too(monkeypatch: pytest.MonkeyPatch):
    assert CompileNotice.DELAY == 0.5
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(CompileNotice, "DELAY", 0.0)
    with CompileNotice("_steps for a robot") as _:
        for _ in range(200):
            if stream.getvalue():
                break
            time.sleep(0.01)
    assert "compiling steps for a robot" in stream.getvalue()


@pytest.mark.sampled
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("slow", [True, False])
def test_slow_compilation_is_announced_in_a_terminal(terminal: bool, slow: bool, monkeypatch: pytest.MonkeyPatch):
    compile_text = machine_code.compile_text

    def slowly(text: str) -> bytes:
        time.sleep(0.6 if slow else 0.0)
        return compile_text(text)

    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(machine_code, "compile_text", slowly)
    monkeypatch.setattr(CompileNotice, "DELAY", 0.1 if slow else 60.0)
    monkeypatch.setattr(sys, "stderr", screen)
    model = chain(2).with_gravity((0, 0, -float(1 + terminal + 2 * slow)))
    kn.gravity_force(model, np.zeros(2))
    said = screen.getvalue().splitlines()
    if terminal and slow:
        assert said[0] == "knuckle: compiling gravity_force for chain of 2, which is kept for the next time …"
        assert re.fullmatch(r"knuckle: compiled gravity_force for chain of 2 in \d+\.\d s", said[1])
    else:
        assert said == []
