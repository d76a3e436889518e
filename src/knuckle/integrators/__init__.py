"""The integrators: `knuckle.integrators`."""

from knuckle.errors import ConvergenceError

from .base import Adaptive, DenseOutput, Integrator, State
from .default_steps import Steps, default_steps
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
from .registry import INTEGRATORS, integrator_of
from .system import System

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
