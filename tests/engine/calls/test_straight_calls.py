"""Plain calls that go straight to native code: the same bits, the same errors, and never the wrong code."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import pydoc
import sys
import threading
import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.arguments import ARGUMENTS
from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import CALLS
from knuckle.model import Builder, Model
from knuckle.public_names import PUBLIC, everything
from knuckle.spatial import Matrix

from ...seeds import Together, quick
from .interpreters import on_cpython
from .mechanisms import arm, chain, closed, geared, states, tree

pytestmark = [pytest.mark.usefixtures("native"), on_cpython]

SUBJECTS = {"tree": tree(), "closed": closed(), "geared": geared(2.0)}
FUNCTIONS = {name: f for name, f in everything(kn).items() if isinstance(f, Function) and f is not kn.step}


def general(function: Function[..., Any], model: Model, *args: Any, **kwargs: Any) -> Any:
    """The result by way of Python."""
    return function._general(model, *args, **kwargs)


def prepare(function: Function[..., Any], model: Model, *args: Any, **kwargs: Any) -> None:
    """Calls a function until it is compiled and has learned this way to call it."""
    for _ in range(CALLS + 2):
        function(model, *args, **kwargs)


def subject_of(function: Function[..., Any]) -> Model:
    """A mechanism that a function is for."""
    if function.__name__ == "floating_jacobian":
        return SUBJECTS["tree"]
    if "choice" in function.__signature__.parameters and function.__name__ != "forward_dynamics":
        return SUBJECTS["closed"]
    is_closed = any(function is f for name, f in FUNCTIONS.items() if name.startswith(("loops.", "constraints.")))
    return SUBJECTS["closed" if is_closed else "tree"]


def call_of(function: Function[..., Any], model: Model, batch: tuple[int, ...] = (), seed: int = 0) -> dict[str, Any]:
    """Arguments of a function by name: arrays for those that it needs, and some choice of its options."""
    rng, q = np.random.default_rng(seed), states(model, batch, seed).q
    values: dict[str, Any] = {}
    for p in function._arguments.parameters:
        kind = function._arguments.kinds.get(p.name)
        if kind is not None and p.default is p.empty:
            values[p.name] = q if kind == "q" else rng.normal(size=(*batch, *ARGUMENTS[kind](model)))
        elif kind is None and p.default is p.empty:
            values[p.name] = OPTIONS[p.name](model)
    return values


OPTIONS: dict[str, Callable[[Model], Any]] = {
    "frame": lambda model: model.body_names[-1],
    "choice": lambda model: CHOICE,
    "constraints": lambda model: CONSTRAINTS,
    "actuated": lambda model: ACTUATED,
}
CHOICE = kn.loops.independent_variables(SUBJECTS["closed"], kn.neutral(SUBJECTS["closed"]))
CONSTRAINTS = (kn.constraints.JointPosition(SUBJECTS["closed"].joint_names[0], 0.1),)
ACTUATED = (SUBJECTS["closed"].joint_names[0],)


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal to the last bit, in kind too."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)


# every function


@pytest.mark.parametrize("name", FUNCTIONS)
def test_plain_bound_and_general_calls_give_the_same_bits(name: str, no_python: Callable[[], None]) -> None:
    """And after some calls the plain and the bound one do not come to Python."""
    function, model = FUNCTIONS[name], subject_of(FUNCTIONS[name])
    given, others = call_of(function, model), call_of(function, model, seed=1)
    bound = attrgetter(name)(kn.bind(model))
    prepare(function, model, **others)
    for _ in range(2):
        bound(**others)
    expected = general(function, model, **given)
    alone = general(function, model, **{k: x[None] if isinstance(x, np.ndarray) else x for k, x in given.items()})
    no_python()
    assert same(function(model, **given), expected)
    assert same(bound(**given), expected)
    first = tuple(x[0] for x in alone) if isinstance(alone, tuple) else alone[0]
    assert same(first, expected)


@pytest.mark.sampled
@pytest.mark.parametrize("batch", [(1,), (8,), (64,), (2, 3)])
@pytest.mark.parametrize("name", quick(FUNCTIONS, list(FUNCTIONS)[::6]))
def test_batches_give_the_bits_of_single_states(
    name: str, batch: tuple[int, ...], no_python: Callable[[], None]
) -> None:
    function, model = FUNCTIONS[name], subject_of(FUNCTIONS[name])
    given = call_of(function, model, batch)
    prepare(function, model, **given)
    rows = [
        general(function, model, **{k: x[index] if isinstance(x, np.ndarray) else x for k, x in given.items()})
        for index in np.ndindex(batch)
    ]
    no_python()
    result = function(model, **given)
    for k, part in enumerate(result if isinstance(result, tuple) else (result,)):
        one = np.array([row[k] if isinstance(row, tuple) else row for row in rows])
        assert same(part, one.reshape(batch + one.shape[1:]))


def test_what_all_states_share_is_shared(no_python: Callable[[], None]) -> None:
    model, many = SUBJECTS["tree"], states(SUBJECTS["tree"], (5,))
    one = states(model, seed=3)
    prepare(kn.inverse_dynamics, model, many.q, one.v, many.a)
    whole = kn.inverse_dynamics(model, many.q, np.tile(one.v, (5, 1)), many.a)
    no_python()
    np.testing.assert_array_equal(kn.inverse_dynamics(model, many.q, one.v, many.a), whole)


@pytest.mark.parametrize("name", [Together(FUNCTIONS)], ids=["every"])
def test_every_function_is_registered_bound_and_has_the_face_of_a_function(name: str) -> None:
    function = FUNCTIONS[name]
    assert function._traits.is_users or PUBLIC[name] is function
    if not function._traits.is_users:
        assert callable(attrgetter(name)(kn.bind(SUBJECTS["tree"])))
    assert function.__name__ == name.rpartition(".")[2]
    assert next(iter(inspect.signature(function).parameters)) == "model"
    assert str(function.__doc__).splitlines()[0] in pydoc.render_doc(function)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert isinstance(function, Function)


# how calls are written


def test_every_spelling_goes_straight(no_python: Callable[[], None]) -> None:
    model, s = SUBJECTS["tree"], states(SUBJECTS["tree"])
    name = "".join(["to", "ol"])
    spellings: list[Callable[[], Any]] = [
        lambda: kn.velocity(model, s.q, s.v, "tool"),
        lambda: kn.velocity(model, s.q, s.v, name),
        lambda: kn.velocity(model, s.q, s.v, frame="tool"),
        lambda: kn.velocity(model, s.q, v=s.v, frame="tool"),
        lambda: kn.velocity(model, frame="tool", v=s.v, q=s.q),
        lambda: kn.velocity(model, s.q, s.v, "tool", "body"),
        lambda: kn.velocity(model, s.q, s.v, expressed_in="body", frame="".join(["to", "ol"])),
    ]
    for call in spellings:
        for _ in range(CALLS + 2):
            call()
    expected = general(kn.velocity, model, s.q, s.v, "tool")
    world = general(kn.velocity, model, s.q, s.v, "tool", "world")
    assert not np.array_equal(expected, world)
    assert same(kn.velocity(model, s.q, s.v, "tool", "world"), world)
    no_python()
    for call in spellings:
        assert same(call(), expected)
    with pytest.raises(AssertionError, match="came to Python"):
        kn.velocity(model, s.q, s.v, "hull")


def test_options_of_equal_value_and_another_type_are_told_apart() -> None:
    model, s = SUBJECTS["tree"], states(SUBJECTS["tree"])
    a, b = (kn.acceleration(model, s.q, s.v, s.a, "tool", classical=c) for c in (False, True))
    prepare(kn.acceleration, model, s.q, s.v, s.a, "tool", classical=False)
    prepare(kn.acceleration, model, s.q, s.v, s.a, "tool", classical=True)
    np.testing.assert_allclose(kn.acceleration(model, s.q, s.v, s.a, "tool", classical=False), a, atol=1e-12)
    np.testing.assert_allclose(kn.acceleration(model, s.q, s.v, s.a, "tool", classical=True), b, atol=1e-12)


def test_options_made_for_every_call_are_not_learned() -> None:
    """They would pile up, and no call would find them."""
    model = SUBJECTS["closed"]
    q = kn.neutral(model)
    before = len(kn.constraints.acceleration._learned)
    for k in range(2 * CALLS):
        fresh = (kn.constraints.JointPosition(model.joint_names[0], 0.001 * k),)
        kn.constraints.acceleration(model, q, q, q, constraints=fresh)
    assert len(kn.constraints.acceleration._learned) <= before + 1


WRONG: dict[str, Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "short": lambda s: ((s.q[:-1], s.v, s.a), {}),
    "long": lambda s: ((np.append(s.q, 0.0), s.v, s.a), {}),
    "no axes": lambda s: ((np.float64(1.0), s.v, s.a), {}),
    "missing": lambda s: ((s.q, s.v), {}),
    "too many": lambda s: ((s.q, s.v, s.a, None, s.a), {}),
    "twice": lambda s: ((s.q, s.v, s.a), {"a": s.a}),
    "unknown": lambda s: ((s.q, s.v, s.a), {"b": s.a}),
    "None": lambda s: ((s.q, s.v, None), {}),
    "text": lambda s: ((s.q, s.v, "abc"), {}),
    "booleans": lambda s: ((s.q > 0, s.v, s.a), {}),
    "texts": lambda s: ((s.q.astype(str), s.v, s.a), {}),
    "masked": lambda s: ((np.ma.masked_array(s.q), s.v, s.a), {}),
    "wrench": lambda s: ((s.q, s.v, s.a, s.f_ext[:-1]), {}),
    "flat wrench": lambda s: ((s.q, s.v, s.a, s.f_ext.ravel()), {}),
    "batches": lambda s: ((np.tile(s.q, (2, 1)), np.tile(s.v, (3, 1)), s.a), {}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_the_same_before_and_after(wrong: str) -> None:
    model, s = arm(), states(arm())
    args, kwargs = WRONG[wrong](s)
    with pytest.raises((TypeError, ValueError)) as before:
        kn.inverse_dynamics(model, *args, **kwargs)
    prepare(kn.inverse_dynamics, model, s.q, s.v, s.a)
    prepare(kn.inverse_dynamics, model, s.q, s.v, s.a, s.f_ext)
    prepare(kn.inverse_dynamics, model, *(np.tile(x, (2, 1)) for x in (s.q, s.v, s.a)))
    with pytest.raises(before.type) as after:
        kn.inverse_dynamics(model, *args, **kwargs)
    assert str(after.value) == str(before.value)


@pytest.mark.parametrize("first", ["arm.urdf", None, 3, np.zeros(3)])
def test_what_is_no_model_is_said(first: Any) -> None:
    s = states(arm())
    prepare(kn.gravity_force, arm(), s.q)
    with pytest.raises(TypeError, match=r"gravity_force needs a knuckle\.Model first, not"):
        kn.gravity_force(first, s.q)
    with pytest.raises(TypeError):
        kn.gravity_force()  # type: ignore[call-arg]


OTHERS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "every second": lambda x: np.repeat(x, 2)[::2],
    "other bytes": lambda x: x.astype(">f8"),
    "read only": lambda x: np.frombuffer(x.tobytes()),
    "a class of its own": lambda x: x.view(type("Own", (np.ndarray,), {})),
    "odd address": lambda x: np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(x.dtype),
}


@pytest.mark.parametrize("form", OTHERS)
def test_arrays_of_other_forms_give_the_same_bits(form: str) -> None:
    model, s = SUBJECTS["tree"], states(SUBJECTS["tree"])
    prepare(kn.inverse_dynamics, model, s.q, s.v, s.a)
    expected = kn.inverse_dynamics(model, s.q, s.v, s.a)
    result = kn.inverse_dynamics(model, OTHERS[form](s.q), s.v, s.a)
    assert same(np.asarray(result), expected)
    assert kn.inverse_dynamics(model, s.q.astype(np.float32), s.v, s.a).dtype == np.float64
    assert kn.inverse_dynamics(model, *(x.astype(np.float32) for x in (s.q, s.v, s.a))).dtype == np.float32
    assert kn.inverse_dynamics(model, s.q + 0j, s.v, s.a).dtype == complex


# when


def test_the_policy_is_noticed_at_once(no_python: Callable[[], None]) -> None:
    model, s = tree(), states(tree())
    text = np.array([float(x) for x in kn.gravity_force.reference(model, list(s.q))])
    prepare(kn.gravity_force, model, s.q)
    native = kn.gravity_force(model, s.q)
    kn.compilation.set_policy("never")
    assert np.array_equal(kn.gravity_force(model, s.q), text)
    kn.compilation.set_policy("auto")
    assert np.array_equal(kn.gravity_force(model, s.q), native)
    no_python()
    for policy in ("always", "auto"):
        kn.compilation.set_policy(policy)
        assert np.array_equal(kn.gravity_force(model, s.q), native)
    kn.compilation.set_policy("never")
    with pytest.raises(AssertionError, match="came to Python"):
        kn.gravity_force(model, s.q)


def test_inside_a_kernel_constant_arrays_are_vectors() -> None:
    """Also when the function has learned to go straight with just these arrays."""
    model, s = tree(), states(tree())
    prepare(kn.mass_matrix, model, s.q)
    H = kn.mass_matrix(model, s.q)
    kinds: list[type[Any]] = []

    @kn.kernel
    def own(model: Model, v: Any) -> Any:
        inertia = kn.mass_matrix(model, s.q)
        kinds.append(type(inertia))
        return inertia @ v

    np.testing.assert_allclose(own(model, s.v), H @ s.v, rtol=1e-12)
    assert kinds == [Matrix]


def test_functions_called_while_a_text_is_traced_in_another_thread() -> None:
    model, s = tree(), states(tree())
    prepare(kn.gravity_force, model, s.q)
    expected = kn.gravity_force(model, s.q)
    inside, go_on = threading.Event(), threading.Event()

    @kn.kernel
    def slow(model: Model, q: Any) -> Any:
        inside.set()
        go_on.wait(30)
        return q

    thread = threading.Thread(target=lambda: slow(model, s.q))
    thread.start()
    inside.wait(30)
    result = kn.gravity_force(model, s.q)
    go_on.set()
    thread.join()
    assert same(result, expected)


def test_laws_of_users_are_watched() -> None:
    """A model whose coupling takes a number from around itself: calls that go straight ask whether it is the same."""
    ratio = 2.0
    b = Builder("geared", base="world")
    b.body("first", on="world", joint=kn.joints.Revolute("y"), mass=2.0, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.025))
    b.body("second", on="first", joint=kn.joints.Revolute("y"), at=(0.3, 0, 0), mass=1.0, inertia=(0.02, 0.03, 0.03))
    b.couple("second_joint", ["first_joint"], lambda q: ratio * q)
    model, q = b.build(), np.array([0.3])
    prepare(kn.couplings.tree_positions, model, q)
    assert len(kn.couplings.tree_positions._learned) > 0
    np.testing.assert_array_equal(kn.couplings.tree_positions(model, q), [0.3, 0.6])
    ratio = 3.0
    np.testing.assert_allclose(kn.couplings.tree_positions(model, q), [0.3, 0.9], rtol=1e-15)
    prepare(kn.couplings.tree_positions, model, q)
    np.testing.assert_allclose(kn.couplings.tree_positions(model, q), [0.3, 0.9], rtol=1e-15)


# models come and go


def test_a_model_that_is_gone_leaves_nothing() -> None:
    model, q = chain(3), np.ones(3)
    before = len(kn.gravity_force._learned)
    prepare(kn.gravity_force, model, q)
    assert len(kn.gravity_force._learned) == before + 1
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert len(kn.gravity_force._learned) == before


def test_a_model_in_the_place_of_another_gets_its_own_results() -> None:
    q, numbers, reused = np.array([0.3, 0.4]), set[int](), 0
    kn.compilation.set_policy("always")
    for k in range(200):
        g = 1.0 + k % 7
        model = chain(2).with_gravity((0, 0, -g))
        reused += id(model) in numbers
        numbers.add(id(model))
        for _ in range(3):
            result = kn.gravity_force(model, q)
        expected = [float(x) for x in kn.gravity_force.reference(model, list(q))]
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)
        del model
    assert reused > 20, "objects are put where others were"


def test_threads_and_models_that_come_and_go() -> None:
    q, wrong = np.array([0.3, 0.4]), list[float]()
    kn.compilation.set_policy("always")
    lasting = chain(2)
    expected = kn.gravity_force(lasting, q)

    def work(number: int) -> None:
        for k in range(30):
            model = chain(2).with_gravity((0, 0, -1.0 - (number + k) % 3))
            scale = (1.0 + (number + k) % 3) / 9.81
            for _ in range(3):
                wrong.append(float(np.abs(kn.gravity_force(lasting, q) - expected).max()))
                wrong.append(float(np.abs(kn.gravity_force(model, q) - scale * expected).max()))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 4 * 30 * 6
    assert max(wrong) < 1e-12


def test_no_references_are_lost() -> None:
    model, s = arm(), states(arm())
    prepare(kn.inverse_dynamics, model, s.q, s.v, s.a)
    prepare(kn.kinetic_energy, model, s.q, s.v)
    prepare(kn.normalize, model, s.q, s.v)
    prepare(kn.pose, model, s.q, frame="tool")
    many = states(arm(), (3,))
    by = kn.inverse_dynamics.jacobian
    prepare(kn.normalize, model, many.q, many.v)
    for q, v, a in ((s.q, s.v, s.a), (many.q, many.v, many.a)):
        for _ in range(CALLS + 2):
            by(model, q, v, a, wrt=("q", "v"))

    def all_of_them(times: int) -> None:
        for _ in range(times):
            by(model, s.q, s.v, s.a, wrt=("q", "v")), by(model, many.q, many.v, many.a, wrt=("q", "v"))
            kn.normalize(model, many.q, many.v)
            kn.inverse_dynamics(model, s.q, s.v, s.a), kn.kinetic_energy(model, s.q, s.v)
            kn.normalize(model, s.q, s.v), kn.pose(model, s.q, frame="tool")

    all_of_them(2)  # what is kept of them is there
    watched = (s.q, s.v, s.a, s.q.dtype, np.ndarray, model, many.q)
    before = [sys.getrefcount(x) for x in watched]
    all_of_them(500)
    assert [sys.getrefcount(x) for x in watched] == before
    parts = by(model, many.q, many.v, many.a, wrt=("q", "v"))
    base, another = parts["q"].base, np.zeros(3)
    del parts
    assert sys.getrefcount(base) == sys.getrefcount(another)


# dictionaries


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_derivatives_go_straight(batch: tuple[int, ...], no_python: Callable[[], None]) -> None:
    """They are named by argument; those of other arguments, layouts and mechanisms are not mistaken for them."""
    model, s = arm(), states(arm(), batch)
    by, dynamics = kn.inverse_dynamics.jacobian, kn.inverse_dynamics.derivatives
    for wrt in ("q", "v"), "v":
        for _ in range(CALLS + 2):
            by(model, s.q, s.v, s.a, wrt=wrt)
    q, v = (dynamics.by("jacobian", (name,), "dense")._general(model, s.q, s.v, s.a)[name] for name in "qv")
    with pytest.raises(TypeError, match="a knuckle"):
        by(None, s.q, s.v, s.a, wrt=("q", "v"))
    with pytest.raises(ValueError, match="layout"):
        by(model, s.q, s.v, s.a, wrt="v", layout="sparse")
    with pytest.raises(TypeError, match="wrt names"):
        by(model, s.q, s.v, s.a, wrt=("q", ["v"]))
    by(model, s.q, s.v, s.a, np.zeros((model.nb, 6)), wrt=("f_ext",))
    with pytest.raises(TypeError, match="not differentiated by 'f_ext'"):
        by(model, s.q, s.v, s.a, wrt=("f_ext",))
    no_python()
    both, one = by(model, s.q, s.v, s.a, wrt=("q", "v")), by(model, s.q, s.v, s.a, wrt="v")
    assert list(both) == ["q", "v"]
    assert list(one) == ["v"]
    for found, expected in ((both["q"], q), (both["v"], v), (one["v"], v)):
        assert found.shape == (*batch, model.nv, model.nv)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# functions of users


@kn.kernel
def pushed(model: Model, q: Any, v: Any, kp: float, kd: float) -> Any:
    return kn.gravity_force(model, q) - kp * q - kd * v, v[0]


def test_kernels_of_users_go_straight(no_python: Callable[[], None]) -> None:
    model, s = arm(), states(arm())
    for _ in range(3):
        pushed(model, s.q, s.v, 1.0, kd=2.0)
    expected = general(pushed, model, s.q, s.v, 3.0, kd=0.5)
    no_python()
    assert same(pushed(model, s.q, s.v, 3.0, kd=0.5), expected)
    assert type(expected[1]) is np.float64
