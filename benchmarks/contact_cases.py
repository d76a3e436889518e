"""Scenes with contact whose answers are known, for any simulator: MJCF, how they begin, and how far a motion is off.

Bodies start where the file puts them; their middles are their centres of mass. Nothing here needs a simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
G, R = 9.81, 0.1
"""Gravity, and the radius of balls"""


@dataclass(frozen=True)
class Motion:
    """Bodies through time, in the world's axes: places of their middles, turns (…, 3, 3), velocities."""

    times: Array
    x: Array
    E: Array
    v: Array
    w: Array
    carried: float | None = None
    """The sum of the normal forces at the end"""
    rest: float | None = None
    """When contact began for good, where the simulator says so"""


@dataclass(frozen=True)
class Case:
    """A scene: velocities (angular, linear) of free bodies, rates of other joints, moment and force on the first body.

    `law` is that of a soft surface, (stiffness, damping); else surfaces are as rigid as a simulator has them.
    """

    mjcf: str
    masses: Sequence[float]
    inertias: Sequence[Sequence[float]]
    friction: float
    duration: float
    velocities: Sequence[Sequence[float]] = ()
    rates: Sequence[float] = ()
    push: Sequence[float] = (0.0,) * 6
    restitution: float = 0.0
    speed: float = 1.0
    """Of the first impact, for simulators whose restitution depends on it"""
    dt: float = 1e-3
    law: tuple[float, float] | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    is_sequential: bool = False


Run = Callable[[Case], Motion]


@dataclass(frozen=True)
class Row:
    """A row of the table: what is measured, and the tolerances for steps and from event to event."""

    title: str
    unit: str
    error: Callable[[Run], float]
    steps: float | None = None
    events: float | None = None
    is_for_all: bool = True
    """Whether it is measured by every way of knuckle, or by steps only"""
    is_first_order: bool = False
    """Whether steps are of the first order by what they are, and another may be nearer: their order is measured."""


def box(
    at: str, size: tuple[float, float, float], mass: float, mu: float, *, euler: str = "0 0 0", name: str = "a"
) -> str:
    half = " ".join(str(x / 2) for x in size)
    inertia = " ".join(map(str, box_inertia(size, mass)))
    return (
        f'<body name="{name}" pos="{at}" euler="{euler}"><freejoint/><inertial pos="0 0 0" mass="{mass}" '
        f'diaginertia="{inertia}"/><geom type="box" size="{half}" friction="{mu} 0 0"/></body>'
    )


def ball(at: str, mu: float, *, mass: float = 1.0, radius: float = R, name: str = "a") -> str:
    i = 0.4 * mass * radius**2
    return (
        f'<body name="{name}" pos="{at}"><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{i} {i} {i}"/>'
        f'<geom type="sphere" size="{radius}" friction="{mu} 0 0"/></body>'
    )


def box_inertia(size: tuple[float, float, float], mass: float) -> tuple[float, float, float]:
    x, y, z = (mass / 12 * s * s for s in size)
    return y + z, x + z, x + y


def ball_inertia(mass: float = 1.0, radius: float = R) -> tuple[float, float, float]:
    return (0.4 * mass * radius**2,) * 3


def world(bodies: str, mu: float, *, ground: bool = True) -> str:
    plane = f'<geom name="ground" type="plane" size="50 50 1" friction="{mu} 0 0"/>' if ground else ""
    return (
        '<mujoco model="scene"><compiler angle="radian" autolimits="true"/><worldbody>'
        f"{plane}{bodies}</worldbody></mujoco>"
    )


def inclined(slope: float) -> tuple[float, float, float]:
    """Gravity on a plane that is inclined about y."""
    return G * math.sin(slope), 0.0, -G * math.cos(slope)


