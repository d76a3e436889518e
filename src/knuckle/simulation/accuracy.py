"""How far a motion may be off: computed again in steps of other lengths, wholly or, if long, in some stretches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import difference
from knuckle.warning import warn

from .run_settings import RunSettings
from .steps.step_policy import FixedSteps

Array = NDArray[Any]

TOLERATED = 1e-3
"""The part of the way, or of a radian or metre, by which a motion may be off without a warning."""
CHAOTIC = 0.1
"""Where it is off by more than this, shorter steps may not help."""
_SURE = 0.1
"""Where steps twice as long change less than this part of what is tolerated, shorter ones need not be tried."""
WORK = 300_000
"""Steps times velocity variables up to which a motion is computed again as a whole: about a tenth of a second."""
AT_ONCE = 4096
"""Steps in one native call."""
SAMPLES, LONGEST = 32, 256
"""Stretches of a long motion, and the most steps of one. A row long, they let stiff errors die out."""


def warn_of_error(settings: RunSettings, is_free: bool, times: Array, q: Array, v: Array, z: Array) -> None:
    """A warning where the steps of a motion that came to its end seem to be too long.

    A motion that no switch has changed `is_free`, and computed again as a whole, if it is short. z are the states of
    muscles.
    """
    model, integrator, policy = settings.model, settings.stepper.integrator, settings.policy
    if not isinstance(policy, FixedSteps):
        return
    for switch in settings.switches:
        switch.forget()
    is_short = policy.steps * model.nv <= WORK
    if is_free and is_short:
        error = error_at_the_end(settings, policy, q, v)
    else:
        error = estimated_error(settings, policy, times, q, v, z)
    way = max(1.0, float(np.abs(difference(model, q[:1], q)).max(initial=0.0)))
    if not error > TOLERATED * way:
        return
    shorter = policy.dt * (0.1 * TOLERATED * way / error) ** (1 / integrator.order)
    advice = f"dt={shorter:.1g} makes it a tenth of {TOLERATED:g}"
    if error > CHAOTIC * way:
        advice = f'Try integrator="adaptive", or {advice}; the end of a chaotic motion depends on every digit'
    warn(
        f"the motion of {model.name} may be off by about {error:.1g} (rad, m) at its end: steps of {policy.dt:.3g} s "
        f"are long for {type(integrator).__name__}. {advice}"
    )


def error_at_the_end(settings: RunSettings, policy: FixedSteps, q: Array, v: Array) -> float:
    """About the error of the last position: by steps twice as long, and where these are too long, by half as long ones.

    Steps twice as long cost half the work of the motion, halves twice its work.
    """
    order = settings.stepper.integrator.order
    error = _changed(settings, policy, q, v, 2.0) / (2**order - 1)
    return error if error <= _SURE * TOLERATED else _changed(settings, policy, q, v, 0.5) * _gain(settings)


def _changed(settings: RunSettings, policy: FixedSteps, q: Array, v: Array, factor: float) -> float:
    """What steps longer by a factor change in the last position."""
    stepper, h = settings.stepper, factor * policy.dt
    state = settings.begin(stepper, 0.0, q[0], v[0], h)
    steps = int(policy.even_steps / factor)
    for n in range(0, steps, AT_ONCE):
        count = min(AT_ONCE, steps - n)
        state = stepper.steps(h * np.arange(n, n + count), state, h, count).state(-1)
    rest = policy.duration - steps * h
    if policy.even_steps < policy.steps or steps * factor < policy.even_steps:
        count = max(1, round(1 / factor))
        rest /= count
        state = stepper.steps(steps * h + rest * np.arange(count), state, rest, count).state(-1)
    off = np.abs(stepper.system.displacement(state.q, q[-1])).max(initial=0.0)
    return float(off) if np.isfinite(off) else np.inf


def estimated_error(settings: RunSettings, policy: FixedSteps, times: Array, q: Array, v: Array, z: Array) -> float:
    """The error of the last position, as estimated from stretches of the motion.

    Their errors add up: those of positions as they are, those of velocities times what is left of the motion. Stretches
    in which joints begin to slide or to stick are left out: a simulation ends its steps there.
    """
    stepper, dt, steps = settings.stepper, policy.dt, min(settings.save_every, LONGEST)
    errors, end = list[float](), float(times[-1])
    for k in np.unique(np.linspace(0, len(times) - 1, SAMPLES + 2).astype(int)[1:-1]):
        t = float(times[k])
        state = settings.begin(stepper, t, q[k], v[k], dt, states=z[k])
        whole = stepper.steps(t + dt * np.arange(steps), state, dt, steps).state(-1)
        halves = stepper.steps(t + dt / 2 * np.arange(2 * steps), state, dt / 2, 2 * steps).state(-1)
        if stepper.has_friction and any(np.any(x.memory[0] != state.memory[0]) for x in (whole, halves)):
            continue
        off = np.abs(stepper.system.displacement(whole.q, halves.q)).max(initial=0.0)
        off = off + np.abs(whole.v - halves.v).max(initial=0.0) * (end - t)
        errors.append(_gain(settings) * float(off))
    finite = [x for x in errors if np.isfinite(x)]
    return float(np.mean(finite)) * (end - float(times[0])) / (steps * dt) if finite else 0.0


def _gain(settings: RunSettings) -> float:
    """The error of a method over what halving its steps changes."""
    return 1 / (1 - 0.5**settings.stepper.integrator.order)
