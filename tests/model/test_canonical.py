"""The canonical form: the same mechanism from fewer constants (RBDA 9.7, 10.3)."""

from __future__ import annotations

import dataclasses
import sysconfig
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.arrays.base import scalars_of, shape_of
from knuckle.engine.trace import Count, trace
from knuckle.joints import Continuous, Driven, Fixed, Polynomial, Prismatic, Reversed, Revolute, Spherical
from knuckle.model import (
    ROOT,
    Body,
    Box,
    Builder,
    Geometry,
    LoopJoint,
    Model,
    TreeJoint,
    mimic,
    solid_box,
    to_planar,
)
from knuckle.model.canonical.canonical_form import Canonical, canonical
from knuckle.model.canonical.inertia_transfer import lightened, split
from knuckle.model.canonical.offset_joint import Offset
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Force, Inertia, Sym3, Transform, Vector, rotation
from knuckle.testing import JOINTS, general_chain, random_inertia, random_state, random_transform, random_tree

from ..seeds import FEW_JOINTS, quick, seeds

TOLERANCE = 1e-12
"""Of the largest entry: some thousand rounding errors, for trees of up to forty bodies."""

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
BROKEN = {"falcon.urdf", "ur3.urdf"}
FILES = sorted(path for path in FOLDER.rglob("*.urdf") if path.name not in BROKEN)
needs_robots = pytest.mark.skipif(not FILES, reason="needs the package example-robot-data")


def same(a: Any, b: Any, factor: float = 1.0, size: float = 0.0) -> None:
    """Equal to rounding of the largest entry, magnified by `factor`; `size` is that of numbers that cancelled."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert x.shape == y.shape
    largest = np.abs(y).max(initial=size)
    np.testing.assert_allclose(x, y, rtol=0, atol=TOLERANCE * largest * factor)


def mapped(form: Canonical, f_ext: np.ndarray) -> np.ndarray:
    forces = form.forces([Force.of([float(x) for x in f]) for f in f_ext])
    return np.array([[float(x) for x in f.components] for f in forces]).reshape(-1, 6)


def check_dynamics(model: Model, seed: int) -> Canonical:
    """The equation of motion of all three, with forces on the bodies."""
    form, s = canonical(model), random_state(model, seed)
    assert (form.model.nq, form.model.nv) == (form.light.nq, form.light.nv) == (model.nq, model.nv)
    F, H = mapped(form, s.f_ext), kn.mass_matrix(model, s.q)
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    eigenvalues = np.abs(np.linalg.eigvalsh(H)) if model.nv else np.ones(1)
    for other in (form.model, form.light):
        same(kn.inverse_dynamics(other, s.q, s.v, s.a, F), tau)
        same(kn.mass_matrix(other, s.q), H)
        if eigenvalues.min() > 1e-10 * eigenvalues.max():
            condition = max(1.0, np.abs(tau).max(initial=0.0)) * float(eigenvalues.max() / eigenvalues.min())
            same(kn.forward_dynamics(other, s.q, s.v, tau, F), s.a, condition)
    return form


def check_everything(model: Model, seed: int) -> None:
    form, s = check_dynamics(model, seed), random_state(model, seed)
    F = mapped(form, s.f_ext)
    masses, speed = float(np.abs(kn.mass_matrix(model, s.q)).max(initial=0.0)), float(np.abs(s.v).max(initial=0.0))
    weight = masses * float(np.linalg.norm(model.gravity))
    for other in (form.model, form.light):
        same(kn.bias_force(other, s.q, s.v, F), kn.bias_force(model, s.q, s.v, s.f_ext))
        same(kn.coriolis_matrix(other, s.q, s.v), kn.coriolis_matrix(model, s.q, s.v), size=masses * speed)
        same(kn.gravity_force(other, s.q), kn.gravity_force(model, s.q), size=weight)
        assert set(model.frame_names) <= set(other.frame_names)
        for frame in model.frame_names:
            same(kn.pose(other, s.q, frame), kn.pose(model, s.q, frame))
            same(kn.jacobian(other, s.q, frame), kn.jacobian(model, s.q, frame))
    same(kn.kinetic_energy(form.model, s.q, s.v), kn.kinetic_energy(model, s.q, s.v))
    if ROOT not in form.bodies:  # what is fixed to the base counts as the base's
        same(kn.center_of_mass(form.model, s.q), kn.center_of_mass(model, s.q), size=1.0)


@pytest.mark.parametrize("seed", seeds(16, quick=2))
def test_random_trees_keep_everything(seed: int) -> None:
    check_everything(random_tree(seed, floating=seed % 3 == 0), seed)


@pytest.mark.parametrize("seed", seeds(3, quick=1))
@pytest.mark.parametrize("kind", quick(JOINTS, FEW_JOINTS))
def test_every_joint_type_beside_revolute_ones(kind: str, seed: int) -> None:
    check_everything(random_tree(seed, nb=5, types=[kind, kind, "revolute"]), seed)


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_chains_of_axes_at_right_angles(seed: int) -> None:
    """Parallel, coincident and meeting axes: every branch of the placement."""
    rng = np.random.default_rng(seed)
    b = Builder()
    for i in range(8):
        kind = [Revolute, Continuous, Prismatic][rng.integers(3)](rng.choice(["x", "y", "z"]))
        at = [float(x) for x in rng.integers(-1, 2, 3)]
        b.body(f"b{i}", None if i == 0 else f"b{i - 1}", kind, at, inertia=random_inertia(rng))
    model = b.build()
    check_everything(model, seed)
    for joint in canonical(model).model.joints:
        entries = {float(x) for row in joint.X_tree.E for x in row}
        assert entries <= {-1.0, 0.0, 1.0} or isinstance(joint.type, (Offset, Prismatic))


@needs_robots
@pytest.mark.parametrize("path", quick(FILES, FILES[::16]), ids=lambda path: path.stem)
def test_robots_keep_their_dynamics(path: Path) -> None:
    check_dynamics(kn.load(path, base="floating"), 1)


# what becomes of the parts


def furnished(seed: int = 4) -> Model:
    """A tree with fixed joints, a loop, a coupling, springs, shapes and a heavy base."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=9, types=["fixed", "revolute", "revolute", "prismatic", "helical", "spherical"])
    single = [i for i, joint in enumerate(model.joints) if (joint.type.nq, joint.type.nv) == (1, 1)]
    springs = tuple(
        dataclasses.replace(j, stiffness=(2.0,) * j.type.nv, rest=(0.3,) * j.type.nv) if i in single else j
        for i, j in enumerate(model.joints)
    )
    shapes = (Geometry(Box((1.0, 2.0, 3.0)), random_transform(rng)),)
    return model.replace(
        joints=springs,
        bodies=tuple(dataclasses.replace(body, visuals=shapes) for body in model.bodies),
        base=Body("base", random_inertia(rng)),
        loops=(LoopJoint("loop", Spherical(), 8, 3, random_transform(rng), random_transform(rng)),),
        couplings=(mimic(single[1], single[0], 0.5, 0.1),),
    )


