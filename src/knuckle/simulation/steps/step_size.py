"""The length of one adaptive step: error norms and the PI controller of Gustafsson."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError
from knuckle.integrators.base import Adaptive, State

from .stepper import Stepper

Array: TypeAlias = NDArray[Any]

SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 5.0
"""The part of a step of just the tolerated error that is taken; the least and the largest ratio of two steps."""
PROPORTIONAL, INTEGRAL = 0.4, 0.7
"""Exponents of the last error and of this one, times the order."""
TINY_ERROR = 1e-4
LEAST = 16
"""The least step, in units of the rounding of time at the end of the span."""


class StalledError(ConvergenceError):
    """No step is short enough: time would no longer advance."""


class StepSize(NamedTuple):
    """The step to try next, and the error of the step before, in units of what is tolerated."""

    dt: float
    error: float = TINY_ERROR


class Advanced(NamedTuple):
    """A step that was good enough: the state, how long the step was, and the size to go on with."""

    state: State
    dt: float
    size: StepSize


def advance(stepper: Stepper, t: float, state: State, size: StepSize, end: float = np.inf) -> Advanced:
    """One step within the tolerances, not beyond `end`; it is shortened until its error is small enough.

    A last step that would end just before `end` is stretched to it or halved, so that no tiny step remains. A step that
    is rounding, of the time or of the span up to `end`, is an error.
    """
    integrator = _adaptive(stepper)
    least = LEAST * math.ulp(end if math.isfinite(end) else t)
    dt, refused = least if size.dt < least else size.dt, False
    while True:
        trial = _fitted(dt, end - t)
        if not (t + trial > t and (dt >= least or trial == end - t)):
            raise StalledError(
                f"{type(integrator).__name__} cannot go on at t = {t:.9g} s: a step of {dt:.3g} s is too long for the "
                "tolerances or lost in rounding; the forces or accelerations may be infinite, noise or jump here"
            )
        new, *errors = stepper.attempt(t, state, trial)
        error = error_norm(stepper, state, new, *errors)
        if error <= 1.0:
            growth = _growth(error, size.error, integrator.order)
            following = trial * (min(growth, 1.0) if refused else growth)
            shortened = trial < 0.99 * dt
            return Advanced(
                new, trial, StepSize(max(following, dt) if shortened else following, max(error, TINY_ERROR))
            )
        shrink = SAFETY * error ** (-1 / integrator.order) if np.isfinite(error) else SMALLEST
        dt, refused = trial * max(SMALLEST, shrink), True


def first_step_size(stepper: Stepper, t: float, state: State) -> StepSize:
    """A first step from the sizes of the state, of its rates and of their rates (Hairer, Nørsett and Wanner II.4)."""
    integrator, system = _adaptive(stepper), stepper.system
    q_scale, v_scale = scales(stepper, state, state)
    a = system.acceleration(t, state.q, state.v)
    if not np.isfinite(a).all():
        return StepSize(math.nan)  # no step is short enough, an error of `advance`
    distance = _norm(_from_neutral(stepper, state.q) / q_scale, state.v / v_scale)
    rate = _norm(state.v / q_scale, a / v_scale)
    dt = 0.01 * distance / rate if distance > 1e-5 and rate > 1e-5 else 1e-6
    v = state.v + dt * a
    b = system.acceleration(t + dt, system.moved(state.q, dt * state.v), v)
    second = _norm((v - state.v) / q_scale, (b - a) / v_scale) / dt
    largest = max(rate, second)
    better = (0.01 / largest) ** (1 / integrator.order) if largest > 1e-15 else max(1e-6, dt * 1e-3)
    return StepSize(float(min(100 * dt, better)))


def error_norm(stepper: Stepper, old: State, new: State, q_error: Array, v_error: Array) -> float:
    """The root mean square of the errors over what is tolerated: 1 is just good enough. NaN counts as infinite."""
    (q_scale, v_scale), n = scales(stepper, old, new), len(old.v)
    norm = _norm(q_error / q_scale, v_error[:n] / v_scale, v_error[n:] / state_scale(stepper, old, new))
    return norm if np.isfinite(norm) else np.inf


def scales(stepper: Stepper, old: State, new: State) -> tuple[Array, Array]:
    """What is tolerated of q and v: atol + rtol |x|, a position being measured from the neutral one."""
    integrator = _adaptive(stepper)
    q = np.maximum(np.abs(_from_neutral(stepper, old.q)), np.abs(_from_neutral(stepper, new.q)))
    v = np.maximum(np.abs(old.v), np.abs(new.v))
    rtol = np.asarray(integrator.rtol, float)
    return np.asarray(integrator.atol_q, float) + rtol * q, np.asarray(integrator.atol_v, float) + rtol * v


def state_scale(stepper: Stepper, old: State, new: State) -> Array:
    """What is tolerated of states of muscles, activations and metres: as little as of any position."""
    integrator = _adaptive(stepper)
    z = np.maximum(np.abs(stepper.states(old)), np.abs(stepper.states(new)))
    return np.min(np.asarray(integrator.atol_q, float)) + np.min(np.asarray(integrator.rtol, float)) * z


def _growth(error: float, last: float, order: int) -> float:
    """SAFETY error^(−0.7/p) last^(0.4/p), within bounds."""
    growth = SAFETY * max(error, TINY_ERROR) ** (-INTEGRAL / order) * last ** (PROPORTIONAL / order)
    return float(min(LARGEST, max(SMALLEST, growth)))


def _fitted(dt: float, rest: float) -> float:
    """The step, or what is left, or half of it if a tiny step would remain."""
    if dt >= rest or rest - dt < 1e-10 * rest:
        return rest
    return min(dt, rest / 2) if rest < 2 * dt else dt


def _from_neutral(stepper: Stepper, q: Array) -> Array:
    return stepper.system.displacement(stepper.neutral, q)


def _norm(*parts: Array) -> float:
    entries = np.concatenate(parts)
    return float(np.sqrt(np.mean(entries * entries))) if entries.size else 0.0


def _adaptive(stepper: Stepper) -> Adaptive:
    if not isinstance(stepper.integrator, Adaptive):
        raise TypeError(f"{type(stepper.integrator).__name__} has steps of one length; only an adaptive integrator can")
    return stepper.integrator
