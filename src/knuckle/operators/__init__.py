"""The spatial operator algebra of Rodriguez, Jain and Kreutz-Delgado: equations of motion written as in their paper."""

from . import symbols
from .at import Operators, at
from .chain import ClosedChain, Motion, closure_kernels
from .closed import forward_dynamics
from .closure import Closure
from .operator import Operator
from .system import State, System

__all__ = [
    "ClosedChain",
    "Closure",
    "Motion",
    "Operator",
    "Operators",
    "State",
    "System",
    "at",
    "closure_kernels",
    "forward_dynamics",
    "symbols",
]