def matrix(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous.rows, dtype=float)


def everything_placed(model: Model, q: np.ndarray) -> np.ndarray:
    """Where the loop's ends and all shapes are."""
    bodies = [np.eye(4), *kn.body_poses(model, q)]
    ends = [bodies[loop.predecessor + 1] @ matrix(loop.X_predecessor) for loop in model.loops]
    ends += [bodies[loop.successor + 1] @ matrix(loop.X_successor) for loop in model.loops]
    shapes = [bodies[i + 1] @ matrix(g.X) for i in range(-1, model.nb) for g in _body(model, i).visuals]
    return np.array(ends + sorted(shapes, key=lambda X: X.round(6).ravel().tolist()))


def _body(model: Model, i: int) -> Body:
    return model.base if i == ROOT else model.bodies[i]


def test_loops_couplings_springs_and_shapes_stay() -> None:
    model = furnished()
    form, s = canonical(model), random_state(model, 0)
    same(everything_placed(form.model, s.q), everything_placed(model, s.q))
    check_everything(model.without_loops(), 0)
    by_name = {joint.name: joint for joint in model.joints}
    assert len(form.model.couplings) == 1
    assert len(form.model.springs) >= 2
    for joint in form.light.joints:
        old = by_name[joint.name]
        for part in ("limits", "damping", "friction", "rotor_inertia", "stiffness", "rest"):
            assert getattr(joint, part) == getattr(old, part)
    for old, new, X in zip(range(model.nb), form.bodies, form.moves, strict=True):
        pose = np.eye(4) if new == ROOT else kn.body_poses(form.model, s.q)[new]
        same(pose, kn.body_poses(model, s.q)[old] @ matrix(X))


