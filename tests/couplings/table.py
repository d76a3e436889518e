"""Every public function on a mechanism with couplings or loops, beside what the explicit constrained tree says.

A row yields pairs (found, wanted). It may raise `ModelError` instead, which has to say what to do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import knuckle as kn
from knuckle.formats import adapters
from knuckle.formats.mjcf.mjcf_writer import to_mjcf
from knuckle.formats.urdf.urdf_writer import to_urdf
from knuckle.joints import Driven, Polynomial
from knuckle.model import ContactRules, Frame, Geometry, Model, Plane, Sphere, Surface, edit, solid_box
from knuckle.model.coupling import described

from .cases import Case

Pair = tuple[Any, Any]
Row = Callable[[Case], Iterator[Pair]]
ROWS: dict[str, Row] = {}
STEP = 1e-30


def row(name: str) -> Callable[[Row], Row]:
    def add(given: Row) -> Row:
        ROWS[name] = given
        return given

    return add


def simple(name: str, found: Callable[[Case], Any], wanted: Callable[[Case], Any]) -> None:
    """A row with one pair, the function found first."""

    def pairs(c: Case) -> Iterator[Pair]:
        yield found(c), wanted(c)

    ROWS[name] = pairs


# positions

simple("neutral", lambda c: kn.neutral(c.model), lambda c: kn.neutral(c.tree)[c.lead_q])
simple("integrate", lambda c: kn.integrate(c.model, c.q, c.v), lambda c: kn.integrate(c.tree, c.Q, c.V)[c.lead_q])
simple(
    "difference",
    lambda c: kn.difference(c.model, c.q, kn.integrate(c.model, c.q, 0.1 * c.v)),
    lambda c: kn.difference(c.tree, c.Q, c.to_tree(kn.integrate(c.tree, c.Q, 0.1 * c.V)[c.lead_q]))[c.lead],
)
simple(
    "velocity_to_qdot",
    lambda c: kn.velocity_to_qdot(c.model, c.q, c.v),
    lambda c: kn.velocity_to_qdot(c.tree, c.Q, c.V)[c.lead_q],
)
simple(
    "difference_rate",
    lambda c: kn.difference_rate(c.model, 0.1 * c.v, c.v),
    lambda c: kn.difference_rate(c.tree, 0.1 * c.V, c.V)[c.lead],
)
simple("couplings.tree_positions", lambda c: kn.couplings.tree_positions(c.model, c.q), lambda c: c.Q)
simple("couplings.matrix", lambda c: kn.couplings.matrix(c.model, c.q), lambda c: c.G)
simple("couplings.bias", lambda c: kn.couplings.bias(c.model, c.q, c.v), lambda c: c.g)


@row("random_configuration")
def random_configuration(c: Case) -> Iterator[Pair]:
    q = kn.random_configuration(c.model, 7)
    yield kn.couplings.tree_positions(c.model, q), c.to_tree(q)


@row("normalize")
def normalize(c: Case) -> Iterator[Pair]:
    q, v = kn.normalize(c.model, c.q, c.v)
    Q, V = kn.normalize(c.tree, c.Q, c.V)
    yield q, Q[c.lead_q]
    yield v, V[c.lead]


# contact


def _grounded(model: Model) -> Model:
    """With a ball on every body, over a plane."""
    ball = Geometry(Sphere(0.1), contact_affinity=0)
    bodies = tuple(dataclasses.replace(body, collisions=(ball,)) for body in model.bodies)
    return model.replace(bodies=bodies, base=dataclasses.replace(model.base, collisions=(Geometry(Plane((0.0, 0.0))),)))


def _far(model: Model) -> Model:
    """With a ball on every body, high above a plane."""
    return edit.with_ground(_grounded(model).replace(base=dataclasses.replace(model.base, collisions=())), height=-1e3)


def _soft(model: Model) -> Model:
    surface = Surface("default", stiffness=1e3, damping=10.0, friction=0.5)
    return _grounded(model).replace(contact=ContactRules((surface,)))


_SPRINGS = kn.contact.CompliantContacts()
_SOFT = kn.contact.CompliantContacts("linear", friction="regularized")
for _name in ("gaps", "points", "normals", "contact_frames"):
    _place: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_place: f(_grounded(c.model), c.q),
        lambda c, f=_place: f(_grounded(c.tree), c.Q),
    )
simple(
    "contact.separation_states",
    lambda c: kn.contact.separation_states(_grounded(c.model), c.q, c.v) == "apart",
    lambda c: kn.contact.separation_states(_grounded(c.tree), c.Q, c.V) == "apart",
)
for _name in ("gap_rates", "contact_velocity"):
    _rates: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_rates: f(_grounded(c.model), c.q, c.v),
        lambda c, f=_rates: f(_grounded(c.tree), c.Q, c.V),
    )
simple(
    "contact.contact_jacobian",
    lambda c: kn.contact.contact_jacobian(_grounded(c.model), c.q),
    lambda c: kn.contact.contact_jacobian(_grounded(c.tree), c.Q) @ c.G,
)
simple(
    "contact.contact_bias",
    lambda c: kn.contact.contact_bias(_grounded(c.model), c.q, c.v),
    lambda c: (
        kn.contact.contact_bias(_grounded(c.tree), c.Q, c.V) + kn.contact.contact_jacobian(_grounded(c.tree), c.Q) @ c.g
    ),
)
simple(
    "contact.contact_forces",
    lambda c: kn.contact.contact_forces(_soft(c.model), c.q, c.v, _SOFT),
    lambda c: kn.contact.contact_forces(_soft(c.tree), c.Q, c.V, _SOFT),
)
simple(
    "contact.contact_joint_forces",
    lambda c: kn.contact.contact_joint_forces(_soft(c.model), c.q, c.v, _SOFT),
    lambda c: c.G.T @ kn.contact.contact_joint_forces(_soft(c.tree), c.Q, c.V, _SOFT),
)
simple(
    "contact.compliant_dynamics",
    lambda c: kn.contact.compliant_dynamics(_soft(c.model), c.q, c.v, c.tau, _SOFT),
    lambda c: kn.forward_dynamics(
        c.model, c.q, c.v, c.tau + kn.contact.contact_joint_forces(_soft(c.model), c.q, c.v, _SOFT)
    ),
)
simple(
    "contact.friction_springs",
    lambda c: kn.contact.friction_springs(
        _soft(c.model), [0.0, 0.1], [c.q] * 2, [c.v] * 2, kn.contact.CompliantContacts()
    ),
    lambda c: kn.contact.friction_springs(
        _soft(c.tree), [0.0, 0.1], [c.Q] * 2, [c.V] * 2, kn.contact.CompliantContacts()
    ),
)
simple(
    "contact.contact_dynamics",
    lambda c: kn.contact.contact_dynamics(_far(c.model), c.q, c.v, c.tau).a,
    lambda c: kn.forward_dynamics(c.model, c.q, c.v, c.tau),
)
simple("contact.impact", lambda c: kn.contact.impact(_far(c.model), c.q, c.v).v, lambda c: c.v)
simple(
    "contact.with_hulls",
    lambda c: kn.contact.gaps(kn.contact.with_hulls(_grounded(c.model)), c.q),
    lambda c: kn.contact.gaps(_grounded(c.tree), c.Q),
)
simple(
    "contact.ShapeCollider",
    lambda c: kn.contact.ShapeCollider.of(_grounded(c.model)).places(c.q),
    lambda c: kn.contact.ShapeCollider.of(_grounded(c.tree)).places(c.Q),
)
for _name in ("staggered_projections", "single_contact_program"):
    _step: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_step: f(_far(c.model), c.q, c.v, c.tau, dt=1e-3).v,
        lambda c: c.v + 1e-3 * kn.forward_dynamics(c.model, c.q, c.v, c.tau),
    )
simple(
    "contact.bilateral_staggered_projections",
    lambda c: kn.contact.bilateral_staggered_projections(_far(c.model), [], c.q, c.v, c.tau, dt=1e-3).v,
    lambda c: c.v + 1e-3 * kn.forward_dynamics(c.model, c.q, c.v, c.tau),
)
simple(
    "contact.contact_pairs",
    lambda c: len(kn.contact.contact_pairs(_grounded(c.model))),
    lambda c: c.model.nb,
)

# dynamics


@row("inverse_dynamics")
def inverse_dynamics(c: Case) -> Iterator[Pair]:
    tau = kn.inverse_dynamics(c.model, c.q, c.v, c.a, c.f_ext)
    yield c.constrained(tau, c.f_ext)[0], c.A
    if not c.model.loops:
        yield tau, c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.A, c.f_ext)


@row("forward_dynamics")
def forward_dynamics(c: Case) -> Iterator[Pair]:
    wanted = c.constrained(c.tau, c.f_ext)[0][c.lead]
    methods = ("aba", "crba", "kkt") if c.model.loops else ("aba", "crba", "divide")
    for method in methods:
        yield kn.forward_dynamics(c.model, c.q, c.v, c.tau, c.f_ext, method=method), wanted


def _rate(function: Any, c: Case) -> NDArray[Any]:
    """d/dt of a matrix that depends on the position, by a complex step along the motion."""
    q = np.asarray(c.q) + 1j * STEP * kn.velocity_to_qdot(c.model, c.q, c.v)
    return np.array([[complex(x).imag / STEP for x in r] for r in function(q.tolist()).rows])


@row("coriolis_matrix")
def coriolis_matrix(c: Case) -> Iterator[Pair]:
    C = kn.coriolis_matrix(c.model, c.q, c.v)
    still = c.tree.with_gravity((0, 0, 0)).without_friction()
    still = still.replace(joints=tuple(dataclasses.replace(j, stiffness=()) for j in still.joints))
    yield C @ c.v, c.G.T @ kn.inverse_dynamics(still, c.Q, c.V, c.g)
    skew = _rate(lambda q: kn.mass_matrix.reference(c.model, q), c) - 2 * C
    yield skew, -skew.T


simple(
    "coriolis_force",
    lambda c: kn.coriolis_force(c.model, c.q, c.v),
    lambda c: c.G.T @ (kn.coriolis_force(c.tree, c.Q, c.V) + kn.mass_matrix(c.tree, c.Q) @ c.g),
)
simple(
    "bias_force",
    lambda c: kn.bias_force(c.model, c.q, c.v, c.f_ext),
    lambda c: c.G.T @ (kn.bias_force(c.tree, c.Q, c.V, c.f_ext) + kn.mass_matrix(c.tree, c.Q) @ c.g),
)
simple("gravity_force", lambda c: kn.gravity_force(c.model, c.q), lambda c: c.G.T @ kn.gravity_force(c.tree, c.Q))
simple(
    "joint_passive_force",
    lambda c: kn.joint_passive_force(c.model, c.q, c.v),
    lambda c: c.G.T @ kn.joint_passive_force(c.tree, c.Q, c.V),
)
simple("mass_matrix", lambda c: kn.mass_matrix(c.model, c.q), lambda c: c.H)
simple("mass_matrix_inverse", lambda c: kn.mass_matrix_inverse(c.model, c.q), lambda c: np.linalg.inv(c.H))
simple(
    "mass_matrix_inverse_product",
    lambda c: kn.mass_matrix_inverse_product(c.model, c.q, c.tau),
    lambda c: np.linalg.solve(c.H, c.tau),
)
simple(
    "couplings.forces",
    lambda c: kn.couplings.forces(c.model, c.q, c.v, c.constrained(c.tau)[0][c.lead]),
    lambda c: c.constrained(c.tau)[1][: len(c.follow)],
)


@row("hybrid_dynamics")
def hybrid_dynamics(c: Case) -> Iterator[Pair]:
    """One joint's acceleration is given, and the forces of all others."""
    k = c.model.v_slices[c.model.joint_index(c.lockable)].start
    for method in ("aba", "crba"):
        a, tau = kn.hybrid_dynamics(c.model, c.q, c.v, c.tau, c.a, c.f_ext, prescribed=[c.lockable], method=method)
        yield (a[k], *np.delete(tau, k)), (c.a[k], *np.delete(c.tau, k))
        yield c.constrained(tau, c.f_ext)[0], c.G @ a + c.g


