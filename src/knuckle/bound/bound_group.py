"""Functions of the library as methods of an object that has the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from knuckle.engine.calls.function import Function
from knuckle.model import Model

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class BoundMethod(Generic[P, R]):
    """A function of the library as a method, prepared when it is first asked for."""

    def __init__(self, function: Function[P, R]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[BoundGroup]) -> BoundMethod[P, R]: ...
    @overload
    def __get__(self, instance: BoundGroup, owner: type[BoundGroup]) -> Callable[P, R]: ...
    def __get__(self, instance: BoundGroup | None, owner: type[BoundGroup]) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.function.__name__, self.function.bound(instance.model))


class BoundGroup:
    """Functions of the library as methods, for one model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __reduce__(self) -> tuple[Callable[..., BoundGroup], tuple[Model]]:
        return type(self), (self.model,)
