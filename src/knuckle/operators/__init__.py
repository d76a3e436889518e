"""The spatial operator algebra of Rodriguez, Jain and Kreutz-Delgado: equations of motion written as in their paper."""

from . import symbols
from .closed_chain import ChainMotion, ClosedChain, closure_kernels
from .loop_dynamics import forward_dynamics
from .operator import Operator
from .operators_at import Operators, at
from .point_closure import Closure
from .tree_systems import SystemState, TreeSystem

__all__ = [
    "ChainMotion",
    "ClosedChain",
    "Closure",
    "Operator",
    "Operators",
    "SystemState",
    "TreeSystem",
    "at",
    "closure_kernels",
    "forward_dynamics",
    "symbols",
]
