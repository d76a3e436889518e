"""Code in segments computes what code in one piece does: every kind of printer, with cuts at every few operations."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.emit.llvm.long_code import Segments
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.emit.llvm.single_state import SideBySide
from knuckle.scalar import less, maximum, select, sin, sqrt
from knuckle.spatial import Vector
from knuckle.testing import general_chain

from . import test_blocks as blocks
from .compiled import Vectors, record


@pytest.fixture(autouse=True, params=[1, 15])
def cut(request, monkeypatch) -> int:
    """All programs are cut, after so many operations each."""
    monkeypatch.setattr(Printer, "segment", request.param)
    for printer in (Printer, SideBySide):
        monkeypatch.setattr(printer, "longest", 0)
    return request.param


@blocks.each
def test_pieces_and_loops(name: str):
    """Called and repeated pieces, tables and derivatives: in vectors, for one state, through time."""
    blocks.test_vectors(name, 4)
    blocks.test_one_state(name)
    blocks.test_through_time(name, None)
    blocks.test_through_time(name, Lanes("f64", 4))


def choices(x: Any, y: Any) -> Any:
    """Comparisons that are asked again long after they were made, sums with a constant, and what is used everywhere."""
    up, far = less(x[0], y[0]), less(2.0, x[1] * x[1])
    total = x[0]
    for k in range(12):
        total = select(up, total + sin(x[k % 3] + 0.25), total * 0.5) + sqrt(1 + total * total)
        total = maximum(total, select(far, y[1], x[2]))
    return Vector([total, select(up, x[0], total), select(far, total, y[0])])


def test_comparisons(cut: int):
    program = record(choices, x=(3,), y=(2,))
    text = to_llvm(program, Lanes("f64", 4))
    assert len(re.findall(r"define internal void @kernel_segment", text)) == -(-len(program.nodes) // cut)
    x, y = blocks.states(37)
    expected = [list(choices(Vector(a), Vector(b))) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_allclose(Vectors(program, width=8)(x, y), expected, rtol=1e-12, atol=1e-13)


def test_dynamics(cut: int):
    """A whole algorithm, and values that wait where others waited before."""
    model = general_chain(3)

    def text(q: Any, v: Any, tau: Any) -> Any:
        return kn.forward_dynamics(model, q, v, tau)

    program = record(text, q=(3,), v=(3,), tau=(3,))
    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, 5, 3))
    found = Vectors(program, width=4)(q, v, tau)
    np.testing.assert_allclose(found, [program.evaluate([*a, *b, *c]) for a, b, c in zip(q, v, tau, strict=True)],
                               rtol=1e-9)  # fmt: skip


def test_places_are_used_again():
    lines = [
        "%x1 = fadd V %x0, %x0", "%x2 = fadd V %x1, %x1", "%x3 = fadd V %x2, %x2", "%x4 = fadd V %x3, %x3",
    ]  # fmt: skip
    assert Segments(lines, [1, 2, 3, 4], "V", "s", frozenset()).room == 2


def waiting(*lines: str) -> set[str]:
    """What waits for other segments, of which each line is one."""
    segments = Segments(list(lines), list(range(1, len(lines))), "V", "s", frozenset())
    return set(re.findall(r"store V %(\w+)", "".join(segments.texts())))


SUM = ("%a = fdiv V %x, %y", "%b = fdiv V %y, %x", "%total = fadd V %a, %b", "%twice = fmul V %total, %total")


def test_an_operation_on_values_that_wait_is_done_again():
    """Others need both after the sum, which is found there by one addition and need not wait itself."""
    assert waiting(*SUM, "%last = fdiv V %a, %b", "%end = fdiv V %last, %x") == {"a", "b", "last"}


def test_one_value_waits_rather_than_two():
    """Nobody needs the two after the sum; and where it is needed late, it waits, and they do not wait for it."""
    assert waiting(*SUM, "%other = fdiv V %twice, %x") == {"a", "b", "total", "twice"}
    assert waiting(*SUM, "%last = fdiv V %a, %b", "%end = fdiv V %last, %total") == {"a", "b", "total", "last"}


def test_an_operation_that_many_need_is_done_once():
    """Elsewhere than where its operands are it takes three operations and not one."""
    far = [f"%far{k} = fdiv V %total, %x" for k in range(4)]
    assert "total" in waiting(*SUM, *far, "%last = fdiv V %a, %b", "%end = fdiv V %last, %x")
