"""The library's functions for one model, as methods: for loops that compute state by state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar, overload

from knuckle.constraints import constraint_terms
from knuckle.contact import contact_motion_terms, contact_terms
from knuckle.elements import element_terms, muscle_terms
from knuckle.engine.calls.function import Function
from knuckle.functions import (
    configuration,
    coupling_terms,
    dynamics,
    dynamics_derivatives,
    energy,
    floating,
    frame_jacobian_products,
    inertia_identification,
    kinematics,
)
from knuckle.functions.loops import actuation, loop_closure, loop_forces, loop_terms, loop_wrenches
from knuckle.model import Model

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Method(Generic[P, R]):
    """A function of the library as a method, prepared when it is first asked for."""

    def __init__(self, function: Function[P, R]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[BoundGroup]) -> _Method[P, R]: ...
    @overload
    def __get__(self, instance: BoundGroup, owner: type[BoundGroup]) -> Callable[P, R]: ...
    def __get__(self, instance: BoundGroup | None, owner: type[BoundGroup]) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.function.__name__, self.function.bound(instance.model))


class BoundGroup:
    """Functions of the library as methods, for one model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __reduce__(self) -> tuple[Callable[..., BoundGroup], tuple[Model]]:
        return type(self), (self.model,)


class BoundLoops(BoundGroup):
    """The functions of `kn.loops` for one model."""

    active_jacobian = _Method(loop_terms.active_jacobian)
    actuator_forces = _Method(actuation.actuator_forces)
    bias = _Method(loop_terms.bias)
    consistent_velocity = _Method(loop_closure.consistent_velocity)
    error = _Method(loop_terms.error)
    error_rate = _Method(loop_terms.error_rate)
    forces = _Method(loop_forces.forces)
    gap = _Method(loop_terms.gap)
    jacobian = _Method(loop_terms.jacobian)
    null_space = _Method(loop_terms.null_space)
    null_space_bias = _Method(loop_terms.null_space_bias)
    solve_dependent = _Method(loop_closure.solve_dependent)
    wrenches = _Method(loop_wrenches.wrenches)


class BoundCouplings(BoundGroup):
    """The functions of `kn.couplings` for one model."""

    bias = _Method(coupling_terms.bias)
    forces = _Method(coupling_terms.forces)
    matrix = _Method(coupling_terms.matrix)
    tree_positions = _Method(coupling_terms.tree_positions)


class BoundDerivatives(BoundGroup):
    """The functions of `kn.derivatives` for one model."""

    forward_dynamics = _Method(dynamics_derivatives.forward_dynamics)
    inverse_dynamics = _Method(dynamics_derivatives.inverse_dynamics)


class BoundConstraints(BoundGroup):
    """The functions of `kn.constraints` for one model."""

    acceleration = _Method(constraint_terms.acceleration)


class BoundContact(BoundGroup):
    """The functions of `kn.contact` for one model."""

    gap_rates = _Method(contact_terms.gap_rates)
    contact_bias = _Method(contact_motion_terms.contact_bias)
    contact_frames = _Method(contact_motion_terms.contact_frames)
    contact_jacobian = _Method(contact_motion_terms.contact_jacobian)
    contact_velocity = _Method(contact_motion_terms.contact_velocity)
    gaps = _Method(contact_terms.gaps)
    normals = _Method(contact_terms.normals)
    points = _Method(contact_terms.points)


class BoundElements(BoundGroup):
    """The functions of `kn.elements` for one model."""

    damping = _Method(element_terms.damping)
    energies = _Method(element_terms.energies)
    fiber_equilibrium = _Method(muscle_terms.fiber_equilibrium)
    fiber_rates = _Method(muscle_terms.fiber_rates)
    joint_forces = _Method(element_terms.joint_forces)
    lengths = _Method(element_terms.lengths)
    moment_arms = _Method(element_terms.moment_arms)
    muscle_forces = _Method(element_terms.muscle_forces)
    powers = _Method(element_terms.powers)
    rates = _Method(element_terms.rates)
    stiffness = _Method(element_terms.stiffness)
    tensions = _Method(element_terms.tensions)
    wrenches = _Method(element_terms.wrenches)


class BoundIdentification(BoundGroup):
    """The functions of `kn.identification` for one model."""

    regressor = _Method(inertia_identification.regressor)


class BoundJacobianProducts(BoundGroup):
    """The functions of `kn.jacobian_products` for one model."""

    body_jacobian = _Method(frame_jacobian_products.body_jacobian)
    body_jacobian_rate = _Method(frame_jacobian_products.body_jacobian_rate)
    body_product = _Method(frame_jacobian_products.body_product)
    body_rate_product = _Method(frame_jacobian_products.body_rate_product)
    body_transpose_product = _Method(frame_jacobian_products.body_transpose_product)
    product = _Method(frame_jacobian_products.product)
    rate_product = _Method(frame_jacobian_products.rate_product)
    transpose_product = _Method(frame_jacobian_products.transpose_product)


