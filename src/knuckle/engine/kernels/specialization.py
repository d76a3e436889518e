"""A function's text for one model: what runs on scalars of any kind, and what kernels are made from."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from knuckle.engine.arrays.base import Shape, never_defined
from knuckle.engine.arrays.result_layout import Layout, laid_out
from knuckle.engine.trace import Program, trace
from knuckle.engine.trace.execute import record
from knuckle.engine.trace.regions import MarkedModel, record_marked
from knuckle.engine.trace.rolled_blocks import trace_in_blocks
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, StructuralDivisionError, inside_a_kernel
from knuckle.spatial import SPATIAL, Force, Matrix

from .captured_values import Surroundings, surroundings
from .per_model import per_model

if TYPE_CHECKING:
    from knuckle.model.canonical.canonical_form import Canonical

Text: TypeAlias = Callable[..., Any]
Arguments: TypeAlias = Mapping[str, Shape]
Result: TypeAlias = tuple[list[Any], Layout]


class UntraceableError(Exception):
    """A text that cannot run on symbols: it is wrong, or it looks at values. The cause says which."""


@dataclass(frozen=True)
class Specialization:
    """A function's text for a model, with its options fixed. A call gives the scalars of the results in a row.

    Attributes:
        name: what the function is called.
        text: the function itself, over scalars.
        model: the mechanism.
        options: arguments that are no arrays, by name.
        numbers: arguments that are single numbers; they come as vectors of one.
        is_users: whether the text is a user's. It sees one state, in which arrays are vectors of constants and the
            library's functions take scalars; it is compiled at its first call, and kept under its operations.
    """

    name: str
    text: Text
    model: Model
    options: tuple[tuple[str, Any], ...] = ()
    numbers: tuple[str, ...] = ()
    is_users: bool = False

    def __call__(self, scalars: Mapping[str, Any]) -> Result:
        values = {name: x[0] if name in self.numbers else x for name, x in scalars.items()}
        try:
            with inside_a_kernel() if self.is_users else contextlib.nullcontext():
                result = self.text(self.model, **values, **dict(self.options))
        except StructuralDivisionError as error:
            raise never_defined(error) from error
        return laid_out(result, self.name, of_one_state=self.is_users)

    @property
    def needs_double(self) -> bool:
        """Whether to compute in double precision: loops tell dependent constraints by what rounding leaves."""
        return bool(self.model.loops)

    def on_symbols(self, symbols: Mapping[str, Any]) -> Result:
        """The text on symbols, on whatever model leaves the fewest operations."""
        if self._is_of_joint_space():
            return self._on_canonical(symbols)
        if getattr(self.text, "any_frames", False) and self._has_canonical_form():
            return dataclasses.replace(self, model=canonical_form(self.model).model)(symbols)
        return self(symbols)

    def on_model(self, model: Model, **symbols: Any) -> Result:
        """The text on symbols, for another model."""
        try:
            return dataclasses.replace(self, model=model)(symbols)
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error

    def _is_of_joint_space(self) -> bool:
        """Whether the result is about joints only, so that any dynamically equivalent model gives it (RBDA 9.7)."""
        named = getattr(self.text, "joint_space", False) and dict(self.options).get("method") != "divide"
        return named and self._has_canonical_form()

    def _has_canonical_form(self) -> bool:
        return type(self.model) in (Model, MarkedModel) and self.model.algebra is SPATIAL

    def _on_canonical(self, symbols: Mapping[str, Any]) -> Result:
        """The text on the equivalent model with the fewest constants."""
        form = canonical_form(self.model)
        values = dict(symbols)
        if values.get("f_ext") is not None:
            forces = form.forces([Force.of(row) for row in values["f_ext"].rows])
            values["f_ext"] = Matrix((force.components for force in forces), SPATIAL.dimension)
        return dataclasses.replace(self, model=form.light)(values)

    def key(self) -> tuple[Any, ...]:
        """What tells this from other specializations for its model: hashable if the options are."""
        options: Any = ((name, type(value), value) for name, value in self.options)
        return self.text, self.numbers, *options

    def surroundings(self) -> Surroundings | None:
        """What the text, its options and the model's laws take from around themselves, as it is now."""
        laws = () if _is_plain(self._parts()) else self._parts()
        return surroundings(self.text, self.options, laws)

    def _parts(self) -> tuple[Any, ...]:
        return self.model.joints, self.model.loops, self.model.couplings, self.model.elements

    def program(self, arguments: Arguments) -> Program:
        """The operations that remain when the text runs on symbols."""
        return self.traced(arguments)[0]

    def traced(
        self, arguments: Arguments, in_blocks: bool = False, *, has_rules: bool = False
    ) -> tuple[Program, Layout]:
        """The operations that remain when the text runs on symbols, and how its results go together.

        Pieces that the text calls keep their loops if it is traced in blocks, for a large mechanism. Those that have a
        rule for their derivatives are kept as blocks if that is said.
        """
        layouts: list[Layout] = []

        def unpack(result: Result) -> tuple[list[Any], Shape]:
            scalars, layout = result
            layouts.append(layout)
            return scalars, layout.shape

        def text(model: Model = self.model, **symbols: Any) -> Result:
            return dataclasses.replace(self, model=model).on_symbols(symbols)

        try:
            if in_blocks:
                return trace_in_blocks(text, self.model, arguments, unpack), layouts[-1]
            return trace(text, arguments, unpack, has_rules=has_rules), layouts[-1]
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error

    def layout(self, arguments: Arguments) -> Layout:
        """How the results of the text go together."""
        layouts: list[Layout] = []

        def unpack(result: Result) -> tuple[list[Any], Shape]:
            layouts.append(result[1])
            return [], (0,)

        def text(**symbols: Any) -> Result:
            return self(symbols)

        try:
            record(text, arguments, unpack)
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error
        return layouts[-1]

    def recorded_in_stretches(self, arguments: Arguments) -> tuple[Program, Layout, tuple[int, ...]]:
        """The operations of the text as they come, with the stretch of its loops that each belongs to."""
        layouts: list[Layout] = []

        def unpack(result: Result) -> tuple[list[Any], Shape]:
            layouts.append(result[1])
            return result[0], result[1].shape

        program, stretches = record_marked(self.on_model, self.model, arguments, unpack, has_rules=True)
        return program, layouts[-1], stretches

    @property
    def is_named(self) -> bool:
        """Whether the names of the text and of the model's parts say what they do: all of them are the library's.

        Otherwise the kernel goes by the operations themselves, as another text may have the same name.
        """
        is_ours = self.text.__module__.startswith("knuckle.")
        is_function = inspect.isfunction(self.text) and self.text.__closure__ is None
        return is_ours and (is_function or _is_plain(self.text)) and _is_plain((*self._parts(), self.options))

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells the text and its options from others of the library, in any process."""
        text = self.text if dataclasses.is_dataclass(self.text) else self.text.__qualname__
        return self.text.__module__, text, self.options, self.numbers, self.is_users


@per_model
def canonical_form(model: Model) -> Canonical:
    """The equivalent model with the fewest constants, and the way to it."""
    from knuckle.model.canonical.canonical_form import canonical

    return canonical(model)


def _is_plain(x: Any) -> bool:
    """Whether `x` is made of numbers, names and the library's own parts only."""
    if x is None or x is ZERO or x is ONE or isinstance(x, (str, int, float)):
        return True
    if isinstance(x, (tuple, list)):
        return all(map(_is_plain, cast(Sequence[Any], x)))
    if dataclasses.is_dataclass(x) and type(x).__module__.startswith("knuckle."):
        return all(_is_plain(getattr(x, field.name)) for field in dataclasses.fields(x) if field.compare)
    return False
