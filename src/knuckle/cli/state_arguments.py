"""States from words on the command line: joint=value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.model import Model
from knuckle.model.labels import position_labels, position_units, velocity_labels, velocity_units

from .failures import UnusableError

Array = NDArray[Any]


def position(model: Model, option: str, words: Iterable[str], degrees: bool = False) -> Array:
    """The neutral position with some variables set; angles in radians, or in degrees."""
    q = _set(kn.neutral(model), position_labels(model), option, words, _scales(position_units(model), degrees))
    return kn.normalize(model, q, np.zeros(model.nv))[0]


def velocity(model: Model, option: str, words: Iterable[str], degrees: bool = False) -> Array:
    """Rest, with some variables set; in rad/s, or in degrees per second."""
    scales = _scales(velocity_units(model), degrees)
    return _set(np.zeros(model.nv), velocity_labels(model), option, words, scales)


def _scales(units: Sequence[str], degrees: bool) -> list[float]:
    """What a number on the command line is multiplied by."""
    return [math.pi / 180 if degrees and unit.startswith("rad") else 1.0 for unit in units]


def _set(values: Array, labels: Sequence[str], option: str, words: Iterable[str], scales: Sequence[float]) -> Array:
    changed = np.array(values, float)
    for word in (part for words_ in words for part in words_.split(",") if part.strip()):
        name, sign, text = (piece.strip() for piece in word.partition("="))
        if not sign:
            raise UnusableError(f"{option} {word}: expected joint=value, such as {labels[0]}=0.5")
        if name not in labels:
            close = difflib.get_close_matches(name, labels, n=2)
            near = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(labels)}"
            raise UnusableError(f"{option} {word}: no variable is called {name!r}; {near}")
        k = labels.index(name)
        changed[k] = scales[k] * _number(text, f"{option} {word}")
    return changed


def _number(text: str, said: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UnusableError(f"{said}: {text!r} is not a number")
    return value
