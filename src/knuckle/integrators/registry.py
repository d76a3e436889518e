"""Integrators by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from .base import Integrator


@dataclass(frozen=True)
class NamedMethod:
    """An integrator by the module of `methods` and the class in it: loaded when it is first asked for."""

    module: str
    name: str
    order: int | None = None

    def __call__(self) -> Integrator:
        """The integrator, of an order where that can be chosen."""
        integrator = getattr(import_module(f".methods.{self.module}", __package__), self.name)
        return integrator() if self.order is None else integrator(order=self.order)


INTEGRATORS: Mapping[str, Callable[[], Integrator]] = {
    "euler": NamedMethod("semi_implicit_euler", "SemiImplicitEuler"),
    "heun": NamedMethod("runge_kutta", "Heun"),
    "rk4": NamedMethod("runge_kutta", "RungeKutta4"),
    "adaptive": NamedMethod("dormand_prince", "DormandPrince"),
    "implicit": NamedMethod("implicit_euler", "ImplicitEuler"),
    "bdf1": NamedMethod("bdf", "BDF1"),
    "bdf2": NamedMethod("bdf", "BDF2"),
    "contact": NamedMethod("contact_steps", "ContactSteps"),
    "variational": NamedMethod("variational", "Variational"),
    "variational4": NamedMethod("variational", "Variational", order=4),
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
