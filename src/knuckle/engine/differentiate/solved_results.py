"""What the pieces of a text that solve give: how many numbers, so that there is room to note them."""

from __future__ import annotations

from knuckle.engine.kernels.per_model import PerModel
from knuckle.engine.kernels.specialization import Arguments, Specialization, UntraceableError

from .sweep import is_solving

_counts: PerModel[tuple[int]] = PerModel()


def solved_count(specialization: Specialization, arguments: Arguments) -> int:
    """How many results such pieces have in a row (`Sweep.solved`); those within other pieces do not count."""

    def made() -> tuple[int]:
        try:
            program, _ = specialization.traced(arguments, has_rules=True)
        except UntraceableError as error:
            raise (error.__cause__ or error) from None
        called = (program.blocks[node.a] for node in program.nodes if node.op == "call")
        return (sum(block.outputs for block in called if is_solving(block)),)

    return _counts.setdefault(specialization.model, (specialization.key(), tuple(arguments.items())), made)[0]
