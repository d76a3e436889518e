"""Where arrays meet the algorithms: batches, dtypes and other packages' arrays are known here and nowhere else."""

from typing import TYPE_CHECKING, Any

from .actuation import (
    Actuation,
    actuation,
    actuator_forces,
)
from .assembly import (
    Assembly,
    close_loops,
    project,
)
from .bind import Bound, bind
from .closure import (
    followed_velocity,
    loop_closure,
    with_loop_closure,
)
from .configuration import (
    configuration_rate,
    difference,
    displacement_rate,
    integrate,
    neutral,
    normalize,
    random_configuration,
)
from .coupled import coupling_bias, coupling_forces, coupling_matrix, tree_positions
from .dynamics import (
    bias_force,
    constraint_forces,
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
from .floating import floating_jacobian
from .function import Function, function
from .hybrid import hybrid_dynamics
from .identification import BaseParameters, base_parameters, inertial_parameters, regressor
from .kept import set_kernel_limit
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
from .loops import (
    active_loop_jacobian,
    constraint_bias,
    constraint_jacobian,
    dependence,
    dependence_bias,
    independent_variables,
    loop_error,
    loop_error_rate,
    loop_gap,
)
from .mobility import (
    Mobility,
    mobility,
)
from .products import (
    body_jacobian_product,
    body_jacobian_rate_product,
    body_jacobian_transpose_product,
    jacobian_product,
    jacobian_rate_product,
    jacobian_transpose_product,
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
from .wrenches import loop_wrenches

if TYPE_CHECKING:
    from .user import Compiled

__all__ = [
    "Actuation",
    "Assembly",
    "BaseParameters",
    "Bound",
    "Compiled",
    "Function",
    "Mobility",
    "acceleration",
    "active_loop_jacobian",
    "actuation",
    "actuator_forces",
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
    "constraint_bias",
    "constraint_forces",
    "constraint_jacobian",
    "coriolis_force",
    "coriolis_matrix",
    "coupling_bias",
    "coupling_forces",
    "coupling_matrix",
    "dependence",
    "dependence_bias",
    "difference",
    "displacement_rate",
    "external_force",
    "floating_jacobian",
    "followed_velocity",
    "forward_dynamics",
    "function",
    "get_threads",
    "gravity_force",
    "hybrid_dynamics",
    "independent_variables",
    "inertial_parameters",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_product",
    "jacobian_rate",
    "jacobian_rate_product",
    "jacobian_transpose_product",
    "joint_resistance",
    "kinetic_energy",
    "loop_closure",
    "loop_error",
    "loop_error_rate",
    "loop_gap",
    "loop_wrenches",
    "mass_matrix",
    "mass_matrix_inverse",
    "mobility",
    "momentum",
    "neutral",
    "normalize",
    "operation_count",
    "operational_space_inertia",
    "operational_space_mobility",
    "pose",
    "potential_energy",
    "project",
    "random_configuration",
    "regressor",
    "set_compilation",
    "set_kernel_limit",
    "set_threads",
    "total_mass",
    "tree_positions",
    "velocity",
    "with_loop_closure",
]


def __getattr__(name: str) -> Any:
    """What users' own kernels need is loaded with the first of them."""
    if name == "Compiled":
        from .user import Compiled

        return Compiled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
