"""What deformable bodies are made of: energy densities of the deformation gradient F = ∂x/∂X, over scalars of any kind.

F has a row for each axis of space and a column for each dimension of a cell: three for tetrahedra, two for triangles,
one for edges. Stress and stiffness are its slopes, by dual numbers.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from knuckle.errors import ModelError
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, sqrt
from knuckle.spatial import Matrix

FLAT = 1e-24
"""What keeps the area of a triangle that has collapsed to a line from having no slope."""


@public_in("elements")
class ElasticMaterial(ABC):
    """An elastic material. One of your own is a frozen dataclass of numbers with an `energy`."""

    dimensions: ClassVar[tuple[int, ...]] = (1, 2, 3)
    """Of cells that can be made of it: 1 for edges, 2 for triangles, 3 for tetrahedra"""

    @abstractmethod
    def energy(self, F: Matrix) -> Any:
        """The energy that a unit of volume stores where the deformation gradient is F, in J/m³."""

    def dissipation(self, F: Matrix, rate: Matrix) -> Any:
        """Half the power that a unit of volume turns to heat where F changes at `rate`, per second of damping time.

        Its second slope is the viscosity over the damping time: for Rayleigh's damping that of the stiffness at rest.
        It sees strain alone, so that turning is not damped. None, unless a material says otherwise.
        """
        return None

    def with_constants(self, constants: Sequence[Any]) -> Self:
        """The same kind of material with other numbers, or symbols, in its fields, in their order; unchecked."""
        new = copy.copy(self)
        for name, x in zip(self.constant_names, constants, strict=True):
            object.__setattr__(new, name, x)
        return new

    @property
    def constant_names(self) -> tuple[str, ...]:
        """The names of its fields."""
        if not dataclasses.is_dataclass(self):
            raise ModelError(f"{type(self).__name__} is no dataclass: a material is one, of numbers")
        return tuple(field.name for field in dataclasses.fields(self))


@dataclass(frozen=True)
class _Isotropic(ElasticMaterial):
    """Young's modulus E in Pa and Poisson's ratio ν, from 0 to below one half."""

    E: float
    nu: float = 0.3

    def __post_init__(self) -> None:
        if not (isinstance(self.E, (int, float)) and 0 < self.E < math.inf):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"E={self.E!r}: Young's modulus is a finite number above zero, in Pa")
        if not (isinstance(self.nu, (int, float)) and 0 <= self.nu < 0.5):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"nu={self.nu!r}: Poisson's ratio is from 0 to below one half")

    def lame(self, dimension: int) -> tuple[Any, Any]:
        """(λ, μ) of solids, of membranes in plane stress, and of fibres, where λ + 2 μ = E."""
        E, nu = self.E, self.nu
        if dimension == 1:
            return ZERO, E / 2
        return E * nu / ((1 + nu) * (1 - 2 * nu) if dimension == 3 else 1 - nu * nu), E / (2 * (1 + nu))

    def dissipation(self, F: Matrix, rate: Matrix) -> Any:
        """Kelvin and Voigt: μ Ė:Ė + λ/2 (tr Ė)² of the rate Ė of Green's strain."""
        lam, mu = self.lame(F.ncols)
        return _quadratic(_symmetric(F.T @ rate), lam, mu)


@public_in("elements")
@dataclass(frozen=True)
class NeoHookean(_Isotropic):
    """A rubber-like material that recovers from any deformation, inversion included.

    ψ = μ/2 (tr C − d) − μ (J − 1) + (λ + μ)/2 (J − 1)² with C = FᵀF and J the ratio of volumes: the stable form
    without a logarithm (Smith, de Goes and Kim 2018), with moduli such that it is Hooke's law at rest.
    """

    dimensions = (2, 3)

    def energy(self, F: Matrix) -> Any:
        lam, mu = self.lame(F.ncols)
        C = F.T @ F
        grown = _volume_ratio(F, C) - 1
        return mu / 2 * (_trace(C) - F.ncols) - mu * grown + (lam + mu) / 2 * grown * grown


@public_in("elements")
@dataclass(frozen=True)
class StVenantKirchhoff(_Isotropic):
    """The linear material: stress in proportion to Green's strain E = (FᵀF − 1)/2, so that turning strains nothing.

    ψ = μ E:E + λ/2 (tr E)². It is for small strains: squeezed to less than 58 % it softens.
    """

    def energy(self, F: Matrix) -> Any:
        lam, mu = self.lame(F.ncols)
        C = F.T @ F
        n = F.ncols
        return _quadratic([[(C.rows[i][k] - (i == k)) / 2 for k in range(n)] for i in range(n)], lam, mu)


@public_in("elements")
@dataclass(frozen=True)
class Hookean(ElasticMaterial):
    """Springs along edges: ψ = E/2 (l/L − 1)², which is ½ (E A/L) (l − L)² of an edge of the section A (notes 2.80)."""

    E: float
    dimensions = (1,)

    def __post_init__(self) -> None:
        if not (isinstance(self.E, (int, float)) and 0 < self.E < math.inf):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"E={self.E!r} is a finite number above zero, in Pa, or N for a section of 1")

    def energy(self, F: Matrix) -> Any:
        stretch = sqrt(_trace(F.T @ F)) - 1
        return self.E / 2 * stretch * stretch

    def dissipation(self, F: Matrix, rate: Matrix) -> Any:
        along = _trace(F.T @ rate)
        return self.E / 2 * along * along / _trace(F.T @ F)


@dataclass(frozen=True)
class HingeBending(ElasticMaterial):
    """How sheets resist bending: ψ = B/2 |F|², where F is the angle of two triangles times their edge, and normal."""

    B: float
    dimensions = (1,)

    def energy(self, F: Matrix) -> Any:
        return self.B / 2 * _trace(F.T @ F)

    def dissipation(self, F: Matrix, rate: Matrix) -> Any:
        return self.B / 2 * _trace(rate.T @ rate)


def _trace(A: Matrix) -> Any:
    return sum((A.rows[i][i] for i in range(len(A.rows))), ZERO)


def _symmetric(A: Matrix) -> list[list[Any]]:
    n = len(A.rows)
    return [[(A.rows[i][k] + A.rows[k][i]) / 2 for k in range(n)] for i in range(n)]


def _quadratic(strain: list[list[Any]], lam: Any, mu: Any) -> Any:
    """μ E:E + λ/2 (tr E)²."""
    squares = sum((x * x for row in strain for x in row), ZERO)
    trace = sum((strain[i][i] for i in range(len(strain))), ZERO)
    return mu * squares + lam / 2 * trace * trace


def _volume_ratio(F: Matrix, C: Matrix) -> Any:
    """J: det F of a solid, the ratio of areas of a membrane."""
    if F.ncols == 2:
        (a, b), (_, d) = C.rows
        return sqrt(a * d - b * b + FLAT)
    (a, b, c), (d, e, f), (g, h, i) = F.rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
