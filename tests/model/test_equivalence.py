"""Other inertias, the same equation of motion (RBDA 9.7): what passes a joint, simplification, augmented bodies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

import knuckle as kn
from knuckle.joints import Free, Joint, Revolute, Spherical
from knuckle.model import Builder, Model
from knuckle.model.canonical import equivalence
from knuckle.model.inertia_parameters import from_parameters, to_parameters, unit_inertias
from knuckle.spatial import SPATIAL, Inertia, Vector
from knuckle.testing import JOINTS, general_chain, random_inertia, random_state, random_tree
from knuckle.testing.compare import array, close
from knuckle.testing.laws import condition

Array = NDArray[np.float64]
PASSING = {  # how many parameters pass (RBDA table 9.7), and other joints by the same conditions
    "revolute": 3, "prismatic": 6, "spherical": 1, "helical": 1, "cylindrical": 1, "planar": 1, "universal": 1,
    "yaw_pitch_roll": 1, "euler": 1, "exponential": 1, "translational": 6, "planar_local": 1, "continuous": 3,
    "fixed": 10,
}  # fmt: skip


def conditions(kind: Joint, rng: np.random.Generator) -> Array:
    """Rows that vanish on what passes (RBDA 9.30): I S, X_Jᵀ I X_J − I and Sᵀ(v ×* I v), for positions and v drawn."""
    rows = []
    for _ in range(6):
        q = kind.random(rng)
        X, S = kind.transform(q), kind.subspace(q)
        draws = [SPATIAL.Motion.of(rng.normal(size=6).tolist()) for _ in range(6)]
        columns = []
        for I in unit_inertias(SPATIAL):
            felt = array(I) @ array(S).reshape(6, -1)
            pushed = [float(x) for v in draws for x in S.T @ v.cross(I @ v)]
            columns.append([*felt.ravel(), *(array(X.T @ I @ X) - array(I)).ravel(), *pushed])
        rows.append(np.array(columns).T)
    return np.vstack(rows)


@pytest.mark.parametrize("name", sorted(JOINTS))
def test_table_9_7(name: str):
    """`unfelt` is a basis of all that the conditions let pass, for the joints it knows; of a part for no other."""
    rng = np.random.default_rng(2)
    kind = JOINTS[name](rng)
    basis = np.array([[float(x) for x in to_parameters(I)] for I in equivalence.unfelt(kind)]).reshape(-1, 10)
    rows = conditions(kind, rng)
    values = np.linalg.svd(rows, compute_uv=False)
    size = max(values[0], 1.0)
    assert np.abs(rows @ basis.T).max(initial=0.0) < 1e-12 * size
    assert np.linalg.matrix_rank(basis) == len(basis) == PASSING.get(name, 0)
    if name in PASSING:
        assert int((values < 1e-9 * size).sum()) == len(basis)


def changed(model: Model, seed: int) -> Model:
    """With a random inertia moved across every joint, whatever passes there."""
    rng = np.random.default_rng(seed)
    for joint in model.joints:
        for I in equivalence.unfelt(joint.type):
            size = float(rng.normal())
            model = equivalence.moved(model, joint.name, from_parameters([size * x for x in to_parameters(I)]))
    return model


def same_motion(one: Model, two: Model, seed: int, factor: float = 1e3) -> None:
    """P20: RNEA, CRBA and ABA, and the Coriolis matrix."""
    s = random_state(one, seed)
    tau = kn.inverse_dynamics(one, s.q, s.v, s.a, s.f_ext)
    size = max(np.abs(tau).max(initial=0.0), max(abs(float(x)) for I in (*one.I, *two.I) for x in to_parameters(I)))
    close(kn.inverse_dynamics(two, s.q, s.v, s.a, s.f_ext), tau, factor, size)
    close(kn.mass_matrix(two, s.q), kn.mass_matrix(one, s.q), factor, size)
    close(kn.coriolis_matrix(two, s.q, s.v), kn.coriolis_matrix(one, s.q, s.v), factor, size)
    a = kn.forward_dynamics(two, s.q, s.v, tau, s.f_ext)
    close(a, s.a, factor * max(1.0, size) * condition(one, s))


@pytest.mark.parametrize("seed", range(8))
def test_p20_moving_inertia_keeps_the_motion(seed: int):
    """Over every joint type; without its way through X_tree (E2) none of these would pass."""
    model = random_tree(seed, nb=7)
    same_motion(model, changed(model, seed), seed)


@pytest.mark.parametrize("seed", range(4))
def test_p20_simplification_keeps_the_motion(seed: int):
    model = general_chain(6, seed)
    light = equivalence.simplified(model)
    same_motion(model, light, seed)
    for I in light.I:
        zeros = sum(abs(float(x)) < 1e-12 for x in to_parameters(I))
        assert zeros >= 3, "a revolute joint zeroes the mass, h along its axis and one moment across it"


def test_e2_inertia_passes_through_the_tree_transform():
    """The book's pseudocode adds I_D to the parent as it is: right only where the link's frame is the joint's."""
    model = general_chain(4, 3)
    s = random_state(model, 1)
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a)
    I = equivalence.unfelt(model.joints[3].type)[0]
    right = equivalence.moved(model, model.joint_names[3], I)
    bodies = list(right.bodies)
    bodies[2] = dataclasses.replace(model.bodies[2], inertia=model.bodies[2].inertia + I)
    printed = right.replace(bodies=tuple(bodies))
    close(kn.inverse_dynamics(right, s.q, s.v, s.a), tau, 10)
    assert np.abs(kn.inverse_dynamics(printed, s.q, s.v, s.a) - tau).max() > 0.1


