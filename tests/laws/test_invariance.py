"""What must not change: numbering, the choice of root, the plane or space, welding, couplings written out, driving."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Driven, Fixed, Revolute, Sinusoid
from knuckle.model import Body, Model, TreeJoint, mimic
from knuckle.model.edit import merge_fixed, permute
from knuckle.model.edit.reroot import reroot
from knuckle.model.edit.to_planar import to_planar
from knuckle.spatial import Force, Inertia, Transform, Vector
from knuckle.testing import LAWS, FullState, random_inertia, random_state, random_transform, random_tree
from knuckle.testing.laws import condition, relative

from ..seeds import seeds

TOLERANCE = 1e-11
SEEDS = seeds(25, quick=3)


def numbers(x: object) -> np.ndarray:
    return np.array([float(a) for a in x])  # type: ignore[attr-defined]


def random_numbering(model: Model, rng: np.random.Generator) -> list[int]:
    """Bodies in another order in which each still comes after its parent."""
    order: list[int] = []
    while len(order) < model.nb:
        ready = [i for i, p in enumerate(model.parents) if i not in order and (p == -1 or p in order)]
        order.append(int(rng.choice(ready)))
    return order


@pytest.mark.parametrize("seed", SEEDS)
def test_renumbering_permutes_everything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=6)
    s = random_state(model, rng)
    order = random_numbering(model, rng)
    other = permute(model, [model.body_names[i] for i in order])
    assert other.parents != model.parents or order == list(range(6)) or other.body_names != model.body_names
    on_q = np.concatenate([np.arange(model.nq)[model.q_slices[i]] for i in order]).astype(int)
    on_v = np.concatenate([np.arange(model.nv)[model.v_slices[i]] for i in order]).astype(int)
    t = FullState(s.q[on_q], s.v[on_v], s.a[on_v], s.f_ext[order])
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    assert relative(kn.inverse_dynamics(other, t.q, t.v, t.a, t.f_ext) - tau[on_v], tau) < TOLERANCE
    H = kn.mass_matrix(model, s.q)
    assert relative(kn.mass_matrix(other, t.q) - H[np.ix_(on_v, on_v)], H) < TOLERANCE
    C = kn.coriolis_matrix(model, s.q, s.v)
    assert relative(kn.coriolis_matrix(other, t.q, t.v) - C[np.ix_(on_v, on_v)], C, 1.0) < TOLERANCE
    a = kn.forward_dynamics(other, t.q, t.v, tau[on_v], t.f_ext)
    assert relative(a - t.a, t.a) < TOLERANCE * condition(model, s)


@pytest.mark.parametrize("seed", SEEDS)
def test_rerooting_changes_nothing_physical(seed: int) -> None:
    """Energies, momentum, poses and the motion that joint and outer forces cause do not depend on the root."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=5, floating=True)
    bare = dataclasses.replace(model.joints[0], rotor_inertia=(), damping=(), friction=())
    model = model.replace(joints=(bare, *model.joints[1:]))  # a free joint is nothing that could have a motor
    s = random_state(model, rng)
    root = model.body_names[int(rng.integers(1, model.nb))]
    other, to = reroot(model, root)
    q, v = (numbers(x) for x in to(s.q, s.v))
    assert (
        relative(kn.kinetic_energy(other, q, v) - kn.kinetic_energy(model, s.q, s.v), kn.kinetic_energy(other, q, v))
        < TOLERANCE
    )
    P, E = kn.potential_energy(model, s.q), kn.kinetic_energy(model, s.q, s.v)
    assert relative(kn.potential_energy(other, q) - P, P, E, 1.0) < TOLERANCE
    h = kn.momentum(model, s.q, s.v)
    assert relative(kn.momentum(other, q, v) - h, h) < TOLERANCE
    # no force at the free joints: the joint forces and outer wrenches alone make both models move alike
    tau = np.concatenate([np.zeros(6), rng.standard_normal(model.nv - 6)])
    a = kn.forward_dynamics(model, s.q, s.v, tau, s.f_ext)
    tau_other = np.zeros(other.nv)
    for i, joint in enumerate(other.joints[1:], start=1):
        tau_other[other.v_slices[i]] = tau[model.v_slices[model.joint_index(joint.name)]]
    f_other = np.zeros((other.nb, 6))
    for k, name in enumerate(model.body_names):
        f_other[other.body_index(name)] = numbers(to.force(name, Force.of(s.f_ext[k])).components)
    expected = numbers(to.accelerations(s.q, s.v, a))
    found = kn.forward_dynamics(other, q, v, tau_other, f_other)
    assert relative(found - expected, expected) < TOLERANCE * condition(model, s)


