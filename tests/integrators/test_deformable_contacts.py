"""Nodes of deformable bodies on the ground and on bodies: they do not enter, are not held, and rub by Coulomb's law."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model.parts import Box, Cylinder, Geometry, Sphere

E = kn.elements
STEP = 0.01
G = 9.81


def block(friction: float, slope: float = 0.0, cells: Any = (1, 1, 1), above: float = 0.0) -> kn.Model:
    """A soft block on a slope, which is gravity that leans."""
    b = kn.Builder("block", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    b.surface("floor", friction=friction)
    b.surface("jelly", friction=0.0)
    b.ground(surface="floor")
    mesh, material = E.box_mesh((0.1, 0.1, 0.1), cells), E.NeoHookean(5e4, 0.3)
    b.deformable("block", mesh, material=material, density=1e3, damping=0.02, at=(0, 0, 0.05 + above), surface="jelly")
    return b.build()


def middle_velocity(model: kn.Model, motion: Any) -> Any:
    masses = E.SoftBodies(model).masses
    return np.einsum("tni,n->ti", motion.node_velocities("block"), masses) / masses.sum()


@pytest.mark.parametrize("friction", [pytest.param(0.0, marks=pytest.mark.slow), 0.5])
def test_a_block_sticks_if_friction_is_more_than_the_slope(friction: float) -> None:
    """Else it slides with g (sin θ − μ cos θ)."""
    for slope in (np.arctan(friction * 0.97), np.arctan(friction * 1.05 + 0.1)):
        model = block(friction, slope)
        motion = kn.simulate(model, None, None, 0.6, dt=STEP)
        v = middle_velocity(model, motion)
        rate = (v[-1] - v[-11]) / (10 * STEP)
        expected = max(0.0, G * (np.sin(slope) - friction * np.cos(slope)))
        assert abs(rate[0] - expected) < 2e-3 * G * np.sin(slope) + 1e-9
        assert np.abs(rate[1:]).max() < 1e-3
        assert motion.nodes("block")[..., 2].min() > -1e-5
        if not expected:
            assert np.abs(v[-1]).max() < 1e-4


def test_a_block_comes_down_and_is_not_held() -> None:
    """The ground takes energy and gives none; thrown upwards the block leaves it as if it was not there."""
    model = block(0.8, 0.0, above=0.02)
    motion = kn.simulate(model, None, None, 0.4, dt=STEP / 2)
    assert motion.nodes("block")[..., 2].min() > -2e-5
    assert np.diff(motion.energy).max() < 1e-6 * motion.energy[0]
    assert np.abs(motion.node_velocities("block")[-1]).max() < 1e-2
    steps = kn.integrators.DeformableSteps(iterations=1, tolerance=1e-12)
    system = kn.integrators.System(block(0.8), lambda model, t, q, v: 0 * v)
    state = steps.begin(system, 0.0, np.zeros(0), np.zeros(0), STEP)
    up = np.tile([0.0, 0.0, 1.0], len(state.memory[1]) // 3)
    after = steps.step(system, 0.0, state._replace(memory=(state.memory[0], up)), STEP)
    assert np.allclose(after.memory[1].reshape(-1, 3), [0, 0, 1 - G * STEP], atol=1e-12)


@pytest.mark.slow
def test_balls_terrain_and_cloth() -> None:
    """A cloth falls over a ball and hangs on it; a block comes to rest in a valley."""
    b = kn.Builder("cloth")
    b.ground()
    b.deformable(
        "cloth", E.grid_mesh((0.6, 0.6), (8, 8)), material=E.StVenantKirchhoff(2e3, 0.3), density=200.0, section=1e-3,
        damping=0.01, drag=0.5, at=(0.013, 0.02, 0.42),
    )  # fmt: skip
    model = b.build()
    ball = Geometry(Sphere(0.2), kn.spatial.Transform.translation((0, 0, 0.2)), "ball")
    base = dataclasses.replace(model.base, collisions=(*model.base.collisions, ball))
    motion = kn.simulate(model.replace(base=base), None, None, 0.6, dt=0.005)
    nodes = motion.nodes("cloth")
    assert motion.reason == "finished"
    assert np.linalg.norm(nodes - [0, 0, 0.2], axis=-1).min() > 0.2 - 1e-3
    assert nodes[-1, :, 2].max() > 0.38
    assert nodes[-1, :, 2].min() < 0.2

    heights = 0.05 * np.cos(np.linspace(-3, 3, 9))
    b = kn.Builder("valley")
    b.surface("ice", friction=0.0)
    b.terrain(-np.add.outer(heights, heights), 0.1, surface="ice")
    mesh = E.box_mesh((0.1, 0.1, 0.1), (2, 2, 2))
    b.surface("default", friction=0.0)
    b.deformable("block", mesh, material=E.NeoHookean(5e4), density=1e3, damping=0.02, drag=6.0, at=(0.08, 0, 0.1))
    motion = kn.simulate(b.build(), None, None, 2.0, dt=STEP)
    assert motion.reason == "finished"
    assert np.abs(motion.nodes("block")[-1].mean(axis=0)[:2]).max() < 0.01


def test_contacts_are_chosen() -> None:
    model = block(0.5)
    through = kn.simulate(model, None, None, 0.05, dt=STEP, contacts=False)
    assert through.nodes("block")[-1, :, 2].min() < -1e-3
    held = kn.simulate(model, None, None, 0.05, dt=STEP, contacts=True)
    assert held.nodes("block")[-1, :, 2].min() > -1e-5
    with pytest.raises(ValueError, match="touch shapes"):
        kn.simulate(model.replace(base=dataclasses.replace(model.base, collisions=())), contacts=True)
    with pytest.raises(TypeError, match="contacts"):
        kn.integrators.DeformableSteps(contacts=1)  # type: ignore[arg-type]
    b = kn.Builder("both")
    b.ground()
    b.body("ball", joint=kn.joints.Free(), mass=1.0, inertia=(1, 1, 1), collisions=[Sphere(0.1)])
    b.deformable("rope", E.chain_mesh(0.1, 1), material=E.Hookean(1.0), density=1.0, at=(0, 0, 1))
    both = b.build()
    with pytest.raises(ValueError, match="bodies of both"):
        kn.simulate(both, None, None, 0.01, contacts=True)
    with pytest.warns(RuntimeWarning, match="pass through the ground"):
        kn.simulate(both, None, None, 0.002)
    drum = Geometry(Cylinder(0.1, 0.1), name="drum")
    odd = model.replace(base=dataclasses.replace(model.base, collisions=(drum,)))
    with pytest.warns(RuntimeWarning, match="cylinder"):
        kn.simulate(odd, None, None, 0.01, dt=STEP)
    with pytest.raises(kn.ModelError, match="surface"):
        model.replace(deformables=(dataclasses.replace(model.deformables[0], surface="silk"),))


def test_surfaces_have_other_names_and_files(tmp_path: Path) -> None:
    model = kn.model.edit.rename(block(0.5), surfaces={"jelly": "rubber"})
    assert model.deformables[0].surface == "rubber"
    kn.save(model, tmp_path / "block.json")
    assert kn.load(tmp_path / "block.json").deformables == model.deformables


def test_a_run_goes_on_from_its_checkpoints(tmp_path: Path) -> None:
    """Interrupted by an error of its controller, and resumed: to the last bit what it is in one."""
    b = kn.Builder("swing")
    b.ground(height=-0.75)
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.rod(1.0, 0.3, at=(0, 0, -0.15)))
    mesh = E.chain_mesh(0.4, 3)
    b.deformable("rope", mesh, material=E.Hookean(20.0), density=0.3, on="arm", at=(0, 0, -0.3), attach={"arm": [0]})
    model, ends = b.build(), [0.06]

    def stops(model: Any, t: Any, q: Any, v: Any) -> Any:
        if t >= ends[0]:
            raise ZeroDivisionError
        return -0.1 * v

    options: dict[str, Any] = {"dt": STEP, "controller": stops, "progress": False}
    kept = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0}
    with pytest.raises(ZeroDivisionError):
        kn.simulate(model, [1.2], None, 0.12, **options, **kept)
    ends[0] = 1.0
    resumed = kn.simulate(model, [1.2], None, 0.12, **options, **kept, resume=True)
    whole = kn.simulate(model, [1.2], None, 0.12, **options)
    assert np.array_equal(resumed.q, whole.q)
    assert np.array_equal(resumed.nodes("rope"), whole.nodes("rope"))
    assert np.array_equal(resumed.node_velocities("rope"), whole.node_velocities("rope"))


def flying(joint: Any) -> kn.Model:
    """A soft block, and a ball that comes to hit it beside its middle; nothing else."""
    b = kn.Builder("billiards", gravity=(0, 0, 0))
    b.surface("default", friction=0.3)
    moments = (0.0016,) * 3
    b.body("ball", at=(0.16, 0.02, 0.03), joint=joint, mass=0.4, inertia=moments, collisions=[Sphere(0.1)])
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.deformable("block", mesh, material=E.NeoHookean(5e4, 0.3), density=500.0, damping=0.005)
    return b.build()


def momenta(model: kn.Model, duration: float, dt: float) -> tuple[Any, Any, Any]:
    """How far momentum and angular momentum about the origin get from those at first, and the ball's velocities."""
    start = np.zeros(model.nv)
    start[-3] = -2.0
    exact = kn.integrators.DeformableSteps(tolerance=1e-12, enough=0.0)
    motion = kn.simulate(model, None, start, duration, dt=dt, integrator=exact)
    masses, u = E.SoftBodies(model).masses, motion.node_velocities("block")
    ball = np.array([kn.velocity(model, q, v, "ball", "aligned") for q, v in zip(motion.q, motion.v, strict=True)])
    where = np.array([kn.pose(model, q, "ball")[:3, 3] for q in motion.q])
    assert np.linalg.norm(motion.nodes("block") - where[:, None], axis=-1).min() > 0.1 - 1e-5
    assert np.diff(motion.energy).max() < 1e-12
    momentum = np.einsum("tni,n->ti", u, masses) + 0.4 * ball[:, 3:]
    spin = np.einsum("n,tni->ti", masses, np.cross(motion.nodes("block"), u))
    spin += 0.4 * np.cross(where, ball[:, 3:]) + 0.0016 * ball[:, :3]
    return np.abs(momentum - momentum[0]).max(), np.abs(spin - spin[0]).max(), ball