def test_a_moved_body_leaves_its_name_to_a_frame() -> None:
    b = Builder()
    b.body("arm", joint=Revolute((1.0, 2.0, 2.0)), inertia=solid_box(1.0, (1, 2, 3)))
    b.body("arm_moved", "arm", Fixed(), (1, 0, 0), inertia=solid_box(1.0, (1, 1, 1)))
    form = canonical(b.build(merge_fixed=False))
    assert form.model.body_names == ("arm_moved_",)
    assert {f.name: f.body for f in form.model.frames} == {"arm": 0, "arm_moved": 0}
    assert form.bodies == (0, 0)


def test_what_stands_well_already_is_left_alone() -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), inertia=solid_box(1.0, (1, 1, 1), at=(0.5, 0, 0)))
    b.body("b", "a", Revolute("z"), (1, 0, 0), inertia=solid_box(1.0, (1, 1, 1), at=(0.5, 0, 0)))
    model = b.build()
    form = canonical(model)
    assert form.model == model
    assert form.moves == (Transform(), Transform())


def test_merged_bodies_on_the_base_take_their_forces_with_them() -> None:
    b = Builder()
    b.body("plate", joint=Fixed(), at=(1, 0, 0), inertia=solid_box(1.0, (1, 1, 1)))
    b.body("arm", "plate", Revolute("y"), (0, 1, 0), inertia=solid_box(1.0, (1, 2, 3), at=(0.1, 0.2, 0.3)))
    form = check_dynamics(b.build(merge_fixed=False), 3)
    assert form.bodies == (ROOT, 0)


def test_reversed_and_driven_joints_keep_their_frames() -> None:
    rng = np.random.default_rng(0)
    b = Builder()
    b.body("a", joint=Reversed(JOINTS["universal"](rng)), inertia=random_inertia(rng))
    b.body("b", "a", Driven(Revolute("x"), Polynomial((0.1, 0.2, 0.3))), (1, 2, 3), inertia=random_inertia(rng))
    b.body("c", "b", Revolute("x"), (1, 2, 3), inertia=random_inertia(rng))
    model = b.build()
    form, s = canonical(model), random_state(model.at_time(0.7), 0)
    assert form.model.body_names[:2] == ("a", "b")
    for other in (form.model, form.light):
        tau = kn.inverse_dynamics(other.at_time(0.7), s.q, s.v, s.a)
        same(tau, kn.inverse_dynamics(model.at_time(0.7), s.q, s.v, s.a))


def test_constants_that_cannot_be_looked_at_stay() -> None:
    model = general_chain(4).with_scalars(Fraction)
    form = canonical(model)
    assert form.model == form.light == model
    mixed = general_chain(4)
    heavy = dataclasses.replace(mixed.bodies[2], inertia=mixed.with_scalars(Fraction).bodies[2].inertia)
    mixed = mixed.replace(bodies=(*mixed.bodies[:2], heavy, mixed.bodies[3]))
    form = check_dynamics(mixed, 0)
    assert form.light.bodies[2] == heavy
    assert form.light.bodies[3].inertia.mass != ZERO
    assert form.light.bodies[1].inertia.mass is ZERO


def test_planar_models_are_merged_only() -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), inertia=solid_box(1.0, (1, 1, 1)))
    b.body("b", "a", Fixed(), (1, 1, 0), inertia=solid_box(1.0, (1, 1, 1)))
    b.body("c", "b", Prismatic("x"), (1, 1, 0), inertia=solid_box(1.0, (1, 1, 1)))
    model = to_planar(b.build(merge_fixed=False).with_gravity((0.0, -9.81, 0.0)))
    form, s = canonical(model), random_state(model, 0)
    assert form.bodies == (0, 0, 1)
    assert form.light is form.model
    same(kn.inverse_dynamics(form.light, s.q, s.v, s.a), kn.inverse_dynamics(model, s.q, s.v, s.a))


# frames


def parallel_but_for(angle: float) -> Model:
    rng = np.random.default_rng(7)
    b = Builder()
    for i in range(4):
        X = Transform.of(rotation.about((0.6, 0.8, 0.0), angle), (0.3, 0.2, 0.1))
        b.body(f"b{i}", None if i == 0 else f"b{i - 1}", Revolute("z"), X, inertia=random_inertia(rng))
    return b.build()


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_nearly_parallel_axes_do_not_send_frames_away(angle: float) -> None:
    """The common perpendicular of such axes lies 1/angle away; inertias moved there would lose all digits."""
    form = check_dynamics(parallel_but_for(angle), 0)
    assert max(abs(float(x)) for X in form.moves for x in X.r) < 1.0


