"""Large matrices in code: blocks that multiply one with a vector, or with several, and matrices with known zeros."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .blocks import LoopBlock
from .count import Count


@dataclass(frozen=True)
class MatrixProduct(LoopBlock):
    """A matrix times some vectors, one unless it is said. The matrix, by rows, comes before them; one of constants is
    no input, and has one vector."""

    rows: int
    columns: int
    constants: tuple[float, ...] | None = None
    vectors: int = 1

    @property
    def arrays(self) -> tuple[int, ...]:
        right = self.columns * self.vectors
        return (right,) if self.constants is not None else (self.rows * self.columns, right)

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def outputs(self) -> int:
        return self.rows * self.vectors

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n, right = self.columns, values[-self.arrays[-1] :]
        matrix = values if self.constants is None else self.constants
        vectors = [right[first : first + n] for first in range(0, len(right), n)]
        return [sum(matrix[i * n + k] * x[k] for k in range(n)) for x in vectors for i in range(self.rows)]

    def count(self) -> Count:
        return Count(mul=self.outputs * self.columns, add=self.outputs * (self.columns - 1))


HIGH, WIDE = 4, 8
"""Rows of a tile of a matrix, and columns of a panel, in sparse products."""
FEW, ZEROS = 3, 0.1
"""Columns that are too few for a panel, and the share of products with zeros that is worth more of them."""


class ColumnPanel(NamedTuple):
    """Columns with entries in the same rows: how many, these rows, and the first row of results."""

    width: int
    rows: tuple[int, ...]
    first: int = 0


class PanelRow(NamedTuple):
    """A row of a result, and where it begins there: the sum of products of an entry of A and a row of B, by places."""

    row: int
    place: int
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SparseProduct(LoopBlock):
    """A B, where the entries that are zero are known. B comes in panels, and so does the product.

    A comes in tiles, column by column of each, with zeros between its entries; then the panels, each row by row. Of the
    product the rows come that have any terms.

    Attributes:
        rows: the columns in which each row of A has entries, ascending.
        panels: the panels of B.
    """

    rows: tuple[tuple[int, ...], ...]
    panels: tuple[ColumnPanel, ...]

    @property
    def arrays(self) -> tuple[int, ...]:
        return len(self.entries), sum(panel.width * len(panel.rows) for panel in self.panels)

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def is_in_place(self) -> bool:
        return True

    @property
    def outputs(self) -> int:
        return sum(panel.width * len(rows) for panel, rows in zip(self.panels, self.sums, strict=True))

    @cached_property
    def tiles(self) -> tuple[tuple[int, ...], ...]:
        """Rows of A that go together: each has all columns of the next one, or the next one all of its own."""
        runs = list[list[int]]()
        for i in sorted((i for i, row in enumerate(self.rows) if row), key=lambda i: self.rows[i]):
            own, last = set(self.rows[i]), set(self.rows[runs[-1][-1]] if runs else ())
            if last and (own <= last or own >= last):
                runs[-1].append(i)
            else:
                runs.append([i])
        return tuple(tuple(run[first:end]) for run in runs for first, end in spans(len(run), HIGH))

    @cached_property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """Row and column of the entries of A as they come; those that it has not are zero."""
        return tuple((i, k) for tile in self.tiles for k in self.columns(tile) for i in tile)

    def columns(self, tile: tuple[int, ...]) -> list[int]:
        """The columns in which some row of a tile has an entry."""
        return sorted(set[int]().union(*(self.rows[i] for i in tile)))

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """The place of each entry of A, by row and column."""
        return {at: place for place, at in enumerate(self.entries)}

    @cached_property
    def sums(self) -> tuple[dict[int, PanelRow], ...]:
        """The rows of the product, panel by panel."""
        found, taken, given = list[dict[int, PanelRow]](), 0, 0
        for width, rows, first in self.panels:
            places, here = {k: taken + width * n for n, k in enumerate(rows)}, dict[int, PanelRow]()
            for i in range(first, len(self.rows)):
                if terms := tuple((self.places[i, k], places[k]) for k in self.rows[i] if k in places):
                    here[i] = PanelRow(i, given, terms)
                    given += width
            taken += width * len(rows)
            found.append(here)
        return tuple(found)

    def evaluate(self, values: Sequence[float]) -> list[float]:
        B = values[self.arrays[0] :]
        return [
            sum(values[a] * B[b + c] for a, b in row.terms)
            for panel, rows in zip(self.panels, self.sums, strict=True)
            for row in rows.values()
            for c in range(panel.width)
        ]

    def count(self) -> Count:
        pairs = zip(self.panels, self.sums, strict=True)
        terms = sum(panel.width * len(row.terms) for panel, rows in pairs for row in rows.values())
        return Count(mul=terms, add=terms - self.outputs)


def spans(size: int, most: int) -> list[tuple[int, int]]:
    """Pieces of at most so many, as even as they can be: where each begins and ends."""
    pieces = -(-size // most)
    return [(k * size // pieces, (k + 1) * size // pieces) for k in range(pieces)]


def column_panels(
    A: Sequence[Collection[int]], B: Sequence[Collection[int]]
) -> list[tuple[list[int], tuple[int, ...]]]:
    """Columns of B for panels, and the rows in which they have entries, by the columns of the entries of all rows.

    Where few columns have entries in the same rows, they go with others, at the cost of zeros.
    """
    inside: dict[int, list[int]] = {}
    for k, row in enumerate(B):
        for j in row:
            inside.setdefault(j, []).append(k)
    groups: dict[tuple[int, ...], list[int]] = {}
    for j, rows in sorted(inside.items()):
        groups.setdefault(tuple(rows), []).append(j)
    weights = [sum(k in row for row in A) for k in range(len(B))]
    panels = [(columns, rows) for rows, columns in groups.items() if len(columns) >= FEW]
    open_, needed = (list[int](), ()), 0
    for rows, columns in sorted((rows, columns) for rows, columns in groups.items() if len(columns) < FEW):
        both, union = [*open_[0], *columns], tuple(sorted({*open_[1], *rows}))
        own = len(columns) * sum(weights[k] for k in rows)
        is_cheap = len(both) * sum(weights[k] for k in union) <= (1 + ZEROS) * (needed + own)
        if open_[0] and is_cheap and len(both) <= WIDE and _are_near(open_[1], rows):
            open_, needed = (both, union), needed + own
        else:
            panels += [open_] if open_[0] else []
            open_, needed = (columns, rows), own
    panels += [open_] if open_[0] else []
    return sorted(
        (sorted(columns)[first : first + WIDE], rows)
        for columns, rows in panels
        for first in range(0, len(columns), WIDE)
    )


def _are_near(rows: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Whether one has all of the other, or both nearly the same."""
    common = len({*rows} & {*others})
    return common == min(len(rows), len(others)) or common >= (1 - ZEROS) * max(len(rows), len(others))