def test_a_block_and_a_body_exchange_momentum() -> None:
    """What the block receives the ball loses, to rounding."""
    off, _, ball = momenta(flying(kn.joints.Translational()), 0.02, 1e-3)
    assert abs(ball[-1, 3] - ball[0, 3]) > 0.3
    assert off < 1e-13


def test_impulses_at_joints_are_those_on_nodes() -> None:
    """The change of the ball's momentum in a step, against that of the block."""
    model = flying(kn.joints.Translational())
    system = kn.integrators.System(model, lambda model, t, q, v: 0 * v)
    steps = kn.integrators.DeformableSteps(tolerance=1e-12, enough=0.0)
    q, v = np.array([-0.0165, 0.0, 0.0]), np.array([-2.0, 0.1, 0.0])
    after = steps.step(system, 0.0, steps.begin(system, 0.0, q, v, 1e-3), 1e-3)
    joints, nodes = steps._run(system)._contacts.impulses  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
    assert joints == pytest.approx(0.4 * (after.v - v), abs=1e-12)
    assert joints == pytest.approx(-nodes.sum(axis=0), abs=1e-12)
    assert np.abs(joints[0]) > 1e-3


@pytest.mark.slow
def test_a_body_that_turns_exchanges_angular_momentum() -> None:
    """Its velocities turn with it, which a step knows to the first order: half the step leaves half the error."""
    model = flying(kn.joints.Free())
    (off, spin, ball), (half, less, _) = (momenta(model, 0.05, dt) for dt in (1e-3, 5e-4))
    assert np.abs(ball[-1, :3]).max() > 0.5
    assert off < 5e-3
    assert spin < 1e-3
    assert off / half == pytest.approx(2.0, rel=0.25)
    assert spin / less == pytest.approx(2.0, rel=0.25)


