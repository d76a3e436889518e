"""RedMax's scenes by number: mechanisms of cuboids in centimetres, grams and seconds, and what RedMax prints for them.

Folder `matlab`: its energies after linearly implicit Euler steps, and what they converge to where that is known.
Folder `matlab-diff`: its energies after BDF1 and BDF2 with an SDIRK2 start. All are T + V at the end − V at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, pi
from typing import Any

from knuckle.constraints import Constraint, Custom, JointPosition, Point
from knuckle.joints import Composite, Euler, ExponentialSpherical, Prismatic, Revolute, Translational, Universal
from knuckle.model import Model

from .bars import (
    DOWN,
    NONE,
    branching,
    cart,
    chain,
    damped,
    hanging_chain,
    in_plane,
    offset_pair,
    one,
    plate,
    sliding,
    swing,
    swung,
)


@dataclass(frozen=True)
class Scene:
    """A mechanism, how it begins, what acts on it, and RedMax's energies."""

    name: str
    model: Model
    q: tuple[float, ...]
    v: tuple[float, ...] = ()
    duration: float = 2.0
    step: float = 0.01
    constraints: tuple[Constraint, ...] = ()
    law: Callable[[float], tuple[float, float]] | None = None
    """Where the first joint is to be at a time, and how fast it moves there."""
    torque: Callable[[float], tuple[float, ...]] | None = None
    pull: tuple[float, float, float] | None = None
    """A force along axes of the base at the frame `tip`, held for a step."""
    printed: float | None = None
    """RedMax's energy: of its Euler steps in `EULER`, of BDF1 and BDF2 in `DIFFERENTIABLE`."""
    bdf2: float | None = None
    corrected: float | None = None
    """The energy without a fault of RedMax's."""
    true: float | None = None
    """What steps of any kind converge to, where RedMax's other column is right about it."""

    @property
    def expected(self) -> float | None:
        """The energy that Euler steps, or BDF1, have to end with."""
        return self.printed if self.corrected is None else self.corrected


def _turned_in_time(t: float) -> tuple[float, float]:
    """Scene 9: three quarters of a turn within seven seconds, by the logistic function, which ends a little before."""
    steep, turn, end = 14.0, 1.5 * pi, 7.0
    part = 1 / (1 + exp(-steep * (t / end - 0.5)))
    return (turn, 0.0) if t >= end else (turn * part, turn * part * (1 - part) * steep / end)


def _torques(t: float) -> tuple[float, ...]:
    """Scene 5."""
    return (0.0, 0.0, 100.0) if t < 3 else (0.0, 100.0, -100.0) if t < 6 else (100.0, -100.0, 0.0)


def _halves(model: Model, q: Any) -> list[Any]:
    return [q[1] - 0.5 * q[0], q[2] - 0.5 * q[1]]


