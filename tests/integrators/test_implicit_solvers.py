"""Implicit steps by all solvers: the same motion, at any size, and what they say of themselves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.seeds import quick

import knuckle as kn
from knuckle.elements import Bushing, Cable, Drag, Line, LinePoint, PointForce, Spring, TensionLaw, Wrap
from knuckle.integrators import ImplicitEuler
from knuckle.integrators.controller_gains import ControllerGains, act_across
from knuckle.integrators.implicit_choice import implicit_steps_for
from knuckle.integrators.implicit_loops.fastest_rates import fastest_rates
from knuckle.integrators.methods.tree_steps import TreeSteps
from knuckle.integrators.stiffness import stiffness
from knuckle.joints import Planar, Prismatic, Revolute, Spherical, Universal
from knuckle.model import Model, solid_box
from knuckle.testing.large_mechanisms import cable_bridge, hanging_chain, simple_bridge, spring_tree

LOOPS = ["woodbury", "pcg", "kkt"]


def machine() -> Model:
    """A few bodies on joints of all sorts, with every element."""
    b = kn.Builder("machine", base="ground")
    box = solid_box(2.0, (0.5, 0.2, 0.1), at=(0.25, 0.02, 0))
    b.body("arm", on="ground", joint=Revolute("y"), inertia=box, stiffness=5.0, damping=0.3, rotor_inertia=0.1)
    b.body("ball", on="arm", at=(0.5, 0, 0), joint=Spherical(), inertia=box, stiffness=4.0, rest=(0.1, 0.2, -0.1))
    b.body("slide", on="ground", at=(0, 0.4, 0), joint=Prismatic("x"), inertia=box, damping=1.0)
    b.body("cross", on="slide", at=(0.5, 0, 0), joint=Universal("yz"), inertia=box)
    b.spring("near", ("ball", (0.5, 0, 0)), ("cross", (0.5, 0, 0)), stiffness=3e3, damping=20.0, rest=0.3)
    b.spring("far", ("ground", (1, 1, 1)), ("cross", (0.1, 0, 0)), stiffness=1e3, damping=5.0, rest=0.8)
    b.cable("stay", ["ground", ("arm", (0.3, 0.1, 0.1)), ("slide", (0, 0, 0.2))], stiffness=2e3, damping=3.0, rest=0.2)
    b.bushing("joint", "ball", "cross", stiffness=(5, 6, 7, 80, 90, 100), damping=(0.1, 0.2, 0.3, 1, 2, 3))
    b.drag("air", "cross", linear=(0.5, 0.6, 0.7), angular=0.1)
    b.point_force("push", ("arm", (0.2, 0, 0)), (3.0, 1.0, 2.0))
    over = Wrap("slide", 0.05)
    b.line("over", [LinePoint("ground", (0.3, 0, 0)), over, LinePoint("ball", (0.2, 0, 0.1))], Spring(500.0, 0.2, 2.0))
    return b.build()


def state_of(model: Model, seed: int = 1) -> tuple[Any, Any]:
    """A state that is not far from where it starts."""
    rng = np.random.default_rng(seed)
    q = kn.integrate(model, kn.neutral(model), 0.2 * rng.standard_normal(model.nv))
    return q, 0.5 * rng.standard_normal(model.nv)


def moved(model: Model, solver: Any, q: Any, v: Any, steps: int = 4, turning: bool = False, **options: Any) -> Any:
    integrator = ImplicitEuler(solver, turning=turning, tolerance=1e-12)
    return kn.simulate(model, q, v, 5e-3 * steps, dt=5e-3, integrator=integrator, **options)


def must_agree(model: Model, q: Any, v: Any, solvers: list[str], **options: Any) -> None:
    ours = {solver: moved(model, solver, q, v, **options) for solver in solvers}
    reference = ours[solvers[0]]
    assert reference.reason == "finished"
    for solver, motion in ours.items():
        assert np.abs(motion.q - reference.q).max() < 1e-8, solver
        assert np.abs(motion.v - reference.v).max() < 1e-8 * np.abs(reference.v).max(), solver


def test_all_solvers_take_the_same_steps() -> None:
    """Of a mechanism with joints of all sorts and every element, under forces from outside."""
    model = machine()
    push = np.linspace(-1, 1, model.nv)
    wrenches = np.linspace(-2, 2, 6 * model.nb).reshape(model.nb, 6)
    must_agree(model, *state_of(model), ["dense", *LOOPS], controller=push, external_forces=wrenches)


@pytest.mark.slow
def test_all_solvers_have_the_turning_of_forces() -> None:
    """K of notes 2.75 with (∂Jᵀ/∂q) f, and of forces of dampers too: each step is that of the dense solver."""
    model = machine()
    must_agree(model, *state_of(model), ["dense", *LOOPS], turning=True)
    with_it, without = (moved(model, "pcg", *state_of(model), turning=x).v[-1] for x in (True, False))
    assert np.abs(with_it - without).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 5, 8])
def test_all_solvers_take_the_same_steps_of_random_trees(seed: int) -> None:
    tree = kn.testing.random_tree(seed, nb=8).without_friction()
    rng, names = np.random.default_rng(seed), tree.body_names
    state = kn.testing.random_state(tree, 3)

    def point() -> LinePoint:
        return LinePoint(names[rng.integers(len(names))], tuple(rng.standard_normal(3)))

    lines = [Line(f"s{k}", (point(), point()), Spring(1e3 * (1 + k), 0.0, 10.0)) for k in range(4)]
    lines.append(Line("c", (LinePoint(tree.base.name, (3.0, 0, 1.0)), point(), point()), Cable(1e3, 0.0, 5.0)))
    lengths = kn.elements.lengths(tree.replace(elements=tuple(lines)), state.q)
    eased = [
        replace(line, law=replace(line.law, rest=0.95 * float(x)))  # type: ignore[type-var]
        for line, x in zip(lines, lengths, strict=True)
    ]
    others = Drag("d", names[1], (2.0, 2.0, 2.0), (3.0, 3.0, 3.0)), PointForce("p", point(), (1.0, 2.0, 3.0))
    soft = Bushing("b", names[0], names[-1], tuple(rng.uniform(0.1, 1, 6)), tuple(rng.uniform(0, 0.1, 6)))
    model = tree.replace(elements=(*eased, *others, soft))
    must_agree(model, state.q, 0.1 * state.v, ["dense", *LOOPS])


def closed_bridge() -> Model:
    return cable_bridge(5, tower=2, cables=2)


@pytest.mark.parametrize("stabilization", ["projection", 0.1, None])
def test_all_solvers_keep_loops_closed(stabilization: Any) -> None:
    """Also one that has more rows than the plane in which it moves needs."""
    solvers = ["dense", *LOOPS] if stabilization == "projection" else LOOPS
    model = closed_bridge()
    must_agree(model, kn.neutral(model), np.zeros(model.nv), solvers, stabilization=stabilization)
    if stabilization == "projection":
        q = moved(model, "pcg", kn.neutral(model), None, steps=20).q[-1]
        assert np.abs(kn.loops.error(model, q)).max() < 1e-12


def test_slopes_without_turning_are_exact_where_nothing_pulls() -> None:
    """JᵀKJ is −∂τ/∂q where forces are zero (notes 2.75), and JᵀDJ is −∂τ/∂v always."""
    from knuckle.integrators.methods.implicit_euler import _of_elements  # pyright: ignore[reportPrivateUsage]
    from knuckle.spatial import Vector

    model = machine()
    q, _ = state_of(model)
    lines = [x for x in model.elements if isinstance(x, Line)]
    lengths = dict(zip((x.name for x in lines), kn.elements.lengths(model, q), strict=True))
    eased = tuple(replace(x, law=replace(x.law, rest=float(lengths[x.name]) - 1e-12)) for x in lines)  # type: ignore[type-var]
    rested = model.replace(elements=eased)
    D, K = (
        np.array([[float(x) for x in row] for row in part.rows])
        for part in _of_elements(rested, Vector(q.tolist()), Vector([0.0] * model.nv))
    )
    still = np.zeros(model.nv)
    exact = kn.elements.stiffness(rested, q, still)
    assert np.abs(K - exact).max() < 1e-6 * np.abs(exact).max()
    exact = kn.elements.damping(rested, q, still)
    assert np.abs(D - exact).max() < 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_never_negative(seed: int) -> None:
    """Of taut and slack lines, bushings and drag, so that conjugate gradients find their way."""
    from knuckle.integrators.methods.implicit_euler import _of_elements  # pyright: ignore[reportPrivateUsage]
    from knuckle.spatial import Vector

    model = machine()
    q, v = state_of(model, seed)
    for part in _of_elements(model, Vector(q.tolist()), Vector(v.tolist())):
        numbers = np.array([[float(x) for x in row] for row in part.rows])
        assert np.abs(numbers - numbers.T).max() <= 1e-12 * np.abs(numbers).max()
        assert np.linalg.eigvalsh(numbers).min() > -1e-10 * np.abs(numbers).max()


class Rubber(TensionLaw):
    """Not a dataclass with numbers, and it looks at them: its text has them inside."""

    def __init__(self, k: float) -> None:
        self.k = k

    def tension(self, length: Any, rate: Any) -> Any:
        return self.k * length if self.k > 0 else 0 * length


@pytest.mark.filterwarnings("ignore:.*plain Python.*")
def test_laws_of_a_user_are_differentiated() -> None:
    b = kn.Builder("pair", base="ground")
    for k in range(2):
        b.body(f"b{k}", on="ground", at=(0, k, 0), joint=Prismatic("y"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)))
    b.line("rubber", ["b0", "b1"], Rubber(2e3))
    model = b.build()
    must_agree(model, np.array([0.0, 0.2]), np.zeros(2), ["dense", "pcg", "woodbury"])


def test_a_stiff_bridge_comes_to_rest_where_forces_vanish() -> None:
    """However long the steps: a fixed point of the step is an equilibrium of the exact forces."""
    model = simple_bridge(20)
    model = model.replace(joints=tuple(replace(joint, damping=(1e5,)) for joint in model.joints))
    motion = kn.simulate(model, None, None, 60.0, dt=0.1, integrator=ImplicitEuler("pcg"), save_every=600)
    q, v = motion.q[-1], motion.v[-1]
    assert np.abs(q).max() > 0.05
    assert np.abs(v).max() < 1e-6
    left = kn.inverse_dynamics(model, q, 0 * v, 0 * v)
    assert np.abs(left).max() < 1e-6 * np.abs(kn.gravity_force(model, q)).max()


@pytest.mark.parametrize(("scene", "size"), [(spring_tree, 5), (cable_bridge, 90), (simple_bridge, 100)])
def test_iterations_are_few(scene: Any, size: int) -> None:
    _few_iterations(scene(size))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "size"),
    [(spring_tree, 8), (spring_tree, 10), (cable_bridge, 1000), (simple_bridge, 3000), (hanging_chain, 2000)],
)
def test_iterations_stay_few_for_thousands_of_bodies(scene: Any, size: int) -> None:
    _few_iterations(scene(size))


def _few_iterations(model: Model) -> None:
    steps: Any = implicit_steps_for(model, ImplicitEuler("pcg", tolerance=1e-6), "projection", lambda: False)
    state = steps.begin(None, 0.0, np.array(model.start), np.zeros(model.nv), 1e-2)
    system = kn.integrators.System(model, lambda at, t, q, v: 0 * v, None, "projection")
    for k in range(20):
        state = steps.closed(system, 1e-2 * k, steps.step(system, 1e-2 * k, state, 1e-2), 1e-2)
    assert np.isfinite(state.q).all()
    assert 0 < state.memory[4] <= 25


def test_auto_chooses_by_size_and_says_what() -> None:
    closing = "projection"
    small, bridge, tree = machine(), simple_bridge(100), spring_tree(5)
    coupled = spring_tree(5).replace(couplings=(kn.model.Coupling(5, (1,), kn.model.Linear((0.5,))),))

    def chosen(model: Model, acts_across: bool) -> str:
        return implicit_steps_for(model, ImplicitEuler(), closing, lambda: acts_across).solver  # type: ignore[attr-defined]

    assert [chosen(model, False) for model in (small, bridge, tree, coupled)] == ["auto", "woodbury", "pcg", "pcg"]
    assert chosen(tree, True) == "auto"  # its gains need slopes
    assert chosen(spring_tree(6), True) == "pcg"  # too many variables for these
    motion = kn.simulate(tree, None, None, 0.03, dt=0.01, integrator="implicit")
    assert all(word in motion.message for word in ('solver="pcg"', "iterations", "residual"))


@pytest.mark.slow
def test_auto_asks_a_controller_what_it_needs() -> None:
    """A servo at every joint goes by loops over bodies; what acts across joints does not."""
    gains = {"kp": 5.0, "kd": 0.1}
    options: dict[str, Any] = {"integrator": "implicit", "controller": servo, "parameters": gains}
    motion = kn.simulate(spring_tree(4), None, None, 0.02, dt=0.01, **options)
    assert 'solver="pcg"' in motion.message
    state = three_links(), np.zeros(3), np.ones(3)
    assert act_across(lambda model, t, q, v: drag_on_neighbours(model, v), *state)
    assert not act_across(lambda model, t, q, v: servo(model, q, v, 3.0, 0.5), *state)


def test_a_solution_that_does_not_converge_says_so() -> None:
    integrator = ImplicitEuler("pcg", iterations=2, tolerance=1e-10)
    with pytest.warns(RuntimeWarning, match="did not converge"):
        motion = kn.simulate(spring_tree(3), None, None, 0.05, dt=0.01, integrator=integrator)
    assert motion.reason == "diverged"
    assert "after 2 iterations" in motion.message


@kn.kernel
def servo(model: Any, q: Any, v: Any, kp: Any, kd: Any) -> Any:
    return -kp * q - kd * v


@kn.kernel
def drag_on_neighbours(model: Any, v: Any) -> Any:
    return kn.spatial.Vector([-(v[k - 1] if k else 0.0) for k in range(model.nv)])


def three_links() -> Model:
    b, last = kn.Builder("chain"), None
    for k in range(3):
        box = solid_box(1.0, (0.1, 0.1, 0.5), at=(0, 0, -0.25))
        last = b.body(f"link{k}", last, Revolute("yxy"[k]), (0, 0, -0.5 if k else 0), inertia=box, damping=0.1)
    b.spring("stay", ("base", (0.3, 0.1, -0.5)), (last, (0, 0, -0.3)), stiffness=50.0, damping=1.0, rest=0.4)
    return b.build()


@pytest.mark.parametrize("solver", quick(LOOPS, ["kkt"]))
def test_gains_of_a_kernel_are_in_the_equations_of_every_solver(solver: Any) -> None:
    """Gains that a force that is held could not have: dt² kp is many times the inertia."""
    model, q, v = three_links(), np.array([0.3, -0.2, 0.4]), np.array([0.5, 0.1, -1.0])
    stiff = {"controller": servo, "parameters": {"kp": 1e6, "kd": 1e3}}
    ours, reference = moved(model, solver, q, v, **stiff), moved(model, "dense", q, v, **stiff)
    np.testing.assert_allclose(ours.v, reference.v, atol=1e-9)
    assert np.abs(ours.q[-1]).max() < 0.5 * np.abs(q).max()


def geared(cam: tuple[float, ...]) -> Model:
    """A chain with a spring, whose last joint follows the first by gears and whose second its third by a cam."""
    b, last = kn.Builder("geared"), None
    for k in range(4):
        box = solid_box(1.0, (0.1, 0.1, 0.5), at=(0.02, 0, -0.25))
        last = b.body(f"link{k}", last, Revolute("yxyx"[k]), (0, 0, -0.5 if k else 0), inertia=box, stiffness=2.0 * k)
    b.couple("link3_joint", "link0_joint", -1.5)
    b.couple("link1_joint", "link2_joint", kn.model.Powers(cam))
    b.spring("stay", ("base", (0.3, 0.1, -0.5)), (last, (0, 0, -0.3)), stiffness=50.0, damping=1.0, rest=0.4)
    return b.build()


@pytest.mark.parametrize("solver", quick(["woodbury", "pcg"], ["woodbury"]))
def test_joints_that_follow_others_are_rows(solver: Any) -> None:
    """The equations are those of the independent variables."""
    model, q, v = geared((0.1, 0.4)), np.array([0.3, -0.2]), np.array([0.5, -1.0])
    ours, reference = moved(model, solver, q, v), moved(model, "dense", q, v)
    np.testing.assert_allclose(ours.v, reference.v, atol=1e-9)
    np.testing.assert_allclose(ours.q, reference.q, atol=1e-10)


@pytest.mark.slow
def test_steps_with_cams_are_of_the_first_order() -> None:
    """What turning a cam does to forces is not in K, as with turning bodies: they converge all the same."""
    model, state = geared((0.1, 0.4, 0.8)), (np.array([0.3, -0.2]), np.array([0.5, -1.0]))
    true = kn.simulate(model, *state, 0.1, dt=1e-4, integrator="rk4").v[-1]
    errors: list[float] = []
    for dt in (2e-3, 1e-3, 5e-4):
        end = kn.simulate(model, *state, 0.1, dt=dt, integrator=ImplicitEuler("woodbury")).v[-1]
        errors.append(float(np.abs(end - true).max()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1, abs=0.02)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1, abs=0.02)


def test_gains_between_variables_are_held() -> None:
    gains = ControllerGains(lambda model, t, q, v: drag_on_neighbours(model, v), 3)
    own = ControllerGains(lambda model, t, q, v: servo(model, q, v, 3.0, 0.5), 3)
    state = three_links(), 0.0, np.zeros(3), np.ones(3)
    assert gains.at(*state) is None
    found = own.at(*state)
    assert found is not None
    np.testing.assert_array_equal(found, [[0.5] * 3, [3.0] * 3])


def test_what_loops_over_bodies_cannot_have_names_the_solver_that_can() -> None:
    b = kn.Builder("gears", base="ground")
    for k in range(2):
        b.body(f"g{k}", on="ground", at=(k, 0, 0), joint=Revolute("z"), inertia=solid_box(1.0, (1, 1, 1)))
    b.couple("g1_joint", "g0_joint", -2.0)
    model = b.build()
    with pytest.raises(kn.ModelError, match=r'follow others.*solver="dense"'):
        kn.simulate(model, duration=0.01, dt=0.01, integrator=ImplicitEuler("kkt"))
    with pytest.raises(kn.ModelError, match=r'stops, contacts and muscles.*solver="dense"'):
        kn.simulate(machine(), duration=0.01, dt=0.01, integrator=ImplicitEuler("pcg"), joint_limits="rigid")
    with pytest.raises(ValueError, match="solver is one of"):
        ImplicitEuler("lu")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tolerance is above zero"):
        ImplicitEuler(tolerance=0.0)
    with pytest.raises(ValueError, match="one state at a time"):
        kn.rollout(machine(), None, None, None, 0.01, steps=2, integrator=ImplicitEuler("pcg"))


def test_joints_with_dry_friction_stick() -> None:
    """They are held by inertia that nothing moves, by every solver."""
    b = kn.Builder("sticky", base="ground")
    on = "ground"
    for k in range(3):
        rough = 100.0 if k == 1 else 0.0
        on = b.body(f"b{k}", on=on, at=(0.5, 0, 0) if k else None, joint=Revolute("y"), friction=rough,
                    inertia=solid_box(1.0, (0.5, 0.1, 0.1), at=(0.25, 0, 0)))  # fmt: skip
    b.spring("s", ("ground", (0, 0, 1)), (on, (0.5, 0, 0)), stiffness=2e3, damping=20.0, rest=1.0)
    model = b.build()
    must_agree(model, np.zeros(3), np.zeros(3), ["dense", "pcg"])
    assert np.abs(moved(model, "pcg", np.zeros(3), np.zeros(3)).q[:, 1]).max() == 0


def test_steps_go_on_from_a_state_alone() -> None:
    """Nothing but the memory of a state is carried from step to step."""
    model = spring_tree(3)
    steps = TreeSteps(model, "pcg")
    system = kn.integrators.System(model, lambda at, t, q, v: 0 * v)
    state = steps.begin(system, 0.0, np.array(model.start), np.zeros(model.nv), 0.01)
    for k in range(3):
        state = steps.step(system, 0.01 * k, state, 0.01)
    other = TreeSteps(model, "pcg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = other.step(system, 0.03, state, 0.01)
    assert np.array_equal(again.q, steps.step(system, 0.03, state, 0.01).q)


def test_rates_of_large_mechanisms_are_those_of_matrices() -> None:
    """The largest eigenvalues of H⁻¹D and H⁻¹K, which limit explicit steps: by powers, and by all of the matrices."""
    model = machine().replace(elements=tuple(x for x in machine().elements if x.name in ("near", "far", "air")))
    q = kn.neutral(model)
    lengths = kn.elements.lengths(model, q)
    eased = [replace(x, law=replace(x.law, rest=float(l))) for x, l in zip(model.elements, lengths, strict=False)]  # type: ignore[attr-defined, type-var]
    model = model.replace(elements=(*eased, model.elements[-1]))
    ours = fastest_rates(model, q)
    system = kn.integrators.System(model, lambda at, t, q, v: 0 * v)
    exact = stiffness(system, 0.0, q, np.zeros(model.nv), with_forces=False)
    assert ours.damping == pytest.approx(exact.damping, rel=0.05)
    assert ours.frequency == pytest.approx(exact.frequency, rel=0.05)


def test_a_large_mechanism_needs_no_named_integrator() -> None:
    """Its rates are found without matrices, and the steps are implicit where it is stiff."""
    with pytest.warns(RuntimeWarning, match="are implicit ones"):
        motion = kn.simulate(spring_tree(5), None, None, 0.02, dt=0.01)
    assert motion.integrator == "implicit"
    assert motion.reason == "finished"


def test_a_planar_bearing_is_a_loop_of_the_bridge() -> None:
    assert isinstance(closed_bridge().loops[0].type, Planar)