@row("drive_forces")
def drive_forces(c: Case) -> Iterator[Pair]:
    """A joint that moves by a law of time needs the force with which the explicit system has that acceleration."""
    name = c.drivable
    k = c.model.v_slices[c.model.joint_index(name)].start
    bare = dataclasses.replace(
        c, model=edit.with_joint(c.model, name, damping=0, friction=0, rotor_inertia=0, stiffness=0)
    )
    kind = c.model.joints[c.model.joint_index(name)].type
    law = Polynomial((c.q[k + c.quaternion], c.v[k], c.a[k] / 2))
    driven = edit.with_joint(bare.model, name, type=Driven(kind, law))
    others = (np.delete(c.q, k + c.quaternion), np.delete(c.v, k), np.delete(c.tau, k))
    found = kn.drive_forces(driven, 0.0, *others)
    zero, one = (bare.constrained(np.insert(others[2], k, x))[0][c.lead][k] for x in (0.0, 1.0))
    yield found[name], [(c.a[k] - zero) / (one - zero)]


def _mobility(c: Case) -> NDArray[Any]:
    """The acceleration of the frame that each unit wrench on it adds, in the explicit system."""
    J, without = kn.jacobian(c.tree, c.Q, c.frame), c.constrained(c.tau)[0]
    forces = (kn.external_force(c.tree, c.Q, c.frame, e, "body") for e in np.eye(6))
    return np.stack([J @ (c.constrained(c.tau, f)[0] - without) for f in forces], axis=-1)