def test_d26_what_is_left_can_be_no_body_at_all():
    """No mass, negative moments: the articulated inertia that joints feel is the same, and divide and conquer fails."""
    model = general_chain(5, 2)
    light = equivalence.simplified(model)
    assert any(abs(float(I.mass)) < 1e-14 for I in light.I)
    assert any(np.linalg.eigvalsh(np.array(I.matrix.rows, float)).min() < -1e-3 for I in light.I)
    same_motion(model, light, 5)
    s = random_state(model, 3)
    a = kn.forward_dynamics(model, s.q, s.v, s.a)
    with np.errstate(all="ignore"):
        try:
            other = np.array(
                kn.forward_dynamics.reference(light, s.q.tolist(), s.v.tolist(), s.a.tolist(), method="divide")
            )
        except ZeroDivisionError:
            return
    assert not np.allclose(other, a, rtol=1e-6)


def test_what_a_joint_notices_does_not_pass():
    model = general_chain(3, 0)
    with pytest.raises(kn.ModelError, match=f"{model.joint_names[1]}: a Revolute joint notices such an inertia"):
        equivalence.moved(model, model.joint_names[1], Inertia.of(1.0, (0.1, 0.2, 0.3), np.eye(3).tolist()))


# augmented bodies


def turning(seed: int, floating: bool) -> Model:
    """Bodies on joints that turn about a point or an axis, from a free body or from the ground."""
    rng = np.random.default_rng(seed)
    b = Builder("turning")
    for i in range(6):
        on = None if i == 0 else f"b{rng.integers(0, i)}"
        kind = Free() if floating and i == 0 else Spherical() if i % 2 else Revolute(tuple(rng.normal(size=3)))
        b.body(f"b{i}", on=on, joint=kind, at=dict(xyz=tuple(rng.normal(size=3)), rpy=tuple(rng.normal(size=3))),
               inertia=random_inertia(rng))  # fmt: skip
    return b.build()


