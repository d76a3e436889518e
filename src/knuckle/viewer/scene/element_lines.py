"""Springs, cables and muscles as lines: through their points and over surfaces, coloured by activation or tension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.elements import tensions
from knuckle.model import Model
from knuckle.model.elements import Line
from knuckle.model.elements.lines import TensionLine
from knuckle.model.elements.muscles.muscle_states import is_muscle, law_of
from knuckle.spatial import Transform
from knuckle.trajectory.muscle_rows import MuscleRows

from .triangles import Array

REST_COLOR, ACTIVE_COLOR = "#6d92cf", "#e3120b"
"""Of muscles that are not activated, and of those that are."""
SLACK_COLOR, TAUT_COLOR = "#8d939c", "#e06c00"
"""Of other lines without tension, and with the largest that they have in a motion."""
_WIDTH, _THICK = 0.012, 0.032
"""Of a line, and of a muscle, in parts of the figure's size."""


@dataclass(frozen=True, eq=False)
class ElementLines:
    """The pieces of all lines of a motion, those of one moment after those of another."""

    start: Array
    """(n + 1,): where the pieces of a moment begin, and after the last one end"""
    ends: Array
    """(m, 2, 3) in base coordinates"""
    color: Array
    """(m, 3) from 0 to 1"""
    width: Array
    """(m,) in metres"""
    has_muscles: bool
    has_others: bool
    most: float
    """the tension of the strongest colour, in newtons"""

    def at(self, k: int) -> tuple[Array, Array, float]:
        """Ends and colours at one moment, and the largest width."""
        part = slice(self.start[k], self.start[k + 1])
        return self.ends[part], self.color[part], float(self.width[part].max(initial=0.0))


def element_lines(
    model: Model, q: Array, v: Array | None, poses: Array, size: float, muscles: MuscleRows | None = None,
    most: float = 0.0,
) -> ElementLines | None:  # fmt: skip
    """The lines of a model at positions (n, nq), with bodies at poses (n, 1 + nb, 4, 4); None if it has none.

    The colour of those that are no muscles is by the largest tension that there is, or `most`, in newtons.
    """
    lines = [x for x in model.elements if isinstance(x, TensionLine)]
    if not any(isinstance(x, Line) for x in lines):
        return None
    colors, most = _colors(model, lines, q, v, muscles or MuscleRows(), most)
    start, ends, shown, widths = [0], list[Array](), list[Array](), list[Array]()
    frames = {x.name: [model.frame(name) for name in x.frames] for x in lines}
    to_space = model.algebra.to_space
    for T, row in zip(poses, colors, strict=True):
        X = [Transform.of(tuple(map(tuple, P[:3, :3].T.tolist())), tuple(P[:3, 3].tolist())) for P in T]
        for line, color in zip(lines, row, strict=True):
            if isinstance(line, Line):
                pieces = _pieces(line, [to_space(frame.X) @ X[frame.body + 1] for frame in frames[line.name]])
                ends.append(pieces)
                shown.append(np.broadcast_to(color, (len(pieces), 3)))
                widths.append(np.full(len(pieces), size * (_THICK if is_muscle(line) else _WIDTH)))
        start.append(sum(map(len, ends)))
    muscular = [is_muscle(x) for x in lines if isinstance(x, Line)]
    both = any(muscular), not all(muscular)
    arrays = np.concatenate(ends), np.concatenate(shown), np.concatenate(widths)
    return ElementLines(np.array(start), *arrays, *both, most)


def _pieces(line: Line, X: Sequence[Any]) -> Array:
    """(m, 2, 3): from point to point."""
    found = list[Array]()
    for strand in line.strands(X):
        points = np.array([[float(x) for x in point] for point in strand])
        found.append(np.stack([points[:-1], points[1:]], axis=1))
    return np.concatenate(found)


def _colors(
    model: Model, lines: Sequence[Any], q: Array, v: Array | None, muscles: MuscleRows, most: float
) -> tuple[Array, float]:
    """(n, lines, 3): muscles by activation, others by tension; and the largest of these."""
    at_rest = np.zeros((len(q), model.nv)) if v is None else v
    muscular = np.array([is_muscle(x) for x in lines])
    own = np.array([float(law_of(x).activation) for x in lines if is_muscle(x)])
    level = np.zeros((len(q), len(lines)))
    level[:, muscular] = own if muscles.activations is None else muscles.activations
    if not muscular.all():
        pull = np.asarray(tensions(model, q, at_rest))[:, ~muscular]
        most = max(float(pull.max(initial=0.0)), most)
        level[:, ~muscular] = np.maximum(pull, 0) / max(most, 1e-12)
    low, high = (
        np.where(muscular[:, None], rgb(one), rgb(other))
        for one, other in ((REST_COLOR, SLACK_COLOR), (ACTIVE_COLOR, TAUT_COLOR))
    )
    return low + np.clip(level, 0, 1)[..., None] * (high - low), most


def rgb(color: str) -> Array:
    """#rrggbb from 0 to 1."""
    return np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
