"""The order of operations: the same function, with fewer values that wait."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.trace import Program
from knuckle.engine.trace.node_order import in_good_order, most_waiting, result_by_result
from knuckle.testing import auto_tree


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    tree = auto_tree(7, 2.0, 0.3)
    return [kn.coriolis_matrix.program(tree), kn.inverse_dynamics.program(tree)]


def test_an_order_changes_no_digit(programs: list[Program]) -> None:
    for program in programs:
        other = result_by_result(program)
        values = np.random.default_rng(0).normal(size=sum(n for _, n in program.arguments)).tolist()
        assert other.evaluate(values) == program.evaluate(values)
        assert sorted(n.op for n in other.nodes) == sorted(n.op for n in program.nodes)
        assert all(k < i for i, node in enumerate(other.nodes) for k in node.operands)


def test_what_waits_is_counted(programs: list[Program]) -> None:
    for nodes in (program.nodes for program in programs):
        needed = [
            {k for later in nodes[i:] for k in later.operands if k < i and nodes[k].op not in ("input", "constant")}
            for i in range(0, len(nodes), 50)
        ]
        assert most_waiting(nodes) >= max(map(len, needed))
        assert most_waiting(nodes) <= len(nodes)


def test_the_order_with_fewer_is_taken(programs: list[Program]) -> None:
    for program in programs:
        both = most_waiting(result_by_result(program).nodes), most_waiting(program.nodes)
        assert most_waiting(in_good_order(program).nodes) <= both[1]
    derivatives = kn.derivatives.inverse_dynamics.program(auto_tree(9, 2.0, 0.3))
    assert most_waiting(derivatives.nodes) < 250


def test_what_a_block_gives_comes_right_after_it() -> None:
    program = kn.derivatives.forward_dynamics.program(auto_tree(16, 1.0, 0.3))
    assert any(block.is_in_place for block in program.blocks)
    other = result_by_result(program)
    values = np.random.default_rng(0).normal(size=sum(n for _, n in program.arguments)).tolist()
    assert other.evaluate(values) == program.evaluate(values)
    for i, node in enumerate(other.nodes):
        if node.op == "part":
            assert {x.op for x in other.nodes[node.a + 1 : i]} <= {"part"}