@pytest.mark.parametrize("seed", range(4))
def test_augmented_bodies_have_the_motion_of_the_model(seed: int):
    """Each has the mass of its subtree; take a particle of that mass off at its own joint, and nothing changed."""
    model = turning(seed, floating=False)
    augmented = equivalence.augmented(model)
    bodies = []
    for i, body in enumerate(model.bodies):
        mass = sum(float(model.I[j].mass) for j in model.subtree(i))
        assert float(augmented[i].mass) == pytest.approx(mass, rel=1e-14)
        bodies.append(dataclasses.replace(body, inertia=augmented[i] - equivalence.particle(mass, (0, 0, 0))))
    same_motion(model, model.replace(bodies=tuple(bodies)), seed)


@pytest.mark.parametrize("seed", range(4))
def test_barycentres_of_augmented_bodies(seed: int):
    """Hooker and Margulies: from the mechanism's centre to that of body i leads one fixed vector on each body.

    On body j it goes from its barycentre to the joint towards i (to its centre of mass, on i itself).
    """
    model = turning(seed, floating=True)
    augmented = equivalence.augmented(model, floating=True)
    total = kn.total_mass(model)
    q = random_state(model, seed).q
    T = kn.body_poses(model, q)
    centre = kn.center_of_mass(model, q)
    for i in range(model.nb):
        way = np.zeros(3)
        for j in range(model.nb):
            assert float(augmented[j].mass) == pytest.approx(total, rel=1e-13)
            barycentre = np.array([float(x) for x in augmented[j].com])
            if i == j:
                end = np.array([float(x) for x in model.I[j].com])
            elif i in model.subtree(j):
                child = next(k for k in model.children(j) if i in model.subtree(k))
                end = np.array([float(x) for x in model.X_tree[child].r])
            else:
                end = np.zeros(3)
            way += T[j][:3, :3] @ (end - barycentre)
        com = T[i] @ np.array([*(float(x) for x in model.I[i].com), 1.0])
        np.testing.assert_allclose(com[:3] - centre, way, atol=1e-12)


