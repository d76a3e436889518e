"""Steps with contact by quadratic programs: a single one, and staggered projections (notes 1.11-1.13, 2.11)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.contact.joint_bearings import joint_wrenches
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.elements.element_terms import wrenches
from knuckle.engine.calls.function import kernel
from knuckle.functions import forward_dynamics, integrate, joint_passive_force, mass_matrix, neutral
from knuckle.functions.line_inertia import must_have_no_armature
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.functions.loops.loop_terms import bias as loop_bias
from knuckle.functions.loops.loop_terms import jacobian as loop_jacobian
from knuckle.functions.loops.loop_wrenches import wrenches as loop_wrenches
from knuckle.functions.per_joint import all_wrenches
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.solvers.complementarity import boxed
from knuckle.solvers.staggered_projections import Places, Staggered, staggered
from knuckle.spatial import Force, Matrix, Vector
from knuckle.spatial.three import add, cross, dot, scale
from knuckle.warning import warn

from .bearings import JointBearing, PlacedBearing, bearing_of
from .contact_terms import candidates, gaps
from .stiff_terms import stiff_terms

Array: TypeAlias = NDArray[Any]
RECOVERY = 0.2
"""The part of an overlap that a step takes back (notes 1.82, with γ = 0.2/h)."""


@public_in("contact")
@dataclass(frozen=True)
class ContactStep:
    """What a step with contact ends with.

    Attributes:
        v: the velocity variables (nv,) at its end.
        impulses: the impulse (n, 3) at each place, on the first body of its pair, in base axes, in newton seconds.
        joint_friction: the impulse (nv,) of friction in joints.
        rounds: how often contact and friction were solved in turn.
        change: what the last round changed, relative to the impulses.
        is_converged: whether that is within the tolerance.
    """

    v: Array
    impulses: Array
    joint_friction: Array
    rounds: int
    change: float
    is_converged: bool
    friction: Array
    """All friction impulses in a row, with which the next step may begin"""


@public_in("contact")
def staggered_projections(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float = 1e-3,
    *,
    cone: Literal["round", "box"] = "round",
    start: ContactStep | None = None,
    rounds: int = 200,
    tolerance: float = 1e-10,
    implicit: bool = False,
) -> ContactStep:
    """The velocity after a step with contact and friction, by staggered projections (notes, algorithm 7, corrected).

    Two convex problems in turn: normal impulses that just keep shapes apart (2.109), and friction within what these
    allow (2.110). Where that converges, Coulomb's law holds exactly. It need not converge: then a warning says so, and
    `kn.integrators.ContactSteps` solves all at once. Closed loops are kept.

    Args:
        model: the mechanism, whose shapes and surfaces say what may touch.
        q: the position (nq,); neutral, if not given.
        v: velocity variables (nv,); at rest, if not given.
        tau: joint forces (nv,).
        dt: the step in seconds.
        cone: "round", a disc at each place; "box", as in the notes: along its diagonals friction is √2 μ.
        start: the step before, whose friction is a good guess.
        rounds: how often both are solved, at most.
        tolerance: how little the last round changes, relative to the impulses.
        implicit: whether springs and dampers, of joints and elements, are those at the end of the step, so that stiff
            ones need no short steps: H + dt D + dt² K in place of H (notes 2.73).
    """
    return _stepped(model, q, v, tau, dt, (), cone, start, rounds, tolerance, implicit)


@public_in("contact")
def bilateral_staggered_projections(
    model: Model,
    bearings: Iterable[JointBearing],
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float = 1e-3,
    *,
    cone: Literal["round", "box"] = "round",
    start: ContactStep | None = None,
    rounds: int = 200,
    tolerance: float = 1e-10,
    implicit: bool = False,
) -> ContactStep:
    """The same with friction in joints, by what their bearings carry (notes, algorithm 8, corrected).

    A bearing touches at fixed places; their normal impulses are the least that carry what the joint passes on, and
    friction is at most μ times these. What the joints pass on follows from the motion itself, so that only friction is
    a problem to solve. Contacts with the ground and other bodies are external constraints, with friction of their own.

    Args:
        model: the mechanism. Its shapes and surfaces say what may touch besides; closed loops are kept.
        bearings: one for each joint with friction of this kind.
        q, v, tau, dt, cone, start, rounds, tolerance, implicit: as for `staggered_projections`.
    """
    return _stepped(model, q, v, tau, dt, tuple(bearings), cone, start, rounds, tolerance, implicit)


@public_in("contact")
def single_contact_program(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float = 1e-3,
    *,
    friction: Literal["pyramid"] | None = "pyramid",
) -> ContactStep:
    """The velocity after a step with contact by one quadratic program (notes 1.79-1.88), loops kept.

    Without friction it is the least change of velocity, by kinetic energy, that keeps shapes apart, and right. With it
    the program is a relaxation (Anitescu and Hart 2004), and two things are wrong with it: what slides with v_t is
    lifted by up to μ v_t, and the pyramid of four directions has friction μ along these and μ/√2 between them.
    """
    step = _Prepared(model, q, v, tau, dt)
    n, way = len(step.least), np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    mu = step.mu if friction is not None else np.zeros(n)
    edges = np.concatenate([np.ones((n, 4, 1)), mu[:, None, None] * way], axis=2)
    edges = edges if friction is not None else edges[:, :1]
    rows = np.einsum("nek,nkv->nev", edges, step.J).reshape(n * edges.shape[1], model.nv)
    least = np.repeat(step.least, edges.shape[1])
    found = boxed(rows @ step.W @ rows.T, rows @ step.v - least, np.zeros(len(rows)), np.full(len(rows), np.inf))
    impulses = np.einsum("nek,ne->nk", edges, found.reshape(n, edges.shape[1]))
    new = step.v + step.W @ (rows.T @ found)
    return ContactStep(new, step.in_base(impulses), np.zeros(model.nv), 1, 0.0, True, impulses[:, 1:].ravel())


class _Prepared:
    """A step without contact, and the rows of contact."""

    def __init__(self, model: Model, q: Any, v: Any, tau: Any, dt: float, implicit: bool = False) -> None:
        self.model, self.q = model, _vector("q", q, neutral(model))
        self.old, self.tau = (_vector(name, x, np.zeros(model.nv)) for name, x in (("v", v), ("tau", tau)))
        if not 0 < dt < np.inf:
            raise ValueError(f"dt={dt!r} must be a number of seconds above zero")
        self.dt, self.implicit, tree = dt, implicit, spanning_tree(model)
        self.v = self.old + dt * np.asarray(forward_dynamics(model, self.q, self.old, self.tau))
        self.W = np.linalg.inv(np.asarray(mass_matrix(tree, self.q)))
        if implicit:
            A, rest = stiff_terms(tree, self.q, self.old, self.tau, dt)
            self.W = np.linalg.inv(A)
            self.v = self.old + self.W @ rest
        if model.loops:
            K = np.asarray(loop_jacobian(model, self.q))
            held = self.W @ K.T
            pull = held @ np.linalg.pinv(K @ held, hermitian=True)
            if implicit:
                bias = np.asarray(loop_bias(model, self.q, self.old))
                self.v = self.v + pull @ (dt * bias - K @ (self.v - self.old))
            self.W = self.W - pull @ held.T
        gap = np.atleast_1d(np.asarray(gaps(model, self.q)))
        self.least = -np.where(gap < 0, RECOVERY, 1.0) * gap / dt
        self.J = np.asarray(_rates(model, self.q, np.eye(model.nv))).T.reshape(len(gap), 3, model.nv)
        X0 = positions(model, model.positions(Vector(self.q.tolist())))
        self.mu = np.array([pair.surface.friction for pair, _ in candidates(model, X0)], float)

    def pushes(self, v: Array) -> Array:
        """How much more elements push on bodies (nb, 6) at the end of the step, where it is implicit."""
        if not (self.implicit and self.model.elements):
            return np.zeros((self.model.nb, 6))
        ends = integrate(self.model, self.q, self.dt * v), v
        return np.asarray(wrenches(self.model, *ends)) - np.asarray(wrenches(self.model, self.q, self.old))

    def springs(self, v: Array) -> Array:
        """How much more springs and dampers of joints push (nv,) at the end of the step, where it is implicit."""
        if not self.implicit:
            return np.zeros(self.model.nv)
        ends = integrate(self.model, self.q, self.dt * v), v
        return np.asarray(joint_passive_force(self.model, self.q, self.old)) - np.asarray(
            joint_passive_force(self.model, *ends)
        )

    def in_base(self, impulses: Array) -> Array:
        """Impulses (n, 3) along the axes of the places, in base axes."""
        return np.asarray(_in_base(self.model, self.q, impulses.ravel())).reshape(len(impulses), 3)


def _stepped(
    model: Model, q: Any, v: Any, tau: Any, dt: float, bearings: tuple[JointBearing, ...],
    cone: Any, start: ContactStep | None, rounds: int, tolerance: float, implicit: bool,
) -> ContactStep:  # fmt: skip
    if cone not in ("round", "box"):
        raise ValueError(f"cone is 'round' or 'box', not {cone!r}")
    step = _Prepared(model, q, v, tau, dt, implicit)
    joints = [bearing_of(model, step.q, bearing) for bearing in bearings]
    rough = np.flatnonzero(step.mu > 0)
    T = np.concatenate([step.J[rough, 1:].reshape(2 * len(rough), model.nv), *(x.T for x in joints)])
    sizes = (*(2 for _ in rough), *(size for x in joints for size in x.sizes))
    places = Places(step.J[:, 0], step.least, T, sizes)
    begin = np.zeros(len(T)) if start is None else start.friction
    if begin.shape != (len(T),):
        raise ValueError(f"start has {len(begin)} friction impulses, and there are {len(T)} here")

    def reach(at: Array, alpha: Array, beta: Array) -> Array:
        most = [step.mu[rough] * alpha[rough]]
        if joints:
            outside, own = _outside(step, rough, alpha, beta) / dt + step.pushes(at), _own(joints, beta)
            tau = (
                step.tau
                + step.springs(at)
                + sum((x.T.T @ y for x, y in zip(joints, own, strict=True)), np.zeros(model.nv)) / dt
            )
            loads = joint_loads(model, step.q, step.old, (at - step.old) / dt, tau, outside)
            most += [_carried(x, loads[x.joint], y, dt) for x, y in zip(joints, own, strict=True)]
        return np.concatenate(most)

    found = staggered(step.W, step.v, places, reach, begin, cone, rounds, tolerance)
    if not found.is_converged:
        warn(
            f"staggered projections of {model.name} did not converge: after {found.rounds} rounds the impulses still "
            f"change by {found.change:.1g} of themselves. Take shorter steps, or kn.integrators.ContactSteps"
        )
    return _result(step, rough, joints, found)


def _result(step: _Prepared, rough: Array, joints: list[PlacedBearing], found: Staggered) -> ContactStep:
    impulses = _along_axes(rough, found.alpha, found.beta)
    forces = sum((x.T.T @ own for x, own in zip(joints, _own(joints, found.beta), strict=True)), np.zeros(len(step.v)))
    return ContactStep(
        found.v, step.in_base(impulses), forces, found.rounds, found.change, found.is_converged, found.beta
    )


def _along_axes(rough: Array, alpha: Array, beta: Array) -> Array:
    """All impulses at places of contact (n, 3)."""
    impulses = np.zeros((len(alpha), 3))
    impulses[:, 0] = alpha
    impulses[rough, 1:] = beta[: 2 * len(rough)].reshape(-1, 2)
    return impulses


def _outside(step: _Prepared, rough: Array, alpha: Array, beta: Array) -> Array:
    """The impulses of contact on the bodies (nb, 6)."""
    return np.asarray(_wrenches(step.model, step.q, _along_axes(rough, alpha, beta).ravel()))


def _own(joints: list[PlacedBearing], beta: Array) -> list[Array]:
    """The friction of each bearing: those of contacts come first."""
    ends = np.cumsum([len(x.T) for x in joints])
    last = len(beta) - (int(ends[-1]) if joints else 0)
    return np.split(beta[last:], ends[:-1]) if joints else []


def _carried(bearing: PlacedBearing, load: Array, beta: Array, dt: float) -> Array:
    """μ |α| of the places of a bearing, for the wrench that its joint passes on (notes 2.114).

    What its own friction passes on is not carried so. Nor is what its drive does: no normal has a part of that.
    """
    return bearing.friction * np.abs(bearing.spread @ (load * dt - bearing.wrenches.T @ beta))


@kernel
def _rates(model: Model, q: Any, v: Any) -> Any:
    """The relative velocity at each place along its normal and across."""
    at = model.positions(q)
    X0 = positions(model, at)
    V = {i: X0[i].inv @ x for i, x in velocities(model, at, model.velocities(q, v)).items()}
    rates = list[Any]()
    for pair, place in candidates(model, X0):
        motion = V[pair.first] - V[pair.second]
        u = add(motion.linear, cross(motion.angular, place.point))
        rates += [dot(axis, u) for axis in axes_at(place.normal)]
    return Vector(rates)


@kernel
def _in_base(model: Model, q: Any, impulses: Any) -> Any:
    """Impulses along the axes of places, in base axes."""
    places = candidates(model, positions(model, model.positions(q)))
    return Vector(x for k, (_, place) in enumerate(places) for x in _whole(place.normal, impulses, k))


@kernel
def _wrenches(model: Model, q: Any, impulses: Any) -> Any:
    """Impulses along the axes of places, as wrenches on the bodies in body coordinates."""
    X0 = positions(model, model.positions(q))
    F = {i: model.zero_force for i in range(-1, model.nb)}
    for k, (pair, place) in enumerate(candidates(model, X0)):
        f = _whole(place.normal, impulses, k)
        wrench = Force(cross(place.point, f), f)
        F[pair.first] = F[pair.first] + X0[pair.first] @ wrench
        F[pair.second] = F[pair.second] - X0[pair.second] @ wrench
    return Matrix([F[i].components for i in range(model.nb)], 6)


def joint_loads(model: Model, q: Array, v: Array, a: Array, tau: Array, f_ext: Array) -> Array:
    """What each joint of the tree passes on to its body (nb, 6), in body coordinates, while it has this acceleration.

    What loop joints pass on follows from the joint forces τ and the wrenches on bodies that give it.
    """
    must_have_no_armature(model, "loads of joints")
    closing = np.asarray(loop_wrenches(model, q, v, tau, f_ext)) if model.loops else np.zeros((0, 6))
    return np.asarray(_loads(model, q, v, a, f_ext, closing.ravel()))


@kernel
def _loads(model: Model, q: Any, v: Any, a: Any, f_ext: Any, closing: Any) -> Any:
    at, moving = model.positions(q), model.velocities(q, v)
    X0, F = positions(model, at), all_wrenches(model, at, moving, f_ext)
    for k, loop in enumerate(model.loops):
        on = loop.X_successor.T @ Force.of(closing[6 * k : 6 * k + 6])
        F[loop.successor] = F.get(loop.successor, model.zero_force) + on
        back = X0[loop.predecessor] @ (X0[loop.successor].inv @ on)
        F[loop.predecessor] = F.get(loop.predecessor, model.zero_force) - back
    loads = joint_wrenches(model, at, moving, model.accelerations(q, v, a), F)
    return Matrix([loads[i].components for i in range(model.nb)], 6)


def _whole(normal: Any, impulses: Any, k: int) -> Any:
    """The impulse at place k in base axes."""
    a, b, c = (scale(impulses[3 * k + i], axis) for i, axis in enumerate(axes_at(normal)))
    return add(add(a, b), c)


def _vector(name: str, value: Any, default: Array) -> Array:
    array = default if value is None else np.array(value, float)
    if array.shape != default.shape:
        raise ValueError(f"{name} has shape {array.shape}, and must have shape {default.shape}")
    return array
