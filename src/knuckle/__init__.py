"""knuckle: rigid-body dynamics, every algorithm written once over scalars of any kind.

Functions take a frozen `Model` and arrays whose last axis holds the variables; any batch axes go before it.
"""

import typing as _typing
from types import ModuleType as _ModuleType

from . import formats as formats
from . import joints as joints
from . import model as model
from . import robots as robots
from . import spatial as spatial
from .engine.calls.function import kernel as kernel
from .errors import ModelError as ModelError
from .formats import load as load
from .formats import save as save
from .functions import acceleration as acceleration
from .functions import bias_force as bias_force
from .functions import body_poses as body_poses
from .functions import center_of_mass as center_of_mass
from .functions import centroidal_bias as centroidal_bias
from .functions import centroidal_matrix as centroidal_matrix
from .functions import centroidal_momentum as centroidal_momentum
from .functions import coriolis_force as coriolis_force
from .functions import coriolis_matrix as coriolis_matrix
from .functions import difference as difference
from .functions import difference_rate as difference_rate
from .functions import external_force as external_force
from .functions import floating_jacobian as floating_jacobian
from .functions import forward_dynamics as forward_dynamics
from .functions import gravity_force as gravity_force
from .functions import hybrid_dynamics as hybrid_dynamics
from .functions import integrate as integrate
from .functions import inverse_dynamics as inverse_dynamics
from .functions import jacobian as jacobian
from .functions import jacobian_rate as jacobian_rate
from .functions import joint_passive_force as joint_passive_force
from .functions import kinetic_energy as kinetic_energy
from .functions import mass_matrix as mass_matrix
from .functions import mass_matrix_inverse as mass_matrix_inverse
from .functions import mass_matrix_inverse_product as mass_matrix_inverse_product
from .functions import momentum as momentum
from .functions import neutral as neutral
from .functions import normalize as normalize
from .functions import operational_space_inertia as operational_space_inertia
from .functions import operational_space_inverse_inertia as operational_space_inverse_inertia
from .functions import pose as pose
from .functions import potential_energy as potential_energy
from .functions import random_configuration as random_configuration
from .functions import total_mass as total_mass
from .functions import velocity as velocity
from .functions import velocity_to_qdot as velocity_to_qdot
from .model import Builder as Builder
from .model import Model as Model
from .model import audit as audit
from .public_names import GROUPS as _GROUPS

if _typing.TYPE_CHECKING:
    from . import accuracy as accuracy
    from . import actuators as actuators
    from . import cluster as cluster
    from . import compilation as compilation
    from . import constraints as constraints
    from . import contact as contact
    from . import couplings as couplings
    from . import derivatives as derivatives
    from . import elements as elements
    from . import environments as environments
    from . import identification as identification
    from . import integrators as integrators
    from . import jacobian_products as jacobian_products
    from . import lie_groups as lie_groups
    from . import loops as loops
    from . import operators as operators
    from . import simulation as simulation
    from . import testing as testing
    from . import viewer as viewer
    from .bound import bind as bind
    from .cluster.sweeping import sweep as sweep
    from .functions.drives import drive_forces as drive_forces
    from .functions.where import where as where
    from .maximal_coordinates.maximal_model import maximal as maximal
    from .maximal_coordinates.state_maps import maximal_forces as maximal_forces
    from .maximal_coordinates.state_maps import maximal_state as maximal_state
    from .maximal_coordinates.state_maps import reduced_state as reduced_state
    from .simulation.gradients.linearize import linearize as linearize
    from .simulation.gradients.rollout_gradient import rollout_gradient as rollout_gradient
    from .simulation.rollout.rollout import rollout as rollout
    from .simulation.sampled_control import SampledController as SampledController
    from .simulation.simulate import simulate as simulate
    from .simulation.stepping import Stepping as Stepping
    from .simulation.steps.one_step import step as step
    from .trajectory.trajectory import Trajectory as Trajectory
    from .viewer.viewer import view as view

__version__ = "0.1.0"

_MODULES = (
    *_GROUPS,
    *("accuracy", "cluster", "environments", "integrators", "operators", "simulation", "testing", "viewer"),
)
_WHERE = {
    "SampledController": "simulation.sampled_control",
    "Stepping": "simulation.stepping",
    "Trajectory": "trajectory.trajectory",
    "bind": "bound",
    "drive_forces": "functions.drives",
    "linearize": "simulation.gradients.linearize",
    "maximal": "maximal_coordinates.maximal_model",
    "maximal_forces": "maximal_coordinates.state_maps",
    "maximal_state": "maximal_coordinates.state_maps",
    "reduced_state": "maximal_coordinates.state_maps",
    "rollout": "simulation.rollout.rollout",
    "rollout_gradient": "simulation.gradients.rollout_gradient",
    "simulate": "simulation.simulate",
    "step": "simulation.steps.one_step",
    "sweep": "cluster.sweeping",
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


if not _typing.TYPE_CHECKING:  # a checker knows the names from the imports above, and no others

    def __getattr__(name: str) -> _typing.Any:
        from importlib import import_module

        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name in _WHERE:
            value = globals()[name] = getattr(import_module(f".{_WHERE[name]}", __name__), name)
            return value
        from .errors import near

        meant = "" if name.startswith("_") else near(name, __all__)  # tools look for private names in every module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
