"""knuckle: rigid-body dynamics, every algorithm written once over scalars of any kind.

Functions take a frozen `Model` and arrays whose last axis holds the variables; any batch axes go before it.
"""

from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import formats as formats
from . import joints as joints
from . import model as model
from . import robots as robots
from . import spatial as spatial
from .engine.calls.function import kernel as kernel
from .engine.calls.source_code import operation_count as operation_count
from .engine.kernels.kernel_registry import set_compilation as set_compilation
from .engine.kernels.per_model import set_kernel_limit as set_kernel_limit
from .engine.native.threads import get_threads as get_threads
from .engine.native.threads import set_threads as set_threads
from .errors import ModelError as ModelError
from .formats import load as load
from .formats import loads as loads
from .formats import save as save
from .functions import Actuation as Actuation
from .functions import Assembly as Assembly
from .functions import BaseParameters as BaseParameters
from .functions import Mobility as Mobility
from .functions import acceleration as acceleration
from .functions import active_loop_jacobian as active_loop_jacobian
from .functions import actuation as actuation
from .functions import actuator_forces as actuator_forces
from .functions import base_parameters as base_parameters
from .functions import bias_force as bias_force
from .functions import body_jacobian_product as body_jacobian_product
from .functions import body_jacobian_rate_product as body_jacobian_rate_product
from .functions import body_jacobian_transpose_product as body_jacobian_transpose_product
from .functions import body_poses as body_poses
from .functions import center_of_mass as center_of_mass
from .functions import centroidal_bias as centroidal_bias
from .functions import centroidal_matrix as centroidal_matrix
from .functions import centroidal_momentum as centroidal_momentum
from .functions import close_loops as close_loops
from .functions import configuration_rate as configuration_rate
from .functions import constraint_bias as constraint_bias
from .functions import constraint_forces as constraint_forces
from .functions import constraint_jacobian as constraint_jacobian
from .functions import coriolis_force as coriolis_force
from .functions import coriolis_matrix as coriolis_matrix
from .functions import coupling_bias as coupling_bias
from .functions import coupling_forces as coupling_forces
from .functions import coupling_matrix as coupling_matrix
from .functions import dependence as dependence
from .functions import dependence_bias as dependence_bias
from .functions import difference as difference
from .functions import displacement_rate as displacement_rate
from .functions import external_force as external_force
from .functions import floating_jacobian as floating_jacobian
from .functions import followed_velocity as followed_velocity
from .functions import forward_dynamics as forward_dynamics
from .functions import gravity_force as gravity_force
from .functions import hybrid_dynamics as hybrid_dynamics
from .functions import independent_variables as independent_variables
from .functions import inertial_parameters as inertial_parameters
from .functions import integrate as integrate
from .functions import inverse_dynamics as inverse_dynamics
from .functions import jacobian as jacobian
from .functions import jacobian_product as jacobian_product
from .functions import jacobian_rate as jacobian_rate
from .functions import jacobian_rate_product as jacobian_rate_product
from .functions import jacobian_transpose_product as jacobian_transpose_product
from .functions import joint_resistance as joint_resistance
from .functions import kinetic_energy as kinetic_energy
from .functions import loop_closure as loop_closure
from .functions import loop_error as loop_error
from .functions import loop_error_rate as loop_error_rate
from .functions import loop_gap as loop_gap
from .functions import loop_wrenches as loop_wrenches
from .functions import mass_matrix as mass_matrix
from .functions import mass_matrix_inverse as mass_matrix_inverse
from .functions import mobility as mobility
from .functions import momentum as momentum
from .functions import neutral as neutral
from .functions import normalize as normalize
from .functions import operational_space_inertia as operational_space_inertia
from .functions import operational_space_mobility as operational_space_mobility
from .functions import pose as pose
from .functions import potential_energy as potential_energy
from .functions import project as project
from .functions import random_configuration as random_configuration
from .functions import regressor as regressor
from .functions import total_mass as total_mass
from .functions import tree_positions as tree_positions
from .functions import velocity as velocity
from .functions import with_loop_closure as with_loop_closure
from .model import Audit as Audit
from .model import Builder as Builder
from .model import Model as Model
from .model import audit as audit
from .model import reroot as reroot
from .model import to_planar as to_planar

if _TYPE_CHECKING:
    from . import constraints as constraints
    from . import integrators as integrators
    from . import operators as operators
    from . import simulation as simulation
    from . import testing as testing
    from . import viewer as viewer
    from .bound import bind as bind
    from .constraints.constrained_dynamics import ConstrainedMotion as ConstrainedMotion
    from .constraints.constrained_dynamics import ConstrainedVelocity as ConstrainedVelocity
    from .constraints.constrained_dynamics import constrained_dynamics as constrained_dynamics
    from .constraints.constrained_dynamics import constrained_velocity as constrained_velocity
    from .constraints.constraint_terms import constrained_acceleration as constrained_acceleration
    from .constraints.constraint_terms import mass_matrix_inverse_product as mass_matrix_inverse_product
    from .functions.drives import drive_forces as drive_forces
    from .functions.where import where as where
    from .simulation.events.event import Event as Event
    from .simulation.long_runs.run_spec import resume as resume
    from .simulation.ode import ode_right_hand_side as ode_right_hand_side
    from .simulation.rollout.rollout import rollout as rollout
    from .simulation.rollout.rollout_result import Rollout as Rollout
    from .simulation.simulate import simulate as simulate
    from .simulation.stops.stop_spec import CompliantStops as CompliantStops
    from .simulation.stops.stop_spec import RigidStops as RigidStops
    from .trajectory.trajectory import Trajectory as Trajectory
    from .viewer.replay import replay_html as replay_html
    from .viewer.viewer import view as view

__version__ = "0.1.0"

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

__all__ = sorted(
    {  # pyright: ignore[reportUnsupportedDunderAll]
        *_MODULES,
        *_WHERE,
        *("formats", "joints", "model", "robots", "spatial"),
        *(name for name, x in globals().items() if not name.startswith("_") and not isinstance(x, _ModuleType)),
    }
)
"""What is imported above, and what is loaded later."""


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
