"""Processes that are forked while other threads compile, load, look up and dispose of code."""

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from knuckle.engine.native import machine_code as native

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")

SCRIPT = """
import gc, os, signal, sys, threading, time
import knuckle as kn

kn.compilation.set_policy("always")

def fresh(mass):
    b = kn.Builder("p")
    b.body("a", joint=kn.joints.Revolute("y"), mass=mass, inertia=(1, 1, 1))
    model = b.build()
    kn.forward_dynamics(model, [0.0], [0.0], [0.0])
    kn.bind(model).mass_matrix(kn.neutral(model))

fresh(0.5)  # what is imported on the way is there: a fork in the middle of an import would be Python's own affair
stop = []

def busy(number):
    k = 0
    while not stop:
        fresh(1 + number + k * 1e-3)
        k += 1
        if k % 5 == 0:
            gc.collect()

threads = [threading.Thread(target=busy, args=(n,)) for n in range(2)]
for thread in threads:
    thread.start()
time.sleep(0.2)
hung = 0
for k in range(3):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        fresh(50 + k)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    hung += status != 0
stop.append(1)
for thread in threads:
    thread.join()
sys.exit(hung)
"""


@pytest.mark.slow
def test_every_child_finishes(tmp_path: Path):
    """In the children nobody is left to open llvmlite's lock: a fork must not happen while it is taken."""
    environment = os.environ | {"KNUCKLE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment, timeout=250, check=False)
    assert done.returncode == 0, f"{done.returncode} of 3 children hung"


def test_llvmlite_is_called_under_the_lock_only(monkeypatch: pytest.MonkeyPatch):
    """Whatever takes llvmlite's lock has ours, which a fork waits for; code that is let go of included."""
    without: list[str] = []

    def entered() -> None:
        if not native._LOCK._is_owned():  # type: ignore[attr-defined]
            frame = sys._getframe(3)
            without.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    text = "define i32 @f() {\n  ret i32 7\n}\n"
    native.llvm.ffi.register_lock_callback(entered, lambda: None)
    try:
        native.host.__wrapped__()
        loaded = native.Loaded(native.compile_text(text))
        assert loaded.address("f")
        native.add_symbol("some_symbol", loaded.address("f"))
        with pytest.raises(RuntimeError):
            native.compile_text("this is no text")
        del loaded
        test_code_that_is_let_go_of_waits_for_nobody()
    finally:
        native.llvm.ffi.unregister_lock_callback(*native.llvm.ffi.lib._lock._cblist[-1])
    assert without == []


def test_code_that_is_let_go_of_waits_for_nobody():
    """A finalizer may run anywhere: it leaves the work to whoever has the lock."""
    loaded = native.Loaded(native.compile_text("define i32 @f() {\n  ret i32 7\n}\n"))
    has_it, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with native._llvm():
            has_it.set()
            may_go.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert has_it.wait(20)
    start = time.monotonic()
    del loaded
    assert time.monotonic() - start < 5
    assert len(native._disused) == 1
    may_go.set()
    thread.join()
    assert native._disused == []


@pytest.mark.slow
def test_code_in_a_cycle_is_disposed_of_once(monkeypatch: pytest.MonkeyPatch):
    """The collector finalizes all that a cycle holds, in any order: the engine itself is never among it."""
    loaded = native.Loaded(native.compile_text("define i32 @f() {\n  ret i32 7\n}\n"))
    open_ones: list[object] = []
    kind = type(native._engines[loaded._number])  # type: ignore[index]
    monkeypatch.setattr(kind, "__del__", lambda self: self.closed or open_ones.append(self), raising=False)
    number, cycle = loaded._number, [loaded]
    cycle.append(cycle)  # type: ignore[arg-type]
    del loaded, cycle
    gc.collect()
    assert open_ones == []
    assert number not in native._engines
