"""What is said where an array may be meant as a matrix, and is taken for a batch of vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from knuckle.engine.arrays.base import Shape, broadcast
from knuckle.warning import warn


def named_matrix(name: str) -> str:
    """How a matrix is named."""
    return f'a matrix for all states is named where the kernel is made: @kn.kernel(matrices=("{name}",))'


def must_go_together(batches: Mapping[str, Shape], others: Collection[str]) -> None:
    """An error unless the batch axes of all arguments broadcast; `others` may have been meant as matrices."""
    meant = [name for name in others if len(batches[name]) == 1]
    broadcast(batches, f"; {named_matrix(meant[0])}" if meant else "")


def warn_if_square(title: str, batches: Mapping[str, Shape], sizes: Mapping[str, int]) -> None:
    """Warns of an array that alone makes a batch, of as many vectors as they are long: it may be meant as a matrix.

    `sizes` has the lengths of the vectors that could be.
    """
    alone = [name for name, batch in batches.items() if batch]
    if len(batches) > 1 and len(alone) == 1 and (n := sizes.get(alone[0], 0)) > 1 and batches[alone[0]] == (n,):
        warn(
            f"{title}: {alone[0]} has shape {(n, n)}, and is taken for {n} vectors, one for each of {n} states; "
            f"{named_matrix(alone[0])}. If states are meant, give another argument their axis too"
        )
