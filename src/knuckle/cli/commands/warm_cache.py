"""`knuckle cache warm`: the code of a robot made beforehand, so that nobody waits for it later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.cli.failures import UnusableError
from knuckle.engine.kernels.kernel_registry import STATES
from knuckle.model import Model

_STEP, _TOGETHER = 1e-3, 64
"""Of trial motions, in seconds; and how many of them at once."""


def files_of(arguments: list[str]) -> list[str]:
    """The files of `warm FILE …`; none where nothing is asked for."""
    if not arguments:
        return []
    word, *files = arguments
    if word != "warm":
        raise UnusableError(f"cache {word}: no such thing; `knuckle cache warm FILE` prepares a robot")
    if not files:
        raise UnusableError("cache warm: a file is missing, or the name of a bundled robot")
    return files


def warmed(model: Model) -> Iterator[tuple[str, float]]:
    """Makes the code of a model, thing by thing; gives what each is for, and how many seconds it took."""
    for what, make in _things(model):
        began = time.perf_counter()
        make()
        yield what, time.perf_counter() - began


def _things(model: Model) -> Iterator[tuple[str, Callable[[], Any]]]:
    from knuckle.viewer.live.live_mechanism import Live
    from knuckle.viewer.live.live_steps import standing

    q, v = np.asarray(kn.neutral(model), float), np.zeros(model.nv)
    frame = model.frame_names[-1]
    calls: dict[str, tuple[Any, ...]] = {
        "inverse_dynamics": (q, v, v), "forward_dynamics": (q, v, v), "mass_matrix": (q,), "bias_force": (q, v),
        "gravity_force": (q,), "jacobian": (q, frame), "pose": (q, frame), "body_poses": (q,),
        "kinetic_energy": (q, v), "potential_energy": (q,),
    }  # fmt: skip
    known = {name: x for name, x in calls.items() if not model.loops or name in ("forward_dynamics", "body_poses")}
    fast = kn.bind(model)
    for name, values in known.items():
        many = tuple(np.tile(x, (STATES, 1)) if isinstance(x, np.ndarray) else x for x in values)
        yield f"{name}, one state", lambda name=name, values=values: getattr(fast, name)(*values)
        yield f"{name}, many states", lambda name=name, many=many: getattr(kn, name)(model, *many)
    if not model.nv:
        return
    at = kn.loops.close(model, q).q if model.loops else standing(model)
    yield "simulate", lambda: kn.simulate(model, at, v, 4 * _STEP, progress=False)
    if not model.deformables:
        yield "rollout", lambda: kn.rollout(model, np.tile(at, (_TOGETHER, 1)), None, None, _STEP, steps=2)
    yield "the viewer's simulation", lambda: Live(model, at).prepare()
