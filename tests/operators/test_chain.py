"""Primary and secondary systems: steps A to F against one model with loop joints, and what a change recompiles."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle import operators
from knuckle.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from knuckle.model import LoopJoint, edit, solid_box
from knuckle.operators import ClosedChain, Closure, SystemState, TreeSystem
from knuckle.spatial import IDENTITY
from knuckle.testing.loops.linkages import LINKAGES
from knuckle.testing.mechanisms import random_transform

from ..seeds import quick

ROOT = -1


def arms() -> kn.Model:
    """Two arms on one base."""
    b = kn.Builder("arms", base="world")
    for side, y in (("left", 0.5), ("right", -0.5)):
        on = "world"
        for k, axis in enumerate("zyzyzyx"):
            at = (0.0, y, 0.3) if k == 0 else (0.02, 0.0, 0.25)
            on = b.body(f"{side}{k}", on, Revolute(axis), at, inertia=solid_box(1.5, (0.1, 0.1, 0.25), (0, 0, 0.12)))
        b.frame(f"{side}_hand", on, (0.0, 0.0, 0.1))
    return b.build()


def box(mass: float = 2.0, name: str = "box") -> kn.Model:
    b = kn.Builder(name, base="world")
    b.body("object", "world", Free(), inertia=solid_box(mass, (0.2, 0.3, 0.1)))
    for end, y in (("handle", 0.15), ("knob", -0.15)):
        b.frame(end, "object", (0.0, y, 0.0))
    return b.build()


ARMS, BOX = arms(), box()
PRIMARY = TreeSystem(ARMS, ("left_hand", "right_hand", "world"))
SECONDARY = TreeSystem(BOX, ("handle", "knob"))


def states(seed: int) -> tuple[SystemState, SystemState]:
    rng = np.random.default_rng(seed)

    def state(model: kn.Model) -> SystemState:
        return SystemState(kn.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv))

    return state(ARMS), state(BOX)


def whole(chain: ClosedChain, base: str = "world") -> kn.Model:
    """Both systems as one model, the closures as loop joints."""
    assert chain.secondary is not None
    model = edit.merge(chain.primary.model, chain.secondary.model, base, prefix="its_")

    def end(side: str, point: str) -> str:
        return point if side == "primary" else f"its_{point}"

    loops = []
    for c in chain.closures:
        frames = [model.frame(end(*x)) for x in (c.predecessor, c.successor)]
        loops.append(
            LoopJoint(
                c.name,
                c.type,
                frames[0].body,
                frames[1].body,
                c.X_predecessor @ frames[0].X,
                c.X_successor @ frames[1].X,
            )
        )
    return model.replace(loops=(*model.loops, *loops))


def held(kind_left: Joint, kind_right: Joint) -> ClosedChain:
    rng = np.random.default_rng(9)
    return ClosedChain(
        PRIMARY,
        SECONDARY,
        (
            Closure("left", ("primary", "left_hand"), ("secondary", "handle"), kind_left, random_transform(rng)),
            Closure(
                "right", ("secondary", "knob"), ("primary", "right_hand"), kind_right, IDENTITY, random_transform(rng)
            ),
        ),
    )


def close(a: np.ndarray, b: np.ndarray, condition: float = 1.0) -> None:
    assert np.abs(a - b).max() <= 1e-12 * condition * (1 + np.abs(b).max())


def conditions(chain: ClosedChain, model: kn.Model, q: np.ndarray) -> float:
    """Of H and of A Λ A*, both of which are solved."""
    H, K = kn.mass_matrix(model.without_loops(), q), kn.loops.jacobian(model, q)
    return float(np.linalg.cond(H) * max(1.0, np.linalg.cond(K @ np.linalg.solve(H, K.T))))


@pytest.mark.slow
@pytest.mark.parametrize("step_d", ["admittance", "secondary"])
@pytest.mark.parametrize("kinds", [(Fixed(), Fixed()), (Fixed(), Spherical()), (Revolute("x"), Prismatic("z"))])
def test_against_one_model_with_loops(kinds, step_d):
    chain = held(*kinds)
    p, s = states(1)
    model, q, v = whole(chain), np.r_[p.q, s.q], np.r_[p.v, s.v]
    tau = np.r_[p.tau, s.tau]
    motion = chain.accelerations(p, s, stabilization=0.3, step_d=step_d)
    wanted = kn.forward_dynamics(model, q, v, tau, stabilization=0.3)
    hard = conditions(chain, model, q)
    assert hard < 1e8
    close(np.r_[motion.primary, motion.secondary], wanted, hard)
    lam = kn.loops.forces(model, q, v, tau, stabilization=0.3)
    norms = [np.linalg.norm(x) for x in np.split(lam, [6 - kinds[0].nv])]  # T has unit columns, at right angles
    close(np.array([np.linalg.norm(motion.wrenches[name]) for name in ("left", "right")]), np.array(norms), hard)


@pytest.mark.parametrize("name", quick(["five-bar", "Stewart"], ["five-bar"]))
def test_loop_joints_are_closures_within_a_system(name):
    linkage = LINKAGES[name]()
    primary = TreeSystem(linkage.model, (linkage.model.body_names[-1],))
    rng = np.random.default_rng(13)
    p = SystemState(linkage.q, rng.normal(size=linkage.model.nv), rng.normal(size=linkage.model.nv))
    tie = Closure("hold", ("primary", primary.points[0]), ("secondary", "knob"), Spherical())
    chain = ClosedChain(primary, SECONDARY, (tie,))
    _, s = states(14)
    model, q, v = whole(chain, base=linkage.model.base.name), np.r_[p.q, s.q], np.r_[p.v, s.v]
    wanted = kn.forward_dynamics(model, q, v, np.r_[p.tau, s.tau], stabilization=0.3)
    motion = chain.accelerations(p, s, stabilization=0.3)
    got = np.r_[motion.primary, motion.secondary]
    assert np.abs(got - wanted).max() <= 1e-9 * (1 + np.abs(wanted).max())
    assert set(motion.wrenches) == {"hold", *(loop.name for loop in linkage.model.loops)}


def test_wrenches_act_on_the_successor():
    """The hand's wrench as an external force on the object gives the object's acceleration."""
    chain = ClosedChain(PRIMARY, SECONDARY, (Closure("hold", ("primary", "left_hand"), ("secondary", "handle")),))
    p, s = states(2)
    motion = chain.accelerations(p, s, stabilization=0.1)
    X = BOX.frame("handle").X
    f = np.array((X.T @ kn.spatial.Force.of(motion.wrenches["hold"].tolist())).components, float)
    close(motion.secondary, kn.forward_dynamics(BOX, s.q, s.v, s.tau, f[None]), 1e4)


def test_no_closures_is_two_trees():
    p, s = states(3)
    motion = ClosedChain(PRIMARY, SECONDARY).accelerations(p, s)
    close(motion.primary, kn.forward_dynamics(ARMS, *p[:3]), 1e4)
    close(motion.secondary, kn.forward_dynamics(BOX, *s[:3]), 1e4)


def test_ground_as_a_point():
    chain = ClosedChain(PRIMARY, SECONDARY, (Closure("shelf", ("primary", "world"), ("secondary", "handle")),))
    p, s = states(4)
    s = SystemState(s.q, np.zeros(6), None)
    motion = chain.accelerations(p, s)
    assert np.abs(motion.secondary).max() < 1e-12
    assert abs(np.linalg.norm(motion.wrenches["shelf"][3:]) - 2.0 * 9.81) < 1e-10


def test_redundant_closures_do_no_harm():
    chain = held(Fixed(), Fixed())
    copies = [dataclasses.replace(closure, name=f"{closure.name}2") for closure in chain.closures]
    twice = chain.with_closures((*chain.closures, *copies))
    p, s = states(5)
    once, again = chain.accelerations(p, s), twice.accelerations(p, s)
    hard = conditions(chain, whole(chain), np.r_[p.q, s.q])
    close(again.primary, once.primary, hard)
    close(again.wrenches["left"], 0.5 * once.wrenches["left"], hard)


def test_jumps_close_the_velocities_and_keep_momentum():
    chain = held(Fixed(), Fixed())
    p, s = states(6)
    jump = chain.jumps(p, s)
    after = SystemState(p.q, p.v + jump.primary, None), SystemState(s.q, s.v + jump.secondary, None)
    for _, rate in chain.errors(*after).values():
        assert np.abs(rate).max() < 1e-9
    model, q = whole(chain), np.r_[p.q, s.q]
    H, K = kn.mass_matrix(model.without_loops(), q), kn.loops.jacobian(model, q)
    momentum = H @ np.r_[jump.primary, jump.secondary]
    left = momentum - K.T @ np.linalg.lstsq(K.T, momentum, rcond=None)[0]
    assert np.abs(left).max() < 1e-9 * (1 + np.abs(momentum).max())


def test_grasp_takes_hold_where_things_are():
    p, s = states(7)
    chain = ClosedChain(PRIMARY, SECONDARY)
    chain = chain.with_closure(chain.grasp("hold", ("primary", "left_hand"), ("secondary", "knob"), p, s))
    delta, _ = chain.errors(p, s)["hold"]
    assert np.abs(delta).max() < 1e-12


def test_batches():
    chain = held(Fixed(), Spherical())
    all_states = [states(seed) for seed in (10, 11, 12)]
    p = SystemState(*(np.stack([x[0][k] for x in all_states]) for k in range(3)))
    s = SystemState(*(np.stack([x[1][k] for x in all_states]) for k in range(3)))
    together = chain.accelerations(p, s, stabilization=0.2)
    for k, (a, b) in enumerate(all_states):
        alone = chain.accelerations(a, b, stabilization=0.2)
        close(together.primary[k], alone.primary, 1e4)
        close(together.wrenches["right"][k], alone.wrenches["right"], 1e4)
    one = SystemState(all_states[0][1].q, all_states[0][1].v, all_states[0][1].tau)
    a, b = (chain.accelerations(p, one, step_d=way) for way in ("admittance", "secondary"))
    close(a.secondary, b.secondary, 1e6)


def test_changes_leave_the_primary_system_as_it_is():
    """Another grasp, another object and none: nothing is compiled for the arms again, and for no known closure."""
    kn.compilation.set_policy("always")
    try:
        p, s = states(8)
        chain = held(Fixed(), Fixed())
        chain.accelerations(p, s)
        arms, objects, ties = PRIMARY.kernels, SECONDARY.kernels, operators.closure_kernels()
        assert (arms, objects) == (2, 2)
        assert ties >= 1
        moved = Closure("regrasp", ("primary", "right_hand"), ("secondary", "handle"), Fixed(), IDENTITY)
        for other in (chain.without_closure("left"), chain.with_closures(()), chain.with_closures((moved,))):
            other.accelerations(p, s)
            other.jumps(p, s)
        heavier = TreeSystem(box(7.0, "another box"), ("handle", "knob"))
        chain.with_secondary(heavier, chain.closures).accelerations(p, s)
        chain.with_secondary(None).accelerations(p)
        assert (PRIMARY.kernels, SECONDARY.kernels, operators.closure_kernels()) == (arms, objects, ties)
        assert heavier.kernels == 2
    finally:
        kn.compilation.set_policy("auto")


def test_errors_say_what_is_wrong():
    with pytest.raises(KeyError, match="'foot' is no point of arms; there are left_hand, right_hand, world"):
        ClosedChain(PRIMARY, SECONDARY, (Closure("x", ("primary", "foot"), ("secondary", "knob")),))
    with pytest.raises(ValueError, match="x goes to the secondary system, and there is none"):
        ClosedChain(PRIMARY, None, (Closure("x", ("primary", "left_hand"), ("secondary", "knob")),))
    with pytest.raises(ValueError, match='is "primary" or "secondary", not'):
        Closure("x", ("third", "left_hand"), ("secondary", "knob"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="to itself"):
        Closure("x", ("primary", "left_hand"), ("primary", "left_hand"))
    with pytest.raises(TypeError, match="q is of complex128, and closed chains of operators compute with real"):
        ClosedChain(PRIMARY).accelerations(SystemState(np.zeros(14) * 1j, np.zeros(14)))
    p, s = states(1)
    with pytest.raises(ValueError, match="the state of the secondary system is needed"):
        held(Fixed(), Fixed()).accelerations(p)
    shelf = ClosedChain(PRIMARY, SECONDARY, (Closure("shelf", ("primary", "world"), ("secondary", "handle")),))
    with pytest.raises(ValueError, match="A_P Λ_P A_P\\* is singular"):
        shelf.accelerations(p, s, step_d="secondary")
    with pytest.raises(KeyError, match="no closure is called 'left'; there are shelf"):
        shelf.without_closure("left")
