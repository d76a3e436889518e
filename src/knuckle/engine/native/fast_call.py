"""Function objects of Python that go straight to native code: a call takes about as long as making its result.

A `FastCall` knows forms: ways to write a call for which there is code (`emit.llvm.python_calls`). A call of a known
form does not come to Python at all; every other one goes, as it came, to a general callable, which may then add a form.
"""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.result_layout import Layout, Several, Single
from knuckle.engine.emit.llvm.python_calls.call_form import (
    ARRAY,
    EQUAL,
    FLOAT,
    FORM,
    KEPT,
    MOST_ARGUMENTS,
    MOST_AXES,
    MOST_BATCHED,
    MULTIPLIER,
    RECORD,
    THE_OBJECT,
)
from knuckle.scalar import running_texts

from .python_abi import PythonABI

allowed = ctypes.c_int64(1)
"""Zero while no call may go to native code."""

FEW_STATES, MOST_WORK = 256, 3_000_000
"""States of a batch that one call computes while it holds Python's lock, and operations up to which these may be more:
about a tenth of a millisecond. Larger batches go through Python, which shares them among threads."""
MOST_BYTES = 1 << 20
"""Bytes of such a result."""
KEPT_BYTES = 1 << 16
"""Bytes of a result for one state that may be kept, to be given again when nobody has it any more."""
_WORD = (1 << 64) - 1
_POSITIONAL, _ONE, _BATCH = map(FORM.index, ("positional", "one", "batch"))
_BY_VALUE = (str, float, int)


@dataclass(frozen=True)
class ArrayInput:
    """An argument that is an array of the form's dtype, with batch axes or without: input `place` of the code."""

    place: int
    shape: Shape


@dataclass(frozen=True)
class FloatInput:
    """An argument that is a Python float: input `place` of the code."""

    place: int


@dataclass(frozen=True)
class Option:
    """An argument that is a certain object, or a name or number equal to it."""

    value: Any


Expected: TypeAlias = ArrayInput | FloatInput | Option


