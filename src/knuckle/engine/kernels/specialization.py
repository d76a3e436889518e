"""What a kernel is made from: a text for one model, traced, printed and compiled, or found where it was kept."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from knuckle.engine.arrays.base import Shape, never_defined, scalars_of, shape_of
from knuckle.engine.emit import Lanes, to_llvm
from knuckle.engine.native import disk_cache, rolled_code, target
from knuckle.engine.trace import Program, trace
from knuckle.engine.trace.regions import MarkedModel
from knuckle.engine.trace.rolled_blocks import trace_in_blocks
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, StructuralDivisionError
from knuckle.spatial import SPATIAL, Force, Matrix

from .captured_values import Surroundings, surroundings

Text: TypeAlias = Callable[..., Any]
Arguments: TypeAlias = Mapping[str, Shape]


class UntraceableError(Exception):
    """A text that cannot run on symbols: it is wrong, or it looks at values. The cause says which."""


@dataclass(frozen=True)
class Native:
    """Machine code in memory, the shape of what it computes, and the way in: start, end, arrays and strides, result."""

    shape: Shape
    loaded: Any  # what keeps the code alive: `native.Loaded`, where there is one piece of it
    entry: Callable[..., None] | None = None


_natives: weakref.WeakValueDictionary[str, Native] = weakref.WeakValueDictionary()
"""The code in use in this process, by the name it is kept under: equal models share it."""


@dataclass(frozen=True)
class Recipe:
    """A function's text for a model, with its options fixed."""

    name: str
    text: Text
    model: Model
    options: tuple[tuple[str, Any], ...]

    def __call__(self, scalars: Mapping[str, Any]) -> Any:
        try:
            return self.text(self.model, **scalars, **dict(self.options))
        except StructuralDivisionError as error:
            raise never_defined(error) from error

    @property
    def wide(self) -> bool:
        """Whether to compute in double precision: loops tell dependent constraints by what rounding leaves."""
        return bool(self.model.loops)

    def on_symbols(self, symbols: Mapping[str, Any]) -> Any:
        """The text on symbols, on whatever model leaves the fewest operations."""
        return self._on_canonical(symbols) if self._is_of_joint_space() else self(symbols)

    def _traced(self, **symbols: Any) -> Any:
        return self.on_symbols(symbols)

    def _is_of_joint_space(self) -> bool:
        """Whether the result is about joints only, so that any dynamically equivalent model gives it (RBDA 9.7)."""
        named = getattr(self.text, "joint_space", False) and dict(self.options).get("method") != "divide"
        return named and type(self.model) in (Model, MarkedModel) and self.model.algebra is SPATIAL

    def _on_canonical(self, symbols: Mapping[str, Any]) -> Any:
        """The text on the equivalent model with the fewest constants."""
        from knuckle.model.canonical.canonical_form import canonical

        form = canonical(self.model)
        given = dict(symbols)
        if given.get("f_ext") is not None:
            forces = form.forces([Force.of(row) for row in given["f_ext"].rows])
            given["f_ext"] = Matrix((force.components for force in forces), SPATIAL.dimension)
        return dataclasses.replace(self, model=form.light)(given)

    def key(self) -> tuple[Any, ...]:
        """What tells this recipe from others of its model: hashable if the options are."""
        return self.text, *((name, type(value), value) for name, value in self.options)  # pyright: ignore[reportUnknownVariableType]

    def surroundings(self) -> Surroundings | None:
        """What the text, its options and the model's laws take from around themselves, as it is now."""
        laws = () if _is_plain(self._parts()) else self._parts()
        return surroundings(self.text, self.options, laws)

    def _parts(self) -> tuple[Any, ...]:
        return self.model.joints, self.model.loops, self.model.couplings

    def layout(self) -> Any:
        """How the scalars of the last result go together, where a shape does not say it."""
        return None

    def program(self, arguments: Arguments) -> Program:
        """The operations that remain when the text runs on symbols."""
        try:
            return trace(self._traced, arguments, lambda r: (scalars_of(r), shape_of(r)))
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error

    def program_in_blocks(self, arguments: Arguments) -> Program:
        """The same for a large mechanism, with the loops of the pieces that the text calls."""

        def text(model: Model, **symbols: Any) -> Any:
            return dataclasses.replace(self, model=model).on_symbols(symbols)

        try:
            return trace_in_blocks(text, self.model, arguments, lambda r: (scalars_of(r), shape_of(r)))
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error

    def code(self, arguments: Arguments, dtype: str) -> tuple[Native, int]:
        """The machine code and the width of its vectors: what runs already, what is on the disk, or new."""
        host = target.host()
        lanes = Lanes(dtype, host.lanes(dtype))
        is_large = self.model.nb > rolled_code.BODIES
        name, program = None, None
        if self._is_ours():
            made_from = self.text.__module__, self.name, self.options, tuple(arguments.items()), self.model.content_hash
            name = disk_cache.key(disk_cache.library_hash(), host, lanes, is_large, made_from)
        elif not is_large:
            program = self.program(arguments)
            name = disk_cache.key(disk_cache.library_hash(), host, lanes, program)
        found = name and (_natives.get(name) or _kept(name, lanes, len(arguments)))
        if not found:
            with Announced(f"{self.name} for {self.model.name}"):
                said, code = self._rolled(arguments, lanes) if is_large else self._straight(arguments, lanes, program)
                found = _loaded(said, code, lanes, len(arguments))
            if name:
                disk_cache.write(name, {"function": self.name, "model": self.model.name, "dtype": dtype, **said}, code)
        return (_natives.setdefault(name, found) if name else found), lanes.width

    def _straight(self, arguments: Arguments, lanes: Lanes, program: Program | None) -> tuple[dict[str, Any], bytes]:
        """Straight-line code, and what there is to say of it. A text with many loops over few bodies is rolled."""
        program = program or self.program(arguments)
        if program.size() > rolled_code.NODES:
            with contextlib.suppress(rolled_code.NothingToRollError):
                return rolled_code.compile_rolled(self._on_model, self.model, arguments, lanes)
        return {"shape": program.shape}, target.compile_text(to_llvm(program, lanes))

    def _rolled(self, arguments: Arguments, lanes: Lanes) -> tuple[dict[str, Any], bytes]:
        """Code with the loops of the text, and its tables."""
        try:
            return rolled_code.compile_rolled(self._on_model, self.model, arguments, lanes)
        except rolled_code.NothingToRollError as error:
            raise UntraceableError(f"{self.name} has no repetition") from error

    def _on_model(self, model: Model, **symbols: Any) -> Any:
        try:
            return dataclasses.replace(self, model=model)(symbols)
        except Exception as error:
            raise UntraceableError(f"{self.name} does not run on symbols: {error}") from error

    def _is_ours(self) -> bool:
        """Whether the names of the text and of the model's parts say what they do: all of them are the library's.

        Otherwise the kernel goes by the operations themselves, as another text may have the same name.
        """
        return self.text.__module__.startswith("knuckle.") and _is_plain((*self._parts(), self.options))