simple(
    "operational_space_inverse_inertia",
    lambda c: kn.operational_space_inverse_inertia(c.model, c.q, c.frame),
    _mobility,
)
simple(
    "operational_space_inertia",
    lambda c: kn.operational_space_inertia(c.model, c.q, c.frame),
    lambda c: np.linalg.inv(_mobility(c)),
)
simple(
    "identification.regressor",
    lambda c: kn.identification.regressor(c.model, c.q, c.v, c.a) @ kn.identification.inertial_parameters(c.model),
    lambda c: c.G.T @ kn.inverse_dynamics(_bare(c.tree), c.Q, c.V, c.A),
)
simple(
    "identification.inertial_parameters",
    lambda c: kn.identification.inertial_parameters(c.model),
    lambda c: kn.identification.inertial_parameters(c.tree),
)


@row("identification.base_parameters")
def base_parameters(c: Case) -> Iterator[Pair]:
    found = kn.identification.base_parameters(c.model)
    Y = kn.identification.regressor(c.model, c.q, c.v, c.a)
    yield Y[:, list(found.columns)] @ found.matrix, c.G.T @ kn.identification.regressor(c.tree, c.Q, c.V, c.A)


# loops

simple("loops.jacobian", lambda c: kn.loops.jacobian(c.model, c.q), lambda c: c.K @ c.G)
simple(
    "loops.bias",
    lambda c: kn.loops.bias(c.model, c.q, c.v),
    lambda c: kn.loops.bias(c.open, c.Q, c.V) - c.K @ c.g,
)
simple("loops.error", lambda c: kn.loops.error(c.model, c.q), lambda c: kn.loops.error(c.open, c.Q))
simple("loops.gap", lambda c: kn.loops.gap(c.model, c.q), lambda c: kn.loops.gap(c.open, c.Q))
simple(
    "loops.error_rate",
    lambda c: kn.loops.error_rate(c.model, c.q, c.v),
    lambda c: kn.loops.error_rate(c.open, c.Q, c.V),
)
simple(
    "loops.active_jacobian",
    lambda c: kn.loops.active_jacobian(c.model, c.q),
    lambda c: kn.loops.active_jacobian(c.open, c.Q) @ c.G,
)
simple(
    "loops.forces",
    lambda c: (c.K @ c.G).T @ kn.loops.forces(c.model, c.q, c.v, c.tau, c.f_ext),
    lambda c: (c.K @ c.G).T @ c.constrained(c.tau, c.f_ext)[1][len(c.follow) :],
)


