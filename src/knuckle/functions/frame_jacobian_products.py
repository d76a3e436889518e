"""Public functions of products with Jacobians in O(n): J x, J̇ x and Jᵀ y without J (notes 2.10)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.kinematics import body_jacobian_products, body_jacobians
from knuckle.algorithms.kinematics.jacobians import pose
from knuckle.engine.calls.function import Array, function
from knuckle.model import ROOT, Model
from knuckle.model.reduction import row_rates
from knuckle.public_names import public_in
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .kinematics import ExpressedIn, moving_part, to_expression
from .per_joint import wrenches


@public_in("jacobian_products")
@function(q="q", x="v", loops=True)
def product(model: Model, q: ArrayLike, x: ArrayLike, frame: str, expressed_in: ExpressedIn = "body") -> Array:
    """J x (..., 6) for the `jacobian` J of a frame, at a cost that is linear in the number of joints."""
    Q, place = model.positions(q), model.frame(frame)
    to = to_expression(model, pose(model, Q, place), expressed_in)
    return to @ (place.X @ body_jacobian_products.jacobian_product(model, Q, model.velocities(q, x))[place.body])


@public_in("jacobian_products")
@function(q="q", v="v", x="v", loops=True)
def rate_product(
    model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike, frame: str, expressed_in: ExpressedIn = "body"
) -> Array:
    """J̇ x (..., 6) for the `jacobian_rate` J̇ of a frame while the mechanism moves with v; J̇ v for x = v."""
    Q, place = model.positions(q), model.frame(frame)
    to = to_expression(model, pose(model, Q, place), expressed_in)
    y, z, V = (place.X @ part[place.body] for part in _rate_products(model, q, v, x))
    return to @ (z + (V - moving_part(model, V, expressed_in)).cross(y))


@public_in("jacobian_products")
@function(q="q", y="w", loops=True)
def transpose_product(
    model: Model, q: ArrayLike, y: ArrayLike, frame: str, expressed_in: ExpressedIn = "body"
) -> Array:
    """Jᵀ y (..., nv) for the `jacobian` J of a frame: the joint forces that a wrench y on the frame amounts to."""
    Q, place = model.positions(q), model.frame(frame)
    to = to_expression(model, pose(model, Q, place), expressed_in)
    if place.body == ROOT:
        return Vector.zero(model.nv)
    pushed = {**wrenches(model, None), place.body: place.X.T @ (to.T @ model.algebra.Force.of(y))}
    return model.forces(q, body_jacobian_products.jacobian_transpose_product(model, Q, pushed))


@public_in("jacobian_products")
@function(q="q", x="v", loops=True)
def body_product(model: Model, q: ArrayLike, x: ArrayLike) -> Array:
    """J x (..., nb, 6) for the Jacobians of all bodies, each in its own coordinates: their twists for x = v."""
    return _rows(model, body_jacobian_products.jacobian_product(model, model.positions(q), model.velocities(q, x)))


@public_in("jacobian_products")
@function(q="q", v="v", x="v", loops=True)
def body_rate_product(model: Model, q: ArrayLike, v: ArrayLike, x: ArrayLike) -> Array:
    """J̇ x (..., nb, 6) for the Jacobians of all bodies, each in its own coordinates, while they move with v."""
    return _rows(model, _rate_products(model, q, v, x)[1])


@public_in("jacobian_products")
@function(q="q", y="f", loops=True)
def body_transpose_product(model: Model, q: ArrayLike, y: ArrayLike) -> Array:
    """Jᵀ y (..., nv): the joint forces of one wrench (..., nb, 6) on each body, in its own coordinates."""
    return model.forces(
        q, body_jacobian_products.jacobian_transpose_product(model, model.positions(q), wrenches(model, y))
    )


@public_in("jacobian_products")
@function(q="q", loops=True)
def body_jacobian(model: Model, q: ArrayLike) -> Array:
    """J (..., 6 nb, nv) of all bodies, each in its own coordinates (notes 2.1-2.3): J v are their twists in a row, and
    with the bodies' inertias M along a diagonal, H = JᵀMJ."""
    J = body_jacobians.body_jacobians(model, model.positions(q))
    return _stacked(model, [model.columns(q, J[i], model.zero_motion) for i in range(model.nb)])


@public_in("jacobian_products")
@function(q="q", v="v", loops=True)
def body_jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """J̇ (..., 6 nb, nv): the derivative of `body_jacobian` in time, entry by entry, while it moves with v."""
    J, R = body_jacobians.body_jacobian_rates(model, model.positions(q), model.velocities(q, v))
    zero, blocks = model.zero_motion, list[Any]()
    for i in range(model.nb):
        pair = model.columns(q, R[i], zero), model.column_rates(q, v, J[i], zero)
        blocks.append([x + y for x, y in zip(*pair, strict=True)])
    return _stacked(model, blocks)


def _stacked(model: Model, blocks: list[Any]) -> Matrix:
    """The columns of each body as one matrix, a body below the other."""
    n = model.algebra.dimension
    return Matrix(([column.components[k] for column in block] for block in blocks for k in range(n)), model.nv)


def _rate_products(model: Model, q: Any, v: Any, x: Any) -> tuple[dict[int, Any], dict[int, Any], dict[int, Any]]:
    """J x, J̇ x and the velocities of all bodies. Joints that follow others make J into J G: J̇ G x + J Ġ x."""
    Q, X = model.positions(q), model.velocities(q, x)
    y, z, V = body_jacobian_products.jacobian_rate_product(model, Q, model.velocities(q, v), X)
    rates = row_rates(model, q, v)
    if rates:
        leaning = [Vector.zero(joint.type.nv) for joint in model.joints]
        for i, row in rates.items():
            leaning[i] = Vector((sum((rate * x[k] for k, rate in row.items()), ZERO),))
        added = body_jacobian_products.jacobian_product(model, Q, leaning)
        z = {i: z[i] + added[i] for i in z}
    return y, z, V


def _rows(model: Model, motions: dict[int, Any]) -> Matrix:
    return Matrix((motions[i].components for i in range(model.nb)), model.algebra.dimension)
