"""Tables of numbers that are read at places which are known only when the code runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .dual import parts
from .kinds import kind_of


@dataclass(frozen=True)
class Grid:
    """Numbers by rows of so many columns, of which a window of `high` rows and `wide` columns is read at a time."""

    values: tuple[float, ...]
    columns: int
    high: int
    wide: int

    def __post_init__(self) -> None:
        rows, left = divmod(len(self.values), self.columns)
        if left or rows < self.high or self.columns < self.wide:
            raise ValueError(f"{len(self.values)} numbers in {self.columns} columns have no {self.high} by {self.wide}")

    @property
    def last(self) -> tuple[int, int]:
        """The last row and column at which a window begins."""
        return len(self.values) // self.columns - self.high, self.columns - self.wide

    def window(self, row: Any, column: Any) -> tuple[Any, Any, list[Any]]:
        """The row and column at which the window begins, and its numbers, row by row.

        They are whole numbers: the row and column rounded down, and moved to where the window is in the grid. Their
        derivatives are zero, as those of steps are.
        """
        row, column = parts(row)[0], parts(column)[0]
        own = kind_of(row, column).looked_up
        i, k, *numbers = self.at_numbers(row, column) if own is None else own(self, row, column)
        return i, k, numbers

    def at_numbers(self, row: Any, column: Any) -> Sequence[Any]:
        """The same for plain numbers, in a row."""
        kind = kind_of(row, column)
        i, k = (_start(kind.value(x), last) for x, last in zip((row, column), self.last, strict=True))
        rows = (i + r for r in range(self.high))
        return [i, k, *(self.values[r * self.columns + k + c] for r in rows for c in range(self.wide))]


def _start(x: Any, last: int) -> int:
    return int(min(x, last)) if x > 0 else 0
