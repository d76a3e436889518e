"""Forward dynamics of chains and binary trees from 5 to 5,000 bodies: the cost per body, first call and memory."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import child

BRANCHING = {"chain": 1, "binary tree": 2}
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
PINOCCHIO_UP_TO = 200
"""Pinocchio's memory grows with the cube of the freedoms: half a gigabyte for 200 of them, some 60 for 1,000."""


def batch(n: int) -> int:
    """States in a batch: fewer for large mechanisms, and whole vectors of them."""
    return max(64, min(4096, 40960 // n // 16 * 16))


def scaling(
    sizes: Iterable[int] = SIZES, rounds: int = 15, shapes: Iterable[str] = tuple(BRANCHING), patience: float = 120.0
) -> Iterator[dict[str, Any]]:
    """A record for every shape and size, each measured in a process of its own with an empty cache.

    Where one is not done after `patience` seconds, larger ones are not tried.
    """
    for shape in shapes:
        too_large = False
        for n in sizes:
            answer = None if too_large else _best(shape, n, rounds, patience)
            too_large = answer is None
            yield {"shape": shape, "bodies": n, **(answer or {"left out": f"not done after {patience:.0f} s"})}


def _best(shape: str, n: int, rounds: int, patience: float) -> dict[str, Any] | None:
    """The best of two fresh processes, for large mechanisms of one; None if that takes too long."""
    answers: list[dict[str, Any]] = []
    for _ in range(2 if n <= 200 and rounds > 1 else 1):
        with tempfile.TemporaryDirectory() as cache:
            answer = child.ask(Path(__file__), [shape, n, rounds], Path(cache), patience)
        if answer is None:
            return None
        answers.append(answer)
    fastest = {
        name: min(a[name] for a in answers) for name in ("best", "first call", "Pinocchio") if name in answers[0]
    }
    return {**answers[0], **fastest}


def _answer(shape: str, n: int, rounds: int) -> dict[str, Any]:
    from timing import Case, time_of

    import knuckle as kn
    from knuckle.engine.native import disk_cache
    from knuckle.engine.native.threads import set_threads
    from knuckle.testing import auto_tree

    set_threads(1)
    model = auto_tree(n, BRANCHING[shape], 0.3, 0.999)
    q, v, tau = _states(n)
    call = partial(kn.forward_dynamics, model, q, v, tau)
    start = time.perf_counter()
    ours = call()
    first = time.perf_counter() - start
    compiled = any(disk_cache.folder().glob("*"))
    memory = _peak_memory()
    cases = [Case("forward dynamics", "knuckle", "batch", "", call, len(q), lambda: ours)]
    if n <= PINOCCHIO_UP_TO:
        cases.append(_pinocchio(model, q, v, tau))
    times = time_of(cases, rounds, 0.01)
    record: dict[str, Any] = {"best": times[0].best, "first call": first, "memory": memory, "compiled": compiled}
    if len(times) > 1:
        theirs = cases[1].result()
        record |= {"Pinocchio": times[1].best, "difference": float(abs(ours - theirs).max() / abs(theirs).max())}
    return record


def _peak_memory() -> int:
    """Bytes. Linux has it in a file, where the memory of the process that started this one is not counted."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(
            1024 * int(line.split()[1]) for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM")
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _states(n: int) -> Any:
    """Angles, speeds and torques small enough that long chains have finite accelerations."""
    import numpy as np

    rng = np.random.default_rng(0)
    count = batch(n)
    return rng.uniform(-1, 1, (count, n)), 0.1 * rng.standard_normal((count, n)), rng.standard_normal((count, n))


def _pinocchio(model: Any, q: Any, v: Any, tau: Any) -> Any:
    """The same mechanism joint by joint, and its batch call on one thread."""
    import numpy as np
    import pinocchio
    from timing import Case

    pin: Any = pinocchio
    other = pin.Model()
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        E, r = _numbers(joint.X_tree.E), _numbers([joint.X_tree.r])[0]
        number = other.addJoint(joint.parent + 1, pin.JointModelRZ(), pin.SE3(E.T.copy(), r), f"joint{i}")
        I = body.inertia
        inertia = pin.Inertia(float(I.mass), _numbers([I.com])[0], _numbers(I.I_com.matrix))
        other.appendBodyToJoint(number, inertia, pin.SE3.Identity())
    other.gravity.linear = np.array(model.gravity)
    pool, out = pin.ModelPool(other, 1), np.zeros((model.nv, len(q)), order="F")
    inputs = [np.asfortranarray(x.T) for x in (q, v, tau)]

    def call() -> Any:
        pin.abaInParallel(1, pool, *inputs, out)

    return Case("forward dynamics", "Pinocchio", "batch", "", call, len(q), lambda: out.T)


def _numbers(rows: Any) -> Any:
    """A small matrix of ours, structural zeros included, as an array."""
    import numpy as np

    return np.array([[float(x) for x in row] for row in rows])


if __name__ == "__main__":
    shape, n, rounds = sys.argv[1:]
    print(json.dumps(_answer(shape, int(n), int(rounds))))