def on_slope(thing: str, slope: float, mu: float, duration: float) -> Case:
    size = (0.2, 0.2, 0.2)
    body, mass, inertia = (
        (box("0 0 0.1", size, 2.0, mu), 2.0, box_inertia(size, 2.0))
        if thing == "box"
        else (ball("0 0 0.1", mu), 1.0, ball_inertia())
    )
    return Case(world(body, mu), [mass], [inertia], mu, duration, gravity=inclined(slope))


def stick(run: Run) -> float:
    m = run(on_slope("box", math.atan(0.49), 0.5, 1.0))
    late = m.times > 0.5
    return float(np.linalg.norm(m.v[late, 0], axis=-1).max())


def slip(run: Run) -> float:
    v = G * (math.sin(0.6) - 0.5 * math.cos(0.6))
    return abs(run(on_slope("box", 0.6, 0.5, 1.0)).v[-1, 0, 0] / v - 1)


def rolls(run: Run) -> float:
    slope = math.atan(0.8)
    return abs(run(on_slope("ball", slope, 0.3, 0.5)).v[-1, 0, 0] / (5 / 7 * G * math.sin(slope) * 0.5) - 1)


def slides(run: Run) -> float:
    slope, mu = math.atan(0.8), 0.15
    v = G * (math.sin(slope) - mu * math.cos(slope)) * 0.5
    return abs(run(on_slope("ball", slope, mu, 0.5)).v[-1, 0, 0] / v - 1)


def _bowled() -> Case:
    return Case(world(ball("0 0 0.1", 0.4), 0.4), [1.0], [ball_inertia()], 0.4, 0.3, [(0, 0, 0, 2.0, 0, 0)], dt=1e-3)


def rolls_in_the_end(run: Run) -> float:
    return abs(run(_bowled()).v[-1, 0, 0] / (5 / 7 * 2.0) - 1)


def when_it_rolls(run: Run) -> float:
    """By the way that it has gone: 5/7 v T + v t/7."""
    m = run(_bowled())
    return abs(7 * (m.x[-1, 0, 0] - 5 / 7 * 2.0 * m.times[-1]) / 2.0 - 2 * 2.0 / (7 * 0.4 * G))


def _dropped(height: float, e: float, duration: float) -> Case:
    return Case(
        world(ball(f"0 0 {R + height}", 0.0), 0.0), [1.0], [ball_inertia()], 0.0, duration, restitution=e,
        speed=math.sqrt(2 * G * height),
    )  # fmt: skip


def bounces_end(run: Run) -> float:
    """When it rests, where a simulator says so; else when it last strikes with more than 2 cm/s."""
    e, height, slow = 0.6, 0.3, 0.02
    m, fall = run(_dropped(height, e, 1.5)), math.sqrt(2 * height / G)
    if m.rest is not None:
        return abs(m.rest - fall * (1 + e) / (1 - e))
    n = math.floor(math.log(slow / (G * fall)) / math.log(e))
    last = m.times[np.flatnonzero(np.abs(m.v[:, 0, 2]) > slow)[-1]]
    return abs(float(last) - fall * (1 + 2 * sum(e**k for k in range(1, n + 1))))


def bounces_on(run: Run) -> float:
    m = run(_dropped(0.5, 1.0, 4.0))
    return abs((highest(m.x[m.times > 3.0, 0, 2]) - R) / 0.5 - 1)


def highest(z: Array) -> float:
    """The largest of heights, by the parabola through it and its neighbours."""
    k = int(np.argmax(z))
    if not 0 < k < len(z) - 1:
        return float(z[k])
    bend, slope = z[k - 1] - 2 * z[k] + z[k + 1], (z[k + 1] - z[k - 1]) / 2
    return float(z[k] - slope**2 / (2 * bend)) if bend < 0 else float(z[k])


PENDULUM = 0.5
"""Between the hinges of the double pendulum, and from the second to its tip"""