PLANAR_TYPES = ("revolute", "prismatic", "planar", "rack")


def random_planar_model(rng: np.random.Generator, nb: int = 5) -> Model:
    """A tree whose every part stays in the xy plane, in space."""
    bodies, joints = [], []
    for i in range(nb):
        angle = float(rng.uniform(-3, 3))
        kind = [
            Revolute("z"),
            kn.joints.Prismatic((np.cos(angle), np.sin(angle), 0.0)),
            kn.joints.Planar(),
            kn.joints.RackAndPinion(0.3),
            Revolute((0.0, 0.0, -1.0)),
        ][int(rng.integers(5))]
        kind = kind.reversed() if rng.random() < 0.3 else kind
        turn = float(rng.uniform(-3, 3))
        E = ((np.cos(turn), np.sin(turn), 0.0), (-np.sin(turn), np.cos(turn), 0.0), (0.0, 0.0, 1.0))
        x, y = rng.uniform(-1, 1, 2)
        joints.append(TreeJoint(f"j{i}", kind, int(rng.integers(-1, i)) if i else -1, Transform.of(E, (x, y, 0.0)),
                                rotor_inertia=tuple(rng.uniform(0, 1, kind.nv))))  # fmt: skip
        cx, cy = rng.uniform(-0.5, 0.5, 2)
        m, Izz = rng.uniform(0.5, 2, 2)
        I = ((0.6 * Izz, 0.0, 0.0), (0.0, 0.7 * Izz, 0.0), (0.0, 0.0, Izz))
        bodies.append(Body(f"b{i}", Inertia.of(float(m), (float(cx), float(cy), 0.0), I)))
    return Model(tuple(bodies), tuple(joints), gravity=(0.7, -9.81, 0.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_planar_equals_spatial(seed: int) -> None:
    """Every algorithm runs unchanged with 3-vectors and gives what its embedding in space gives (RBDA 2.16)."""
    rng = np.random.default_rng(seed)
    model = random_planar_model(rng)
    flat = to_planar(model)
    s = random_state(model, rng)
    f = np.zeros((model.nb, 6))
    f[:, 2:5] = s.f_ext[:, 2:5]
    g = f[:, 2:5]
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a, f)
    assert relative(kn.inverse_dynamics(flat, s.q, s.v, s.a, g) - tau, tau) < TOLERANCE
    for method in ("aba", "crba", "divide"):
        a = kn.forward_dynamics(flat, s.q, s.v, tau, g, method=method)
        assert relative(a - s.a, s.a) < TOLERANCE * condition(model, s), method
    for name in ("mass_matrix", "mass_matrix_inverse", "gravity_force", "potential_energy"):
        x = getattr(kn, name)(model, s.q)
        assert relative(getattr(kn, name)(flat, s.q) - x, x, 1.0) < TOLERANCE * condition(model, s), name
    for name in ("bias_force", "coriolis_matrix", "kinetic_energy", "velocity_to_qdot"):
        x = getattr(kn, name)(model, s.q, s.v)
        assert relative(getattr(kn, name)(flat, s.q, s.v) - x, x, 1.0) < TOLERANCE, name
    for expression in ("body", "world", "aligned"):
        J = kn.jacobian(model, s.q, "b4", expression)
        assert relative(kn.jacobian(flat, s.q, "b4", expression) - J[2:5], J) < TOLERANCE
        Jd = kn.jacobian_rate(model, s.q, s.v, "b4", expression)
        assert relative(kn.jacobian_rate(flat, s.q, s.v, "b4", expression) - Jd[2:5], Jd, 1.0) < TOLERANCE
    assert relative(kn.center_of_mass(flat, s.q) - kn.center_of_mass(model, s.q)[:2], 1.0) < TOLERANCE
    h = kn.centroidal_momentum(model, s.q, s.v)
    assert relative(kn.centroidal_momentum(flat, s.q, s.v) - h[2:5], h) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_welds_may_be_merged(seed: int) -> None:
    """Merging bodies on fixed joints changes no force and no acceleration."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=7, types=["fixed", "revolute", "spherical", "fixed", "helical"])
    merged = merge_fixed(model)
    assert not any(isinstance(joint.type, Fixed) for joint in merged.joints)
    s = random_state(model, rng)
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a)
    if not len(tau):
        return
    assert relative(kn.inverse_dynamics(merged, s.q, s.v, s.a) - tau, tau) < TOLERANCE
    H = kn.mass_matrix(model, s.q)
    assert relative(kn.mass_matrix(merged, s.q) - H, H) < TOLERANCE
    for name in model.body_names:
        T = kn.pose(model, s.q, name)
        assert relative(kn.pose(merged, s.q, name) - T, T) < TOLERANCE


def with_mimics(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=6, types=["revolute", "prismatic", "helical", "rack_and_pinion"])
    numbers_of = rng.permutation(6)
    pairs = [(int(numbers_of[0]), int(numbers_of[1])), (int(numbers_of[2]), int(numbers_of[1]))]
    return model.replace(couplings=tuple(mimic(j, k, float(rng.normal()), float(rng.normal())) for j, k in pairs))


@pytest.mark.parametrize("seed", SEEDS)
def test_mimic_joints_are_the_constrained_system(seed: int) -> None:
    """H = GᵀH G, C = GᵀC, J = J G … with q = G y + offset written out by hand, in every function."""
    model = with_mimics(seed)
    tree = model.without_couplings()
    assert (model.nv, tree.nv) == (4, 6)
    s = random_state(model, seed)
    G, offset = np.zeros((6, 4)), np.zeros(6)
    independent = [i for i in range(6) if i not in model.coupled]
    for i in range(6):
        c = model.coupled.get(i)
        G[i, independent.index(c.sources[0] if c else i)] = c.law.ratios[0] if c else 1.0  # type: ignore[attr-defined]
        offset[i] = c.law.offset if c else 0.0  # type: ignore[attr-defined]
    q, v, a = G @ s.q + offset, G @ s.v, G @ s.a
    H, C = G.T @ kn.mass_matrix(tree, q) @ G, G.T @ kn.bias_force(tree, q, v, s.f_ext)
    size = max(np.abs(H).max(), np.abs(C).max())
    expected = {
        "mass_matrix": (kn.mass_matrix(model, s.q), H),
        "mass_matrix_inverse": (kn.mass_matrix_inverse(model, s.q) @ H, np.eye(4)),
        "bias_force": (kn.bias_force(model, s.q, s.v, s.f_ext), C),
        "inverse_dynamics": (kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext), H @ s.a + C),
        "gravity_force": (kn.gravity_force(model, s.q), G.T @ kn.gravity_force(tree, q)),
        "coriolis_matrix": (kn.coriolis_matrix(model, s.q, s.v), G.T @ kn.coriolis_matrix(tree, q, v) @ G),
        "joint_passive_force": (kn.joint_passive_force(model, s.q, s.v), G.T @ kn.joint_passive_force(tree, q, v)),
        "jacobian": (kn.jacobian(model, s.q, "frame5"), kn.jacobian(tree, q, "frame5") @ G),
        "jacobian_rate": (kn.jacobian_rate(model, s.q, s.v, "frame5"), kn.jacobian_rate(tree, q, v, "frame5") @ G),
        "centroidal_matrix": (kn.centroidal_matrix(model, s.q), kn.centroidal_matrix(tree, q) @ G),
        "centroidal_bias": (kn.centroidal_bias(model, s.q, s.v), kn.centroidal_bias(tree, q, v)),
        "kinetic_energy": (kn.kinetic_energy(model, s.q, s.v), kn.kinetic_energy(tree, q, v)),
        "potential_energy": (kn.potential_energy(model, s.q), kn.potential_energy(tree, q)),
        "center_of_mass": (kn.center_of_mass(model, s.q), kn.center_of_mass(tree, q)),
        "momentum": (kn.momentum(model, s.q, s.v), kn.momentum(tree, q, v)),
        "pose": (kn.pose(model, s.q, "frame5"), kn.pose(tree, q, "frame5")),
        "velocity": (kn.velocity(model, s.q, s.v, "frame5"), kn.velocity(tree, q, v, "frame5")),
        "acceleration": (
            kn.acceleration(model, s.q, s.v, s.a, "frame5"), kn.acceleration(tree, q, v, a, "frame5")
        ),
    }  # fmt: skip
    for name, (found, wanted) in expected.items():
        assert relative(found - wanted, wanted, size) < TOLERANCE * condition(model, s), name
    for method in ("aba", "crba", "divide"):
        found = kn.forward_dynamics(model, s.q, s.v, H @ s.a + C, s.f_ext, method=method)
        assert relative(found - s.a, s.a) < TOLERANCE * condition(model, s)


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_hold_with_mimic_joints(seed: int) -> None:
    model = with_mimics(seed)
    errors = {name: law(model, random_state(model, seed)) for name, law in LAWS.items()}
    assert all(error < TOLERANCE for error in errors.values()), errors


@pytest.mark.parametrize("seed", SEEDS)
def test_a_driven_joint_moves_as_its_law_says(seed: int) -> None:
    """Prescribing a joint by a law of time equals giving it that position, velocity and acceleration."""
    rng = np.random.default_rng(seed)
    free = random_tree(rng, nb=4, types=["revolute", "helical", "spherical"])
    law = Sinusoid(0.7, 1.3, 0.2, 0.1)
    inner, t = Revolute((1.0, 2.0, -1.0)), float(rng.uniform(0, 5))
    plain = TreeJoint("driven", inner, free.parents[1], free.X_tree[1])
    driven = TreeJoint("driven", Driven(inner, law), free.parents[1], free.X_tree[1])
    moved = free.replace(joints=(free.joints[0], plain, *free.joints[2:]))
    model = free.replace(joints=(free.joints[0], driven, *free.joints[2:]))
    s = random_state(moved, rng)
    k = moved.v_slices[1].start
    j = moved.q_slices[1].start
    q, v, a = (x.copy() for x in (s.q, s.v, s.a))
    q[j], v[k], a[k] = (float(x[0]) for x in law(t))
    rest_q, rest = np.delete(q, j), np.delete(np.arange(moved.nv), k)
    tau = kn.inverse_dynamics(moved, q, v, a, s.f_ext)
    found = kn.inverse_dynamics(model.at_time(t), rest_q, v[rest], a[rest], s.f_ext)
    assert relative(found - tau[rest], tau) < TOLERANCE
    back = kn.forward_dynamics(model.at_time(t), rest_q, v[rest], found, s.f_ext)
    assert relative(back - a[rest], a) < TOLERANCE * condition(moved, s)
    T = kn.pose(moved, q, "frame3")
    assert relative(kn.pose(model.at_time(t), rest_q, "frame3") - T, T) < TOLERANCE
    with pytest.raises(Exception, match=r"at\(t\)|time"):
        kn.inverse_dynamics(model, rest_q, v[rest], a[rest])


@pytest.mark.parametrize("seed", range(10))
def test_body_frames_are_a_matter_of_taste(seed: int) -> None:
    """Moving the frame of a leaf body on its body changes nothing that can be measured."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=4, types=["revolute", "cylindrical", "universal"])
    X = random_transform(rng)
    leaf = model.nb - 1
    fixed = TreeJoint("shift", Fixed(), leaf, X)
    inertia = X @ model.I[leaf]
    empty = dataclasses.replace(model.bodies[leaf], inertia=Inertia.zero())
    moved = model.replace(bodies=(*model.bodies[:leaf], empty, Body("shifted", inertia)), joints=(*model.joints, fixed))
    s = random_state(model, rng)
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a)
    assert relative(kn.inverse_dynamics(moved, s.q, s.v, s.a) - tau, tau) < TOLERANCE
    H = kn.mass_matrix(model, s.q)
    assert relative(kn.mass_matrix(moved, s.q) - H, H) < TOLERANCE