@pytest.mark.parametrize(("friction", "force"), [(0.5, 8.0), (0.1, 12.0)])
def test_a_block_on_a_cart_that_is_pushed(friction: float, force: float) -> None:
    """It goes along where friction can hold it, and else slides, pushed with μ g; the cart feels the rest."""
    b = kn.Builder("cart", gravity=(0, 0, -G))
    b.surface("default", friction=friction)
    board = Geometry(Box((1.0, 0.4, 0.1)), kn.spatial.Transform.translation((0, 0, -0.05)))
    b.body("cart", joint=kn.joints.Prismatic("x"), mass=3.0, inertia=(1, 1, 1), collisions=[board])
    mesh, material = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1)), E.NeoHookean(5e4, 0.3)
    b.deformable("block", mesh, material=material, density=1e3, damping=0.02, at=(0, 0, 0.05))
    model = b.build()
    motion = kn.simulate(model, None, None, 0.5, dt=STEP, controller=[force])
    block, cart = ((v[-1, 0] - v[-21, 0]) / (20 * STEP) for v in (middle_velocity(model, motion), motion.v))
    together = force / 4.0
    expected = (together, together) if together < friction * G else (friction * G, (force - friction * G) / 3.0)
    assert (block, cart) == pytest.approx(expected, rel=5e-3)
    assert middle_velocity(model, motion)[-1, 0] + 3.0 * motion.v[-1, 0] == pytest.approx(0.5 * force, rel=1e-5)
    assert motion.nodes("block")[..., 2].min() > -1e-5


