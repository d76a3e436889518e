"""The integrators: `knuckle.integrators`."""

from .adaptive import DormandPrince
from .bdf import BDF1, BDF2
from .default_steps import Steps, default_steps
from .euler import SemiImplicitEuler
from .implicit import ImplicitEuler
from .integrator import Adaptive, Dense, Integrator, State
from .iterative import ConvergenceError, Iterative, Newton
from .named import INTEGRATORS, integrator_of
from .pace import Pace, advance, first_pace
from .runge_kutta import Heun, RungeKutta, RungeKutta4
from .stepper import Stepper, stepper
from .system import System
from .tableaus import Tableau
from .text import Text
from .variational import Variational

__all__ = [
    "BDF1",
    "BDF2",
    "INTEGRATORS",
    "Adaptive",
    "ConvergenceError",
    "Dense",
    "DormandPrince",
    "Heun",
    "ImplicitEuler",
    "Integrator",
    "Iterative",
    "Newton",
    "Pace",
    "RungeKutta",
    "RungeKutta4",
    "SemiImplicitEuler",
    "State",
    "Stepper",
    "Steps",
    "System",
    "Tableau",
    "Text",
    "Variational",
    "advance",
    "default_steps",
    "first_pace",
    "integrator_of",
    "stepper",
]
