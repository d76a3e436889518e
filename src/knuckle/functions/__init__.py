"""The public functions: algorithms called with arrays of any kind and any batch axes, one file per subject."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
from .configuration import (
    difference,
    difference_rate,
    integrate,
    neutral,
    normalize,
    random_configuration,
    velocity_to_qdot,
)
from .dynamics import (
    bias_force,
    coriolis_force,
    coriolis_matrix,
    forward_dynamics,
    gravity_force,
    inverse_dynamics,
    joint_passive_force,
    mass_matrix,
    mass_matrix_inverse,
    mass_matrix_inverse_product,
    operational_space_inertia,
    operational_space_inverse_inertia,
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
from .kinematics import acceleration, body_poses, external_force, jacobian, jacobian_rate, pose, velocity
