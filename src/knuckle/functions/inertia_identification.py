"""Inertia parameters and what of them can be seen at the joints (RBDA 9.7): regressors and base parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.dynamics import regressor as texts
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.model.inertia_parameters import parameter_names, to_parameters
from knuckle.public_names import public_in
from knuckle.spatial import Matrix

from .configuration import random_configuration

ROUNDING = 1e-9
"""Coefficients of a combination that are smaller are none."""


@public_in("identification")
@function(q="q", v="v", a="v")
def regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Y (..., nv, 10 nb) with τ = Y π, π = `inertial_parameters(model)`: inverse dynamics is linear in the inertias.

    Damping, friction, springs and rotor inertia at the joints are not counted: they are not in π.
    """
    columns = texts.regressor(model, model.positions(q), model.velocities(q, v), model.accelerations(q, v, a))
    return Matrix.columns((model.forces(q, column) for column in columns), model.nv)


@public_in("identification")
def inertial_parameters(model: Model) -> NDArray[np.float64]:
    """π (10 nb,): mass, first and second moments (xx, xy, yy, xz, yz, zz) of each body, about its own origin."""
    return np.array([float(x) for I in model.I for x in to_parameters(I)])


@public_in("identification")
@dataclass(frozen=True)
class BaseParameters:
    """The combinations of inertia parameters that the joint forces show: the base parameters B π.

    `matrix` is B (number, 10 nb); `columns` are the parameters that head the combinations, with the coefficient one and
    in no other; `names` writes the combinations out. The regressor is Y[:, columns] B.
    """

    number: int
    columns: tuple[int, ...]
    matrix: NDArray[np.float64]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.number} base parameters of {self.matrix.shape[1]}:", *self.names])


@public_in("identification")
def base_parameters(model: Model, *, tolerance: float = 1e-8, rng: np.random.Generator | int = 0) -> BaseParameters:
    """The least number of inertia parameters that give the same joint forces in every motion, and their grouping.

    The regressor of random motions is examined column by column, from the base outward: a column that those before it
    give (all of it but `tolerance`) belongs to a parameter that is seen only together with theirs.

    Args:
        model: the mechanism; its gravity counts, as does what its limits leave of the positions.
        tolerance: how much of a column, as a part of it, may be rounding.
        rng: where the motions come from.
    """
    generator = np.random.default_rng(rng)
    per_body = len(parameter_names(model.algebra))
    states = 2 * per_body * max(model.nb, 1) // max(model.nv, 1) + 10
    q = np.array([random_configuration(model, generator) for _ in range(states)]).reshape(states, model.nq)
    v, a = generator.normal(scale=3.0, size=(2, states, model.nv))
    Y = np.asarray(regressor(model, q, v, a)).reshape(states * model.nv, per_body * model.nb)
    R: Any = np.linalg.qr(Y, mode="r")
    order = _order(model)
    kept = _independent(R[:, order], tolerance)
    columns = order[kept]
    columns = np.sort(columns)
    B = _grouping(R, columns)
    return BaseParameters(len(columns), tuple(columns.tolist()), B, _written(model, B, columns))


def _grouping(R: NDArray[Any], columns: NDArray[np.int_]) -> NDArray[np.float64]:
    """B with R = R[:, columns] B."""
    solved: Any = np.linalg.lstsq(R[:, columns], R, rcond=None)
    B: Any = np.where(np.abs(solved[0]) < ROUNDING, 0.0, solved[0])
    B[:, columns] = np.eye(len(columns))
    return B


def _order(model: Model) -> NDArray[np.int_]:
    """The parameters in the order in which they are kept: body by body outward, moments before masses."""
    per_body = len(parameter_names(model.algebra))
    first = [*range(1, per_body), 0]
    return np.array([i * per_body + k for i in range(model.nb) for k in first], int)


def _independent(R: NDArray[Any], tolerance: float) -> list[int]:
    """The columns that those before them do not give, by orthogonal parts (twice is enough)."""
    kept: list[int] = []
    basis: list[NDArray[Any]] = []
    sizes = np.linalg.norm(R, axis=0)
    for k in range(R.shape[1]):
        if sizes[k] <= tolerance * sizes.max(initial=0.0):
            continue
        rest = R[:, k] / sizes[k]
        for _ in range(2):
            for b in basis:
                rest = rest - (b @ rest) * b
        left = float(np.linalg.norm(rest))
        if left > tolerance:
            kept.append(k)
            basis.append(rest / left)
    return kept


def _written(model: Model, B: NDArray[Any], columns: NDArray[np.int_]) -> tuple[str, ...]:
    """Each combination as a sum, such as "Izz[upper] + 0.25 m[lower]"."""
    names = [f"{name}[{body}]" for body in model.body_names for name in parameter_names(model.algebra)]
    lines: list[str] = []
    for row, head in zip(list[list[float]](B.tolist()), list[int](columns.tolist()), strict=True):
        others: list[str] = [f"{_coefficient(x)}{names[k]}" for k, x in enumerate(row) if x and k != head]
        lines.append(" ".join([names[head], *others]))
    return tuple(lines)


def _coefficient(x: float) -> str:
    size = "" if abs(abs(x) - 1) < 1e-9 else f"{abs(x):.6g} "
    return f"{'-' if x < 0 else '+'} {size}"