class Form:
    """A way to write a call: what is expected of each argument, the last of which have these names.

    Options are kept alive by the form, except for `weakly`: with that object the form ends, before another object can
    be in its place.
    """

    def __init__(
        self,
        expected: Sequence[Expected],
        names: Sequence[str],
        dtype: np.dtype[Any],
        *,
        weakly: Any = None,
        guard: Callable[[], bool] | None = None,
    ) -> None:
        self._words = (ctypes.c_int64 * len(FORM))()
        names = [sys.intern(name) for name in names]
        slots = [word for x in expected for word in _slot(x)]
        values = [x.value for x in expected if isinstance(x, Option) and x.value is not weakly]
        table, named = (ctypes.c_int64 * len(slots))(*slots), (ctypes.c_int64 * max(1, len(names)))(*map(id, names))
        self._given: list[Any] = [None] * KEPT
        self._kept: list[Any] = [names, values, table, named, dtype, guard, self._given]
        if weakly is not None:
            end = partial(self._words.__setitem__, _POSITIONAL, -1)  # names of this module may be gone by then
            self._kept.append(weakref.ref(weakly, lambda _, end=end: end()))
        self._dtype = dtype
        self.hash = _hash([x.value for x in expected if isinstance(x, Option)], names)
        inputs = sum(not isinstance(x, Option) for x in expected)
        self._set(positional=len(expected) - len(names), named=len(names), names=ctypes.addressof(named))
        self._set(slots=ctypes.addressof(table), dtype=id(dtype), number=dtype.num, arguments=inputs)
        self._set(guard=id(guard) if guard else 0, owner=id(self))

    def _set(self, **words: int) -> None:
        for name, word in words.items():
            self._words[FORM.index(name)] = word

    def close(self) -> None:
        """No call is of this form any more."""
        _close(self._words)

    def link(self, after: int) -> int:
        """Puts the form before another of its bucket; where it is."""
        self._set(next=after)
        return ctypes.addressof(self._words)

    def lead_to(self, layout: Layout, *, one: int = 0, batch: int = 0, work: int = 0, keep: Any = None) -> None:
        """Gives the form code for one state or for batches, of so many operations, and the layout of its results."""
        if self._words[_ONE] == one and self._words[_BATCH] == batch:
            return
        self._kept.append(keep)
        self._set(kept=0)
        self._given[:] = [None] * KEPT
        if isinstance(layout, Several):
            self._make_tuples(layout)
        most = most_states(work, layout.size * self._dtype.itemsize)
        self._set(dimensions=len(layout.shape), shape=self._lengths(layout.shape), most=most)
        if 0 < layout.size * self._dtype.itemsize <= KEPT_BYTES and _may_be_given_again(layout):
            self._set(kept=id(self._given), oldest=0)
        self._set(one=one, batch=batch)

    def _make_tuples(self, layout: Several) -> None:
        words = [w for part in layout.parts for w in (len(part.shape), self._lengths(part.shape), part.size)]
        pieces = (ctypes.c_int64 * len(words))(*words)
        self._set(pieces=ctypes.addressof(pieces), words=self._dtype.itemsize // 4)
        split = partial(_split, layout)
        self._kept += [pieces, layout, split]
        if layout.names is not None:
            self._set(labels=id(layout.names))
        elif layout.named_tuple is not None:
            self._set(kind=id(layout.named_tuple))
        self._set(split=id(split), parts=len(layout.parts))

    def _lengths(self, shape: Shape) -> int:
        lengths = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        self._kept.append(lengths)
        return ctypes.addressof(lengths)


def most_states(work: int, size: int) -> int:
    """The largest batch that goes straight, of code of so many operations and bytes; few where work is not known."""
    return min(max(FEW_STATES, MOST_WORK // work) if work else FEW_STATES, MOST_BYTES // max(1, size))


def _may_be_given_again(layout: Layout) -> bool:
    """Whether results are arrays and plain tuples of them: they have nothing that could be left from last time."""
    if isinstance(layout, Single):
        return len(layout.shape) > 0
    kind: Any = tuple if layout.named_tuple is None else layout.named_tuple
    is_plain = kind.__dictoffset__ == 0 and kind.__weakrefoffset__ == 0 and not hasattr(kind, "__del__")
    return is_plain and all(len(part.shape) > 0 for part in layout.parts)


def _split(layout: Several, flat: np.ndarray[Any, Any]) -> Any:
    """The results of a batch, views of all their numbers in a row."""
    batch = flat.shape[:-1]
    return layout.together(flat, lambda part, shape: part.reshape(batch + shape))


def _close(words: Any) -> None:
    words[_POSITIONAL] = -1


def can_have(expected: Iterable[Expected], dtype: np.dtype[Any]) -> bool:
    """Whether there can be a form for such arguments."""
    inputs = [x for x in expected if not isinstance(x, Option)]
    return 0 < len(inputs) <= MOST_ARGUMENTS and all(
        len(x.shape) in (1, 2) if isinstance(x, ArrayInput) else dtype == np.float64 for x in inputs
    )


def can_batch(inputs: int) -> bool:
    """Whether there can be a form for batches, with so many arrays."""
    return inputs <= MOST_BATCHED


def can_give(layout: Layout) -> bool:
    """Whether there can be a form for results of this layout: an array or number, or a tuple, named or not, or a
    dictionary of such."""
    if isinstance(layout, Single):
        return len(layout.shape) <= MOST_AXES
    is_known = layout.names is not None or layout.collect is tuple or layout.named_tuple is not None
    return is_known and len(layout.parts) > 0 and all(isinstance(x, Single) and can_give(x) for x in layout.parts)


def _slot(x: Expected) -> tuple[int, ...]:
    match x:
        case ArrayInput(place, shape):
            return ARRAY, place, len(shape), shape[0], shape[-1], math.prod(shape)
        case FloatInput(place):
            return FLOAT, place, 0, 0, 0, 1
        case Option(value):
            return EQUAL if type(value) in _BY_VALUE else THE_OBJECT, id(value), 0, 0, 0, 0


def _hash(values: Iterable[Any], names: Iterable[str]) -> int:
    """What `hash` of the LLVM text gives."""
    h = 0
    for x in values:
        if type(x) not in (float, int):
            h = ((h ^ (hash(x) if type(x) is str else id(x)) & _WORD) * MULTIPLIER) & _WORD
    for name in names:
        h = ((h ^ hash(name) & _WORD) * MULTIPLIER) & _WORD
    return h


_TABLE = RECORD.index("table")
_ALWAYS, _NOTHING = ctypes.c_int64(1), list[None]()


class FastCall:
    """A function object with native code behind it: `call` is what Python calls.

    Calls go to native code while that is `allowed` and no text of a kernel is running, unless they may do so `always`.
    """

    def __init__(
        self,
        abi: PythonABI,
        name: str,
        doc: str,
        general: Callable[..., Any],
        *,
        always: bool = False,
        of: str = "knuckle",
    ) -> None:
        self._record = (ctypes.c_int64 * len(RECORD))()
        self._forms: dict[Form, None] = {}
        self._tables: dict[int, Any] = {}
        self._lay_out()
        self._set(general=id(general), allowed=ctypes.addressof(_ALWAYS if always else allowed))
        self._set(running=id(_NOTHING if always else running_texts))
        self._set(ndarray=id(np.ndarray), text=id(str), float=id(float), int=id(int))
        self._set(new=abi.new, based=abi.based, scalar=abi.scalar)
        words: Any = self._record
        own = np.frombuffer(words, np.int64), self, general
        self.call = abi.function_object(name, doc, own, of)

    def _set(self, **words: int) -> None:
        for name, word in words.items():
            self._record[RECORD.index(name)] = word

    def add(self, form: Form) -> None:
        """From now on calls of this form go to its code."""
        self._forms[form] = None
        self._lay_out()

    def remove(self, form: Form) -> None:
        """Calls of this form go to Python again, from this moment on."""
        form.close()
        if self._forms.pop(form, form) is not form:
            self._lay_out()

    def __contains__(self, form: Form) -> bool:
        return form in self._forms

    def __len__(self) -> int:
        return len(self._forms)

    def _lay_out(self) -> None:
        """Makes the table of forms anew, and puts it in place in one step.

        Other threads, and finalizers in this one, may do the same at any moment, and no lock is taken: what is in place
        is kept, and who finds that the forms have changed meanwhile begins again. Forms are linked to forms that came
        before them, so that a search in an old table ends too.
        """
        forms: tuple[Form, ...] | None = None
        while forms != tuple(self._forms):
            forms = tuple(self._forms)
            count = 1 << max(2, (2 * len(forms) - 1).bit_length())
            heads = [0] * count
            for form in forms:
                bucket = (form.hash >> 40) & (count - 1)
                heads[bucket] = form.link(heads[bucket])
            table = (ctypes.c_int64 * (count + 1))(count - 1, *heads)
            place = ctypes.addressof(table)
            self._set(table=place, last=0)
            self._tables[place] = table, forms
            for other in tuple(self._tables):
                if other != self._record[_TABLE]:
                    self._tables.pop(other, None)


class _Trial(NamedTuple):
    """What a trial call gives."""

    number: Any
    array: Any


def _are_given_again(call: Callable[..., Any], *args: Any) -> bool:
    """Whether a result is given again when nobody has it, and only then."""
    first, second = call(*args), call(*args)
    places, has_two = (id(first), id(second)), first is not second
    part = first[0][:1]
    del first, second
    third = call(*args)
    return has_two and id(third) == places[1] and third[0].base is not part.base


def works(abi: PythonABI) -> bool:
    """Whether trial calls give what they should, and pass on what they should."""
    passed_on, double, option = object(), np.dtype(np.float64), "an option"
    call = FastCall(abi, "trial", "", lambda *args, **names: passed_on, always=True)
    x, y, many = np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.arange(12.0).reshape(3, 2, 2)
    if call.call(x, y) is not passed_on:
        return False
    pair = ArrayInput(0, (2,)), ArrayInput(1, (2,))
    arrays, number, named = Form(pair, [], double), Form([*pair, Option(None)], [], double), Form(
        [*pair, Option(option)], ["option"], double, guard=lambda: len(option) > 0
    )  # fmt: skip
    mixed = Form([FloatInput(1), ArrayInput(0, (2,))], ["x"], double)
    arrays.lead_to(Single((2,)), one=abi.loaded.address("trial"), batch=abi.loaded.address("trial_batch"))
    number.lead_to(Single(()), one=abi.loaded.address("trial_number"))
    named.lead_to(Single((2,)), one=abi.loaded.address("trial"))
    mixed.lead_to(Single(()), one=abi.loaded.address("trial_number"))
    both = Form([*pair, Option(True)], [], double)
    both.lead_to(Several((Single(()), Single((1, 1)))), one=abi.loaded.address("trial"))
    two = Form([*pair, Option("two")], [], double)
    two.lead_to(Several((Single((1,)), Single((1, 1)))), one=abi.loaded.address("trial"))
    with_names = Form([*pair, Option(False)], [], double)
    with_names.lead_to(Several((Single(()), Single((1,))), None, _Trial._make), one=abi.loaded.address("trial"))
    for form in (arrays, number, named, mixed, both, two, with_names):
        call.add(form)
    before = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(arrays)
    result, single, batch = call.call(x, y), call.call(x, y, None), call.call(many, y)
    after = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(arrays)
    if after != before or not _are_given_again(call.call, x, y, "two"):
        return False
    others: list[tuple[Any, ...]] = [
        (x, y, y), (x,), (), ([1.0, 2.0], y), (x, y[:1]), (x, np.arange(4.0)[::2]), (many, y.reshape(1, 2)),
        (x.astype(np.float32), y), (x, y.astype(">f8")), (many[:0], y), (x, y, 0), (x, y, "another"),
    ]  # fmt: skip
    return (
        type(result) is np.ndarray and result.tolist() == [11.0, 22.0]
        and type(single) is np.float64 and single == 11.0
        and type(batch) is np.ndarray and np.array_equal(batch, many + y)
        and call.call(x, y, option="".join(["an ", "option"])).tolist() == [11.0, 22.0]
        and call.call(0.5, x=x) == 1.5
        and repr(call.call(x, y, True)) == repr((np.float64(11.0), np.array([[22.0]])))
        and repr(call.call(x, y, False)) == repr(_Trial(np.float64(11.0), np.array([22.0])))
        and all(call.call(*args) is passed_on for args in others)
        and call.call(x, y=y) is passed_on and call.call(1, x=x) is passed_on
        and call.call(x, y, option="other") is passed_on
    )  # fmt: skip
