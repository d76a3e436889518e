"""How far a motion may be off: computed again in steps half as long, all of it or, of a long one, some stretches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import difference
from knuckle.warning import warn

from .run_settings import Plan
from .steps.native_steps import Chunks

Array = NDArray[Any]

TOLERATED = 1e-3
"""The part of the way, or of a radian or metre, by which a motion may be off without a warning."""
CHAOTIC = 0.1
"""Where it is off by more than this, shorter steps may not help."""
WORK = 300_000
"""Steps times velocity variables up to which a motion is computed again as a whole: about a tenth of a second."""
AT_ONCE = 4096
"""Steps in one native call."""
SAMPLES, LONGEST = 32, 256
"""Stretches of a long motion, and the most steps of one. A row long, they let stiff errors die out."""


def warn_of_error(plan: Plan, times: Array, q: Array, v: Array) -> None:
    """A warning where the steps of a motion that came to its end seem to be too long."""
    model, integrator = plan.model, plan.stepper.integrator
    is_free = not any(event.action for event in plan.events) and plan.steps * model.nv <= WORK
    error = error_at_the_end(plan, q, v) if is_free else estimated_error(plan, times, q, v)
    way = max(1.0, float(np.abs(difference(model, q[:1], q)).max(initial=0.0)))
    if not error > TOLERATED * way:
        return
    shorter = plan.step * (0.1 * TOLERATED * way / error) ** (1 / integrator.order)
    advice = f"dt={shorter:.1g} makes it a tenth of {TOLERATED:g}"
    if error > CHAOTIC * way:
        advice = f'Try integrator="adaptive", or {advice}; the end of a chaotic motion depends on every digit'
    warn(
        f"the motion of {model.name} may be off by about {error:.1g} (rad, m) at its end: steps of {plan.step:.3g} s "
        f"are long for {type(integrator).__name__}. {advice}"
    )


def error_at_the_end(plan: Plan, q: Array, v: Array) -> float:
    """What steps half as long change in the last position, and with it about its error."""
    stepper, chunks, h = plan.stepper, Chunks(plan.stepper), plan.step / 2
    modes = None if plan.sticking is None else plan.sticking.modes(0.0, q[0], v[0], {})
    state = stepper.start(0.0, q[0], v[0], h, modes)
    for n in range(0, 2 * plan.even_steps, AT_ONCE):
        count = min(AT_ONCE, 2 * plan.even_steps - n)
        state = chunks.run(h * np.arange(n, n + count), state, h, count).state(-1)
    if plan.even_steps < plan.steps:
        begin = plan.even_steps * plan.step
        rest = (plan.duration - begin) / 2
        state = chunks.run(np.array([begin, begin + rest]), state, rest, 2).state(-1)
    off = np.abs(stepper.system.displacement(state.q, q[-1])).max(initial=0.0)
    return float(_gain(plan) * off) if np.isfinite(off) else np.inf


def estimated_error(plan: Plan, times: Array, q: Array, v: Array) -> float:
    """The error of the last position, as far as stretches of the motion tell.

    Their errors add up: those of positions as they are, those of velocities times what is left of the motion. Stretches
    in which joints begin to slide or to stick are left out: a simulation ends its steps there.
    """
    stepper, sticking, dt, steps = plan.stepper, plan.sticking, plan.step, min(plan.keep, LONGEST)
    chunks, errors, end = Chunks(stepper), list[float](), float(times[-1])
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
        errors.append(_gain(plan) * float(off))
    finite = [x for x in errors if np.isfinite(x)]
    return float(np.mean(finite)) * (end - float(times[0])) / (steps * dt) if finite else 0.0


def _gain(plan: Plan) -> float:
    """The error of a method over what halving its steps changes."""
    return 1 / (1 - 0.5**plan.stepper.integrator.order)
