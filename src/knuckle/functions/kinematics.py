"""Public functions of kinematics: poses, velocities, accelerations and Jacobians of frames (RBDA 4.5, 2.45)."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from knuckle.algorithms.kinematics import body_motions, external_forces, jacobians
from knuckle.engine.calls.function import Array, function
from knuckle.model import ROOT, Frame, Model
from knuckle.public_names import public
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix

from .base_frame import held, hovering, travelling

ExpressedIn = Literal["body", "world", "aligned"]
"""In whose coordinates a twist or Jacobian is: the frame's own ("body"), the base's ("world", the velocity of the
body's point at the base's origin), or the frame's origin with the base's axes ("aligned")."""


JACOBIANS = {
    "body": jacobians.jacobian,
    "world": jacobians.jacobian_in_base,
    "aligned": jacobians.jacobian_at_frame,
}


def to_expression(model: Model, X: Any, expressed_in: str) -> Any:
    """From frame coordinates to those asked for; `X` goes from base to frame."""
    if expressed_in == "body":
        return model.algebra.Transform.identity()
    if expressed_in == "world":
        return X.inverse()
    if expressed_in == "aligned":
        return model.algebra.Transform.rotation(X.E).inverse()
    raise ValueError(f'expressed_in is "body", "world" or "aligned", not {expressed_in!r}')


def moving_part(model: Model, V: Any, expressed_in: str) -> Any:
    """The velocity, in frame coordinates, of the frame whose coordinates are asked for."""
    if expressed_in == "body":
        return V
    if expressed_in == "world":
        return model.zero_motion
    turning = model.algebra.dimension - len(V.linear)
    return model.algebra.Motion.of((*(ZERO,) * turning, *V.linear))


@public
@function(q="q", loops=True)
def pose(model: Model, q: ArrayLike, frame: str) -> Array:
    """The homogeneous matrix (..., 4, 4) of a frame in the base: its axes and origin in base coordinates."""
    return jacobians.pose(model, model.positions(q), model.frame(frame)).homogeneous


@public
@function(q="q", loops=True)
def body_poses(model: Model, q: ArrayLike) -> Array:
    """The homogeneous matrices (..., nb, 4, 4) of all moving bodies in the base."""
    X0 = body_motions.positions(model, model.positions(q))
    return [X0[i].homogeneous for i in range(model.nb)]


@public
@function(q="q", loops=True)
def jacobian(model: Model, q: ArrayLike, frame: str, expressed_in: ExpressedIn = "body") -> Array:
    """J (..., 6, nv) with J v the twist (ω, v) of a frame, in body, world or aligned coordinates (RBDA 4.5)."""
    if expressed_in not in JACOBIANS:
        raise ValueError(f'expressed_in is "body", "world" or "aligned", not {expressed_in!r}')
    J = JACOBIANS[expressed_in](model, model.positions(q), model.frame(frame))
    return _dense(model, model.columns(q, J, model.zero_motion))


def _dense(model: Model, columns: Any) -> Matrix:
    return Matrix.columns((column.components for column in columns), model.algebra.dimension)


@public
@function(q="q", v="v", loops=True)
def jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: ExpressedIn = "body") -> Array:
    """J̇ (..., 6, nv): the derivative of `jacobian` in time, entry by entry, while the mechanism moves with v."""
    seen_from = {"body": held, "aligned": hovering}.get(expressed_in, travelling)
    Q, V, place = model.positions(q), seen_from(model, model.velocities(q, v)), model.frame(frame)
    to = to_expression(model, jacobians.pose(model, Q, place), expressed_in)
    Vf = place_velocity(model, Q, V, place)
    relative = Vf - moving_part(model, Vf, expressed_in)
    J, Jr = jacobians.jacobian(model, Q, place), jacobians.jacobian_rate(model, Q, V, place)
    changing = model.columns(q, {i: to @ (Jr[i] + relative.cross(J[i])) for i in J}, model.zero_motion)
    leaning = model.column_rates(q, v, {i: to @ J[i] for i in J}, model.zero_motion)
    return _dense(model, [x + y for x, y in zip(changing, leaning, strict=True)])


def place_velocity(model: Model, Q: Any, V: Any, place: Frame) -> Any:
    """The velocity of a frame in its own coordinates."""
    return place.X @ body_motions.velocities(model, Q, V)[place.body]


@public
@function(q="q", v="v", loops=True)
def velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: ExpressedIn = "body") -> Array:
    """The twist (ω, v) of a frame (..., 6)."""
    Q, place = model.positions(q), model.frame(frame)
    to = to_expression(model, jacobians.pose(model, Q, place), expressed_in)
    return to @ place_velocity(model, Q, model.velocities(q, v), place)


@public
@function(q="q", v="v", a="v", loops=True)
def acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str,
    expressed_in: ExpressedIn = "body",
    *,
    classical: bool = False,
) -> Array:
    """The acceleration of a frame (..., 6), gravity not included.

    Spatial by default: the derivative of the velocity field at a point fixed in space (RBDA 2.48). `classical=True`
    gives what an accelerometer away from gravity would feel: ω̇ and the second derivative of the origin's position.
    """
    Q, V, place = model.positions(q), model.velocities(q, v), model.frame(frame)
    to = to_expression(model, jacobians.pose(model, Q, place), expressed_in)
    spatial = place.X @ body_motions.accelerations(model, Q, V, model.accelerations(q, v, a))[place.body]
    Vf = place_velocity(model, Q, V, place)
    centripetal = Vf.cross(moving_part(model, Vf, "aligned")) if classical else model.zero_motion
    return to @ (spatial + centripetal)


@public
@function(q="q", wrench="w", loops=True)
def external_force(
    model: Model, q: ArrayLike, frame: str, wrench: ArrayLike, expressed_in: ExpressedIn = "aligned"
) -> Array:
    """`f_ext` (..., nb, 6) of one wrench (moment, force) on one frame, to add up and give to the dynamics.

    Expressed in "aligned" coordinates the wrench acts at the frame's origin with the base's axes (a push on the hand);
    "body": with the frame's own axes; "world": in base coordinates, the moment about the base's origin.
    """
    place, f, Q = model.frame(frame), model.algebra.Force.of(wrench), model.positions(q)
    if place.body == ROOT:
        raise ValueError(f"frame {frame!r} is on the base, which no force moves")
    if expressed_in == "body":
        body, f = external_forces.force_in_frame(place, f)
    elif expressed_in == "aligned":
        body, f = external_forces.force_in_base_axes(model, Q, place, f)
    elif expressed_in == "world":
        body, f = external_forces.force_in_base(model, Q, place, f)
    else:
        raise ValueError(f'expressed_in is "body", "world" or "aligned", not {expressed_in!r}')
    rows = [[ZERO] * model.algebra.dimension for _ in range(model.nb)]
    rows[body] = list(f.components)
    return Matrix(rows)