def _kept(name: str, lanes: Lanes, arguments: int) -> Native | None:
    """What the disk has. Code that does not load is as good as none."""
    found = disk_cache.read(name)
    if found is not None:
        with contextlib.suppress(Exception):
            return _loaded(*found, lanes, arguments)
    return None


def _loaded(said: Mapping[str, Any], code: bytes, lanes: Lanes, arguments: int) -> Native:
    """Code in memory, straight or rolled, by what is said of it."""
    shape = tuple(int(n) for n in said["shape"])
    if "parts" in said:
        entry = rolled_code.rolled_entry(said, code, lanes, arguments)
        return Native(shape, entry, entry)
    loaded = target.Loaded(code)
    return Native(shape, loaded, target.entry(loaded, "kernel", arguments))


def _is_plain(x: Any) -> bool:
    """Whether `x` is made of numbers, names and the library's own parts only."""
    if x is None or x is ZERO or x is ONE or isinstance(x, (str, int, float)):
        return True
    if isinstance(x, (tuple, list)):
        return all(map(_is_plain, cast(Sequence[Any], x)))
    if dataclasses.is_dataclass(x) and type(x).__module__.startswith("knuckle."):
        return all(_is_plain(getattr(x, field.name)) for field in dataclasses.fields(x) if field.compare)
    return False


class Announced:
    """Says in the terminal what is being compiled, if it takes longer than a second, and how long it took."""

    DELAY = 1.0

    def __init__(self, what: str) -> None:
        self._what, self._start, self._said = what, time.perf_counter(), False
        self._timer = threading.Timer(self.DELAY, self._begin)
        self._timer.daemon = True

    def _begin(self) -> None:
        self._said = True
        self._say(f"knuckle: compiling {self._what} …")

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def __enter__(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._said:
            self._say(f"knuckle: compiled {self._what} in {time.perf_counter() - self._start:.1f} s")
