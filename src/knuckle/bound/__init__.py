"""The library's functions for one model, as methods: for loops that compute state by state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from knuckle.engine.calls.function import Function
from knuckle.functions import configuration, dynamics, energy, floating, kinematics
from knuckle.model import Model

from .bound_group import BoundGroup, BoundMethod

if TYPE_CHECKING:
    from . import function_groups

R = TypeVar("R", covariant=True)


class Bound(BoundGroup):
    """The library's functions as methods, for one model. `kn.bind` makes it.

    A method is what `kn` has under the same name, less the model: `kn.loops.jacobian(model, q)` is
    `kn.bind(model).loops.jacobian(q)`. Its code is compiled at the first call with NumPy arrays of one state, unless
    `kn.compilation.set_policy("never")` was called before.
    """

    @cached_property
    def loops(self) -> function_groups.BoundLoops:
        """The functions of `kn.loops`."""
        return _groups().BoundLoops(self.model)

    @cached_property
    def actuators(self) -> function_groups.BoundActuators:
        """The functions of `kn.actuators`."""
        return _groups().BoundActuators(self.model)

    @cached_property
    def couplings(self) -> function_groups.BoundCouplings:
        """The functions of `kn.couplings`."""
        return _groups().BoundCouplings(self.model)

    @cached_property
    def constraints(self) -> function_groups.BoundConstraints:
        """The functions of `kn.constraints`."""
        return _groups().BoundConstraints(self.model)

    @cached_property
    def contact(self) -> function_groups.BoundContact:
        """The functions of `kn.contact`."""
        return _groups().BoundContact(self.model)

    @cached_property
    def derivatives(self) -> function_groups.BoundDerivatives:
        """The functions of `kn.derivatives`."""
        return _groups().BoundDerivatives(self.model)

    @cached_property
    def elements(self) -> function_groups.BoundElements:
        """The functions of `kn.elements`."""
        return _groups().BoundElements(self.model)

    @cached_property
    def identification(self) -> function_groups.BoundIdentification:
        """The functions of `kn.identification`."""
        return _groups().BoundIdentification(self.model)

    @cached_property
    def jacobian_products(self) -> function_groups.BoundJacobianProducts:
        """The functions of `kn.jacobian_products`."""
        return _groups().BoundJacobianProducts(self.model)

    def prepare(self, function: Function[..., R], **options: Any) -> Callable[..., R]:
        """A function with its options fixed, called with arrays only: `fast.prepare(kn.jacobian, frame="tool0")(q)`."""
        if not isinstance(function, Function):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"prepare needs a function of the library, not {function!r}")
        return function.bound(self.model, **options)

    inverse_dynamics = BoundMethod(dynamics.inverse_dynamics)
    forward_dynamics = BoundMethod(dynamics.forward_dynamics)
    mass_matrix = BoundMethod(dynamics.mass_matrix)
    mass_matrix_inverse = BoundMethod(dynamics.mass_matrix_inverse)
    coriolis_matrix = BoundMethod(dynamics.coriolis_matrix)
    coriolis_force = BoundMethod(dynamics.coriolis_force)
    bias_force = BoundMethod(dynamics.bias_force)
    gravity_force = BoundMethod(dynamics.gravity_force)
    joint_passive_force = BoundMethod(dynamics.joint_passive_force)
    operational_space_inertia = BoundMethod(dynamics.operational_space_inertia)
    operational_space_inverse_inertia = BoundMethod(dynamics.operational_space_inverse_inertia)
    pose = BoundMethod(kinematics.pose)
    body_poses = BoundMethod(kinematics.body_poses)
    velocity = BoundMethod(kinematics.velocity)
    acceleration = BoundMethod(kinematics.acceleration)
    jacobian = BoundMethod(kinematics.jacobian)
    jacobian_rate = BoundMethod(kinematics.jacobian_rate)
    external_force = BoundMethod(kinematics.external_force)
    floating_jacobian = BoundMethod(floating.floating_jacobian)
    kinetic_energy = BoundMethod(energy.kinetic_energy)
    potential_energy = BoundMethod(energy.potential_energy)
    center_of_mass = BoundMethod(energy.center_of_mass)
    momentum = BoundMethod(energy.momentum)
    centroidal_momentum = BoundMethod(energy.centroidal_momentum)
    centroidal_matrix = BoundMethod(energy.centroidal_matrix)
    centroidal_bias = BoundMethod(energy.centroidal_bias)
    integrate = BoundMethod(configuration.integrate)
    difference = BoundMethod(configuration.difference)
    normalize = BoundMethod(configuration.normalize)
    velocity_to_qdot = BoundMethod(configuration.velocity_to_qdot)
    difference_rate = BoundMethod(configuration.difference_rate)
    mass_matrix_inverse_product = BoundMethod(dynamics.mass_matrix_inverse_product)

    def __repr__(self) -> str:
        return f"<knuckle functions of {self.model.name!r}>"


def _groups():
    from . import function_groups

    return function_groups


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
