"""knuckle: rigid-body dynamics, every algorithm written once over scalars of any kind.

Functions take a frozen `Model` and arrays whose last axis holds the variables; any batch axes go before it.
"""

from typing import TYPE_CHECKING, Any

from . import formats, joints, model, robots, spatial
from .errors import ModelError
from .formats import load, loads, save
from .model import Audit, Builder, Model, audit, reroot, to_planar
from .run import (
    Actuation,
    Assembly,
    BaseParameters,
    Mobility,
    acceleration,
    active_loop_jacobian,
    actuation,
    actuator_forces,
    base_parameters,
    bias_force,
    bind,
    body_jacobian_product,
    body_jacobian_rate_product,
    body_jacobian_transpose_product,
    body_poses,
    center_of_mass,
    centroidal_bias,
    centroidal_matrix,
    centroidal_momentum,
    close_loops,
    configuration_rate,
    constraint_bias,
    constraint_forces,
    constraint_jacobian,
    coriolis_force,
    coriolis_matrix,
    coupling_bias,
    coupling_forces,
    coupling_matrix,
    dependence,
    dependence_bias,
    difference,
    displacement_rate,
    external_force,
    floating_jacobian,
    followed_velocity,
    forward_dynamics,
    get_threads,
    gravity_force,
    hybrid_dynamics,
    independent_variables,
    inertial_parameters,
    integrate,
    inverse_dynamics,
    jacobian,
    jacobian_product,
    jacobian_rate,
    jacobian_rate_product,
    jacobian_transpose_product,
    joint_resistance,
    kinetic_energy,
    loop_closure,
    loop_error,
    loop_error_rate,
    loop_gap,
    loop_wrenches,
    mass_matrix,
    mass_matrix_inverse,
    mobility,
    momentum,
    neutral,
    normalize,
    operation_count,
    operational_space_inertia,
    operational_space_mobility,
    pose,
    potential_energy,
    project,
    random_configuration,
    regressor,
    set_compilation,
    set_kernel_limit,
    set_threads,
    total_mass,
    tree_positions,
    velocity,
    with_loop_closure,
)

if TYPE_CHECKING:
    from . import operators, testing
    from .run import constraints
    from .run.constrained import ConstrainedMotion, ConstrainedVelocity, constrained_dynamics, constrained_velocity
    from .run.constraint_terms import constrained_acceleration, mass_matrix_inverse_product
    from .run.user import kernel
    from .run.where import where
    from .simulate import integrators
    from .simulate.beginning import resume
    from .simulate.drive import drive_forces
    from .simulate.events import Event
    from .simulate.ode import ode_right_hand_side
    from .simulate.rollout import rollout
    from .simulate.rollout_result import Rollout
    from .simulate.simulation import simulate
    from .simulate.stops import CompliantStops, RigidStops
    from .simulate.trajectory import Trajectory
    from .view.replay import replay_html
    from .view.viewer import view

__version__ = "0.1.0"

__all__ = [
    "Actuation",
    "Assembly",
    "Audit",
    "BaseParameters",
    "Builder",
    "CompliantStops",
    "ConstrainedMotion",
    "ConstrainedVelocity",
    "Event",
    "Mobility",
    "Model",
    "ModelError",
    "RigidStops",
    "Rollout",
    "Trajectory",
    "acceleration",
    "active_loop_jacobian",
    "actuation",
    "actuator_forces",
    "audit",
    "base_parameters",
    "bias_force",
    "bind",
    "body_jacobian_product",
    "body_jacobian_rate_product",
    "body_jacobian_transpose_product",
    "body_poses",
    "center_of_mass",
    "centroidal_bias",
    "centroidal_matrix",
    "centroidal_momentum",
    "close_loops",
    "configuration_rate",
    "constrained_acceleration",
    "constrained_dynamics",
    "constrained_velocity",
    "constraint_bias",
    "constraint_forces",
    "constraint_jacobian",
    "constraints",
    "coriolis_force",
    "coriolis_matrix",
    "coupling_bias",
    "coupling_forces",
    "coupling_matrix",
    "dependence",
    "dependence_bias",
    "difference",
    "displacement_rate",
    "drive_forces",
    "external_force",
    "floating_jacobian",
    "followed_velocity",
    "formats",
    "forward_dynamics",
    "get_threads",
    "gravity_force",
    "hybrid_dynamics",
    "independent_variables",
    "inertial_parameters",
    "integrate",
    "integrators",
    "inverse_dynamics",
    "jacobian",
    "jacobian_product",
    "jacobian_rate",
    "jacobian_rate_product",
    "jacobian_transpose_product",
    "joint_resistance",
    "joints",
    "kernel",
    "kinetic_energy",
    "load",
    "loads",
    "loop_closure",
    "loop_error",
    "loop_error_rate",
    "loop_gap",
    "loop_wrenches",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_inverse_product",
    "mobility",
    "model",
    "momentum",
    "neutral",
    "normalize",
    "ode_right_hand_side",
    "operation_count",
    "operational_space_inertia",
    "operational_space_mobility",
    "operators",
    "pose",
    "potential_energy",
    "project",
    "random_configuration",
    "regressor",
    "replay_html",
    "reroot",
    "resume",
    "robots",
    "rollout",
    "save",
    "set_compilation",
    "set_kernel_limit",
    "set_threads",
    "simulate",
    "spatial",
    "testing",
    "to_planar",
    "total_mass",
    "tree_positions",
    "velocity",
    "view",
    "where",
    "with_loop_closure",
]

_MODULES = {
    "constraints": "run.constraints",
    "integrators": "simulate.integrators",
    "operators": "operators",
    "simulate": "simulate",
    "testing": "testing",
    "view": "view",
}
_WHERE = {
    "CompliantStops": "simulate.stops",
    "ConstrainedMotion": "run.constrained",
    "ConstrainedVelocity": "run.constrained",
    "Event": "simulate.events",
    "RigidStops": "simulate.stops",
    "Rollout": "simulate.rollout_result",
    "Trajectory": "simulate.trajectory",
    "constrained_acceleration": "run.constraint_terms",
    "constrained_dynamics": "run.constrained",
    "constrained_velocity": "run.constrained",
    "drive_forces": "simulate.drive",
    "kernel": "run.user",
    "mass_matrix_inverse_product": "run.constraint_terms",
    "ode_right_hand_side": "simulate.ode",
    "replay_html": "view.replay",
    "resume": "simulate.beginning",
    "rollout": "simulate.rollout",
    "where": "run.where",
}
"""Modules that are loaded when they are first asked for, and the modules of names for which that is so."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
