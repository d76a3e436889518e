"""How far a motion may be off: some stretches of it computed again in steps half as long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.run import difference
from knuckle.run.warning import warn

from .chunks import Chunks
from .stepper import Stepper
from .sticking import Sticking

Array = NDArray[Any]

SAMPLES, LONGEST = 32, 256
"""Stretches that are computed again, and the most steps of one. A row long, they let stiff errors die out."""
TOLERATED = 1e-3
"""The part of the way, or of a radian or metre, by which a motion may be off without a warning."""


def warn_of_error(
    model: Model, stepper: Stepper, sticking: Sticking | None, dt: float, keep: int, times: Array, q: Array, v: Array
) -> None:
    """A warning where the steps of a motion, of which every `keep`-th is a row, seem to be too long.

    The errors of stretches add up: those of positions as they are, those of velocities times what is left of the
    motion. Stretches in which joints begin to slide or to stick are left out: a simulation ends its steps there.
    """
    error = estimated_error(stepper, sticking, dt, min(keep, LONGEST), times, q, v)
    way = max(1.0, float(np.abs(difference(model, q[:1], q)).max(initial=0.0)))
    if error > TOLERATED * way:
        order = stepper.integrator.order
        shorter = dt * (0.1 * TOLERATED * way / error) ** (1 / order)
        warn(
            f"the motion of {model.name} may be off by about {error:.1g} (rad, m) at its end: steps of {dt:.3g} s are "
            f"long for {type(stepper.integrator).__name__}. dt={shorter:.1g} makes it a tenth of {TOLERATED:g}"
        )


def estimated_error(
    stepper: Stepper, sticking: Sticking | None, dt: float, steps: int, times: Array, q: Array, v: Array
) -> float:
    """The error of the last position, as far as stretches of so many steps tell."""
    chunks, errors, end = Chunks(stepper), list[float](), float(times[-1])
    gain = 1 / (1 - 0.5**stepper.integrator.order)
    for k in np.unique(np.linspace(0, len(times) - 1, SAMPLES + 2).astype(int)[1:-1]):
        t = float(times[k])
        modes = None if sticking is None else sticking.modes(t, q[k], v[k], {})
        state = stepper.start(t, q[k], v[k], dt, modes)
        whole = chunks.run(t + dt * np.arange(steps), state, dt, steps).state(-1)
        halves = chunks.run(t + dt / 2 * np.arange(2 * steps), state, dt / 2, 2 * steps).state(-1)
        if modes is not None and (np.any(whole.memory[0] != modes) or np.any(halves.memory[0] != modes)):
            continue
        off = np.abs(stepper.system.displacement(whole.q, halves.q)).max(initial=0.0)
        off = off + np.abs(whole.v - halves.v).max(initial=0.0) * (end - t)
        errors.append(gain * float(off))
    finite = [x for x in errors if np.isfinite(x)]
    return float(np.mean(finite)) * (end - float(times[0])) / (steps * dt) if finite else 0.0