def test_augmented_bodies_need_points_that_stay():
    b = Builder("sliding")
    b.body("a", joint=kn.joints.Prismatic("x"), mass=1.0, inertia=(1, 1, 1))
    b.body("b", on="a", joint=kn.joints.Prismatic("y"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(kn.ModelError, match="b_joint: a Prismatic joint has no point that stays"):
        equivalence.augmented(b.build())


# regressor and base parameters


@pytest.mark.parametrize("seed", range(6))
def test_the_regressor_is_inverse_dynamics(seed: int):
    """τ = Y π for every joint type, and for any other inertias π: Y does not depend on them."""
    model = random_tree(seed, nb=6, resistance=False)
    model = model.replace(joints=tuple(dataclasses.replace(j, rotor_inertia=(), stiffness=()) for j in model.joints))
    s = random_state(model, seed)
    Y = kn.identification.regressor(model, s.q, s.v, s.a)
    assert Y.shape == (model.nv, 60)
    other = model.replace(
        bodies=tuple(
            dataclasses.replace(b, inertia=random_inertia(np.random.default_rng([seed, i])))
            for i, b in enumerate(model.bodies)
        )
    )
    for one in (model, other):
        close(Y @ kn.identification.inertial_parameters(one), kn.inverse_dynamics(one, s.q, s.v, s.a), 1e3)
    close(kn.identification.regressor(other, s.q, s.v, s.a), Y)


def test_the_regressor_is_pinocchios():
    """Both have (m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each body, in the order of the joints."""
    pin = pytest.importorskip("pinocchio")
    model = kn.robots.load("arm").without_friction()
    model = model.replace(joints=tuple(dataclasses.replace(j, rotor_inertia=(), stiffness=()) for j in model.joints))
    theirs = pin.buildModelFromXML(kn.formats.urdf.to_urdf(model, lossy=True))
    s = random_state(model, 3)
    found = pin.computeJointTorqueRegressor(theirs, theirs.createData(), s.q, s.v, s.a)
    close(kn.identification.regressor(model, s.q, s.v, s.a), found, 100)


def test_the_regressor_over_exact_numbers():
    from fractions import Fraction

    b = Builder("gantry", gravity=(0, 0, -10))
    b.body("a", joint=kn.joints.Prismatic("x"), mass=2, inertia=(1, 1, 1))
    b.body("b", on="a", joint=kn.joints.Prismatic("z"), mass=3, inertia=(1, 1, 1))
    third = Fraction(1, 3)
    Y = kn.identification.regressor.reference(
        b.build(), Vector([third, third]), Vector([third, third]), Vector([third, third])
    )
    assert [Y[0][0], Y[0][10], Y[1][0], Y[1][10]] == [third, third, 0, third + 10]


def test_base_parameters_of_a_double_pendulum():
    """The known ones of two links in a vertical plane: h and Izz of both, the far link's mass with the near one's."""
    b = Builder("double pendulum", gravity=(0, -9.81, 0))
    for on, name, at in ((None, "a", (0, 0, 0)), ("a", "b", (0.5, 0, 0))):
        b.body(name, on=on, joint=Revolute("z"), at=at, mass=1.0, com=(0.2, 0.1, 0), inertia=(0.1, 0.2, 0.3))
    found = kn.identification.base_parameters(b.build())
    assert found.number == 6
    assert set(found.names) == {
        "hx[a] + 0.5 m[b]", "hy[a]", "Izz[a] + 0.25 m[b]", "hx[b]", "hy[b]", "Izz[b]"
    }  # fmt: skip
    assert str(found).startswith("6 base parameters of 20:\nhx[a] + 0.5 m[b]")


def grouping(model: Model) -> Array:
    """Changes of π that no motion shows, by table 9.7 alone: I_D off each body, and onto its parent."""
    rows = []
    for i, joint in enumerate(model.joints):
        for I in equivalence.unfelt(joint.type):
            row = np.zeros((model.nb, 10))
            row[i] -= [float(x) for x in to_parameters(I)]
            if (p := model.parents[i]) != -1:
                X = model.X_tree[i]
                row[p] += [float(x) for x in to_parameters(X.T @ I @ X)]
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, 10 * model.nb)


@pytest.mark.parametrize("seed", range(4))
def test_base_parameters_of_chains_are_the_known_groupings(seed: int):
    """A chain in general position on a base that turns: 10 n less 3 for each revolute joint, by QR and by table 9.7.

    On a base that stands still the first joint hides more: only turning about its axis shows there.
    """
    chain = general_chain(4, seed)
    b = Builder("carried")
    b.body("carrier", joint=Free(), inertia=random_inertia(np.random.default_rng(seed)))
    model = kn.model.edit.merge(b.build(), chain, "carrier")
    found, known = kn.identification.base_parameters(model), grouping(model)
    assert found.number == 10 * model.nb - 3 * chain.nb == 10 * model.nb - np.linalg.matrix_rank(known)
    assert np.abs(found.matrix @ known.T).max() < 1e-7, "what no motion shows is in no combination"


@pytest.mark.parametrize("seed", range(3))
def test_base_parameters_are_enough_and_needed(seed: int):
    """Y = Y_b B on motions that were not looked at; and no column of Y_b depends on the others."""
    model = random_tree(seed, nb=4, types=["revolute", "prismatic", "spherical", "helical"])
    found = kn.identification.base_parameters(model)
    states = [random_state(model, [seed, k]) for k in range(60)]  # type: ignore[arg-type]
    Y = np.vstack([kn.identification.regressor(model, s.q, s.v, s.a) for s in states])
    size = np.abs(Y).max()
    assert np.abs(Y[:, list(found.columns)] @ found.matrix - Y).max() < 1e-8 * size
    values = np.linalg.svd(
        Y[:, list(found.columns)] / np.linalg.norm(Y[:, list(found.columns)], axis=0), compute_uv=False
    )
    assert values[-1] > 1e-6
    np.testing.assert_array_equal(found.matrix[:, list(found.columns)], np.eye(found.number))