class Bound(BoundGroup):
    """The library's functions as methods, for one model. `kn.bind` makes it.

    A method is what `kn` has under the same name, less the model: `kn.loops.jacobian(model, q)` is
    `kn.bind(model).loops.jacobian(q)`. Its code is compiled at the first call with NumPy arrays of one state, unless
    `kn.compilation.set_policy("never")` was called before.
    """

    @cached_property
    def loops(self) -> BoundLoops:
        """The functions of `kn.loops`."""
        return BoundLoops(self.model)

    @cached_property
    def couplings(self) -> BoundCouplings:
        """The functions of `kn.couplings`."""
        return BoundCouplings(self.model)

    @cached_property
    def constraints(self) -> BoundConstraints:
        """The functions of `kn.constraints`."""
        return BoundConstraints(self.model)

    @cached_property
    def contact(self) -> BoundContact:
        """The functions of `kn.contact`."""
        return BoundContact(self.model)

    @cached_property
    def derivatives(self) -> BoundDerivatives:
        """The functions of `kn.derivatives`."""
        return BoundDerivatives(self.model)

    @cached_property
    def elements(self) -> BoundElements:
        """The functions of `kn.elements`."""
        return BoundElements(self.model)

    @cached_property
    def identification(self) -> BoundIdentification:
        """The functions of `kn.identification`."""
        return BoundIdentification(self.model)

    @cached_property
    def jacobian_products(self) -> BoundJacobianProducts:
        """The functions of `kn.jacobian_products`."""
        return BoundJacobianProducts(self.model)

    def prepare(self, function: Function[..., R], **options: Any) -> Callable[..., R]:
        """A function with its options fixed, called with arrays only: `fast.prepare(kn.jacobian, frame="tool0")(q)`."""
        if not isinstance(function, Function):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"prepare needs a function of the library, not {function!r}")
        return function.bound(self.model, **options)

    inverse_dynamics = _Method(dynamics.inverse_dynamics)
    forward_dynamics = _Method(dynamics.forward_dynamics)
    mass_matrix = _Method(dynamics.mass_matrix)
    mass_matrix_inverse = _Method(dynamics.mass_matrix_inverse)
    coriolis_matrix = _Method(dynamics.coriolis_matrix)
    coriolis_force = _Method(dynamics.coriolis_force)
    bias_force = _Method(dynamics.bias_force)
    gravity_force = _Method(dynamics.gravity_force)
    joint_passive_force = _Method(dynamics.joint_passive_force)
    operational_space_inertia = _Method(dynamics.operational_space_inertia)
    operational_space_inverse_inertia = _Method(dynamics.operational_space_inverse_inertia)
    pose = _Method(kinematics.pose)
    body_poses = _Method(kinematics.body_poses)
    velocity = _Method(kinematics.velocity)
    acceleration = _Method(kinematics.acceleration)
    jacobian = _Method(kinematics.jacobian)
    jacobian_rate = _Method(kinematics.jacobian_rate)
    external_force = _Method(kinematics.external_force)
    floating_jacobian = _Method(floating.floating_jacobian)
    kinetic_energy = _Method(energy.kinetic_energy)
    potential_energy = _Method(energy.potential_energy)
    center_of_mass = _Method(energy.center_of_mass)
    momentum = _Method(energy.momentum)
    centroidal_momentum = _Method(energy.centroidal_momentum)
    centroidal_matrix = _Method(energy.centroidal_matrix)
    centroidal_bias = _Method(energy.centroidal_bias)
    integrate = _Method(configuration.integrate)
    difference = _Method(configuration.difference)
    normalize = _Method(configuration.normalize)
    velocity_to_qdot = _Method(configuration.velocity_to_qdot)
    difference_rate = _Method(configuration.difference_rate)
    mass_matrix_inverse_product = _Method(constraint_terms.mass_matrix_inverse_product)

    def __repr__(self) -> str:
        return f"<knuckle functions of {self.model.name!r}>"


def bind(model: Model) -> Bound:
    """The library's functions for one model, as methods: `fast = kn.bind(model); tau = fast.inverse_dynamics(q, v, a)`.

    Code for one state is compiled at the first call instead of the 24th. A call takes a fraction of a microsecond and
    the time of the computation itself, as that of the function does once it is compiled. For many states at once, a
    batch is faster still.

    Args:
        model: the mechanism.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"bind needs a knuckle.Model, not {type(model).__name__}")
    return Bound(model)
