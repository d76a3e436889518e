"""knuckle: rigid-body dynamics, every algorithm written once over scalars of any kind.

Functions take a frozen `Model` and arrays whose last axis holds the variables; any batch axes go before it.
"""

from typing import TYPE_CHECKING, Any

from . import formats, joints, model, robots, spatial
from .errors import ModelError
from .formats import load, loads, save
from .model import Audit, Builder, Model, audit, reroot, to_planar
from .run import (
    acceleration,
    bias_force,
    bind,
    body_poses,
    center_of_mass,
    centroidal_bias,
    centroidal_matrix,
    centroidal_momentum,
    configuration_rate,
    coriolis_force,
    coriolis_matrix,
    difference,
    external_force,
    forward_dynamics,
    get_threads,
    gravity_force,
    integrate,
    inverse_dynamics,
    jacobian,
    jacobian_rate,
    joint_resistance,
    kinetic_energy,
    mass_matrix,
    mass_matrix_inverse,
    momentum,
    neutral,
    normalize,
    operation_count,
    operational_space_inertia,
    operational_space_mobility,
    pose,
    potential_energy,
    random_configuration,
    set_compilation,
    set_threads,
    total_mass,
    velocity,
)
from .run.user import kernel

if TYPE_CHECKING:
    from . import testing

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Builder",
    "Model",
    "ModelError",
    "acceleration",
    "audit",
    "bias_force",
    "bind",
    "body_poses",
    "center_of_mass",
    "centroidal_bias",
    "centroidal_matrix",
    "centroidal_momentum",
    "configuration_rate",
    "coriolis_force",
    "coriolis_matrix",
    "difference",
    "external_force",
    "formats",
    "forward_dynamics",
    "get_threads",
    "gravity_force",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_rate",
    "joint_resistance",
    "joints",
    "kernel",
    "kinetic_energy",
    "load",
    "loads",
    "mass_matrix",
    "mass_matrix_inverse",
    "model",
    "momentum",
    "neutral",
    "normalize",
    "operation_count",
    "operational_space_inertia",
    "operational_space_mobility",
    "pose",
    "potential_energy",
    "random_configuration",
    "reroot",
    "robots",
    "save",
    "set_compilation",
    "set_threads",
    "spatial",
    "testing",
    "to_planar",
    "total_mass",
    "velocity",
]


def __getattr__(name: str) -> Any:
    """`knuckle.testing` is loaded when it is first asked for."""
    if name == "testing":
        import importlib

        return importlib.import_module("knuckle.testing")
    raise AttributeError(f"module 'knuckle' has no attribute {name!r}")
