"""The groups of functions for one model, `kn.bind(model).loops` and so on: loaded when one is first asked for."""

from __future__ import annotations

from knuckle.constraints import constraint_terms
from knuckle.contact import contact_motion_terms, contact_terms
from knuckle.elements import element_terms, muscle_terms
from knuckle.functions import (
    actuator_terms,
    coupling_terms,
    frame_jacobian_products,
    inertia_identification,
)
from knuckle.functions.derivatives import dynamics_derivatives
from knuckle.functions.loops import actuation, loop_closure, loop_forces, loop_terms, loop_wrenches

from .bound_group import BoundGroup, BoundMethod


class BoundLoops(BoundGroup):
    """The functions of `kn.loops` for one model."""

    active_jacobian = BoundMethod(loop_terms.active_jacobian)
    actuator_forces = BoundMethod(actuation.actuator_forces)
    bias = BoundMethod(loop_terms.bias)
    consistent_velocity = BoundMethod(loop_closure.consistent_velocity)
    error = BoundMethod(loop_terms.error)
    error_rate = BoundMethod(loop_terms.error_rate)
    forces = BoundMethod(loop_forces.forces)
    gap = BoundMethod(loop_terms.gap)
    jacobian = BoundMethod(loop_terms.jacobian)
    null_space = BoundMethod(loop_terms.null_space)
    null_space_bias = BoundMethod(loop_terms.null_space_bias)
    solve_dependent = BoundMethod(loop_closure.solve_dependent)
    wrenches = BoundMethod(loop_wrenches.wrenches)


class BoundActuators(BoundGroup):
    """The functions of `kn.actuators` for one model."""

    forces = BoundMethod(actuator_terms.forces)
    joint_forces = BoundMethod(actuator_terms.joint_forces)
    state_rates = BoundMethod(actuator_terms.state_rates)


class BoundCouplings(BoundGroup):
    """The functions of `kn.couplings` for one model."""

    bias = BoundMethod(coupling_terms.bias)
    forces = BoundMethod(coupling_terms.forces)
    matrix = BoundMethod(coupling_terms.matrix)
    tree_positions = BoundMethod(coupling_terms.tree_positions)


class BoundDerivatives(BoundGroup):
    """The functions of `kn.derivatives` for one model."""

    forward_dynamics = BoundMethod(dynamics_derivatives.forward_dynamics)
    inverse_dynamics = BoundMethod(dynamics_derivatives.inverse_dynamics)


class BoundConstraints(BoundGroup):
    """The functions of `kn.constraints` for one model."""

    acceleration = BoundMethod(constraint_terms.acceleration)


class BoundContact(BoundGroup):
    """The functions of `kn.contact` for one model."""

    gap_rates = BoundMethod(contact_terms.gap_rates)
    contact_bias = BoundMethod(contact_motion_terms.contact_bias)
    contact_frames = BoundMethod(contact_motion_terms.contact_frames)
    contact_jacobian = BoundMethod(contact_motion_terms.contact_jacobian)
    contact_velocity = BoundMethod(contact_motion_terms.contact_velocity)
    gaps = BoundMethod(contact_terms.gaps)
    normals = BoundMethod(contact_terms.normals)
    points = BoundMethod(contact_terms.points)


class BoundElements(BoundGroup):
    """The functions of `kn.elements` for one model."""

    damping = BoundMethod(element_terms.damping)
    energies = BoundMethod(element_terms.energies)
    fiber_equilibrium = BoundMethod(muscle_terms.fiber_equilibrium)
    fiber_rates = BoundMethod(muscle_terms.fiber_rates)
    joint_forces = BoundMethod(element_terms.joint_forces)
    lengths = BoundMethod(element_terms.lengths)
    moment_arms = BoundMethod(element_terms.moment_arms)
    muscle_forces = BoundMethod(element_terms.muscle_forces)
    powers = BoundMethod(element_terms.powers)
    rates = BoundMethod(element_terms.rates)
    stiffness = BoundMethod(element_terms.stiffness)
    tensions = BoundMethod(element_terms.tensions)
    wrenches = BoundMethod(element_terms.wrenches)


class BoundIdentification(BoundGroup):
    """The functions of `kn.identification` for one model."""

    regressor = BoundMethod(inertia_identification.regressor)


class BoundJacobianProducts(BoundGroup):
    """The functions of `kn.jacobian_products` for one model."""

    body_jacobian = BoundMethod(frame_jacobian_products.body_jacobian)
    body_jacobian_rate = BoundMethod(frame_jacobian_products.body_jacobian_rate)
    body_product = BoundMethod(frame_jacobian_products.body_product)
    body_rate_product = BoundMethod(frame_jacobian_products.body_rate_product)
    body_transpose_product = BoundMethod(frame_jacobian_products.body_transpose_product)
    product = BoundMethod(frame_jacobian_products.product)
    rate_product = BoundMethod(frame_jacobian_products.rate_product)
    transpose_product = BoundMethod(frame_jacobian_products.transpose_product)