def test_one_child_per_body_is_placed_in_the_manner_of_denavit_and_hartenberg() -> None:
    """General chains: X_tree = rotx(α) xlt(x y 0), and y = 0 at the end, where the last body is free to slide."""
    form = canonical(general_chain(6, rng=3))
    for joint in form.model.joints[1:]:
        (one, *zeros), (zero, c, s), (nil, minus_s, cc) = joint.X_tree.E
        assert one is ONE
        assert all(x is ZERO for x in (*zeros, zero, nil))
        assert (c, s) == (pytest.approx(cc, abs=1e-14), pytest.approx(-minus_s, abs=1e-14))
        assert joint.X_tree.r[2] is ZERO
    assert sum(joint.X_tree.r[1] is not ZERO for joint in form.model.joints[1:]) >= 2


@pytest.mark.parametrize("axis", ["x", "y", "z", (0.0, -1.0, 0.0)])
def test_a_small_moment_about_the_axis_keeps_its_digits(axis: Any) -> None:
    """A wire along its axis, with another on it: what moves the joints is 1e-15 of the wires' other moments.

    Canonical forms turn their first joint's axis along z, where composite bodies add up these moments alone.
    """
    direction = np.array(Revolute(axis).axis)
    moments = np.eye(3) - (1.0 - 1e-15) * np.outer(direction, direction)
    thin = Inertia.of(1.0, (0.5 * direction).tolist(), np.where(np.eye(3), moments, 0.0).tolist())
    b = Builder()
    b.body("wire", joint=Revolute(axis), inertia=thin)
    b.body("tip", "wire", Revolute(axis), [float(x) for x in direction], inertia=thin)
    model = b.build()
    moment = float(direction @ np.array(thin.I.matrix, dtype=float) @ direction)
    assert moment == pytest.approx(1e-15, rel=0.1)
    for other in (canonical(model).model, canonical(model).light):
        same(kn.mass_matrix(other, [0.3, 0.2]), [[2 * moment, moment], [moment, moment]])


def test_an_offset_joint_is_its_twin_elsewhere() -> None:
    joint, q, v = Offset(Revolute("y"), 0.4), Vector([0.3]), Vector([2.0])
    same(joint.transform(q).matrix.rows, Revolute("y").transform(Vector([0.7])).matrix.rows)
    assert joint.motion(q, v).v == Revolute("y").motion(q, v).v
    same(joint.locate(joint.transform(q)).items, q.items)
    same(joint.difference(q, joint.integrate(q, v)).items, v.items)
    assert (joint.nq, joint.nv, joint.q_units) == (1, 1, ("rad",))


# inertia across joints


@pytest.mark.parametrize("seed", range(6))
def test_dynamic_equivalence_without_new_frames(seed: int) -> None:
    """P20: RNEA, CRBA and ABA do not notice moved inertia, in any frames and about any axes."""
    model = random_tree(seed, nb=7)
    light, s = lightened(model), random_state(model, seed)
    tau, H = kn.inverse_dynamics(model, s.q, s.v, s.a), kn.mass_matrix(model, s.q)
    same(kn.inverse_dynamics(light, s.q, s.v, s.a), tau)
    same(kn.mass_matrix(light, s.q), H)
    if model.nv:
        same(kn.forward_dynamics(light, s.q, s.v, tau), s.a, np.abs(tau).max() * np.linalg.cond(H))


def test_on_its_way_to_the_parent_inertia_passes_the_tree_transform() -> None:
    """Added to the parent as it stands, as the pseudocode of RBDA 9.7 has it, it changes the joint forces."""
    model = general_chain(4)
    right, s = lightened(model), random_state(model, 0)
    I = list(model.I)
    for i in reversed(range(4)):
        I[i], moved = split(model.joints[i].type, I[i])
        if i:
            I[i - 1] = I[i - 1] + moved
    wrong = model.replace(bodies=tuple(Body(b.name, J) for b, J in zip(model.bodies, I, strict=True)))
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a)
    same(kn.inverse_dynamics(right, s.q, s.v, s.a), tau)
    assert np.abs(kn.inverse_dynamics(wrong, s.q, s.v, s.a) - tau).max() > 1.0


