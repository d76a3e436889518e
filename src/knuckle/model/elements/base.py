"""What every force element is: forces on some frames of a mechanism, as functions of where these are and how they move.

A new element is a frozen dataclass with a `name` that derives from `ForceElement` and is written over scalars of any
kind: rates of change come from the same text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from knuckle.public_names import public_in
from knuckle.scalar import ZERO
from knuckle.spatial import Force, Motion, Transform

from .local_slopes import LocalSlopes, differentiated

E = TypeVar("E", bound="ForceElement")


@public_in("elements")
class ForceElement(ABC):
    """A force element. It acts on the frames that it names, and knows nothing else of the mechanism."""

    name: str
    """Unique among the elements of a model"""
    armature: float = 0.0
    """The mass in kilograms that moves along an element that is a line as fast as it grows; none for most others"""

    @property
    @abstractmethod
    def frames(self) -> tuple[str, ...]:
        """The names of the bodies and frames that it acts on."""

    @property
    def wound_on(self) -> tuple[str, ...]:
        """The names of the bodies whose joints it needs to know; none, for most."""
        return ()

    def on_joints(self, joints: Sequence[Any]) -> ForceElement:
        """The element on these joints, in a state: itself, for most."""
        return self

    @abstractmethod
    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> Sequence[Force]:
        """The force on each of its frames, in their coordinates.

        Args:
            X: ᶠX_0 of each frame: from base to frame coordinates.
            V: the velocity of each frame, in its own coordinates.
        """

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        """How its forces change with where its frames are and how they move, for implicit steps (notes 1.30).

        By exact differentiation, of which the symmetric part is taken, unless it says otherwise.
        """
        return differentiated(self, X, V)

    def energy(self, X: Sequence[Transform]) -> Any:
        """The energy that it stores, in joules; none, unless it says otherwise. Forces at rest are its slope."""
        return ZERO

    def inertias(self, X: Sequence[Transform]) -> Sequence[tuple[Any, Sequence[Force]]]:
        """What moves along with it: inertias a, each with forces on its frames whose power is minus its speed s.

        They add Σ a s²/2 to the kinetic energy.
        """
        return ()

    def length(self, X: Sequence[Transform]) -> Any:
        """The length of an element that is a line; None for others."""
        return None

    def tension(self, X: Sequence[Transform], V: Sequence[Motion]) -> Any:
        """The tension of an element that is a line; None for others."""
        return None

    @abstractmethod
    def renamed(self: E, name: str, frame: Callable[[str], str]) -> E:
        """The same element under another name, on frames that have other names."""
