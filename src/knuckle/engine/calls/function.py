"""Functions of a model and arrays: a text over scalars, called with arrays of any kind, compiled where it pays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

from numpy.typing import NDArray

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.trace import Program
from knuckle.errors import ModelError, printable
from knuckle.model import Model
from knuckle.public_names import PUBLIC

from .arguments import Arguments, Declared, Inferred, Sorted, kinds_by_name
from .choose_container import container_of
from .learned_calls import LearnedCalls
from .numpy_arrays import NumPyArrays
from .source_code import Language, Precision, about, header_of, source_of, traced
from .words.help_text import help_text, without_annotations

if TYPE_CHECKING:
    from .derivatives import Derivatives, JacobianLayout, JacobianPattern, Wrt

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
T = TypeVar("T")

Array: TypeAlias = Any
"""What a text returns: scalars, which the caller gets as an array of the kind of the arguments."""


@dataclass(frozen=True)
class Traits:
    """What there is to say of a function besides its text.

    Attributes:
        loops: whether the result is right for a mechanism with loop joints too.
        instead: where it is not, what to call for one.
        is_users: whether it is a user's.
    """

    loops: bool = True
    instead: str = ""
    is_users: bool = False


class Function(Generic[P, R]):
    """A function of a model and arrays. `reference` is its plain Python text, over scalars of any kind.

    Array arguments may have any batch axes before their last; they broadcast against each other. The result is an array
    of the same kind, or a tuple or dictionary of them: NumPy's (a single number as NumPy's scalar) for numbers and
    lists of them, float32 if all arguments are; an array of objects for mpmath, SymPy and other numbers in lists or
    arrays; a matrix of CasADi, SymPy or mpmath for theirs. Arguments are never written to. Inside the text of a
    `kernel`, arguments and results are vectors and matrices of scalars.

    Calls with NumPy arrays that are written like an earlier one go straight to native code, once there is some. For
    that, every function is the only object of a class of its own, whose `__call__` is then machine code.
    """

    __name__: str
    __qualname__: str
    __signature__: inspect.Signature

    def __new__(cls, text: Callable[..., Any], arguments: Arguments, traits: Traits) -> Function[P, R]:
        about = {"__doc__": property(_help), "__module__": __name__, "__signature__": arguments.signature}
        own: Any = type(text.__name__, (cls,), about)
        return super().__new__(own)

    def __init__(self, text: Callable[Concatenate[Model, P], R], arguments: Arguments, traits: Traits) -> None:
        functools.update_wrapper(self, text, [name for name in functools.WRAPPER_ASSIGNMENTS if name != "__doc__"])
        self.__signature__ = arguments.signature
        self._text, self._arguments, self._traits = text, arguments, traits
        doc = _doc(text.__name__, arguments.signature, text.__doc__)
        self._learned = LearnedCalls(text.__name__, doc, self._general, self._go_straight)

    def __call__(self, model: Model, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._general(model, *args, **kwargs)

    def _general(self, model: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Any call, by way of Python."""
        return self._evaluated(self._learned, model, model, self._arguments, args, kwargs)

    def _go_straight(self, call: Callable[..., Any]) -> None:
        setattr(type(self), "__call__", call)  # noqa: B010 - where Python looks for it

    def _evaluated(
        self,
        learned: LearnedCalls,
        first: Model | None,
        model: Model,
        arguments: Arguments,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        eager: bool = False,
    ) -> Any:
        """The result of a call, which `learned` then knows. `first` is the model if the call begins with it."""
        self._check(model)
        call = arguments.sort(model, args, kwargs)
        container = container_of(value for value, _ in call.arrays.values())
        specialization = self.specialization(model, call)
        if not isinstance(container, NumPyArrays):
            own: Any = getattr(container, "evaluate", None)
            return container.compute(specialization, call.arrays) if own is None else own(self, model, call)
        if call.weak or eager:
            container = NumPyArrays(call.weak, eager)
        computed = container.scalars(specialization, call.arrays)
        if computed.goes_straight:
            learned.learn(first, arguments, args, kwargs, call, specialization)
        return computed.together()

    def specialization(self, model: Model, call: Sorted) -> Specialization:
        """The text for a call."""
        options = tuple(call.options.items())
        return Specialization(self.__qualname__, self._text, model, options, call.numbers, self._traits.is_users)

    def _check(self, model: Any) -> None:
        """An error unless the model is one, of the kind that this function knows."""
        if not isinstance(model, Model):
            raise TypeError(f"{self.__name__} needs a knuckle.Model first, not {type(model).__name__}")
        if model.loops and not self._traits.loops:
            instead = f"; {self._traits.instead}" if self._traits.instead else ""
            raise ModelError(
                f"{self.__name__} knows trees, and this mechanism has loop joints "
                f"({', '.join(loop.name for loop in model.loops)}); model.without_loops() is its spanning tree{instead}"
            )

    def reference(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """The text itself, on flat sequences of scalars: one state, for debugging and as an oracle."""
        return self._arguments.reference(self._text, model, args, kwargs)

    def program(self, model: Model, *shapes: Any, **named: Any) -> Program:
        """The scalar operations that remain when the text runs on symbols (RBDA 10.4).

        Args:
            model: the mechanism.
            shapes: for a kernel, the shapes of the array arguments for one state, in order: () for a number, (n,) for a
                vector. Arguments called q, v, a, tau, f_ext, or like q_ref or v0, need none, nor do those of the
                library's functions.
            named: the same by name, and the options of the call, such as `frame`. An array argument that may be left
                out is left out, unless it is named here: `f_ext=True`.
        """
        self._check(model)
        call = self._arguments.shapes(model, shapes, named)
        return traced(self.specialization(model, call), {name: shape for name, (_, shape) in call.arrays.items()})

    def source(
        self,
        model: Model,
        *shapes: Any,
        language: Language = "llvm",
        dtype: Precision = "float64",
        prefix: str = "",
        **named: Any,
    ) -> str:
        """The text of the kernel in another language: "llvm" or "c"; shapes and options as for `program`.

        `prefix` goes before the names of all its functions, so that those of several models may be linked together.
        """
        words = about(model, self._kinds(), named)
        return source_of(self.program(model, *shapes, **named), prefix + self.__name__, language, dtype, words)

    def header(self, model: Model, *shapes: Any, dtype: Precision = "float64", prefix: str = "", **named: Any) -> str:
        """The header of the C source, for C and C++: the declaration, the sizes of arrays, and what these hold."""
        words = about(model, self._kinds(), named)
        return header_of(self.program(model, *shapes, **named), prefix + self.__name__, dtype, words)

    def _kinds(self) -> Mapping[str, str]:
        """What the array arguments hold, by name, as far as that is known."""
        return self._arguments.kinds if isinstance(self._arguments, Declared) else kinds_by_name(self._arguments)

    @property
    def matrices(self) -> frozenset[str]:
        """The arguments of a kernel that are matrices, for one state."""
        return getattr(self._arguments, "matrices", frozenset())

    # derivatives, exact and compiled; those by positions are along the velocity variables

    @functools.cached_property
    def derivatives(self) -> Derivatives:
        """The derivatives of this function as functions of their own."""
        from .derivatives import Derivatives

        return Derivatives(self, self._arguments, self._text)

    def jacobian(
        self, model: Model, *args: Any, wrt: Wrt = None, layout: JacobianLayout = "dense", **kwargs: Any
    ) -> Any:
        """The derivatives of the result by arguments, as a dictionary of arrays named by them.

        Args:
            model: the mechanism.
            args: the arguments of the function.
            wrt: the names of the arguments to differentiate by, ("q", "v"); None for all arrays of the call. Along a
                position there are nv directions: those of the velocity variables.
            layout: "dense": the axes of a result, then those of an argument. "packed": only what is not always zero,
                on one axis; `pattern` says where each belongs. "blocks": the same as the processor computes it, in
                blocks of states (`JacobianBlocks`): the fastest, for those who go on with all of them.
            kwargs: arguments by name.
        """
        self._check(model)
        if ready := self.derivatives.ready("jacobian", wrt, layout):
            return ready(model, *args, **kwargs)
        return self.derivatives.jacobian(model, args, kwargs, wrt, layout)

    def pattern(self, model: Model, *shapes: Any, wrt: Wrt = None, **named: Any) -> dict[str, JacobianPattern]:
        """Which derivatives of `jacobian` are not always zero, by argument; shapes and options as for `program`."""
        self._check(model)
        return self.derivatives.pattern(model, shapes, named, wrt)

    def jvp(self, model: Model, *args: Any, along: Mapping[str, Any], **kwargs: Any) -> tuple[R, R]:
        """The result, and its derivative along directions of the arguments: `along={"q": dq, "v": dv}`."""
        self._check(model)
        return self.derivatives.jvp(model, args, kwargs, along)

    def vjp(self, model: Model, *args: Any, weight: Any, wrt: Wrt = None, **kwargs: Any) -> dict[str, Any]:
        """The derivatives of the sum of the results, each times its weight, as a dictionary named by the arguments.

        `weight` has the shape of the result; of several results it is a tuple or dictionary like theirs.
        """
        self._check(model)
        return self.derivatives.weighted("vjp", model, args, kwargs, weight, wrt)

    def grad(self, model: Model, *args: Any, wrt: Wrt = None, **kwargs: Any) -> dict[str, Any]:
        """The derivatives of a result that is one number, as a dictionary named by the arguments."""
        self._check(model)
        if ready := self.derivatives.ready("grad", wrt):
            return ready(model, *args, **kwargs)
        return self.derivatives.plain("grad", model, args, kwargs, wrt)

    def hessian(
        self, model: Model, *args: Any, weight: Any = None, wrt: Wrt = None, **kwargs: Any
    ) -> dict[str, dict[str, Any]]:
        """The second derivatives of the sum of the results, each times its weight: {row: {column: …}} by arguments.

        Without a weight they are those of every result, whose axes come first. Second derivatives along the velocity
        variables of joints with quaternions are not symmetric: those directions do not commute.
        """
        self._check(model)
        if weight is not None:
            return self.derivatives.weighted("hessian", model, args, kwargs, weight, wrt)
        return self.derivatives.hessian(model, args, kwargs, wrt)

    def bound(self, model: Model, **options: Any) -> Callable[..., R]:
        """The function for one model, with options fixed: called with the other arguments only."""
        return BoundCall(self, model, options).call

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        kind = "kernel" if self._traits.is_users else "function"
        return f"<knuckle {kind} {self.__name__}{without_annotations(self.__signature__)}>"

    def __get__(self, instance: object, owner: type | None = None) -> Function[P, R]:
        """Itself, also as an attribute of a class. `help` shows objects that have this as functions."""
        return self

    def __dir__(self) -> list[str]:
        return ["bound", "header", "program", "reference", "source", "__call__", "__doc__", "__name__", "__signature__"]


def _help(function: Function[..., Any]) -> str | None:
    """What `help` says: of a user's kernel its docstring, of the library's functions also what their arguments hold."""
    text, declared = function._text, function._arguments  # pyright: ignore[reportPrivateUsage]
    if not isinstance(declared, Declared):
        return text.__doc__
    place = next((name for name, value in PUBLIC.items() if value is function), function.__name__)
    return help_text(f"kn.{place}", declared.signature, text.__doc__, declared.kinds)


class BoundCall:
    """A function for one model, with some options fixed. `call` is what to call."""

    def __init__(self, function: Function[..., Any], model: Model, options: Mapping[str, Any]) -> None:
        declared = function._arguments  # pyright: ignore[reportPrivateUsage]
        if unknown := [name for name in options if not declared.is_option(name)]:
            raise TypeError(f"{function.__name__} has no option {unknown[0]!r}")
        self._function, self._model, self._arguments = function, model, declared.fixing(options)
        _, *parameters = self._arguments.callable_as.parameters.values()
        signature = inspect.Signature(parameters)
        self.__name__, self.__doc__, self.__signature__ = function.__name__, _bound_help(function), signature
        with_self = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *parameters]
        doc = _doc(function.__name__, inspect.Signature(with_self), self.__doc__)
        of = f"knuckle model {printable(model.name)!r}"
        self._learned = LearnedCalls(function.__name__, doc, self, lambda call: None, of)
        fast = self._learned.started()
        self.call: Callable[..., Any] = self if fast is None else fast.call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        evaluate = self._function._evaluated  # pyright: ignore[reportPrivateUsage]
        return evaluate(self._learned, None, self._model, self._arguments, args, kwargs, eager=True)

    def __repr__(self) -> str:
        words = without_annotations(self.__signature__)
        return f"<knuckle function {self.__name__}{words} of {printable(self._model.name)!r}>"