def test_springs_hold_and_store() -> None:
    """A joint spring pulls to its rest position, and the energy law includes what it stores."""
    rng = np.random.default_rng(0)
    model = random_tree(rng, nb=4, types=["revolute", "prismatic", "spherical"])
    sprung = model.replace(
        joints=tuple(
            dataclasses.replace(j, stiffness=(2.0,) * j.type.nv, rest=(0.3,) * j.type.nv) for j in model.joints
        )
    )
    s = random_state(sprung, rng)
    for name in ("power", "round_trip", "equation_of_motion", "gravity_is_a_gradient"):
        assert LAWS[name](sprung, s) < TOLERANCE, name
    lone = Model(
        (Body("b", random_inertia(rng)),),
        (TreeJoint("j", Revolute("z"), -1, stiffness=(5.0,), rest=(0.25,)),),
        gravity=(0.0, 0.0, 0.0),
    )
    assert kn.joint_passive_force(lone, [0.75], [0.0]) == pytest.approx([2.5])
    assert kn.potential_energy(lone, [0.75]) == pytest.approx(0.625)


def test_friction_has_the_direction_of_motion() -> None:
    """Or of the acceleration, for a joint that leaves rest; nothing where neither is given."""
    model = Model(
        (Body("b", random_inertia(np.random.default_rng(0))),),
        (TreeJoint("j", Revolute("z"), -1, friction=(3.0,), damping=(2.0,)),),
        gravity=(0.0, 0.0, 0.0),
    )
    assert kn.joint_passive_force(model, [0.0], [0.0]) == pytest.approx([0.0])
    assert kn.joint_passive_force(model, [0.0], [1e-9]) == pytest.approx([3 + 2e-9], rel=1e-15)
    assert kn.joint_passive_force(model, [0.0], [-100.0]) == pytest.approx([-203.0], rel=1e-15)
    bare = model.without_friction()
    assert kn.joint_passive_force(bare, [0.0], [-100.0]) == pytest.approx([0.0])
    q, v, tau = [0.4], [1.5], [0.0]
    H = kn.mass_matrix(model, q)[0, 0]
    slower = kn.forward_dynamics(bare, q, v, tau) - kn.forward_dynamics(model, q, v, tau)
    assert slower * H == pytest.approx(kn.joint_passive_force(model, q, v))
    for a in (-2.0, 0.0, 0.5):
        assert kn.inverse_dynamics(model, q, [0.0], [a]) == pytest.approx([H * a + 3 * np.sign(a)], rel=1e-14)
        assert kn.inverse_dynamics(model, q, [-1.0], [a]) == pytest.approx([H * a - 5], rel=1e-14)


def test_vector_type_is_what_texts_get() -> None:
    """`reference` is the text over flat scalars: the same numbers as through arrays."""
    model = random_tree(1, nb=3)
    s = random_state(model, 1)
    text = kn.inverse_dynamics.reference(model, Vector(s.q), Vector(s.v), Vector(s.a))
    assert numbers(text) == pytest.approx(kn.inverse_dynamics(model, s.q, s.v, s.a), rel=1e-13)
