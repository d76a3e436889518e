"""knuckle: rigid-body dynamics, every algorithm written once over scalars of any kind.

Functions take a frozen `Model` and arrays whose last axis holds the variables; any batch axes go before it.
"""

from typing import TYPE_CHECKING, Any

from . import formats, joints, model, robots, spatial
from .engine.calls.source_code import operation_count
from .engine.kernels.kernel_registry import set_compilation
from .engine.kernels.per_model import set_kernel_limit
from .engine.native.threads import get_threads, set_threads
from .errors import ModelError
from .formats import load, loads, save
from .functions import (
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
    operational_space_inertia,
    operational_space_mobility,
    pose,
    potential_energy,
    project,
    random_configuration,
    regressor,
    total_mass,
    tree_positions,
    velocity,
    with_loop_closure,
)
from .model import Audit, Builder, Model, audit, reroot, to_planar

if TYPE_CHECKING:
    from . import constraints, integrators, operators, simulation, testing, viewer
    from .bound import bind
    from .constraints.constrained_dynamics import (
        ConstrainedMotion,
        ConstrainedVelocity,
        constrained_dynamics,
        constrained_velocity,
    )
    from .constraints.constraint_terms import constrained_acceleration, mass_matrix_inverse_product
    from .engine.calls.function import kernel
    from .functions.drives import drive_forces
    from .functions.where import where
    from .simulation.events.event import Event
    from .simulation.long_runs.run_spec import resume
    from .simulation.ode import ode_right_hand_side
    from .simulation.rollout.rollout import rollout
    from .simulation.rollout.rollout_result import Rollout
    from .simulation.simulate import simulate
    from .simulation.stops.stop_spec import CompliantStops, RigidStops
    from .trajectory.trajectory import Trajectory
    from .viewer.replay import replay_html
    from .viewer.viewer import view

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
    "simulation",
    "spatial",
    "testing",
    "to_planar",
    "total_mass",
    "tree_positions",
    "velocity",
    "view",
    "viewer",
    "where",
    "with_loop_closure",
]

_MODULES = {
    "constraints": "constraints",
    "integrators": "integrators",
    "operators": "operators",
    "simulation": "simulation",
    "testing": "testing",
    "viewer": "viewer",
}
_WHERE = {
    "CompliantStops": "simulation.stops.stop_spec",
    "ConstrainedMotion": "constraints.constrained_dynamics",
    "ConstrainedVelocity": "constraints.constrained_dynamics",
    "Event": "simulation.events.event",
    "RigidStops": "simulation.stops.stop_spec",
    "Rollout": "simulation.rollout.rollout_result",
    "Trajectory": "trajectory.trajectory",
    "bind": "bound",
    "constrained_acceleration": "constraints.constraint_terms",
    "constrained_dynamics": "constraints.constrained_dynamics",
    "constrained_velocity": "constraints.constrained_dynamics",
    "drive_forces": "functions.drives",
    "kernel": "engine.calls.function",
    "mass_matrix_inverse_product": "constraints.constraint_terms",
    "ode_right_hand_side": "simulation.ode",
    "replay_html": "viewer.replay",
    "resume": "simulation.long_runs.run_spec",
    "rollout": "simulation.rollout.rollout",
    "simulate": "simulation.simulate",
    "view": "viewer.viewer",
    "where": "functions.where",
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
