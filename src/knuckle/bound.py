"""The library's functions for one model, as methods: for loops that compute state by state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from knuckle.constraints import constraint_terms
from knuckle.engine.calls.function import Function
from knuckle.functions import (
    configuration,
    couplings,
    dynamics,
    energy,
    floating,
    identification,
    jacobian_products,
    kinematics,
)
from knuckle.functions.loops import loop_closure as closure
from knuckle.functions.loops import loop_terms
from knuckle.functions.loops import loop_wrenches as wrenches
from knuckle.functions.loops.actuation import actuator_forces
from knuckle.model import Model

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Method(Generic[P, R]):
    """A function of the library as a method of `Bound`, prepared when it is first asked for."""

    def __init__(self, function: Function[P, R]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Bound]) -> _Method[P, R]: ...
    @overload
    def __get__(self, instance: Bound, owner: type[Bound]) -> Callable[P, R]: ...
    def __get__(self, instance: Bound | None, owner: type[Bound]) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.function.__name__, self.function.bound(instance.model))


class Bound:
    """The library's functions as methods, for one model. `kn.bind` makes it.

    A method is what `kn` has under the same name, less the model. Its code is compiled at the first call with NumPy
    arrays of one state, unless `set_compilation("never")` was called before.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

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
    joint_resistance = _Method(dynamics.joint_resistance)
    operational_space_inertia = _Method(dynamics.operational_space_inertia)
    operational_space_mobility = _Method(dynamics.operational_space_mobility)
    pose = _Method(kinematics.pose)
    body_poses = _Method(kinematics.body_poses)
    velocity = _Method(kinematics.velocity)
    acceleration = _Method(kinematics.acceleration)
    jacobian = _Method(kinematics.jacobian)
    jacobian_rate = _Method(kinematics.jacobian_rate)
    external_force = _Method(kinematics.external_force)
    jacobian_product = _Method(jacobian_products.jacobian_product)
    jacobian_rate_product = _Method(jacobian_products.jacobian_rate_product)
    jacobian_transpose_product = _Method(jacobian_products.jacobian_transpose_product)
    body_jacobian_product = _Method(jacobian_products.body_jacobian_product)
    body_jacobian_rate_product = _Method(jacobian_products.body_jacobian_rate_product)
    body_jacobian_transpose_product = _Method(jacobian_products.body_jacobian_transpose_product)
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
    configuration_rate = _Method(configuration.configuration_rate)
    displacement_rate = _Method(configuration.displacement_rate)
    tree_positions = _Method(couplings.tree_positions)
    coupling_matrix = _Method(couplings.coupling_matrix)
    coupling_bias = _Method(couplings.coupling_bias)
    coupling_forces = _Method(couplings.coupling_forces)
    regressor = _Method(identification.regressor)
    loop_error = _Method(loop_terms.loop_error)
    loop_error_rate = _Method(loop_terms.loop_error_rate)
    loop_gap = _Method(loop_terms.loop_gap)
    constraint_jacobian = _Method(loop_terms.constraint_jacobian)
    constraint_bias = _Method(loop_terms.constraint_bias)
    constraint_forces = _Method(dynamics.constraint_forces)
    active_loop_jacobian = _Method(loop_terms.active_loop_jacobian)
    dependence = _Method(loop_terms.dependence)
    dependence_bias = _Method(loop_terms.dependence_bias)
    loop_wrenches = _Method(wrenches.loop_wrenches)
    mass_matrix_inverse_product = _Method(constraint_terms.mass_matrix_inverse_product)
    followed_velocity = _Method(closure.followed_velocity)
    loop_closure = _Method(closure.loop_closure)
    constrained_acceleration = _Method(constraint_terms.constrained_acceleration)
    actuator_forces = _Method(actuator_forces)

    def __reduce__(self) -> tuple[Callable[..., Bound], tuple[Model]]:
        return bind, (self.model,)

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