QUARTER = pi / 4
_EXPONENTIAL = ExponentialSpherical()
_UNIVERSAL = hanging_chain(*[Universal("xy")] * 3)
_BEND = pi / 8, 0.0, 0.0, pi / 8, pi / 8, 0.0
_STOPS = JointPosition("bar1_joint", -QUARTER, bound=">="), JointPosition("bar1_joint", QUARTER, bound="<=")
_CLOSED = Point("right end", "low end", along=((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
_SLIDING_PLATE, _HELD_PLATE = plate(sliding("xy")), plate(Translational(), NONE)

EULER = {
    -1: Scene("double pendulum", chain("y", "y"), (pi / 2, QUARTER), printed=-3697.45457),
    0: Scene("five bars, two of them fixed", chain("y", "f", "y", "f", "y"), (QUARTER,) * 3, printed=-5930.81711),
    1: Scene("axes across", chain("z", "y", "z"), (0.0, pi / 2, pi / 2), printed=-9423.25940),
    2: Scene("branches", branching(), (0.0, 0.0, QUARTER, QUARTER), printed=-1123.98254),
    3: Scene(
        "ball joints by rotation vectors",
        hanging_chain(_EXPONENTIAL, _EXPONENTIAL),
        (pi / 8, 0.0, 0.0) * 2,
        (0.0, 0.0, 2.0, 0.0, 0.0, 0.0),
        3.0,
        printed=7788.80556,
    ),
    4: Scene("a loop", swing(), (0.0,) * 4, (0.0, 0.0, 0.0, 5.0), constraints=(_CLOSED,), printed=3987.20118),
    5: Scene(
        "torques", chain("y", "y", "y", gravity=NONE), (0.0,) * 3, (), 10.0, 0.05, torque=_torques, printed=170.59712
    ),
    6: Scene(
        "a joint with stops", chain("y", "y"), (0.0, 0.0), constraints=_STOPS, printed=36957.44478, corrected=34838.892
    ),
    7: Scene(
        "followers", chain("y", "y", "y"), (0.0,) * 3, step=0.02, constraints=(Custom(_halves),), printed=42645.15414
    ),
    9: Scene(
        "a law of time",
        chain("y", "y", "y", gravity=NONE),
        (0.0,) * 3,
        (),
        10.0,
        0.02,
        law=_turned_in_time,
        printed=199570.93004,
    ),
    10: Scene("drag on bodies", damped(), (0.0,) * 3, pull=(0.0, 0.0, 1000.0), printed=1088.34257),
    11: Scene(
        "springs at joints",
        chain("y", "y", "y", gravity=NONE, stiffness=1e4, damping=1e3),
        (0.0,) * 3,
        (1.0, 0.0, 0.0),
        5.0,
        0.02,
        printed=2659.72189,
    ),
    14: Scene("universal joints", _UNIVERSAL, _BEND, printed=9679.33654),
    16: Scene("a plate that slides", _SLIDING_PLATE, (0.0, 0.0, pi / 2, QUARTER), printed=1027.34049),
    17: Scene(
        "a plate in space",
        _HELD_PLATE,
        (0.0,) * 5,
        (0.0, 0.0, 0.0, 2.0, 1.0),
        printed=836.23501,
        true=835.4166666666666,
    ),
    18: Scene(
        "a cube in flight",
        one(Composite((Translational(), _EXPONENTIAL)), (1.0, 1.0, 1.0), gravity=(0.0, 0.0, -1.0)),
        (0.0,) * 6,
        (0.0, 0.0, 3.0, 0.2, 0.4, 0.6),
        7.0,
        printed=4.51167,
        true=4.546666666666667,
    ),
    19: Scene(
        "a sliding swing",
        one(Composite((Revolute("x"), Prismatic("x"))), DOWN, (0.0, 0.0, 5.0)),
        (0.1, 0.0),
        (0.0, 1.0),
        step=0.02,
        printed=918.50866,
        true=5.0,
    ),
    26: Scene("bodies off their joints", offset_pair(), (0.0, 0.0), duration=1.0, printed=59.88209),
    35: Scene(
        "a pair in a plane",
        swung(),
        (0.0,) * 4,
        (0.0, 0.0, 1.0, -1.0),
        10.0,
        printed=166.92325,
        true=167.08333333333334,
    ),
}
"""Of linearly implicit Euler steps (notes 2.73), constraints by G q̇⁺ = −ġ − 5 g."""


def _differentiable(number: int, name: str, bdf1: float, bdf2: float, **changes: Any) -> Scene:
    """One of the scenes above, as the other folder has it."""
    changed = {"duration": 1.0, "step": 0.01, "corrected": None, "true": None} | changes
    return replace(EULER[number], name=name, printed=bdf1, bdf2=bdf2, **changed)


DIFFERENTIABLE = {
    0: _differentiable(0, "five bars, two of them fixed", -127053.98823, 2605.80082),
    1: _differentiable(1, "axes across", -38359.07426, -971.38546),
    2: _differentiable(2, "branches", -22826.10193, -241.59349),
    3: Scene("a cart", cart(), (0.0, pi / 2), (), 1.0, printed=-37579.40240, bdf2=-611.32876),
    4: _differentiable(16, "a plate that slides", -45738.93965, -470.00178),
    5: _differentiable(17, "a plate in space", 33661.70415, 33377.46489, v=(0.0, 0.0, 0.0, -10.0, 10.0), duration=2.0),
    6: Scene(
        "a cube in a plane",
        one(in_plane(), (1.0, 1.0, 1.0), gravity=(0.0, -980.0, 0.0)),
        (0.0,) * 3,
        (50.0, 200.0, 20.0),
        0.4,
        0.005,
        printed=20322.93333,
        bdf2=21283.33333,
    ),
    8: _differentiable(14, "universal joints", -25276.24694, -1378.12813),
    9: Scene(
        "a cube in flight",
        one(Composite((Translational(), Euler("xyz"))), (1.0, 1.0, 1.0), gravity=(0.0, 0.0, -1.0)),
        (0.0,) * 6,
        (0.0, 0.0, 3.0, 0.2, 0.4, 0.6),
        6.0,
        0.05,
        printed=4.39709,
        bdf2=4.54665,
    ),
}
"""Of BDF1, and of BDF2 with an SDIRK2 start."""
