"""What is said of motions that do not stay finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import Integrator
from knuckle.integrators.methods.bdf import BDF1, BDF2
from knuckle.integrators.methods.implicit_euler import ImplicitEuler
from knuckle.integrators.methods.newton import Iterative
from knuckle.model import Model
from knuckle.warning import warn

Array = NDArray[Any]


def advice(integrator: Integrator) -> str:
    """What may help, by whatever the motion was computed."""
    if isinstance(integrator, (ImplicitEuler, BDF1, BDF2)):
        return "A shorter dt or smaller forces may help"
    return (
        'A shorter dt or smaller forces may help, and integrator="implicit" where springs, damping or gains are stiff'
    )


def finite(*parts: Array) -> Array:
    """Whether all variables of a state are finite: (...,) for parts (..., n)."""
    return np.all([np.isfinite(part).all(-1) for part in parts], axis=0)


def warn_of_divergence(model: Model, diverged_at: Array, t0: float, integrator: Integrator) -> None:
    """A warning if trajectories diverged: how many, which one first, and when. NaN stands for those that did not.

    One that diverged at t0 was given so. An iterative integrator leaves NaN where it did not solve its equations.
    """
    given = diverged_at == t0
    if given.any():
        warn(
            f"{_some(given)} of {model.name} began with a state that is not finite{_first(given, given.argmax())[:-1]}"
        )
    diverged = np.isfinite(diverged_at) & ~given
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
