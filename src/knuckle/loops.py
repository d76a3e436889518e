"""Public functions of closed loops (RBDA chapter 8), as `kn.loops`."""

from .functions.loops.actuation import Actuation, actuation, actuator_forces
from .functions.loops.assembly import Assembly, close, project
from .functions.loops.degrees_of_freedom import DegreesOfFreedom, degrees_of_freedom
from .functions.loops.loop_closure import consistent_velocity, solve_dependent, with_closure_function
from .functions.loops.loop_forces import forces
from .functions.loops.loop_terms import (
    active_jacobian,
    bias,
    error,
    error_rate,
    gap,
    independent_variables,
    jacobian,
    null_space,
    null_space_bias,
)
from .functions.loops.loop_wrenches import wrenches
from .maximal_coordinates.sparse_dynamics import sparse_dynamics

__all__ = [
    "Actuation",
    "Assembly",
    "DegreesOfFreedom",
    "active_jacobian",
    "actuation",
    "actuator_forces",
    "bias",
    "close",
    "consistent_velocity",
    "degrees_of_freedom",
    "error",
    "error_rate",
    "forces",
    "gap",
    "independent_variables",
    "jacobian",
    "null_space",
    "null_space_bias",
    "project",
    "solve_dependent",
    "sparse_dynamics",
    "with_closure_function",
    "wrenches",
]
