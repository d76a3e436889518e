"""Calls that go straight to native code the next time: from a call that came to Python to a form of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from knuckle.engine.kernels.kernel_registry import DTYPES, Kernel, Slot, kernels
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native.fast_call import (
    ArrayInput,
    Expected,
    FastCall,
    FloatInput,
    Form,
    Option,
    can_batch,
    can_give,
    can_have,
)
from knuckle.engine.native.python_abi import LOCK, python_abi
from knuckle.model import Model

from .arguments import Arguments, Sorted

_STABLE = (str, int, float, bool, type(None))
"""Options that are told by their value, or of which there is one object."""
_MOST_SEEN = 256


class LearnedCalls:
    """The calls of a function that go straight to native code. All others go to `general`, which may teach another.

    `call` is what to call: `general` until there is something to learn.
    """

    def __init__(
        self, name: str, doc: str, general: Callable[..., Any], begun: Callable[[Any], None], of: str = "knuckle"
    ) -> None:
        self._name, self._doc, self._general, self._begun, self._of = name, doc, general, begun, of
        self._fast: FastCall | None = None
        self._seen: dict[Any, Any] = {}

    def learn(
        self,
        model: Model | None,
        arguments: Arguments,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        call: Sorted,
        specialization: Specialization,
    ) -> None:
        """Makes calls that are written like this one go to the code of the specialization, if there is some.

        Args:
            model: the first argument, if the call has it.
            arguments: those of the function.
            args: the arguments after the model without a name.
            kwargs: those with a name.
            call: the same, sorted.
            specialization: what they led to.
        """
        dtype = _dtype(call)
        if dtype is None or kernels.policy == "never":
            return
        expected = _expected(arguments, args, kwargs, call, dtype)
        if expected is None:
            return
        shapes = {name: shape for name, (_, shape) in call.arrays.items()}
        try:
            slot = kernels.slot(specialization, shapes, dtype)
            key = id(self), len(args), tuple(kwargs), tuple(map(_key, expected))
            self._add(slot, key, model, expected, tuple(kwargs), dtype)
        except TypeError:  # options that cannot be looked up, such as a list
            return

    def _add(
        self, slot: Slot, key: Any, model: Model | None, expected: list[Expected], names: Any, dtype: np.dtype[Any]
    ) -> None:
        one, kernel = slot.one, slot.kernel if isinstance(slot.kernel, Kernel) else None
        layout = one.layout if one is not None else kernel.layout if kernel is not None else None
        if layout is None or not can_give(layout):
            return
        with LOCK:
            form = self._known(slot, key)
            if form is None:
                if not self._is_worth_it(key, expected):
                    return
                fast = self.started()
                if fast is None:
                    return
                guard = None if slot.around is None else slot.around.is_same
                everything = expected if model is None else [Option(model), *expected]
                form = Form(everything, names, dtype, weakly=model, guard=guard)
                self._lead(form, slot)
                slot.forms[key] = weakref.ref(fast), form
                fast.add(form)
            else:
                self._lead(form, slot)

    def _known(self, slot: Slot, key: Any) -> Form | None:
        """The form of these calls, if there is one. What function objects left that are gone is forgotten."""
        for other, (owner, _) in tuple(slot.forms.items()):
            if owner() is None:
                slot.forms.pop(other, None)
        owner, form = slot.forms.get(key, (None, None))
        return form if owner is not None and owner() is self._fast else None

    @staticmethod
    def _lead(form: Form, slot: Slot) -> None:
        """Gives a form the code that there is by now."""
        one, kernel = slot.one, slot.kernel if isinstance(slot.kernel, Kernel) else None
        code = one if one is not None else kernel
        if code is not None:
            batch = kernel.address if kernel is not None and can_batch(len(kernel.arguments)) else 0
            work = kernel.code.operations if kernel is not None else 0
            form.lead_to(code.layout, one=one.address if one else 0, batch=batch, work=work, keep=(one, kernel))

    def _is_worth_it(self, key: Any, expected: list[Expected]) -> bool:
        """Whether a call like this is likely to come again. Objects that are made for every call do not come again."""
        others = [x.value for x in expected if isinstance(x, Option) and not isinstance(x.value, _STABLE)]
        if self._fast is not None and not others:
            return True
        if self._seen.pop(key, None) is not None:
            return True
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[key] = others  # which keeps them, so that no other object gets their numbers
        return False

    def started(self) -> FastCall | None:
        """The function object, made when it is first needed; None where there can be none."""
        if self._fast is None:
            abi = python_abi()
            if abi is not None:
                self._fast = FastCall(abi, self._name, self._doc, self._general, of=self._of)
                self._begun(self._fast.call)
        return self._fast

    def __len__(self) -> int:
        return 0 if self._fast is None else len(self._fast)


def _dtype(call: Sorted) -> np.dtype[Any] | None:
    """The dtype of all arrays of a call; None if they differ or code has another."""
    dtypes = {id(x.dtype): x.dtype for x, _ in call.arrays.values() if type(x) is np.ndarray}
    if len(dtypes) != 1:
        return None
    (dtype,) = dtypes.values()
    return next((known for known in DTYPES if known is dtype), None)


def _expected(
    arguments: Arguments, args: tuple[Any, ...], kwargs: Mapping[str, Any], call: Sorted, dtype: np.dtype[Any]
) -> list[Expected] | None:
    """What the arguments of a call are, in order; None if the call does not go to native code by itself."""
    places = {name: k for k, name in enumerate(call.arrays)}
    expected: list[Expected] = []
    for name, value in [*zip(arguments.in_order, args, strict=False), *kwargs.items()]:
        if name not in places:
            expected.append(Option(value))
        elif type(value) is np.ndarray and value.ndim and value.flags.c_contiguous and value.flags.aligned:
            expected.append(ArrayInput(places[name], call.arrays[name][1]))
        elif type(value) is float and name in call.numbers:
            expected.append(FloatInput(places[name]))
        else:
            return None
    inputs = sum(not isinstance(x, Option) for x in expected)
    return expected if inputs == len(places) and can_have(expected, dtype) else None


def _key(x: Expected) -> Any:
    if not isinstance(x, Option):
        return x
    return type(x.value), x.value if isinstance(x.value, _STABLE) else id(x.value)