@row("loops.independent_variables")
def independent_variables(c: Case) -> Iterator[Pair]:
    yield (
        len(kn.loops.independent_variables(c.model, c.q).independent),
        c.model.nv - np.linalg.matrix_rank(c.K @ c.G, 1e-9),
    )


@row("loops.null_space")
def dependence(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    G = kn.loops.null_space(c.model, c.q, choice=choice)
    yield G @ c.v[list(choice.independent)], c.v


@row("loops.null_space_bias")
def dependence_bias(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    G, g = kn.loops.null_space(c.model, c.q, choice=choice), kn.loops.null_space_bias(c.model, c.q, c.v, choice=choice)
    yield G @ c.a[list(choice.independent)] + g, c.a


@row("loops.degrees_of_freedom")
def mobility(c: Case) -> Iterator[Pair]:
    yield kn.loops.degrees_of_freedom(c.model, c.q).freedoms, c.model.nv - np.linalg.matrix_rank(c.K @ c.G, 1e-9)


@row("loops.close")
def close_loops(c: Case) -> Iterator[Pair]:
    found = kn.loops.close(c.model, kn.integrate(c.model, c.q, 0.01 * c.tau))
    yield kn.loops.error(c.open, c.to_tree(found.q)), np.zeros(len(c.K))
    yield found.closed, True


@row("loops.project")
def project(c: Case) -> Iterator[Pair]:
    q, v = kn.loops.project(c.model, kn.integrate(c.model, c.q, 0.01 * c.tau), c.v)
    there = c.at(q, v)
    yield kn.loops.error(c.open, there.Q), np.zeros(len(c.K))
    yield there.K @ there.V, np.zeros(len(c.K))


@row("loops.solve_dependent")
def loop_closure(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    off = np.array(c.q)
    off[[k + c.quaternion for k in choice.dependent]] += 0.01
    yield kn.loops.solve_dependent(c.model, off, choice=choice), c.q


@row("loops.consistent_velocity")
def followed_velocity(c: Case) -> Iterator[Pair]:
    choice = kn.loops.independent_variables(c.model, c.q)
    off = np.array(c.v)
    off[list(choice.dependent)] += 1.0
    yield kn.loops.consistent_velocity(c.model, c.q, off, choice=choice), c.v


@row("loops.wrenches")
def loop_wrenches(c: Case) -> Iterator[Pair]:
    """Applied to the two bodies of each loop joint as external forces they make the joint superfluous."""
    found = kn.loops.wrenches(c.model, c.q, c.v, c.tau, c.f_ext)
    yield found.shape, (len(c.model.loops), 6)
    total = np.array(c.f_ext)
    for loop, f in zip(c.model.loops, found, strict=True):
        tree = c.tree.replace(frames=(Frame("there", loop.successor, loop.X_successor),))
        total += kn.external_force(tree, c.Q, "there", f, "body")
        T = kn.pose(tree, c.Q, "there")
        n, force = T[:3, :3] @ f[:3], T[:3, :3] @ f[3:]
        about_base = -np.concatenate([n + np.cross(T[:3, 3], force), force])
        total += kn.external_force(tree, c.Q, tree.body_names[loop.predecessor], about_base, "world")
    opened = dataclasses.replace(c, model=c.model.without_loops())
    yield opened.constrained(c.tau, total)[0], c.constrained(c.tau, c.f_ext)[0]


def _actuated(c: Case) -> tuple[list[int], tuple[str, ...]]:
    """Independent variables, and the joints that have them."""
    independent = list(kn.loops.independent_variables(c.model, c.q).independent)
    names = (name for i, name in enumerate(c.model.joint_names) if {*range(*_places(c, i))} & {*independent})
    return independent, tuple(names)


def _places(c: Case, joint: int) -> tuple[int, int]:
    place = c.model.v_slices[joint]
    return place.start, place.stop


@row("loops.actuation")
def actuation(c: Case) -> Iterator[Pair]:
    independent, names = _actuated(c)
    found = kn.loops.actuation(c.model, c.q, names)
    yield (found.freedoms, found.actuators, found.rank), (len(independent),) * 3


@row("loops.actuator_forces")
def actuator_forces(c: Case) -> Iterator[Pair]:
    independent, names = _actuated(c)
    tau = np.zeros(c.model.nv)
    tau[independent] = kn.loops.actuator_forces(c.model, c.q, c.v, c.a, c.f_ext, actuated=names)
    yield c.constrained(tau, c.f_ext)[0], c.A
    for follower, slopes in zip(c.model.couplings, c.G[list(c.follow)], strict=True):
        # an actuator at the joint that follows, in place of one at a joint that it follows
        source = c.model.joint_names[follower.sources[0]]
        if source not in names:
            continue
        other = tuple(c.model.joint_names[follower.joint] if name == source else name for name in names)
        u = kn.loops.actuator_forces(c.model, c.q, c.v, c.a, c.f_ext, actuated=other)
        k = independent.index(c.model.variables(follower.joint)[0])
        tau = np.zeros(c.model.nv)
        tau[[j for i, j in enumerate(independent) if i != k]] = np.delete(u, k)
        yield c.constrained(tau + u[k] * slopes, c.f_ext)[0], c.A


# other constraints: a frame that keeps its height


def _level(c: Case) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """The constraint, its row on the tree, and the rate that it asks for."""
    height = kn.pose(c.tree, c.Q, c.frame)[2, 3]
    J = kn.jacobian(c.tree, c.Q, c.frame, "aligned")[5:]
    falling = kn.acceleration(c.tree, c.Q, c.V, np.zeros(c.tree.nv), c.frame, "aligned", classical=True)[5:]
    return (kn.constraints.PlaneDistance(c.frame, offset=height),), J, -falling


@row("constraints.acceleration")
def constrained_acceleration(c: Case) -> Iterator[Pair]:
    constraints, J, k = _level(c)
    found = kn.constraints.acceleration(c.model, c.q, c.v, c.tau, c.f_ext, constraints=constraints)
    yield found, c.constrained(c.tau, c.f_ext, (J, k))[0][c.lead]


@row("constraints.dynamics")
def constrained_dynamics(c: Case) -> Iterator[Pair]:
    constraints, J, k = _level(c)
    for method in ("dense", "dual"):
        found = kn.constraints.dynamics(c.model, c.q, c.v, c.tau, constraints, c.f_ext, method=method)
        yield found.a, c.constrained(c.tau, c.f_ext, (J, k))[0][c.lead]


@row("constraints.step_velocity")
def constrained_velocity(c: Case) -> Iterator[Pair]:
    """v⁺ with H v⁺ = H v + h(τ − C) + Jᵀλ and J v⁺ = 0, loops included, in the independent variables."""
    constraints, J, _ = _level(c)
    h, rows = 1e-3, np.vstack([J, c.K]) @ c.G
    C = c.G.T @ (kn.bias_force(c.tree, c.Q, c.V) + kn.mass_matrix(c.tree, c.Q) @ c.g)
    system = np.block([[c.H, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    given = np.concatenate([c.H @ c.v + h * (c.tau - C), np.zeros(len(rows))])
    found = kn.constraints.step_velocity(c.model, c.q, c.v, c.tau, constraints, step=h)
    yield found.v, np.linalg.lstsq(system, given, rcond=1e-13)[0][: c.model.nv]


# kinematics, energy and momentum

simple("pose", lambda c: kn.pose(c.model, c.q, c.frame), lambda c: kn.pose(c.tree, c.Q, c.frame))
simple("body_poses", lambda c: kn.body_poses(c.model, c.q), lambda c: kn.body_poses(c.tree, c.Q))
simple("velocity", lambda c: kn.velocity(c.model, c.q, c.v, c.frame), lambda c: kn.velocity(c.tree, c.Q, c.V, c.frame))
simple(
    "acceleration",
    lambda c: kn.acceleration(c.model, c.q, c.v, c.a, c.frame, "world", classical=True),
    lambda c: kn.acceleration(c.tree, c.Q, c.V, c.A, c.frame, "world", classical=True),
)
simple("jacobian", lambda c: kn.jacobian(c.model, c.q, c.frame), lambda c: kn.jacobian(c.tree, c.Q, c.frame) @ c.G)


@row("jacobian_rate")
def jacobian_rate(c: Case) -> Iterator[Pair]:
    for words in ("body", "world", "aligned"):
        found = kn.jacobian_rate(c.model, c.q, c.v, c.frame, words)
        J, rate = kn.jacobian(c.tree, c.Q, c.frame, words), kn.jacobian_rate(c.tree, c.Q, c.V, c.frame, words)
        yield found, rate @ c.G + J @ c.G_rate
        yield found, _rate(lambda q, words=words: kn.jacobian.reference(c.model, q, c.frame, words), c)


simple(
    "jacobian_products.product",
    lambda c: kn.jacobian_products.product(c.model, c.q, c.tau, c.frame, "aligned"),
    lambda c: kn.jacobian(c.tree, c.Q, c.frame, "aligned") @ c.G @ c.tau,
)
simple(
    "jacobian_products.transpose_product",
    lambda c: kn.jacobian_products.transpose_product(c.model, c.q, c.f_ext[0], c.frame),
    lambda c: c.G.T @ kn.jacobian(c.tree, c.Q, c.frame).T @ c.f_ext[0],
)


def _rate_on_tree(c: Case, frame: str, words: Any = "body") -> NDArray[Any]:
    J, rate = kn.jacobian(c.tree, c.Q, frame, words), kn.jacobian_rate(c.tree, c.Q, c.V, frame, words)
    return rate @ c.G + J @ c.G_rate


simple(
    "jacobian_products.rate_product",
    lambda c: kn.jacobian_products.rate_product(c.model, c.q, c.v, c.tau, c.frame, "world"),
    lambda c: _rate_on_tree(c, c.frame, "world") @ c.tau,
)
simple(
    "jacobian_products.body_product",
    lambda c: kn.jacobian_products.body_product(c.model, c.q, c.tau),
    lambda c: np.stack([kn.jacobian(c.tree, c.Q, body) @ c.G @ c.tau for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_rate_product",
    lambda c: kn.jacobian_products.body_rate_product(c.model, c.q, c.v, c.tau),
    lambda c: np.stack([_rate_on_tree(c, body) @ c.tau for body in c.tree.body_names]),
)
simple(
    "jacobian_products.body_transpose_product",
    lambda c: kn.jacobian_products.body_transpose_product(c.model, c.q, c.f_ext),
    lambda c: sum(
        c.G.T @ kn.jacobian(c.tree, c.Q, body).T @ f for body, f in zip(c.tree.body_names, c.f_ext, strict=True)
    ),
)


def _recoiling(c: Case) -> NDArray[Any]:
    """With no momentum the hull moves as A₀ v₀ + A q̇ = 0 says."""
    J, A = kn.jacobian(c.tree, c.Q, c.frame) @ c.G, kn.centroidal_matrix(c.tree, c.Q) @ c.G
    return J[:, 6:] - J[:, :6] @ np.linalg.solve(A[:, :6], A[:, 6:])


simple("floating_jacobian", lambda c: kn.floating_jacobian(c.model, c.q, c.frame), _recoiling)
simple(
    "external_force",
    lambda c: kn.external_force(c.model, c.q, c.frame, c.f_ext[0]),
    lambda c: kn.external_force(c.tree, c.Q, c.frame, c.f_ext[0]),
)
simple("kinetic_energy", lambda c: kn.kinetic_energy(c.model, c.q, c.v), lambda c: kn.kinetic_energy(c.tree, c.Q, c.V))
simple("potential_energy", lambda c: kn.potential_energy(c.model, c.q), lambda c: kn.potential_energy(c.tree, c.Q))
simple("total_mass", lambda c: kn.total_mass(c.model), lambda c: kn.total_mass(c.tree))
simple("center_of_mass", lambda c: kn.center_of_mass(c.model, c.q), lambda c: kn.center_of_mass(c.tree, c.Q))
simple("momentum", lambda c: kn.momentum(c.model, c.q, c.v), lambda c: kn.momentum(c.tree, c.Q, c.V))
simple(
    "centroidal_momentum",
    lambda c: kn.centroidal_momentum(c.model, c.q, c.v),
    lambda c: kn.centroidal_momentum(c.tree, c.Q, c.V),
)
simple(
    "centroidal_matrix", lambda c: kn.centroidal_matrix(c.model, c.q), lambda c: kn.centroidal_matrix(c.tree, c.Q) @ c.G
)
simple(
    "centroidal_bias",
    lambda c: kn.centroidal_bias(c.model, c.q, c.v),
    lambda c: kn.centroidal_bias(c.tree, c.Q, c.V) + kn.centroidal_matrix(c.tree, c.Q) @ c.g,
)


# calls, kernels, motion

simple(
    "bind",
    lambda c: kn.bind(c.model).forward_dynamics(c.q, c.v, c.tau),
    lambda c: c.constrained(c.tau)[0][c.lead],
)


@kn.kernel
def pushed(model, q, v, tau):  # type: ignore[no-untyped-def]
    """A user's kernel: the power that forces put in, after their effect of a unit of time on v."""
    return tau @ (v + kn.forward_dynamics(model, q, v, tau))


simple(
    "kernel",
    lambda c: pushed(c.model, c.q, c.v, c.tau),
    lambda c: c.tau @ (c.v + c.constrained(c.tau)[0][c.lead]),
)


@row("compilation.operation_count")
def operation_count(c: Case) -> Iterator[Pair]:
    program = kn.forward_dynamics.program(c.model)
    yield kn.compilation.operation_count(kn.forward_dynamics, c.model).mul, program.count().mul
    yield program.evaluate([*c.q, *c.v, *c.tau]), c.constrained(c.tau)[0][c.lead]


def _runge_kutta(c: Case, dt: float, steps: int) -> tuple[Any, Any]:
    """The classical method on (q, v), with accelerations of the explicit system."""
    q, v = np.array(c.q), np.array(c.v)

    def rates(q: Any, v: Any) -> Any:
        return kn.velocity_to_qdot(c.model, q, v), c.at(q, v).constrained(c.tau)[0][c.lead]

    for _ in range(steps):
        k = [rates(q, v)]
        for h in (dt / 2, dt / 2, dt):
            k.append(rates(q + h * k[-1][0], v + h * k[-1][1]))
        q, v = (x + dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i, x in enumerate((q, v)))
        q, v = kn.normalize(c.model, q, v)
    return q, v


@row("simulation.ode_right_hand_side")
def ode_right_hand_side(c: Case) -> Iterator[Pair]:
    f = kn.simulation.ode_right_hand_side(c.model, c.tau)
    wanted = kn.velocity_to_qdot(c.tree, c.Q, c.V)[c.lead_q], c.constrained(c.tau)[0][c.lead]
    yield f(0.0, f.join(c.q, c.v)), np.concatenate(wanted)


@row("simulate")
def simulate(c: Case) -> Iterator[Pair]:
    motion = kn.simulate(c.model, c.q, c.v, 4e-4, dt=1e-4, controller=c.tau)
    q, v = _runge_kutta(c, 1e-4, 4)
    yield motion.q[-1], q
    yield motion.v[-1], v


@row("rollout")
def rollout(c: Case) -> Iterator[Pair]:
    q0, v0 = np.stack([c.q, c.q]), np.stack([c.v, 0.5 * c.v])
    found = kn.rollout(c.model, q0, v0, np.stack([c.tau, c.tau]), 1e-4, steps=2, integrator="rk4")
    for k, start in enumerate((c, c.at(c.q, 0.5 * c.v))):
        q, v = _runge_kutta(start, 1e-4, 2)
        yield found.q[k, -1], q
        yield found.v[k, -1], v


simple(
    "operators",
    lambda c: kn.operators.forward_dynamics(c.model, c.q, c.v, c.tau),
    lambda c: c.constrained(c.tau)[0][c.lead],
)


# models made from models


def _same(c: Case, other: Model, q: Any, v: Any, energy: float | None = None) -> Iterator[Pair]:
    """The energies, and inverse dynamics where a tree has it, of the same mechanism described in another way."""
    yield kn.kinetic_energy(other, q, v), kn.kinetic_energy(c.tree, c.Q, c.V) if energy is None else energy
    if not c.model.loops and energy is None:
        power = v @ kn.inverse_dynamics(other, q, v, np.zeros(other.nv))
        yield power, c.v @ (c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.g))


@row("audit")
def audit(c: Case) -> Iterator[Pair]:
    notes = [note.text for note in kn.audit(c.model).findings]
    names = c.model.joint_names
    yield sum(any(described(x, names) in note for note in notes) for x in c.model.couplings), len(c.follow)


@row("model.reroot")
def reroot(c: Case) -> Iterator[Pair]:
    model, states = kn.model.reroot(c.model, c.model.body_names[-1])
    q, v = ([float(x) for x in part] for part in states(c.q.tolist(), c.v.tolist()))
    a = [float(x) for x in states.accelerations(c.q.tolist(), c.v.tolist(), c.a.tolist())]
    yield kn.kinetic_energy(model, q, v), kn.kinetic_energy(c.tree, c.Q, c.V)
    if not c.model.loops:
        tau = kn.inverse_dynamics(model, q, v, a)
        alike = [model.v_slices[model.joint_index(j.name)] for j in c.model.joints[1:]]
        wanted = c.G.T @ kn.inverse_dynamics(c.tree, c.Q, c.V, c.A)
        yield np.concatenate([tau[s] for s in alike]), _moved_root(c, wanted)


def _moved_root(c: Case, tau: Any) -> Any:
    """Forces of the other joints once the hull's six are left to another body: τ − Jᵀ f_hull (RBDA 9.3)."""
    J = kn.jacobian(c.tree, c.Q, c.tree.body_names[-1]) @ c.G
    f = np.linalg.solve(J[:, :6].T, tau[:6])
    return (tau - J.T @ f)[6:]


@row("edit.lock")
def lock(c: Case) -> Iterator[Pair]:
    s = c.model.v_slices[c.model.joint_index(c.lockable)].start
    locked = edit.lock(c.model, {c.lockable: float(c.q[s + c.quaternion])})
    held = c.v.copy()
    held[s] = 0.0
    there = c.at(c.q, held)
    q, v, a = np.delete(c.q, s + c.quaternion), np.delete(held, s), np.delete(c.a, s)
    yield kn.kinetic_energy(locked, q, v), kn.kinetic_energy(c.tree, c.Q, there.V)
    if not c.model.loops:
        c.a[s], kept = 0.0, c.a[s]
        A = there.A
        c.a[s] = kept
        wanted = there.G.T @ kn.inverse_dynamics(_rigid(c.tree, c.lockable), c.Q, there.V, A)
        yield kn.inverse_dynamics(locked, q, v, a), np.delete(wanted, s)


def _rigid(tree: Model, joint: str) -> Model:
    """The tree without what a joint that does not move no longer feels; nothing else depends on it."""
    return edit.with_joint(tree, joint, friction=0.0)


@row("edit.permute")
def permute(c: Case) -> Iterator[Pair]:
    order = sorted(range(c.model.nb), key=lambda i: (len(c.model.ancestors(i)), -i))
    model = edit.permute(c.model, [c.model.body_names[i] for i in order])
    q, v = (np.zeros(n) for n in (model.nq, model.nv))
    for i, name in enumerate(c.model.joint_names):
        k = model.joint_index(name)
        q[model.q_slices[k]], v[model.v_slices[k]] = c.q[c.model.q_slices[i]], c.v[c.model.v_slices[i]]
    yield from _same(c, model, q, v)


@row("edit.attach")
def attach(c: Case) -> Iterator[Pair]:
    tool = solid_box(0.3, (0.1, 0.1, 0.1), at=(0.1, 0, 0.05))
    model, tree = (edit.attach(m, c.frame, tool) for m in (c.model, c.tree))
    yield kn.kinetic_energy(model, c.q, c.v), kn.kinetic_energy(tree, c.Q, c.V)
    if not c.model.loops:
        yield kn.inverse_dynamics(model, c.q, c.v, c.a), c.G.T @ kn.inverse_dynamics(tree, c.Q, c.V, c.A)


@row("edit.merge")
def merge(c: Case) -> Iterator[Pair]:
    model = edit.merge(c.model, kn.robots.load("double_pendulum"), c.frame, prefix="other_")
    yield from _same(c, _without(model), *(np.concatenate([x, np.zeros(2)]) for x in (c.q, c.v)))


def _without(model: Model) -> Model:
    """The merged model with nothing in what was put on it, whose joints keep still."""
    zero = model.algebra.Inertia.zero()
    bodies = (dataclasses.replace(b, inertia=zero) if b.name.startswith("other_") else b for b in model.bodies)
    return model.replace(bodies=tuple(bodies))


@row("edit.rename")
def rename(c: Case) -> Iterator[Pair]:
    model = edit.rename(c.model, bodies=lambda name: f"b_{name}", joints=lambda name: f"j_{name}")
    yield from _same(c, model, c.q, c.v)


@row("edit.with_joint")
def with_joint(c: Case) -> Iterator[Pair]:
    name = c.model.joint_names[-1]
    model, tree = (edit.with_joint(m, name, damping=0.7, rotor_inertia=0.3) for m in (c.model, c.tree))
    yield kn.kinetic_energy(model, c.q, c.v), kn.kinetic_energy(tree, c.Q, c.V)
    yield kn.joint_passive_force(model, c.q, c.v), c.G.T @ kn.joint_passive_force(tree, c.Q, c.V)


@row("edit.submodel")
def submodel(c: Case) -> Iterator[Pair]:
    """From the first body on: everything but its joint."""
    first = c.model.body_names[c.model.children(-1)[0]]
    part = edit.submodel(c.model, first, moving=True)
    inside = [
        i for i in range(c.model.nb) if part.name in c.model.body_names and c.model.body_names[i] in part.body_names
    ]
    q = np.concatenate([c.q[c.model.q_slices[i]] for i in inside if i not in c.model.coupled])
    kept = [k for k, x in enumerate(c.model.couplings) if {x.joint, *x.sources} <= set(inside)]
    yield len(part.couplings), len(kept)
    if len(kept) == len(c.follow):
        yield kn.body_poses(part, q), kn.body_poses(c.tree, c.Q)[inside]


# files and other libraries


def _bare(model: Model) -> Model:
    """Without what joints do by themselves."""
    nothing: dict[str, Any] = dict(damping=(), friction=(), rotor_inertia=(), stiffness=(), rest=())
    return model.replace(joints=tuple(dataclasses.replace(joint, **nothing) for joint in model.joints))


@row("save, load: JSON")
def json_file(c: Case) -> Iterator[Pair]:
    back = kn.formats.loads(kn.formats.to_json(c.model))
    yield back == c.model, True
    yield from _same(c, back, c.q, c.v)


@row("save, load: URDF")
def urdf_file(c: Case) -> Iterator[Pair]:
    yield from _same(c, _with_forces(c, kn.formats.loads(to_urdf(c.model, lossy=True))), c.q, c.v)


@row("save, load: MJCF")
def mjcf_file(c: Case) -> Iterator[Pair]:
    yield from _same(c, _with_forces(c, kn.formats.loads(to_mjcf(c.model, lossy=True), format="mjcf")), c.q, c.v)


def _with_forces(c: Case, model: Model) -> Model:
    """The model read, with the springs and rotors that the file cannot say."""
    joints = {joint.name: joint for joint in c.model.joints}
    kept = ("damping", "friction", "rotor_inertia", "stiffness", "rest")
    given = (dataclasses.replace(j, **{k: getattr(joints[j.name], k) for k in kept}) for j in model.joints)
    return model.replace(joints=tuple(given))


@row("adapters.pinocchio")
def pinocchio(c: Case) -> Iterator[Pair]:
    theirs = pin.buildModelFromXML(to_urdf(_bare(c.tree), lossy=True))
    there = adapters.pinocchio(c.model, theirs)
    q, v, a = there.q_to(c.q), there.v_to(c.q, c.v), there.a_to(c.q, c.v, c.a)
    tau = pin.rnea(theirs, theirs.createData(), q, v, a)
    yield there.tau_from(q, tau), c.G.T @ kn.inverse_dynamics(_bare(c.tree), c.Q, c.V, c.A)
    yield there.q_from(q), c.q
    yield there.v_from(q, v), c.v
    yield there.a_from(q, v, a), c.a


@row("adapters.mujoco")
def mujoco_adapter(c: Case) -> Iterator[Pair]:
    theirs = mujoco.MjModel.from_xml_string(to_mjcf(_bare(c.tree), lossy=True))
    there, data = adapters.mujoco(c.model, theirs), mujoco.MjData(theirs)
    data.qpos, data.qvel, data.qacc = there.q_to(c.q), there.v_to(c.q, c.v), there.a_to(c.q, c.v, c.a)
    mujoco.mj_inverse(theirs, data)
    wanted = c.G.T @ kn.inverse_dynamics(_bare(c.tree), c.Q, c.V, c.A)
    yield there.tau_from(data.qpos, data.qfrc_inverse), wanted