def _pendulum(e: float) -> Case:
    """Two rods that swing without gravity, a ball at the tip, and a wall at x = 0.3."""
    i = 1.0 / 12 * (0.1**2 + 0.5**2)
    rod = f'<inertial pos="0 0 0" mass="1" diaginertia="{i} {i} {i}"/>'
    text = (
        '<geom name="wall" type="plane" pos="0.3 0 0" euler="0 -1.5707963267948966 0" size="50 50 1" friction="0 0 0"/>'
        f'<body name="a" pos="0 0 0"><joint name="u" type="hinge" axis="0 1 0"/>{rod}'
        f'<body name="b" pos="0 0 -{PENDULUM}"><joint name="l" type="hinge" axis="0 1 0"/>{rod}'
        f'<geom type="sphere" pos="0 0 -{PENDULUM}" size="{R}" friction="0 0 0"/></body></body>'
    )
    return Case(
        world(text, 0.0, ground=False), [1.0, 1.0], [(i, i, i)] * 2, 0.0, 0.4, rates=(-0.5, -1.0), restitution=e,
        gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip


def _pendulum_answer(e: float) -> tuple[float, float]:
    """T before the impact and after it: by the closed form at the state where the gap is zero.

    The tip is at x = −L (sin a + sin(a + b)) for angles a, b about y. Its state there is found by a
    method of high order, in small steps.
    """
    L, m, i, r = PENDULUM, 1.0, 1.0 / 12 * (0.1**2 + 0.5**2), R

    def mass(b: float) -> Array:
        return np.array([[2 * i + m * L * L, i], [i, i]])  # the middle of the second rod is on its hinge

    def ahead(q: Array, v: Array, h: float) -> tuple[Array, Array]:
        return q + h * v, v  # no gravity, a constant inertia: straight ahead

    q, v = np.zeros(2), np.array([-0.5, -1.0])
    gap = lambda q: 0.3 + L * (math.sin(q[0]) + math.sin(q[0] + q[1])) - r  # noqa: E731
    low, high = 0.0, 0.4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(ahead(q, v, middle)[0]) > 0 else (low, middle)
    q = ahead(q, v, low)[0]
    J = L * np.array([math.cos(q[0]) + math.cos(q[0] + q[1]), math.cos(q[0] + q[1])])
    H = mass(q[1])
    T = float(v @ H @ v) / 2
    return T, T - 0.5 * (1 - e * e) * float(J @ v) ** 2 / float(J @ np.linalg.solve(H, J))


def kinetic_energy(case: Case, m: Motion) -> Array:
    local = np.einsum("tbji,tbj->tbi", m.E, m.w)
    turning = np.einsum("tbi,bi->t", local**2, np.array(case.inertias))
    return (np.einsum("tbi,b->t", m.v**2, np.array(case.masses)) + turning) / 2


def energy(case: Case, m: Motion) -> Array:
    return kinetic_energy(case, m) - np.einsum("tbi,b,i->t", m.x, np.array(case.masses), np.array(case.gravity))


def loss_at_a_wall(run: Run) -> float:
    case = _pendulum(0.5)
    before, after = _pendulum_answer(0.5)
    T = kinetic_energy(case, run(case))
    return abs(T[-1] - after) / before


def _cradle(is_sequential: bool) -> Case:
    bodies = "".join(ball(f"{2 * R * k} 0 1", 0.0, name=f"b{k}") for k in range(3))
    return Case(
        world(bodies, 0.0), [1.0] * 3, [ball_inertia()] * 3, 0.0, 0.1, [(0, 0, 0, 1.0, 0, 0), (0,) * 6, (0,) * 6],
        restitution=1.0, gravity=(0.0, 0.0, 0.0), is_sequential=is_sequential,
    )  # fmt: skip


def cradle_at_once(run: Run) -> float:
    return float(np.abs(run(_cradle(False)).v[-1, :, 0] - [-1 / 3, 2 / 3, 2 / 3]).max())


def cradle_in_turn(run: Run) -> float:
    return float(np.abs(run(_cradle(True)).v[-1, :, 0] - [0, 0, 1]).max())


def housner(run: Run) -> float:
    """By how high the middle of the block is at the ends of its first two swings: r² = E₂/E₁."""
    b, h, angle = 0.1, 0.4, 0.1
    size = (2 * b, 1.0, 2 * h)
    z = h * math.cos(angle) + b * math.sin(angle)
    case = Case(
        world(box(f"0 0 {z}", size, 2.0, 2.0, euler=f"0 {angle} 0"), 2.0), [2.0], [box_inertia(size, 2.0)], 2.0, 0.8
    )
    m = run(case)
    heights, turn = m.x[:, 0, 2], np.arctan2(m.E[:, 0, 0, 2], m.E[:, 0, 2, 2])
    other = turn < 0
    first = int(np.argmax(other))
    end = first + int(np.argmax(~other[first:])) if (~other[first:]).any() else len(other)
    if not other.any():
        return 1.0
    r = 1 - 1.5 * math.sin(math.atan(b / h)) ** 2
    swing = max(highest(heights[first:end]) - h, 0.0) / (z - h)
    return abs(math.sqrt(swing) / r - 1)


def push_height(run: Run) -> float:
    """The height at which a push F = 1.05 μ m g begins to tip a box of half width b, by bisection.

    It tips where the push at z, the inertia of what slides, and friction bring the weight on its edge: for F → μ m g
    from z = b/μ on, and else from h + (b/μ − h) μ m g/F on, for a middle at the height h.
    """
    b, h, mu, mass, more = 0.2, 0.25, 0.5, 2.0, 1.05
    size, force = (2 * b, 2 * b, 2 * h), more * mu * mass * G
    answer = h + (b / mu - h) / more
    low, high = 0.8 * answer, 1.2 * answer
    for _ in range(26):
        z = (low + high) / 2
        case = Case(
            world(box(f"0 0 {h}", size, mass, mu), mu), [mass], [box_inertia(size, mass)], mu, 0.5,
            push=(0.0, (z - h) * force, 0.0, force, 0.0, 0.0),
        )  # fmt: skip
        turn = np.abs(run(case).w[:, 0, 1])
        grows = turn[-1] > max(1.5 * turn[len(turn) // 2], 1e-9)  # what tips does so ever faster
        low, high = (low, z) if grows else (z, high)
    return abs((low + high) / 2 / answer - 1)


def wedge(run: Run) -> float:
    """A ball without friction on a slope that is free to slide."""
    theta, m, M, size = 0.5, 1.0, 3.0, (2.0, 1.0, 0.2)
    away = 0.1 + R
    text = (
        f'<body name="w" pos="0 0 0" euler="0 {theta} 0"><joint name="s" type="slide" axis="{math.cos(theta)} 0 '
        f'{math.sin(theta)}"/><inertial pos="0 0 0" mass="{M}" diaginertia="1 1 1"/>'
        f'<geom type="box" size="{size[0] / 2} {size[1] / 2} {size[2] / 2}" friction="0 0 0"/></body>'
    )
    at = f"{away * math.sin(theta)} 0 {away * math.cos(theta)}"
    case = Case(
        world(text + ball(at, 0.0, mass=m), 0.0, ground=False), [M, m], [(1, 1, 1), ball_inertia(m)], 0.0, 0.2,
        velocities=[(0,) * 6], rates=(0.0,),
    )  # fmt: skip
    a = m * G * math.sin(theta) * math.cos(theta) / (M + m * math.sin(theta) ** 2)
    return abs(-run(case).v[-1, 0, 0] / (a * 0.2) - 1)


def _slid(run: Run) -> tuple[Array, Array]:
    """Where a box stops that slides in eight ways, relative to v²/(2 μ g): along its way, and across it."""
    size, mu = (0.2, 0.2, 0.1), 0.3
    found: list[tuple[float, float]] = []
    for way in np.linspace(0, 2 * np.pi, 8, endpoint=False) + 0.1:
        c, s = math.cos(way), math.sin(way)
        case = Case(
            world(box("0 0 0.05", size, 1.0, mu), mu), [1.0], [box_inertia(size, 1.0)], mu, 0.6, [(0, 0, 0, c, s, 0)]
        )
        x, y, _ = run(case).x[-1, 0]
        found.append((c * x + s * y, c * y - s * x))
    along, across = np.array(found).T * 2 * mu * G
    return along, across


def isotropy(run: Run) -> float:
    along, across = _slid(run)
    return float(max(np.ptp(along), np.abs(across).max()))


def stopping_way(run: Run) -> float:
    return float(np.abs(_slid(run)[0] - 1).max())


def feet(run: Run) -> float:
    size = (0.2, 0.2, 0.2)
    case = Case(world(box("0 0 0.1", size, 2.0, 0.5), 0.5), [2.0], [box_inertia(size, 2.0)], 0.5, 0.5)
    carried = run(case).carried
    return math.nan if carried is None else abs(carried / (2.0 * G) - 1)


def soft_bounce(run: Run) -> float:
    """Without gravity, K = 1e4 N/m, m = 1 kg, ζ = 0.1."""
    zeta, K, mass, v = 0.1, 1e4, 1.0, 0.5
    s = math.sqrt(1 - zeta**2)
    e = math.exp(-zeta / s * (math.pi - math.atan2(2 * zeta * s, 1 - 2 * zeta**2)))
    case = Case(
        world(ball(f"0 0 {R + 0.01}", 0.0), 0.0), [mass], [ball_inertia()], 0.0, 0.1, [(0, 0, 0, 0, 0, -v)],
        law=(K, 2 * zeta * math.sqrt(K * mass)), gravity=(0.0, 0.0, 0.0), dt=1e-4, speed=v, restitution=e,
    )  # fmt: skip
    return abs(run(case).v[-1, 0, 2] / v - e)


def momentum(run: Run) -> float:
    """Two balls of 1 and 3 kg that strike each other with friction and restitution: the largest change of any part."""
    text = ball("0 0 5", 0.7, name="b0") + ball("0.3 0.05 5.02", 0.7, mass=3.0, name="b1")
    case = Case(
        world(text, 0.7), [1.0, 3.0], [ball_inertia(), ball_inertia(3.0)], 0.7, 0.3,
        [(1, -2, 0.5, 1.0, 0.2, 0.1), (0, 3, 1, -2.0, 0, 0.3)], restitution=0.4, gravity=(0.0, 0.0, 0.0), speed=3.0,
    )  # fmt: skip
    m, masses = run(case), np.array(case.masses)
    linear = np.einsum("tbi,b->ti", m.v, masses)
    spin = np.einsum("tbi,b->ti", m.w, np.array(case.inertias)[:, 0])
    angular = spin + np.einsum("tbi,b->ti", np.cross(m.x - [0.0, 0.0, 5.0], m.v), masses)
    scale = max(np.abs(linear[0]).max(), np.abs(angular[0]).max())
    return float(max(np.ptp(linear, axis=0).max(), np.ptp(angular, axis=0).max()) / scale)


def energy_rise(run: Run) -> float:
    """Of a box that tumbles on the ground: the largest rise in a step, in parts of its energy."""
    size = (0.4, 0.2, 0.1)
    case = Case(
        world(box("0 0 0.3", size, 2.0, 0.5, euler="0.4 0.3 0.2"), 0.5), [2.0], [box_inertia(size, 2.0)], 0.5, 1.0,
        [(1, 2, 3, 0.5, 0.2, 0.0)], restitution=0.5, speed=2.0,
    )  # fmt: skip
    E = energy(case, run(case))
    return float(max(np.diff(E).max(), 0.0) / np.ptp(E))


def stack_drift(run: Run) -> float:
    """Ten cubes on each other, 5 ms, 2 s: how far any of them goes."""
    size = (0.2, 0.2, 0.2)
    text = "".join(box(f"0 0 {0.1 + 0.2 * k}", size, 1.0, 0.5, name=f"b{k}") for k in range(10))
    case = Case(world(text, 0.5), [1.0] * 10, [box_inertia(size, 1.0)] * 10, 0.5, 2.0, dt=5e-3)
    m = run(case)
    return float(np.linalg.norm(m.x - m.x[0], axis=-1).max())


def balls_roll(run: Run) -> float:
    """25 balls bowled along a diagonal (SimBenchmark's "rolling"): the mean square of errors of their velocities."""
    r, mass, mu, v0 = 0.5, 10.0, 0.4, 1.5
    text = "".join(ball(f"{2 * (k % 5)} {2 * (k // 5)} {r}", mu, mass=mass, radius=r, name=f"b{k}") for k in range(25))
    case = Case(world(text, mu), [mass] * 25, [ball_inertia(mass, r)] * 25, mu, 1.0, [(0, 0, 0, v0, v0, 0)] * 25)
    m = run(case)
    return float(((m.v[-1] - np.array([5 / 7 * v0, 5 / 7 * v0, 0.0])) ** 2).sum(-1).mean())


ROWS: dict[str, Row] = {
    "stick": Row("box on a slope, tan θ = 0.98 μ: it stands", "m/s", stick, 1e-12, 1e-12),
    "slip": Row("box on a slope: g (sin θ − μ cos θ) t", "rel", slip, 1e-10, 1e-10),
    "rolls": Row("ball on a slope: 5/7 g sin θ t", "rel", rolls, 1e-10, 1e-10),
    "slides": Row("ball on a slope, tan θ > 3.5 μ: it slides", "rel", slides, 1e-10, 1e-10),
    "bowled": Row("ball that slides: rolls with 5/7 v", "rel", rolls_in_the_end, 1e-12, 1e-12),
    "bowled, when": Row("ball that slides: rolls from 2 v/(7 μ g) on", "s", when_it_rolls, is_first_order=True),
    "bounces": Row("bouncing ball, e = 0.6: rests after √(2H/g) (1 + e)/(1 − e)", "s", bounces_end, None, 1e-11),
    "e = 1": Row("bouncing ball, e = 1: height after 3 s", "rel", bounces_on),
    "wall": Row("double pendulum on a wall: ½ (1 − e²) ζ²/(J H⁻¹ Jᵀ) is lost", "rel", loss_at_a_wall, None, 1e-12),
    "cradle": Row("three balls at once: −⅓, ⅔, ⅔", "m/s", cradle_at_once, 1e-12, 1e-12),
    "cradle, in turn": Row("three balls, one after the other: 0, 0, 1", "m/s", cradle_in_turn, None, 1e-12),
    "rocking": Row("rocking block: r = 1 − 1.5 sin² α, by the swing", "rel", housner, None, 1e-8, is_first_order=True),
    "push": Row("push that tips a box: from b/μ on", "rel", push_height, 1e-6, is_for_all=False),
    "wedge": Row("ball on a free wedge: m g sin θ cos θ/(M + m sin² θ)", "rel", wedge, 1e-10, 1e-10),
    "isotropy": Row("box that slides and stops: the same way in every direction", "rel", isotropy, 1e-9, 1e-9),
    "stops": Row("box that slides: stops after v²/(2 μ g)", "rel", stopping_way, is_first_order=True),
    "feet": Row("four feet: Σλ = m g", "rel", feet, 1e-12, 1e-12),
    "soft": Row("soft bounce (RBDA 11.74): e by its damping", "abs", soft_bounce, 1e-8, is_for_all=False),
    "momentum": Row("free balls that collide: momentum", "rel", momentum, 1e-13, 1e-13),
    "energy": Row("box that tumbles: energy never rises", "rel", energy_rise, None, 1e-10),
    "stack": Row("stack of ten boxes, 5 ms: drift in 2 s", "m", stack_drift, is_for_all=False),
    "balls": Row("25 balls bowled: mean square", "m²/s²", balls_roll, is_for_all=False),
}  # fmt: skip
