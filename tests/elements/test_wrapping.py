"""Lines over spheres and cylinders, through rings and around pulleys: closed forms, virtual work, continuity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import Cable, Line, LinePoint, Pulley, SlackSpring, Spring, Wrap
from knuckle.errors import ModelError
from knuckle.model import Model, edit
from knuckle.model.elements.wrapping import bent, straight
from knuckle.scalar import Dual
from knuckle.testing import random_state, random_tree

from ..seeds import seeds
from .test_element_laws import along, close

SEEDS = seeds(6, quick=3)
KINDS = [(shape, side, inside) for shape in ("sphere", "cylinder") for side, inside in ((0, 0), (1, 0), (0, 1))]


def with_wraps(model: Model, seed: int) -> Model:
    """The model with lines over surfaces of all kinds, on random frames of it and of its base."""
    rng, names = np.random.default_rng(seed), model.frame_names

    def point(reach: float = 1.0) -> LinePoint:
        return LinePoint(str(rng.choice(names)), tuple(rng.uniform(-reach, reach, 3).tolist()))

    lines = list[Line]()
    for k, (shape, side, inside) in enumerate(KINDS):
        frame, radius = str(rng.choice(names)), float(rng.uniform(0.2, 0.6))
        wrap = Wrap(frame, radius, shape, point() if side else None, bool(inside))  # type: ignore[arg-type]
        law = (Spring(40.0, 0.3, 2.0), Cable(60.0, 0.2, 1.0), SlackSpring(30.0, 0.5, 0.6, 1.0))[k % 3]
        more = (Pulley(2.5), point(), replace(wrap, radius=0.3), point()) if k % 2 else ()
        lines.append(Line(f"line{k}", (point(), point(), wrap, point(), *more), law))
    return model.replace(elements=tuple(lines))


def straightened(model: Model) -> Model:
    """The same lines without the surfaces."""
    lines: Any = model.elements
    return model.replace(
        elements=tuple(replace(x, points=tuple(p for p in x.points if not isinstance(p, Wrap))) for x in lines)
    )


def drum(shape: str, radius: float, ends: list[tuple[float, float, float]], side: Any = None, **more: Any) -> Model:
    """A hinge about the axis of a surface that is fixed to the base; the line ends at a point of the body."""
    b = kn.Builder("drum", base="world")
    b.body("wheel", on="world", joint=kn.joints.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    wrap = Wrap("world", radius, shape, None if side is None else LinePoint("world", side), **more)  # type: ignore[arg-type]
    b.line("line", [("world", ends[0]), wrap, ("wheel", ends[1])], Spring(1.0))
    return b.build()


# closed forms


@pytest.mark.parametrize("shape", ["sphere", "cylinder"])
@pytest.mark.parametrize("turn", [2.2, 3.0, -2.5, 2.9])
def test_two_tangents_and_an_arc(shape: str, turn: float):
    """√(d₁²−r²) + √(d₂²−r²) + r θ, and the arm of a hinge about the centre is the radius."""
    r, d1, d2 = 0.3, 0.7, 0.5
    model = drum(shape, r, [(d1, 0.0, 0.0), (d2, 0.0, 0.0)])
    theta = abs(turn) - np.arccos(r / d1) - np.arccos(r / d2)
    assert theta > 0
    q = np.array([turn])
    expected = np.sqrt(d1**2 - r**2) + np.sqrt(d2**2 - r**2) + r * theta
    assert elements.lengths(model, q) == pytest.approx([expected], abs=1e-12)
    assert elements.moment_arms(model, q) == pytest.approx(np.array([[-r * np.sign(turn)]]), abs=1e-12)


@pytest.mark.parametrize("turn", [-2.0, -0.5, 0.4, 1.5, 2.5, 3.9, 5.0])
def test_a_side_keeps_the_line_on_it_all_around(turn: float):
    """The line never crosses the half plane away from the side point: its arm stays the radius for a whole turn."""
    r, d1, d2, way = 0.3, 0.7, 0.5, 0.6
    side = (np.cos(way), np.sin(way), 0.4)
    model = drum("cylinder", r, [(d1, 0.0, 0.0), (d2, 0.0, 0.0)], side)
    angle = turn if turn > 0 else -turn
    on_it = -np.pi + way < turn < np.pi + way
    theta = angle - np.arccos(r / d1) - np.arccos(r / d2)
    lengths, arms = elements.lengths(model, [turn]), elements.moment_arms(model, [turn])
    if not on_it:
        assert elements.lengths(model, [turn - 2 * np.pi]) == pytest.approx(lengths, abs=1e-12)
    elif theta > 0:
        assert lengths == pytest.approx([np.sqrt(d1**2 - r**2) + np.sqrt(d2**2 - r**2) + r * theta], abs=1e-12)
        assert arms == pytest.approx(np.array([[-r * np.sign(turn)]]), abs=1e-12)
    else:
        assert lengths == pytest.approx([np.sqrt(d1**2 + d2**2 - 2 * d1 * d2 * np.cos(turn))], abs=1e-12)


def test_on_a_cylinder_it_climbs_evenly():
    """Developed, the line is the hypotenuse."""
    r, height, turn = 0.3, 0.8, 2.6
    flat, steep = (drum("cylinder", r, [(0.7, 0.0, 0.0), (0.5, 0.0, h)]) for h in (0.0, height))
    level, climbing = (elements.lengths(model, [turn])[0] for model in (flat, steep))
    assert climbing == pytest.approx(np.hypot(level, height), abs=1e-13)
    arms = elements.moment_arms(steep, [turn])
    assert arms == pytest.approx(np.array([[-r * level / climbing]]), abs=1e-13)


def test_through_a_ring_it_is_as_short_as_can_be():
    """Of all lines over a point of the edge it is the shortest; where the straight one meets the ring, it is that."""
    rng = np.random.default_rng(0)
    edge = 0.4 * np.exp(1j * np.linspace(0, 2 * np.pi, 20001))
    wrap, bends = Wrap("f", 0.4, "cylinder", inside=True), 0
    for a, b in rng.uniform(-1.5, 1.5, (60, 2, 3)):
        length = float(bent(wrap, tuple(a), tuple(b), None).length)
        p, q = complex(*a[:2]), complex(*b[:2])
        direct = np.hypot(abs(p - q), b[2] - a[2])
        if min(abs(p), abs(q)) < 0.4 or length == pytest.approx(direct, abs=1e-14):
            assert length == pytest.approx(direct, abs=1e-14)
            continue
        assert np.min(np.abs(p + (q - p) * np.linspace(0, 1, 2001))) > 0.4 - 1e-3
        shortest = np.hypot(np.min(np.abs(p - edge) + np.abs(q - edge)), b[2] - a[2])
        assert shortest - 1e-6 < length <= shortest + 1e-14
        bends += 1
    assert bends > 10


def test_through_a_ring_slopes_of_slopes_are_exact():
    """They are those of a state nearby, also where the ends are mirror images and the search ends where it begins."""
    rng, wrap = np.random.default_rng(3), Wrap("f", 0.4, "cylinder", inside=True)

    def slopes(a: np.ndarray, b: np.ndarray, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        ends: Any = [
            tuple(Dual(Dual(x, y), Dual(y, 0.0)) for x, y in zip(p, way, strict=True)) for p, way in ((a, u), (b, w))
        ]
        bend = bent(wrap, ends[0], ends[1], None)
        return np.array([float(x.derivative.derivative) for x in (bend.length, *bend.first, *bend.second)])

    for u, w in rng.uniform(-1, 1, (20, 2, 3)):
        a, b = np.array([0.8, 0.5, 0.3]), np.array([0.8, -0.5, -0.2])
        assert slopes(a, b, u, w) == pytest.approx(slopes(a + 1e-7 * w, b, u, w), rel=1e-4, abs=1e-4)


@pytest.mark.slow
def test_points_along_a_line_are_as_long_as_it_and_on_the_surface():
    """For whoever draws them: chords of a tenth of a radian are short of the arc by less than 5e-4."""
    for seed in range(20):
        model = with_wraps(random_tree(seed, 3, resistance=False), seed)
        q = random_state(model, seed).q
        direct = elements.lengths(straightened(model), q)
        for line, length, shortest in zip(model.elements, elements.lengths(model, q), direct, strict=True):
            assert isinstance(line, Line)
            poses = [kn.pose(model, q, name) for name in line.frames]
            X = [kn.spatial.Transform.of(pose[:3, :3].T.tolist(), pose[:3, 3].tolist()) for pose in poses]
            strands = [np.array(row, float) for row in line.strands(X)]
            divisors = [1.0, *(x.divisor for x in line.points if isinstance(x, Pulley))]
            parts = [np.linalg.norm(np.diff(row, axis=0), axis=1).sum() for row in strands]
            total = sum(part / divisor for part, divisor in zip(parts, divisors, strict=True))
            assert length * (1 - 5e-4) < total < length + 1e-12
            bends, (k, wrap) = strands[0][2:-1], next((k, x) for k, x in enumerate(line.points) if isinstance(x, Wrap))
            own = np.array([X[k].point(tuple(p)) for p in bends], float).reshape(-1, 3)
            if length > shortest + 1e-9 and len(divisors) == 1:
                away = np.linalg.norm(own[:, : 2 if wrap.shape == "cylinder" else 3], axis=1)
                assert away == pytest.approx(np.full(len(away), wrap.radius), abs=1e-12)


def test_a_pulley_divides():
    """A block and tackle: half the length counts, and half the tension pulls."""
    b = kn.Builder("tackle", base="world")
    b.body("block", on="world", joint=kn.joints.Prismatic("z"), mass=1.0)
    b.body("load", on="world", joint=kn.joints.Prismatic("z"), at=(0.5, 0, 0), mass=1.0)
    up, top = ("world", (0.0, 0.0, 1.0)), ("world", (0.5, 0.0, 1.0))
    b.line("rope", [up, "block", Pulley(2.0), "load", top], Spring(10.0, 0.5))
    model = b.build()
    q = np.array([0.1, -0.3])
    assert elements.lengths(model, q) == pytest.approx([0.9 + 1.3 / 2])
    assert elements.moment_arms(model, q) == pytest.approx(np.array([[1.0, 0.5]]))
    tension = 10.0 * (0.9 + 0.65 - 0.5)
    assert elements.joint_forces(model, q, np.zeros(2)) == pytest.approx([tension, tension / 2])


# laws


@pytest.mark.parametrize("seed", SEEDS)
def test_arms_rates_and_slopes_are_exact(seed: int):
    model = with_wraps(random_tree(seed, 5, floating=bool(seed % 2), resistance=False), seed)
    s = random_state(model, seed)
    R = elements.moment_arms(model, s.q)
    assert close(R, -along(elements.lengths, model, s.q), 1e-12)
    assert close(elements.rates(model, s.q, s.v), -R @ s.v, 1e-12)
    tau = elements.joint_forces(model, s.q, s.v)
    assert close(tau, R.T @ elements.tensions(model, s.q, s.v), 1e-12)
    assert close(elements.stiffness(model, s.q, s.v), -along(elements.joint_forces, model, s.q, s.v), 1e-11)
    still = elements.joint_forces(model, s.q, 0 * s.v)
    assert close(still, -along(lambda m, q: elements.energies(m, q).sum(), model, s.q), 1e-11)


def test_the_lines_of_these_tests_do_bend():
    """Each kind of surface bends its line in some of the states, and not in others."""
    bends = np.zeros((40, len(KINDS)), bool)
    for seed in range(40):
        model = with_wraps(random_tree(seed, 3, resistance=False), seed)
        q = random_state(model, seed).q
        bends[seed] = elements.lengths(model, q) > elements.lengths(straightened(model), q) + 1e-9
    assert (bends.mean(0) > 0.1).all()
    assert (bends.mean(0) < 0.99).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_compiled_is_what_the_text_says(seed: int):
    model = with_wraps(random_tree(seed, 4, resistance=False), seed)
    states = [random_state(model, k) for k in range(5)]
    q, v, a = (np.stack([getattr(s, name) for s in states]) for name in ("q", "v", "a"))
    tau = kn.inverse_dynamics(model, q, v, a)
    for k in range(5):
        text = kn.inverse_dynamics.reference(model, q[k].tolist(), v[k].tolist(), a[k].tolist())
        assert close(tau[k], np.array([float(x) for x in text]), 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_bodies_that_lines_hold_together_keep_their_momentum(seed: int):
    """Surfaces get what the ends of their lines do not: momentum of free bodies, about every axis, stays."""
    b = kn.Builder("free", gravity=(0, 0, 0))
    for name in "abc":
        b.body(name, joint=kn.joints.Free(), inertia=kn.model.solid_box(1.0, (0.2, 0.3, 0.4)))
    model = with_wraps(b.build(), seed)
    lines: Any = model.elements
    to_body = {model.base.name: "a", **{name: name for name in "abc"}}
    model = model.replace(elements=tuple(x.renamed(x.name, to_body.__getitem__) for x in lines))
    s = random_state(model, seed)
    f = elements.wrenches(model, s.q, s.v)
    total = np.zeros(6)
    for name, wrench in zip(model.body_names, f, strict=True):
        pose = kn.pose(model, s.q, name)
        X = kn.spatial.Transform.of(pose[:3, :3].T.tolist(), pose[:3, 3].tolist())
        total += np.array((X.inv @ kn.spatial.Force.of(wrench.tolist())).components, float)
    assert np.abs(f).max() > 1
    assert np.abs(total).max() < 1e-12 * np.abs(f).max()


@pytest.mark.parametrize(("shape", "inside"), [("sphere", False), ("cylinder", False), ("cylinder", True)])
def test_lines_begin_to_bend_without_a_jump(shape: str, inside: bool):
    """Length and arms are continuous where a line comes to touch: its forces are too."""
    model = drum(shape, 0.3, [(0.7, 0.1, 0.05), (0.5, 0.0, -0.1)], inside=inside)
    q = np.linspace(0.2, 3.0, 4001)[:, None]
    bends = elements.lengths(model, q)[:, 0] > elements.lengths(straightened(model), q)[:, 0] + 1e-13
    assert bends.any()
    assert not bends.all()
    step = q[1, 0] - q[0, 0]
    assert np.abs(np.diff(elements.lengths(model, q), axis=0)).max() < 1.0 * step
    assert np.abs(np.diff(elements.moment_arms(model, q), axis=0)).max() < 3.0 * step


def test_nothing_is_divided_by_zero_anywhere():
    """Ends at the centre, on the axis, on the surface, inside, in line with it, at the same place: with slopes."""
    places = [(0, 0, 0), (0, 0, 0.5), (0.3, 0, 0), (0.1, 0, 0), (0.9, 0, 0), (-0.9, 0, 0), (0, 0, -0.9), (0.3, 0.4, 0)]
    pairs = np.array([(p, q) for p in places for q in places], float)
    values = np.moveaxis(pairs, 0, -1)
    with np.errstate(all="raise", under="ignore"):
        for shape, side, inside in KINDS:
            wrap = Wrap("f", 0.3, shape, None, bool(inside))  # type: ignore[arg-type]
            for at in [(0.5, 0.1, 0.2), (-0.5, 0.0, 0.0), (0.0, 0.0, 0.4)] if side else [None]:
                for k in range(6):
                    slopes = np.zeros(6)
                    slopes[k] = 1.0
                    ends: Any = [
                        tuple(Dual(x, np.full_like(x, slopes[3 * j + i])) for i, x in enumerate(p))
                        for j, p in enumerate(values)
                    ]
                    length, first, second, _ = bent(wrap, ends[0], ends[1], at)
                    direct = straight(ends[0], ends[1]).length
                    for x in (length, *first, *second):
                        assert np.isfinite(x.value).all()
                        assert np.isfinite(x.derivative).all()
                    assert (length.value >= direct.value - 1e-15).all()
                    for way in (first, second):
                        norm = np.sqrt(sum(np.square(x.value) for x in way))
                        assert ((np.abs(norm - 1) < 1e-12) | (direct.value < 1e-14)).all()


def test_more_digits():
    mpmath = pytest.importorskip("mpmath")
    model = with_wraps(random_tree(1, 3, resistance=False), 1)
    s = random_state(model, 1)
    with mpmath.workdps(40):
        exact = model.with_scalars(mpmath.mpf)
        lengths = elements.lengths.reference(exact, [mpmath.mpf(x) for x in s.q.tolist()])
        assert close(elements.lengths(model, s.q), np.array([float(x) for x in lengths]), 1e-14)
    r, d = mpmath.mpf(3) / 10, mpmath.mpf(1)
    with mpmath.workdps(40):
        wrap = Wrap("f", r, "cylinder")  # type: ignore[arg-type]
        length = bent(wrap, (d, 0, 0), (-d, 0, 0), None).length
        assert abs(length - 2 * mpmath.sqrt(d * d - r * r) - r * (mpmath.pi - 2 * mpmath.acos(r / d))) < 1e-38


def test_energy_stays_where_a_spring_slides_over_a_drum():
    b = kn.Builder("pendulum", base="world")
    b.body("rod", on="world", joint=kn.joints.Revolute("y"), inertia=kn.model.rod(1.0, 0.6, at=(0, 0, -0.3)))
    b.frame("drum", at=dict(rpy=(np.pi / 2, 0, 0)))
    wrap = Wrap("drum", 0.15, "cylinder", side=LinePoint("world", (0.3, 0.0, 0.0)))
    b.line("line", [("world", (0.2, 0, 0.3)), wrap, ("rod", (0.0, 0.0, -0.5))], Spring(4.0, 0.4))
    model = b.build()
    motion = kn.simulate(model, [1.0], [0.0], 3.0)
    lengths = elements.lengths(model, motion.q)[:, 0] - elements.lengths(straightened(model), motion.q)[:, 0]
    assert (lengths > 1e-6).any()
    assert (lengths < 1e-12).any()
    assert np.ptp(motion.energy) < 1e-6


# as parts of models


@pytest.mark.parametrize("seed", range(3))
def test_edits_and_files_take_surfaces_along(seed: int):
    model = with_wraps(random_tree(seed, 4, types=["revolute", "prismatic", "fixed"], resistance=False), seed)
    s = random_state(model, seed)
    expected = elements.joint_forces(model, s.q, s.v)
    for changed in (
        edit.merge_fixed(model),
        edit.rename(model, bodies=lambda name: f"x_{name}"),
        kn.formats.read_json(kn.formats.to_json(model)),
    ):
        np.testing.assert_allclose(elements.joint_forces(changed, s.q, s.v), expected, rtol=0, atol=1e-11)
    assert kn.formats.read_json(kn.formats.to_json(model)) == model


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Wrap("a", 0.0), "radius of a surface that a line goes over is a finite number above zero, not 0.0"),
        (lambda: Wrap("a", 1.0, "cone"), "a surface that a line goes over is a .* not 'cone'"),  # type: ignore[arg-type]
        (lambda: Pulley(-1.0), "divisor of a pulley is a finite number above zero, not -1.0"),
        (lambda: SlackSpring(1.0, 0.3, 0.2), "shortest and longest of a SlackSpring are in this order"),
        (lambda: line(Wrap("a", 1.0), "p", "p"), "the line 'l' needs a point before each surface"),
        (lambda: line("p", Wrap("a", 1.0), Wrap("a", 1.0), "p"), "needs a point before each surface"),
        (lambda: line("p", "p", Wrap("a", 1.0)), "a point after each surface"),
        (lambda: line("p", Pulley(2.0), "p", "p"), "needs two points or more before a pulley"),
        (lambda: line("p", "p", Pulley(2.0), Pulley(2.0), "p", "p"), "needs two points or more before a pulley"),
        (lambda: line("p", "p", Pulley(2.0), "p"), "needs two points or more in each part"),
        (lambda: line("p", Wrap("a", 1.0)), "needs two points or more, and has 1"),
    ],
)
def test_what_is_no_line_is_refused(make: Any, words: str):
    with pytest.raises(ValueError, match=words):
        make()


def line(*entries: Any) -> Line:
    return Line("l", tuple(LinePoint(x) if isinstance(x, str) else x for x in entries), Spring(1.0))


def test_surfaces_on_frames_that_do_not_exist():
    b = kn.Builder("x", base="world")
    b.body("a", on="world", joint=kn.joints.Revolute("z"), mass=1.0)
    with pytest.raises(ModelError, match="'b'"):
        b.cable("c", ["world", Wrap("b", 0.1), "a"], stiffness=1.0)
    with pytest.raises(ModelError, match="'side'"):
        b.cable("c", ["world", Wrap("a", 0.1, side=LinePoint("side")), "a"], stiffness=1.0)
