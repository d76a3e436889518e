"""Integrators by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from .base import Integrator
from .methods.bdf import BDF1, BDF2
from .methods.contact_steps import ContactSteps
from .methods.dormand_prince import DormandPrince
from .methods.implicit_euler import ImplicitEuler
from .methods.runge_kutta import Heun, RungeKutta4
from .methods.semi_implicit_euler import SemiImplicitEuler
from .methods.variational import Variational

INTEGRATORS: Mapping[str, Callable[[], Integrator]] = {
    "euler": SemiImplicitEuler,
    "heun": Heun,
    "rk4": RungeKutta4,
    "adaptive": DormandPrince,
    "implicit": ImplicitEuler,
    "bdf1": BDF1,
    "bdf2": BDF2,
    "contact": ContactSteps,
    "variational": Variational,
    "variational4": partial(Variational, order=4),
}
"""What a name stands for."""


def name_of(integrator: str | Integrator) -> str:
    """What a trajectory calls its integrator."""
    return integrator if isinstance(integrator, str) else type(integrator).__name__


def integrator_of(integrator: str | Integrator) -> Integrator:
    """An integrator, itself or by its name."""
    if isinstance(integrator, Integrator):
        return integrator
    if isinstance(integrator, str) and integrator in INTEGRATORS:  # pyright: ignore[reportUnnecessaryIsInstance]
        return INTEGRATORS[integrator]()
    names = ", ".join(f'"{name}"' for name in INTEGRATORS)
    raise ValueError(f"integrator is one of {names}, or an integrator of knuckle.integrators, not {integrator!r}")
