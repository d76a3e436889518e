"""What the tests of sweeps compute: small, and by functions that processes can be sent."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.cluster.designs import Design

Array = Any


def slow_sum(model: kn.Model, x: Array, y: Array) -> dict[str, Array]:
    """A function of two parameters: something to add up, and a vector."""
    return {"total": x + y.sum(-1), "sines": np.sin(np.outer(x, [1.0, 2.0, 3.0]))}


def sums(count: int = 100, seed: int = 0) -> Design:
    """Random samples for `slow_sum`."""
    return kn.cluster.random({"x": (0, 1), "y": kn.cluster.normal(0, 1, 2)}, count, seed=seed)


def patient_sum(model: kn.Model, x: Array, y: Array, seconds: Array) -> dict[str, Array]:
    """The same, with a wait."""
    time.sleep(float(seconds))
    return slow_sum(model, x, y)


class DiesOnce:
    """A kernel whose process kills itself, if no other did before."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __call__(self, model: kn.Model, x: Array, y: Array) -> dict[str, Array]:
        if x.min() < 0.02 and len(x) > 5 and not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return slow_sum(model, x, y)


def same(a: Any, b: Any) -> bool:
    """Whether two sweeps hold the same, to the last bit."""
    names = [*a.parameters, *a.results]
    return names == [*b.parameters, *b.results] and all(
        a[name][:].tobytes() == b[name][:].tobytes() and a[name].dtype == b[name].dtype for name in names
    )