def _bound_help(function: Function[..., Any]) -> str | None:
    """What `help` says of a function for one model."""
    text, declared = function._text, function._arguments  # pyright: ignore[reportPrivateUsage]
    if not isinstance(declared, Declared):
        return text.__doc__
    return help_text(f"fast.{function.__name__}", declared.signature, text.__doc__, declared.kinds, has_model=False)


def _doc(name: str, signature: inspect.Signature, doc: str | None) -> str:
    """A docstring as function objects of C carry it, with a signature whose first argument is their own."""
    first, *others = (p.replace(annotation=p.empty) for p in signature.parameters.values())
    plain = str(inspect.Signature([first, *others])).replace(f"({first.name}", f"(${first.name}", 1)
    return f"{name}{plain}\n--\n\n{doc or ''}"


def function(
    *,
    loops: bool = False,
    joint_space: bool = False,
    any_frames: bool = False,
    instead: str = "",
    derivatives_in: str = "",
    **arguments: str,
) -> Callable[[Callable[Concatenate[Model, P], Any]], Function[P, NDArray[Any]]]:
    """Makes a function of a text. `arguments` says what each array argument holds (see `ARGUMENTS`).

    `loops` says that the result is right for a mechanism with loop joints too, and `instead`, where it is not, what to
    call for one; `joint_space` that it is about the joints only, so that its kernel may be made from any dynamically
    equivalent model; `any_frames` that it does not depend on where the frames of the moving bodies are, so that its
    kernel may be made from the same bodies in others. `derivatives_in` is a module with a function of the same name
    that gives its derivatives by array arguments of trees, as a named tuple.
    """

    def make(text: Callable[Concatenate[Model, P], Any]) -> Function[P, Any]:
        text.joint_space, text.derivatives_in = joint_space, derivatives_in  # type: ignore[attr-defined]
        text.any_frames = any_frames  # type: ignore[attr-defined]
        declared = Declared(text.__name__, inspect.signature(text), arguments)
        return Function(text, declared, Traits(loops, instead))

    return make


