"""Contacts of motions: the forces that are read explain the motion, whatever found them."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.contact import CompliantContacts, RigidContacts, ShapeCollider
from knuckle.integrators import ColliderSteps, ContactSteps
from knuckle.model import Box, Cylinder, Model, Sphere, solid_box
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.trajectory.trajectory_plot import WHAT, panels

from .scenes import RADIUS, G, ball, box, on_plane, placed

DT = 1e-3


def received(model: Model, motion: kn.Trajectory, poses: np.ndarray, row: int) -> np.ndarray:
    """(nb, 6): what the contacts of a row do to each body, in its own coordinates, as `forward_dynamics` takes it."""
    total, contacts = np.zeros((model.nb, 6)), motion.contacts.at(row)
    for k, names in enumerate(contacts.names):
        for name, side in zip(names, (1, -1), strict=True):
            if name == model.base.name:
                continue
            i = model.body_index(name)
            R, p = poses[i, :3, :3], poses[i, :3, 3]
            f, n = side * contacts.force[k], side * contacts.moment[k]
            total[i] += np.r_[R.T @ (n + np.cross(contacts.point[k] - p, f)), R.T @ f]
    return total


def spun_by_midpoints(I: np.ndarray, w: np.ndarray, h: float) -> np.ndarray:
    """The angular velocity of a free body after a step: I (ω' − ω) = −h m × I m, with the mean m of both."""
    new, before = w, np.full(3, np.inf)
    for _ in range(50):
        if np.array_equal(new, before):
            break
        mean, before = (w + new) / 2, new
        new = w - h * np.linalg.solve(I, np.cross(mean, I @ mean))
    return new


def unexplained(model: Model, motion: kn.Trajectory) -> float:
    """The largest velocity that the forces of the rows do not account for: Newton and Euler, step by step."""
    worst, free = 0.0, isinstance(model.joints[0].type, kn.joints.Free)
    poses = np.asarray(kn.body_poses(model, motion.q))
    f = np.stack([received(model, motion, poses[k - 1], k) for k in range(1, len(motion))])
    a = np.asarray(kn.forward_dynamics(model, motion.q[:-1], motion.v[:-1], motion.tau[:-1], f))
    for k in range(1, len(motion)):
        h, v = motion.times[k] - motion.times[k - 1], motion.v[k - 1]
        new, after = v + h * a[k - 1], motion.v[k].copy()
        for i, joint in enumerate(model.joints):
            if isinstance(joint.type, kn.joints.Free):
                w, u = (slice(model.v_slices[i].start + n, model.v_slices[i].start + n + 3) for n in (0, 3))
                I = np.diag(np.diag(np.array(model.bodies[i].inertia.matrix.rows, float))[:3])  # about the centre
                later = spun_by_midpoints(I, v[w], h)
                new[w] += later - v[w] + h * np.linalg.solve(I, np.cross(v[w], I @ v[w]))
                turn = poses[k - 1 : k + 1, i, :3, :3]
                new[u] = turn[0] @ (new[u] + h * np.cross(v[w], v[u]))  # velocities of its origin, in base axes
                after[u] = turn[1] @ after[u]
        worst = max(worst, float(np.abs(after - new).max()))
    assert free
    return worst


def tumbling() -> tuple[Model, np.ndarray, np.ndarray]:
    """A box that falls askew next to a ball that rolls into it."""
    model = on_plane(box(), ball())
    q = placed(model, (0, 0, 0.16), (0.3, 0.02, RADIUS))
    q[:4] = np.array([0.95, 0.2, 0.1, 0.2]) / np.linalg.norm([0.95, 0.2, 0.1, 0.2])
    return model, q, np.array([1.0, 0.4, 0.2, 0.5, 0, -1, 0, 0, 0, -1.5, 0, 0])


def rolling(surface: Surface) -> tuple[Model, np.ndarray, np.ndarray]:
    """A ball that falls, turning, onto another one."""
    model = on_plane(ball(), ball(2.0)).replace(contact=ContactRules((surface,)))
    q = placed(model, (0, 0, RADIUS), (0.05, 0.02, 0.32))
    return model, q, np.array([1.0, 0.4, 3.0, 0.5, 0, 0, 0, 2, 5, -1.5, 0, -1])


def test_forces_explain_every_step():
    """Of a box on four, three, two corners, and a ball that hits it."""
    model, q, v = tumbling()
    motion = kn.simulate(model, q, v, 0.25, dt=DT)
    assert {frozenset(x) for x in motion.contacts.bodies} == PAIRS
    assert len(np.unique(motion.contacts.row)) > 100
    assert unexplained(model, motion) < 1e-11


PAIRS = {frozenset(x) for x in (("body0", "ground"), ("body1", "ground"), ("body0", "body1"))}


@pytest.mark.parametrize(
    "surface",
    [
        pytest.param(Surface(friction=0.3, restitution=0.6), marks=pytest.mark.slow),
        Surface(friction=0.4, torsional=0.02, rolling=0.01),
        Surface(friction=0.4, stiffness=2e4, damping=50.0),
    ],
    ids=["bounces", "turns", "soft"],
)
def test_forces_of_all_surfaces_explain_every_step(surface: Surface):
    model, q, v = rolling(surface)
    motion = kn.simulate(model, q, v, 0.25, dt=DT)
    assert {frozenset(x) for x in motion.contacts.bodies} >= {frozenset(("body0", "body1"))}
    assert np.any(motion.contacts.moment) == (surface.torsional > 0)
    assert unexplained(model, motion) < 1e-11


@pytest.mark.slow
def test_forces_explain_a_robot_under_control():
    """A quadruped that lands and stands up by the torques of a controller."""
    model = kn.model.edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    model = kn.model.edit.keep_collisions(model, lambda body, shape: isinstance(shape.shape, Sphere))
    smooth = (replace(joint, damping=(0.0,) * joint.type.nv, friction=()) for joint in model.joints)
    model = model.replace(joints=tuple(smooth))
    q = np.array(kn.neutral(model))
    q[6] += 0.02 - np.asarray(kn.contact.gaps(model, q)).min()

    def hold(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.r_[np.zeros(6), -60.0 * q[7:] - 2.0 * v[6:]]

    motion = kn.simulate(model, q, None, 0.12, dt=2e-3, controller=hold)
    assert len(motion.contacts) > 20
    assert unexplained(model, motion) < 1e-9


@pytest.mark.slow
def test_forces_of_any_shapes_explain_every_step():
    """A cylinder on a box: its places are found by another library, and its contacts solved on arrays."""
    cylinder = solid_box(1.0, (0.1, 0.1, 0.1)), Cylinder(0.06, 0.1)
    model = on_plane(box(), cylinder, friction=0.6)
    q = placed(model, (0, 0, 0.1), (0.02, 0, 0.26))
    motion = kn.simulate(model, q, np.array([0, 0, 0, 0.3, 0, 0, 0, 0, 1.0, 0, 0, 0]), 0.08, dt=DT)
    assert {frozenset(x) for x in motion.contacts.bodies} == PAIRS - {frozenset(("body1", "ground"))}
    assert unexplained(model, motion) < 1e-10
    up = motion.contact_force("body0", against="ground")[-1, 2]
    assert up == pytest.approx(3 * G, rel=1e-6)


def test_forces_of_near_pairs():
    """Of many pairs those that are near are solved, by loops: which ones changes, and forces keep their names."""
    model = on_plane(ball(), ball(2.0), friction=0.3)
    q, steps = placed(model, (0, 0, RADIUS), (0.4, 0, RADIUS)), ColliderSteps(ShapeCollider.of(model))
    motion = kn.simulate(model, q, np.array([0, 0, 0, 3.0, 0, 0] + [0.0] * 6), 0.15, dt=DT, integrator=steps)
    assert unexplained(model, motion) < 1e-11
    each = [motion.contact_force(f"body{k}", against="ground") for k in (0, 1)]
    np.testing.assert_allclose([x[20, 2] for x in each], [G, 2 * G], rtol=1e-12)
    hit = motion.contact_force("body1", against="body0")
    np.testing.assert_array_equal(hit, -motion.contact_force("body0", against="body1"))
    assert np.count_nonzero(hit[:, 0])
    assert (hit[:, 0] >= 0).all()


SLOPE = 0.2


@pytest.mark.parametrize(
    "contacts",
    [
        None,
        RigidContacts(),
        CompliantContacts("linear"),
        pytest.param(CompliantContacts("hunt-crossley", "regularized"), marks=pytest.mark.slow),
    ],
    ids=["steps", "events", "springs", "regularized"],
)
def test_what_stands_carries_its_weight(contacts: Any):
    """On a slope the force is the weight, whatever found it; along the slope it is friction, which holds."""
    model = on_plane(box(), friction=0.5, slope=SLOPE)
    surface = (
        Surface(friction=0.5, stiffness=1e5, damping=2e3)
        if isinstance(contacts, CompliantContacts)
        else Surface(friction=0.5)
    )
    model = model.replace(contact=ContactRules((surface,)))
    motion = kn.simulate(model, placed(model, (0, 0, 0.1)), None, 0.3, contacts=contacts)
    weight = 2.0 * G * np.array([-math.sin(SLOPE), 0, math.cos(SLOPE)])
    np.testing.assert_allclose(motion.contact_force("body0")[-1], weight, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(motion.contact_force("ground"), -motion.contact_force("body0"))
    last = motion.contacts.at(-1)
    np.testing.assert_allclose(last.friction.sum(0), [weight[0], 0, 0], atol=1e-6)
    assert last.normal_force.sum() == pytest.approx(weight[2], rel=1e-6)
    assert (last.state == "stick").all()
    assert len(last) == 4
    np.testing.assert_allclose(last.normal, np.tile([0.0, 0, 1], (4, 1)), atol=1e-4)


@pytest.mark.slow
def test_what_slides_has_all_of_its_friction():
    """Against the slip, of the size μ f_n; then it sticks, and the events say when."""
    model = on_plane(box(), friction=0.3)
    q, v = placed(model, (0, 0, 0.1)), np.array([0, 0, 0, 0.3, 0.4, 0])
    stop = 0.5 / (0.3 * G)
    for contacts in (None, RigidContacts()):
        motion = kn.simulate(model, q, v, 0.3, dt=DT, contacts=contacts)
        found = motion.contacts
        slides = found.chosen(found.state == "slip")
        assert slides.time.max() == pytest.approx(stop, abs=2 * DT)
        along = slides.slip / np.linalg.norm(slides.slip, axis=1, keepdims=True)
        np.testing.assert_allclose(slides.friction, -0.3 * slides.normal_force[:, None] * along, atol=1e-9)
        np.testing.assert_allclose(slides.slip @ [0.8, -0.6, 0], 0, atol=1e-9)
        assert np.abs(found.slip[found.sticks]).max() < 1e-9
        (stick,) = (x for x in motion.contact_events if x.kind == "stick")
        assert stick.time == pytest.approx(stop, abs=DT)
        assert stick.name == "body0 on ground"


@pytest.mark.slow
def test_impacts_have_impulses():
    """From event to event a bounce is an impulse: m (1 + e) u, at the row after it. In steps it is the step's force."""
    model = on_plane(ball(), friction=0.0, restitution=0.5)
    q = placed(model, (0, 0, RADIUS + 0.1))
    u = math.sqrt(2 * G * 0.1)
    motion = kn.simulate(model, q, None, 0.25, dt=DT, contacts=RigidContacts())
    (bounce,) = np.flatnonzero(motion.contacts.impulse[:, 2])
    np.testing.assert_allclose(motion.contacts.impulse[bounce], [0, 0, 1.5 * u], atol=1e-9)
    row = motion.contacts.row[bounce]
    assert motion.times[row] == motion.times[row - 1]
    np.testing.assert_allclose(motion.v[row, 5] - motion.v[row - 1, 5], 1.5 * u, atol=1e-9)
    assert motion.contacts.approach[bounce] == pytest.approx(u)
    assert not np.any(motion.contact_force("body0"))

    steps = kn.simulate(model, q, None, 0.25, dt=DT)
    np.testing.assert_allclose(steps.contacts.impulse, DT * steps.contacts.force, rtol=1e-12)
    assert steps.contacts.impulse.sum(0)[2] == pytest.approx(1.5 * u, rel=0.01)
    assert [x.kind for x in steps.contact_events] == ["impact"]


def test_events_of_a_fall():
    """A ball falls, lands, rolls away from a ledge, and lands again."""
    ledge = kn.Builder("ledge")
    ledge.surface("stone", friction=0.5)
    ledge.ground(surface="stone")
    ledge.body(
        "step",
        mass=1.0,
        inertia=(1, 1, 1),
        joint=kn.joints.Fixed(),
        at=(0, 0, 0.1),
        collisions=Box((0.4, 0.4, 0.2)),
        surface="stone",
    )
    ledge.body(
        "ball",
        mass=1.0,
        inertia=(0.004,) * 3,
        joint=kn.joints.Free(),
        at=(0, 0, 0.35),
        collisions=Sphere(0.1),
        surface="stone",
    )
    model = ledge.build()
    motion = kn.simulate(model, None, np.array([0, 0, 0, 1.0, 0, 0]), 0.8, dt=DT)
    found = motion.contact_events
    kinds = [x.kind for x in found if x.kind in ("contact", "impact", "release")]
    assert kinds == ["impact", "contact", "release", "impact", "contact"]
    assert motion.occurrences("ball on base") == found
    # the ledge is a shape of the base, and so is the ground
    whole, ground = (motion.contact_force("ball", against=name)[:, 2] for name in ("base", "ground"))
    lands = next(x.time for x in found if x.kind == "release")
    np.testing.assert_array_equal(ground, np.where(motion.times > lands, whole, 0.0))
    assert whole.max() > 0
    assert ground[-1] == pytest.approx(G)
    touches = next(x for x in motion.contact_events if x.kind == "impact")
    assert touches.time == pytest.approx(math.sqrt(2 * 0.05 / G), abs=2 * DT)
    assert touches.v_before[5] < -0.9


def test_wrenches_in_the_axes_of_a_frame():
    """A moment about another point is the moment and the force's lever; other axes are a rotation."""
    model, q, v = tumbling()
    motion = kn.simulate(model, q, v, 0.2, dt=DT)
    base, own = (motion.contact_force("body0", wrench=True, axes=axes) for axes in ("base", "frame"))
    np.testing.assert_array_equal(base[:, 3:], motion.contact_force("body0"))
    R = motion.frame("body0")[:, :3, :3]
    for part in (slice(3), slice(3, 6)):
        np.testing.assert_allclose(base[:, part], np.einsum("kij,kj->ki", R, own[:, part]), atol=1e-9)
    ground = motion.contact_force("ground", against="body0", wrench=True)
    lever = np.cross(motion.frame("body0")[:, :3, 3], -ground[:, 3:])
    only = motion.contact_force("body0", against="ground", wrench=True)
    np.testing.assert_allclose(only[:, :3], -ground[:, :3] - lever, atol=1e-9)


def test_names():
    b = kn.Builder("named")
    b.ground()
    b.body("shin", joint=kn.joints.Free(), at=(0, 0, 0.1), inertia=solid_box(1.0, (0.1,) * 3), collisions=Sphere(0.1))
    b.body("flag", on="shin", mass=0.1, inertia=(1, 1, 1), joint=kn.joints.Revolute("z"))
    b.frame("foot", on="shin", at=(0, 0, -0.1))
    model = b.build()
    motion = kn.simulate(model, None, None, 0.05)
    up = motion.contact_force("foot", against="ground")
    assert up[-1, 2] == pytest.approx(1.1 * G, rel=1e-6)
    np.testing.assert_array_equal(up, motion.contact_force("shin", "base"))
    np.testing.assert_array_equal(motion.contact_force("ground"), -up)
    with pytest.raises(
        KeyError, match=r"no body, frame or shape is called 'shinn'.*did you mean 'shin'.*What collides: 'base', 'shin'"
    ):
        motion.contact_force("shinn")
    with pytest.raises(KeyError, match=r"'floor' \(against=\)"):
        motion.contact_force("shin", against="floor")
    with pytest.raises(ValueError, match="'flag' has no shapes that collide; those that do: 'base', 'shin'"):
        motion.contact_force("flag")
    with pytest.raises(ValueError, match='axes is "base" or "frame", not \'world\''):
        motion.contact_force("shin", axes="world")  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="row 999 is none of this motion, which has 51"):
        motion.contacts.at(999)
    with pytest.raises(KeyError, match="no body that pushed is called 'flag'"):
        motion.contacts.between("flag", "base")
    assert len(motion.contacts.between("base", "shin")) == len(motion.contacts) > 0
    with pytest.raises(ValueError, match=r"has no record of contacts.*save_contacts=True"):
        _ = kn.simulate(model, None, None, 0.01, contacts=False).contacts


def test_rows_parts_and_files(tmp_path: Path):
    """A part of a motion has the contacts of its rows, and so has a file."""
    model, q, v = tumbling()
    motion = kn.simulate(model, q, v, 0.2, dt=DT)
    force = motion.contact_force("body0")
    sparse = kn.simulate(model, q, v, 0.2, dt=DT, save_every=7)
    np.testing.assert_allclose(sparse.contact_force("body0")[:-1], force[:-1:7], atol=1e-9)
    np.testing.assert_array_equal(motion.rows(slice(None, None, 5)).contact_force("body0"), force[::5])
    np.testing.assert_array_equal(motion[0.05:0.1].contact_force("body0"), force[50:101])
    np.testing.assert_array_equal(motion.resample(motion.times[3:90] - 2e-4).contact_force("body0"), force[3:90])
    for suffix in (".npz", ".nc"):
        motion.save(tmp_path / f"motion{suffix}")
        again = kn.Trajectory.load(tmp_path / f"motion{suffix}")
        np.testing.assert_array_equal(again.contact_force("body0"), force)
        assert again.contacts.bodies == motion.contacts.bodies
        np.testing.assert_array_equal(again.contacts.state, motion.contacts.state)
        assert [(x.time, x.kind) for x in again.contact_events] == [(x.time, x.kind) for x in motion.contact_events]
        np.testing.assert_array_equal(again.rows([80, 20]).contact_force("body0"), force[[80, 20]])


@pytest.mark.parametrize("suffix", [".npz", ".nc"])
def test_a_motion_that_touches_nothing_has_a_file(suffix: str, tmp_path: Path):
    model = on_plane(ball())
    motion = kn.simulate(model, placed(model, (0, 0, 1.0)), None, 0.01)
    motion.save(tmp_path / f"motion{suffix}")
    again = kn.Trajectory.load(tmp_path / f"motion{suffix}")
    assert len(again.contacts) == len(motion.contacts) == 0
    assert not np.any(again.contact_force("body0"))


@pytest.mark.parametrize(
    "contacts", [None, pytest.param(CompliantContacts("linear"), marks=pytest.mark.slow)], ids=["steps", "soft"]
)
def test_rollouts_keep_contacts_where_they_are_asked_to(contacts: Any, tmp_path: Path):
    soft: Any = {"stiffness": 2e4, "damping": 50.0} if contacts else {}
    model = on_plane(ball()).replace(contact=ContactRules((Surface(friction=0.4, **soft),)))
    q, v = placed(model, (0, 0, RADIUS + 0.01)), np.array([0, 3.0, 0, 1, 0.5, -1])
    many = kn.rollout(
        model, q, np.stack([v, 0 * v]), dt=DT, steps=150, save_every=10, contacts=contacts, save_contacts=True
    )
    one = kn.simulate(
        model, q, v, 0.15, dt=DT, save_every=10, contacts=contacts, integrator=None if contacts is None else "rk4"
    )
    force = many.contact_force("body0")
    assert force.shape == (2, 16, 3)
    size = np.abs(force).max()
    assert size > 1
    np.testing.assert_allclose(force[0], one.contact_force("body0"), atol=1e-6 * size)
    np.testing.assert_array_equal(many[1].contact_force("body0"), force[1])
    np.testing.assert_array_equal(many[1:].contact_force("body0"), force[1:])
    many.save(tmp_path / "many.npz")
    np.testing.assert_array_equal(kn.simulation.Rollout.load(tmp_path / "many.npz").contact_force("body0"), force)
    plain = kn.rollout(model, q, v, dt=DT, steps=10, contacts=contacts)
    with pytest.raises(ValueError, match="this rollout kept no contacts"):
        plain.contact_force("body0")
    with pytest.raises(ValueError, match="save_contacts=True needs contacts that are solved, and RungeKutta4"):
        kn.rollout(model, q, v, dt=DT, steps=10, contacts=False, save_contacts=True)


@pytest.mark.slow
def test_forces_are_plotted():
    model = on_plane(ball())
    motion = kn.simulate(model, placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, 1.0, 0, 0]), 0.05, dt=DT)
    (panel,) = panels(motion, ("contact",), None)
    assert panel.title == "contact force [N]"
    curve = panel.curves["body0 on ground"]
    np.testing.assert_array_equal(curve, np.linalg.norm(motion.contact_force("body0"), axis=1))
    assert "contact force [N]" in [x.title for x in panels(motion, WHAT, None)]
    loose = kn.simulate(model, placed(model, (0, 0, 1.0)), None, 0.01, contacts=False)
    assert "contact force [N]" not in [x.title for x in panels(loose, WHAT, None)]


