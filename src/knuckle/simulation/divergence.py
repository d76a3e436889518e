"""Motions that do not stay finite: the mode switch that ends a simulation, and the warnings of rollouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.methods.newton import Iterative
from knuckle.model import Model
from knuckle.warning import warn

from .mode_switch import ModeSwitch, Run, Step
from .steps.native_steps import StateRows
from .steps.stepper import Stepper

Array = NDArray[Any]


class Divergence(ModeSwitch):
    """Ends a simulation whose state is no longer finite."""

    watches_every_state = False  # what is not finite once never is again

    def __init__(self, model: Model) -> None:
        self._model = model

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        def is_sound(k: int) -> bool:
            try:
                stepper.check(run.t, rows.state(k), dt)
            except ConvergenceError:
                return False
            return bool(np.isfinite(rows.q[k]).all() and np.isfinite(rows.v[k]).all())

        if is_sound(-1):
            return len(times)
        return next((k for k in range(len(times)) if not is_sound(k)), len(times))

    def adjust(self, run: Run, step: Step) -> State:
        model, old, new = self._model, step.old, step.new
        for name, x, before, slices in (("v", new.v, old.v, model.v_slices), ("q", new.q, old.q, model.q_slices)):
            if not np.isfinite(x).all():
                k = int(np.argmin(np.isfinite(x)))
                joint = next(j.name for j, s in zip(model.joints, slices, strict=True) if s.start <= k < s.stop)
                run.end(
                    "diverged",
                    f"at t = {step.end:.9g} s: {name} of joint {joint!r} became {x[k]:g}, from {before[k]:.6g} at "
                    f"t = {step.t:.9g} s. {advice(step.stepper.integrator)}",
                )
        return new


def advice(integrator: Integrator) -> str:
    """What may help against divergence."""
    if integrator.is_implicit:
        return "A shorter dt or smaller forces may help"
    return (
        'A shorter dt or smaller forces may help, and integrator="implicit" where springs, damping or gains are stiff'
    )


def finite(*parts: Array) -> Array:
    """Whether all variables of a state are finite: (...,) for parts (..., n)."""
    return np.all([np.isfinite(part).all(-1) for part in parts], axis=0)


def warn_of_contacts(model: Model, integrator: Integrator, memory: Callable[[int], Any]) -> None:
    """A warning if contacts were not solved, by the memory at the end of trajectories: which ones, and how often."""
    if not integrator.solves_contacts:
        return
    from knuckle.integrators.methods.collider_steps import ColliderSteps
    from knuckle.integrators.methods.contact_steps import WARNED, ContactSteps

    if not isinstance(integrator, (ContactSteps, ColliderSteps)):
        return
    left, steps = (np.asarray(memory(k), float) for k in (1, 2))
    unsolved = ~(left <= WARNED) & np.isfinite(left)
    if unsolved.any():
        most = float(np.where(unsolved, left, 0.0).max())
        where = f"{int(steps[unsolved].sum())} steps of {_some(unsolved)} of {model.name}{_named(unsolved)}"
        warn(
            f"contacts were not solved to {WARNED:g} m/s in {where}: {most:.1g} is left. Take shorter steps, or more "
            f"rounds than {type(integrator).__name__}(rounds={integrator.rounds})"
        )


MOST_NAMED = 8
"""Trajectories that a warning names at most."""


def _named(which: Array) -> str:
    """The indices of some of many."""
    if not which.ndim:
        return ""
    found = [f"[{', '.join(map(str, index))}]" for index in np.argwhere(which)[:MOST_NAMED].tolist()]
    return ", " + ", ".join(found) + (", …" if which.sum() > MOST_NAMED else "")


def warn_of_divergence(model: Model, diverged_at: Array, t0: float, integrator: Integrator) -> None:
    """A warning if trajectories diverged: how many, which one first, and when. NaN stands for those that did not.

    One that diverged at t0 began so. An iterative integrator leaves NaN where it did not solve its equations.
    """
    at_start = diverged_at == t0
    if at_start.any():
        first = _first(at_start, at_start.argmax())[:-1]
        warn(f"{_some(at_start)} of {model.name} began with a state that is not finite{first}")
    diverged = np.isfinite(diverged_at) & ~at_start
    if not diverged.any():
        return
    first = np.where(diverged, np.abs(diverged_at - t0), np.inf).argmin()
    when = f"{_first(diverged, first)} at t = {diverged_at.flat[first]:.9g} s"
    if isinstance(integrator, Iterative):
        warn(
            f"{type(integrator).__name__} did not solve its equations to {integrator.tolerance:.3g} in "
            f"{_some(diverged)} of {model.name}{when}: take shorter steps or more iterations"
        )
    else:
        warn(f"{_some(diverged)} of {model.name} diverged{when}. {advice(integrator)}")


def _some(which: Array) -> str:
    return f"{which.sum()} of {which.size} trajectories" if which.ndim else "the trajectory"


def _first(which: Array, first: Any) -> str:
    """The index of one of them, where there are several."""
    if not which.ndim:
        return ""
    index = ", ".join(str(int(k)) for k in np.unravel_index(first, which.shape))
    return f", the first one, [{index}],"