def pair_function(
    *, loops: bool = False, **arguments: str
) -> Callable[[Callable[Concatenate[Model, P], tuple[Any, Any]]], Function[P, tuple[NDArray[Any], NDArray[Any]]]]:
    """Makes a function of a text that gives a pair, such as (q, v); see `function`."""
    make: Any = function(loops=loops, **cast("Any", arguments))
    return make


class NamedFunction(Protocol):
    """Makes a function of a text that gives a named tuple."""

    def __call__(self, text: Callable[Concatenate[Model, P], T], /) -> Function[P, T]: ...


def named_function(*, loops: bool = False, joint_space: bool = False, **arguments: str) -> NamedFunction:
    """Makes a function of a text that gives a named tuple, which has arrays where the text has matrices: `function`."""
    make: Any = function(loops=loops, joint_space=joint_space, **cast("Any", arguments))
    return make


@overload
def kernel(function: Callable[Concatenate[Model, P], Any]) -> Function[P, Any]: ...
@overload
def kernel(*, matrices: Collection[str]) -> Callable[[Callable[Concatenate[Model, P], Any]], Function[P, Any]]: ...
def kernel(function: Callable[..., Any] | None = None, *, matrices: Collection[str] = ()) -> Any:
    """Makes one compiled function of a function that is written with the library's.

        @kn.kernel
        def gravity_compensated_pd(model, q, v, q_ref, kp, kd):
            return kn.inverse_dynamics(model, q, v, kp * (q_ref - q) - kd * v)

    It is called with arrays of any batch shape, like the library's own functions, and compiled when it is first called
    on a model. An array argument holds one vector on its last axis and any batch axes before it (`f_ext`: a wrench per
    body on its last two); a Python number or an array without axes is a scalar. Keyword-only arguments, names, booleans
    and None are options: constants of the code. The function sees one state: vectors, a matrix for `f_ext`, and
    scalars; the library's functions take these and give such. It returns a scalar, a vector, a matrix, or a tuple or
    dict of them. Numbers, arrays and functions that it takes from around itself are constants of the code, which is
    made anew when one of them has changed. It is written as with NumPy's arrays, and NumPy's functions work; choices go
    through `kn.where` or `numpy.where`.

    Args:
        function: the function, of a model first.
        matrices: the names of arguments that are matrices, on the last two axes of what they are given:
            `@kn.kernel(matrices=("K",))`.
    """
    if isinstance(matrices, str):
        raise TypeError(f"matrices is a tuple of names, such as ({matrices!r},), not a name")

    def make(text: Callable[..., Any]) -> Function[..., Any]:
        arguments = Inferred(text.__name__, inspect.signature(text), matrices=matrices)
        return Function(text, arguments, Traits(is_users=True))

    return make if function is None else make(function)
