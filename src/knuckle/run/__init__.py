"""Where arrays meet the algorithms: batches, dtypes and other packages' arrays are known here and nowhere else."""

from .bind import Bound, bind
from .configuration import configuration_rate, difference, integrate, neutral, normalize, random_configuration
from .dynamics import (
    bias_force,
    coriolis_force,
    coriolis_matrix,
    forward_dynamics,
    gravity_force,
    inverse_dynamics,
    joint_resistance,
    mass_matrix,
    mass_matrix_inverse,
    operational_space_inertia,
    operational_space_mobility,
)
from .function import Function, function
from .kernel import set_compilation
from .kinematics import (
    acceleration,
    body_poses,
    external_force,
    jacobian,
    jacobian_rate,
    pose,
    velocity,
)
from .quantities import (
    center_of_mass,
    centroidal_bias,
    centroidal_matrix,
    centroidal_momentum,
    kinetic_energy,
    momentum,
    potential_energy,
    total_mass,
)
from .source import operation_count
from .threads import get_threads, set_threads
from .user import Compiled

__all__ = [
    "Bound",
    "Compiled",
    "Function",
    "acceleration",
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
    "forward_dynamics",
    "function",
    "get_threads",
    "gravity_force",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_rate",
    "joint_resistance",
    "kinetic_energy",
    "mass_matrix",
    "mass_matrix_inverse",
    "momentum",
    "neutral",
    "normalize",
    "operation_count",
    "operational_space_inertia",
    "operational_space_mobility",
    "pose",
    "potential_energy",
    "random_configuration",
    "set_compilation",
    "set_threads",
    "total_mass",
    "velocity",
]
