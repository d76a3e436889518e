"""Which results of a program have a part in a derivative, where results become inputs of the next round or step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from knuckle.engine.trace.program import Program
from knuckle.scalar.operations import CONDITIONS


def influential(program: Program, asked: Iterable[int], fed: Mapping[int, int]) -> set[int]:
    """The results that some results change with, now or in later rounds, these among them.

    Args:
        program: one round.
        asked: the numbers of results.
        fed: the number of the input that each of some results becomes.
    """
    reads = _inputs_read(program)
    result_of = {number: k for k, number in fed.items()}
    found, left = set[int](), list(asked)
    while left:
        k = left.pop()
        if k not in found:
            found.add(k)
            left += [result_of[number] for number in _numbers(reads[k]) if number in result_of]
    return found


def _inputs_read(program: Program) -> list[int]:
    """For each result the inputs that its derivatives depend on, as bits; what conditions look at is not among them."""
    bits: list[int] = []
    for node in program.nodes:
        own = 1 << node.a if node.op == "input" else 0
        if node.op not in CONDITIONS:
            operands = (node.b, node.c) if node.op == "select" else node.operands
            for k in operands:
                own |= bits[k]
        bits.append(own)
    return [bits[i] for i in program.outputs]


def _numbers(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]
