"""The printed text of two small robots, to be read: a change of a printer shows here as a change of its text.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment the texts are written anew.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knuckle.engine.emit import Lanes, to_c, to_llvm
from knuckle.engine.trace import Program
from knuckle.scalar import cos, sin

from .compiled import record

FOLDER = Path(__file__).parent / "golden"


def pendulum(q: Any, v: Any, a: Any) -> list[Any]:
    """A point of 2 kg on a rod of 0.5 m, with damping: τ = m l² a + d v + m g l sin q."""
    m, l, d, g = 2.0, 0.5, 0.125, 9.75
    return [m * l * l * a[0] + d * v[0] + m * g * l * sin(q[0])]


def two_links(q: Any, v: Any, a: Any) -> list[Any]:
    """Two points of 1 kg on rods of 1 m and 0.5 m in a horizontal plane, by Lagrange."""
    l1, l2 = 1.0, 0.5
    c, s = l1 * l2 * cos(q[1]), l1 * l2 * sin(q[1])
    H11, H12, H22 = 2 * l1 * l1 + l2 * l2 + 2 * c, l2 * l2 + c, l2 * l2
    return [
        H11 * a[0] + H12 * a[1] - s * (2 * v[0] * v[1] + v[1] * v[1]),
        H12 * a[0] + H22 * a[1] + s * v[0] * v[0],
    ]


PENDULUM = record(pendulum, q=(1,), v=(1,), a=(1,))
TWO_LINKS = record(two_links, q=(2,), v=(2,), a=(2,))
TEXTS: dict[str, tuple[Callable[[Program], str], Program]] = {
    "pendulum.c": (lambda p: to_c(p, "pendulum", about="inverse dynamics of a pendulum"), PENDULUM),
    "pendulum_single.c": (lambda p: to_c(p, "pendulum", "f32", about="inverse dynamics of a pendulum"), PENDULUM),
    "pendulum.ll": (lambda p: to_llvm(p, Lanes("f64", 2), "pendulum"), PENDULUM),
    "two_links.c": (lambda p: to_c(p, "two_links", about="inverse dynamics of two links"), TWO_LINKS),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_the_recorded_one(name: str):
    printer, program = TEXTS[name]
    text = printer(program)
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        (FOLDER / name).write_text(text, encoding="utf-8")
    assert text == (FOLDER / name).read_text(encoding="utf-8"), "if it is right, set KNUCKLE_UPDATE_GOLDEN=1"


def test_there_are_no_other_texts():
    assert {path.name for path in FOLDER.iterdir()} == set(TEXTS)


def test_printing_is_deterministic():
    for printer, program in TEXTS.values():
        assert printer(program) == printer(program)