def test_nodes_do_not_touch_what_carries_them() -> None:
    """A block that is attached to a ball, within it: the ball holds it, and does not push it out."""
    b = kn.Builder("held", gravity=(0, 0, 0))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.body("ball", joint=kn.joints.Translational(), mass=1.0, inertia=(1, 1, 1), collisions=[Sphere(0.2)])
    b.deformable(
        "block", mesh, material=E.NeoHookean(5e4), density=1e3, attach={"ball": mesh.where(lambda x, y, z: z > 0)}
    )
    model = b.build()
    motion = kn.simulate(model, None, None, 0.02, dt=STEP)
    assert np.abs(motion.nodes("block") - motion.nodes("block")[0]).max() < 1e-12


@pytest.mark.slow
def test_a_ball_on_a_trampoline() -> None:
    """It sinks until the cloth carries it, and neither passes the other."""
    b = kn.Builder("trampoline")
    mesh = E.grid_mesh((1.0, 1.0), (8, 8))
    edge = mesh.where(lambda x, y, z: max(abs(x), abs(y)) > 0.499)
    b.deformable(
        "cloth", mesh, material=E.StVenantKirchhoff(5e4, 0.3), density=200.0, section=2e-3, damping=0.02, drag=1.0,
        attach={"base": edge},
    )  # fmt: skip
    b.body(
        "ball", at=(0.03, 0.01, 0.2), joint=kn.joints.Free(), mass=1.0, inertia=(0.009,) * 3, collisions=[Sphere(0.15)]
    )
    model = b.build()
    motion = kn.simulate(model, None, None, 2.0, dt=0.005)
    where = np.array([kn.pose(model, q, "ball")[:3, 3] for q in motion.q])
    assert np.linalg.norm(motion.nodes("cloth") - where[:, None], axis=-1).min() > 0.15 - 1e-4
    assert -0.3 < where[-1, 2] < 0.0
    late = motion.times > 1.0
    upward = (motion.v[-1] - motion.v[np.argmax(late)])[5] / (motion.times[-1] - 1.0)
    assert abs(upward) < 0.1 * G


@pytest.mark.slow
def test_two_fingers_lift_a_block_and_let_it_fall() -> None:
    """Nothing but friction holds it: it follows the fingers up, and lies on the ground after they have opened."""
    b = kn.Builder("gripper")
    b.surface("default", friction=0.8)
    b.ground(height=-0.05)
    b.body("lift", joint=kn.joints.Prismatic("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    for side, name in ((-1, "left"), (1, "right")):
        at = (side * 0.075, 0.0, 0.0)
        finger = {"mass": 0.2, "inertia": (0.01, 0.01, 0.01), "collisions": [Box((0.03, 0.1, 0.08))], "damping": 5.0}
        b.body(name, "lift", kn.joints.Prismatic("x"), at, **finger)
    mesh = E.box_mesh((0.1, 0.08, 0.1), (3, 2, 3))
    b.deformable("block", mesh, material=E.NeoHookean(3e4, 0.35), density=500.0, damping=0.01)

    @kn.kernel
    def grasp(model: Any, t: Any, q: Any, v: Any) -> Any:
        height = kn.where(t < 0.3, 0.0, kn.where(t < 0.7, 0.25 * (t - 0.3), 0.1))
        grip = kn.where(t < 0.9, 10.0, -5.0)
        return [1.8 * G + 4000 * (height - q[0]) - 120 * v[0], grip - 2 * v[1], -grip - 2 * v[2]]

    model = b.build()
    with pytest.warns(RuntimeWarning, match="pass through the ground"):
        motion = kn.simulate(model, None, None, 1.3, dt=STEP, controller=grasp)
    assert motion.reason == "finished"
    heights = motion.nodes("block")[..., 2].mean(axis=1)
    held = (motion.times > 0.75) & (motion.times < 0.9)
    assert heights[held] == pytest.approx(motion.q[held, 0], abs=3e-3)
    assert abs(heights[-1]) < 2e-3
    assert motion.nodes("block")[..., 2].min() > -0.05 - 1e-4
