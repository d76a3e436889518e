"""Pieces of text that code is made of once: called from several places, or repeated.

For numbers these are plain calls and loops. Symbols record a piece as one operation, so that the code made from it is
as long as the text, and not as its execution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from knuckle.scalar import ZERO, Dual, Kind, kind_of, less, parts, select
from knuckle.scalar.arrays.dense import Matrix, Vector

Layout = Callable[[Iterator[Any]], Any]
"""Puts scalars together to what they were taken from."""


def called(text: Callable[..., Any], *, is_general: bool = False, is_single: bool = False) -> Callable[..., Any]:
    """The text of scalars, vectors and matrices as a piece that is printed once, however often it is called.

    What it takes from around it must stay what it is. Where arguments are known numbers, a piece of its own is made for
    these, unless it is to be a general one. A single one is called from one place: it is a piece only where loops over
    bodies are kept.
    """
    memory: dict[Any, Any] = {}

    def call(*args: Any) -> Any:
        leaves, layout = taken_apart(args)
        kind = _recording(leaves)
        if kind is None or kind.called is None:
            return text(*args)
        together: list[Layout] = memory.setdefault("layout", [])

        def flat(scalars: list[Any]) -> list[Any]:
            results, result_layout = taken_apart(text(*layout(iter(scalars))))
            together[:] = [result_layout]
            return results

        results = kind.called(memory, flat, leaves, is_general, is_single)
        return together[0](iter(results))

    return call


def with_rule(text: Callable[..., Any], rule: Any) -> Callable[..., Any]:
    """The text of scalars, vectors and matrices as a piece that has a rule for its derivatives.

    Everything it depends on must be among its arguments, or known to the rule; if it is not, where arguments are dual
    numbers, and where nothing is differentiated, it is a text like any other.
    """

    def call(*args: Any) -> Any:
        leaves, layout = taken_apart(args)
        kind = _recording(leaves)
        if kind is None or kind.ruled is None or _has_duals(args):
            return text(*args)
        together: list[Layout] = []

        def flat(scalars: list[Any]) -> list[Any]:
            results, result_layout = taken_apart(text(*layout(iter(scalars))))
            together[:] = [result_layout]
            return results

        results = kind.ruled(flat, leaves, rule)
        return text(*args) if results is None else together[0](iter(results))

    return call


def repeated(
    text: Callable[..., Any], state: tuple[Any, ...], rounds: int, *, settles: bool = False
) -> tuple[Any, ...]:
    """The state after at most some rounds state = text(*state), each run while the first entry is above zero.

    Where scalars are of many states at once, each of them stops by itself. Where some scalars of the state have
    derivatives, all of them do. A text that `settles` leaves its last state as it is, wherever it began: derivatives of
    code that is made of it follow from that, and not from the way there.
    """
    dual = next((x for x in state if isinstance(x, Dual)), None)
    leaves, layout = taken_apart(_all_like(dual, state), are_scalars=True)
    kind = _recording(leaves)

    def flat(scalars: list[Any]) -> list[Any]:
        return taken_apart(_all_like(dual, text(*layout(iter(scalars)))), are_scalars=True)[0]

    found = kind.repeated(flat, leaves, rounds, settles) if kind is not None and kind.repeated is not None else None
    return layout(iter(_in_a_row(flat, leaves, rounds) if found is None else found))


def _all_like(dual: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The state with zero derivatives where a scalar has none and another one has some."""
    if dual is None:
        return state
    return tuple(x if isinstance(x, (tuple, Vector, Matrix)) else _like(dual, x) for x in state)


def _like(dual: Any, x: Any) -> Any:
    if not isinstance(dual, Dual):
        return x
    value, slope = parts(x)
    return Dual(_like(dual.value, value), _like(dual.derivative, 0.0 if slope is ZERO else slope))


def _in_a_row(text: Callable[[list[Any]], list[Any]], state: list[Any], rounds: int) -> list[Any]:
    for _ in range(rounds):
        goes_on = less(0, state[0])
        if isinstance(goes_on, (bool, np.bool_)):
            if not goes_on:
                break
            state = text(state)
        elif isinstance(goes_on, np.ndarray) and not goes_on.any():
            break
        else:
            state = [select(goes_on, new, old) for new, old in zip(text(state), state, strict=True)]
    return state


def _has_duals(x: Any) -> bool:
    """Whether some scalar of vectors and matrices is a dual number."""
    if isinstance(x, Matrix):
        return _has_duals(x.rows)
    items = x.items if isinstance(x, Vector) else cast("tuple[Any, ...]", x) if isinstance(x, tuple) else ()
    return isinstance(x, Dual) or any(map(_has_duals, items))


def _recording(leaves: Sequence[Any]) -> Kind | None:
    """The kind of scalars, if it records pieces of text."""
    for x in leaves:
        kind = kind_of(x)
        if kind.called is not None:
            return kind
    return None


def taken_apart(x: Any, *, are_scalars: bool = False) -> tuple[list[Any], Layout]:
    """The scalars of nested tuples, vectors, matrices and duals in a row, and how they go together.

    An array of NumPy's is a scalar of many states, if arrays `are_scalars`; else it is left as it is.
    """

    def apart(x: Any) -> tuple[list[Any], Layout]:
        return taken_apart(x, are_scalars=are_scalars)

    if isinstance(x, Vector):
        items, layout = apart(x.items)
        return items, lambda scalars: Vector(layout(scalars))
    if isinstance(x, Matrix):
        items, layout = apart(x.rows)
        return items, lambda scalars: Matrix(layout(scalars), x.ncols)
    if isinstance(x, Dual):
        items, layout = apart((x.value, x.derivative))
        return items, lambda scalars: Dual(*layout(scalars))
    if isinstance(x, tuple):
        parts = [apart(item) for item in x]  # pyright: ignore[reportUnknownVariableType]
        scalars = [scalar for items, _ in parts for scalar in items]
        return scalars, lambda scalars: tuple(layout(scalars) for _, layout in parts)
    if x is None or (isinstance(x, np.ndarray) and x.ndim and not are_scalars):
        return [], lambda scalars: x
    return [x], next