@pytest.mark.parametrize(
    ("kind", "left"),
    [("revolute", 7), ("continuous", 7), ("prismatic", 4), ("translational", 4), ("spherical", 9), ("universal", 9),
     ("helical", 9), ("cylindrical", 9), ("planar", 9), ("planar_local", 9), ("euler", 9), ("free", 10)],
)  # fmt: skip
def test_table_9_7(kind: str, left: int) -> None:
    """How many of the ten parameters stay; and what goes is an inertia the joint does not feel: I_D S = 0."""
    rng = np.random.default_rng(1)
    joint = JOINTS[kind](rng)
    upright = {name: (0.0, 0.0, 1.0) for name in ("axis", "normal") if hasattr(joint, name)}
    joint = dataclasses.replace(joint, **upright)  # type: ignore[type-var]
    I = random_inertia(rng)
    stays, goes = split(joint, I)
    assert sum(x is not ZERO for x in (stays.mass, *stays.h, *stays.I)) == left
    same((stays + goes).matrix.rows, I.matrix.rows)
    q = joint.random(rng)
    XJ, S = joint.transform(q), joint.subspace(q)
    assert all(abs(float(x)) < 1e-14 for f in goes @ S for x in f.components)
    same((XJ.T @ goes @ XJ).matrix.rows, goes.matrix.rows, 10.0 if kind != "free" else 1.0)


def test_light_bodies_keep_no_mass_on_turning_joints() -> None:
    light = canonical(general_chain(5)).light
    assert all(body.inertia.mass is ZERO for body in light.bodies)
    assert all(body.inertia.h[2] is ZERO and body.inertia.I.xx is ZERO for body in light.bodies)


# operations

FUNCTIONS = (kn.inverse_dynamics, kn.mass_matrix, kn.forward_dynamics)
ROBOTS = {
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "fixed", (810, 687, 1896)),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "floating", (1435, 695, 3285)),
    "talos": ("talos_data/robots/talos_reduced.urdf", "floating", (3804, 3320, 9294)),
}
"""With the operations found for inverse dynamics, mass matrix and forward dynamics: they may only fall."""


@pytest.mark.slow
@needs_robots
@pytest.mark.parametrize("name", quick(ROBOTS, ["xarm7"]))
def test_robots_need_fewer_operations(name: str) -> None:
    path, base, most = ROBOTS[name]
    model = kn.load(FOLDER / path, base=base)
    light = canonical(model).light
    for function, bound in zip(FUNCTIONS, most, strict=True):
        plain, ours = (plain_count(function, m).total for m in (model, light))
        print(f"{name} {function.__name__}: {plain} -> {ours} ({1 - ours / plain:.1%} fewer)")
        assert ours < plain
        assert ours <= bound
        assert kn.compilation.operation_count(function, model).total <= ours


def rows(n: int) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Multiplications and additions of RBDA table 10.1, the least of each."""
    yield kn.inverse_dynamics, (93 * n - 108, 81 * n - 100)
    yield kn.mass_matrix, (10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43)
    yield kn.forward_dynamics, (224 * n - 259, 205 * n - 248)


def plain_count(function: Any, model: Model) -> Count:
    """Operations of a text on a model as it stands: `operation_count` puts it into canonical form first."""
    sizes = {"q": (model.nq,), "v": (model.nv,), "a": (model.nv,), "tau": (model.nv,)}
    needed = [name for name in function.__signature__.parameters if name in sizes]
    text = partial(function.reference, model)
    return trace(text, {name: sizes[name] for name in needed}, lambda r: (scalars_of(r), shape_of(r))).count()


@pytest.mark.parametrize("n", quick([2, 3, 6, 10], [6]))
def test_general_chains_beside_table_10_1(n: int) -> None:
    model = fully_general_chain(n)
    light = canonical(model).light
    for function, least in rows(n):
        plain, ours = plain_count(function, model), plain_count(function, light)
        counted = ours.mul + ours.div, ours.add
        print(f"GU({n}) {function.__name__}: {plain.total} -> {ours.total}; {counted}, table 10.1 {least}")
        assert ours.total < plain.total
        assert counted[0] <= least[0]
        assert counted[1] <= least[1]


def fully_general_chain(n: int) -> Model:
    """The book's GU(n) without the right angles and missing distances that `general_chain` has here and there."""
    rng = np.random.default_rng(n)

    def numbers(k: int) -> list[float]:
        return [float(x) for x in rng.uniform(0.1, 1.0, k)]

    def anywhere(joint: TreeJoint) -> TreeJoint:
        w, x, y, z = numbers(4)
        return dataclasses.replace(joint, X_tree=Transform.of(rotation.from_quaternion((w, x, y, z)), numbers(3)))

    chain = general_chain(n)
    bodies = (Body(body.name, Inertia(numbers(1)[0], tuple(numbers(3)), Sym3(*numbers(6)))) for body in chain.bodies)  # type: ignore[arg-type]
    return chain.replace(bodies=tuple(bodies), joints=tuple(map(anywhere, chain.joints)))
