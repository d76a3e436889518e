"""The public functions: algorithms called with arrays of any kind and any batch axes, one file per subject."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
from .configuration import (
    configuration_rate,
    difference,
    displacement_rate,
    integrate,
    neutral,
    normalize,
    random_configuration,
)
from .couplings import coupling_bias, coupling_forces, coupling_matrix, tree_positions
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
from .energy import (
    center_of_mass,
    centroidal_bias,
    centroidal_matrix,
    centroidal_momentum,
    kinetic_energy,
    momentum,
    potential_energy,
    total_mass,
)
from .floating import floating_jacobian
from .hybrid import hybrid_dynamics
from .identification import BaseParameters, base_parameters, inertial_parameters, regressor
from .jacobian_products import (
    body_jacobian_product,
    body_jacobian_rate_product,
    body_jacobian_transpose_product,
    jacobian_product,
    jacobian_rate_product,
    jacobian_transpose_product,
)
from .kinematics import acceleration, body_poses, external_force, jacobian, jacobian_rate, pose, velocity
from .loops.actuation import Actuation, actuation, actuator_forces
from .loops.assembly import Assembly, close_loops, project
from .loops.loop_closure import followed_velocity, loop_closure, with_loop_closure
from .loops.loop_terms import (
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
from .loops.loop_wrenches import loop_wrenches
from .loops.mobility import Mobility, mobility
