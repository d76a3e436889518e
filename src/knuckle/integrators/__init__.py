"""The integrators: `knuckle.integrators`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from knuckle.errors import ConvergenceError

from .base import Adaptive, DenseOutput, Integrator, State
from .default_steps import Steps, default_steps
from .registry import INTEGRATORS, integrator_of
from .system import System

if TYPE_CHECKING:
    from .methods.bdf import BDF1, BDF2
    from .methods.collider_steps import ColliderSteps
    from .methods.contact_steps import ContactSteps
    from .methods.deformable_steps import DeformableSteps
    from .methods.dormand_prince import DormandPrince
    from .methods.implicit_euler import ImplicitEuler
    from .methods.newton import Iterative, Newton
    from .methods.runge_kutta import Heun, RungeKutta, RungeKutta4
    from .methods.semi_implicit_euler import SemiImplicitEuler
    from .methods.soft_contact_steps import with_soft_contact
    from .methods.tableaus import Tableau
    from .methods.variational import Variational

__all__ = [
    "BDF1",
    "BDF2",
    "INTEGRATORS",
    "Adaptive",
    "ColliderSteps",
    "ContactSteps",
    "ConvergenceError",
    "DeformableSteps",
    "DenseOutput",
    "DormandPrince",
    "Heun",
    "ImplicitEuler",
    "Integrator",
    "Iterative",
    "Newton",
    "RungeKutta",
    "RungeKutta4",
    "SemiImplicitEuler",
    "State",
    "Steps",
    "System",
    "Tableau",
    "Variational",
    "default_steps",
    "integrator_of",
    "with_soft_contact",
]

_WHERE = {
    "BDF1": "bdf",
    "BDF2": "bdf",
    "ColliderSteps": "collider_steps",
    "ContactSteps": "contact_steps",
    "DeformableSteps": "deformable_steps",
    "DormandPrince": "dormand_prince",
    "Heun": "runge_kutta",
    "ImplicitEuler": "implicit_euler",
    "Iterative": "newton",
    "Newton": "newton",
    "RungeKutta": "runge_kutta",
    "RungeKutta4": "runge_kutta",
    "SemiImplicitEuler": "semi_implicit_euler",
    "Tableau": "tableaus",
    "Variational": "variational",
    "with_soft_contact": "soft_contact_steps",
}
"""The module in `methods` of each integrator, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".methods.{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