@pytest.mark.slow
def test_extrapolated_steps_have_the_forces_of_the_second_order():
    """A box that slides on a slope: friction and weight, in steps of the second order."""
    model = on_plane(box(), friction=0.2, slope=SLOPE)
    steps = ContactSteps(extrapolated=True)
    v = np.array([0, 0, 0, 0.5, 0, 0])
    motion = kn.simulate(model, placed(model, (0, 0, 0.1)), v, 0.05, dt=DT, integrator=steps)
    push = 2.0 * G * math.cos(SLOPE)
    np.testing.assert_allclose(motion.contact_force("body0")[1:], np.tile([-0.2 * push, 0, push], (50, 1)), atol=1e-8)


def test_a_resumed_run_has_all_contacts(tmp_path: Path):
    model, q, v = tumbling()
    options = {"dt": DT, "integrator": "contact"}
    whole = kn.simulate(model, q, v, 0.2, **options)
    calls = 0

    def stop(part: float) -> None:
        nonlocal calls
        calls += 1
        if part > 0.4:
            raise KeyboardInterrupt

    kn.simulate(model, q, v, 0.2, **options, checkpoint=tmp_path / "run", checkpoint_every=0.0, progress=stop)
    resumed = kn.simulate(model, q, v, 0.2, **options, checkpoint=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(resumed.contact_force("body0"), whole.contact_force("body0"))
    np.testing.assert_array_equal(resumed.contacts.row, whole.contacts.row)
