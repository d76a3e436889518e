"""Precision, and what is not a number."""

from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import Model

from .mechanisms import FUNCTIONS, MODELS, Public, State, arm, states

ARM = MODELS["arm"]


def cast(state: State, dtype: Any) -> State:
    return State(**{field.name: getattr(state, field.name).astype(dtype) for field in fields(state)})


@pytest.mark.sampled
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.longdouble, np.clongdouble])
def test_precision_in_is_precision_out(model: Model, public: Public, dtype: Any, batch: tuple[int, ...]):
    s = states(model, batch)
    found = public.call(model, cast(s, dtype))
    assert found.dtype == dtype
    expected = public.call(model, s)
    size = max(1.0, np.abs(expected).max())
    # float32 rounds the arguments too: 1e-7, times the condition number of the mass matrix
    tolerance = 2e-4 if np.finfo(dtype).eps > 1e-10 else 1e-11
    np.testing.assert_allclose(found, expected, atol=tolerance * size, rtol=0)


MIXED = [
    (np.float32, np.float32, np.float32),
    (np.float32, np.float64, np.float64),
    (np.float16, np.float16, np.float32),
    (np.float16, np.float32, np.float32),
    (np.int64, np.int64, np.float64),
    (np.int8, np.int8, np.float64),
    (np.int8, np.float32, np.float64),
    (np.uint16, np.float64, np.float64),
    (np.complex64, np.float32, np.complex64),
    (np.complex64, np.float64, np.complex128),
    (np.float32, np.complex128, np.complex128),
    (np.float64, np.longdouble, np.longdouble),
]


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize(("first", "second", "expected"), MIXED)
def test_mixed_precision_is_the_higher_one(first: Any, second: Any, expected: Any):
    """Of integers: double, as in any division of NumPy's."""
    q, v = np.ones(3, first), np.ones(3, second)
    assert kn.bias_force(ARM, q, v).dtype == expected
    assert kn.bias_force(ARM, np.stack([q, q]), v).dtype == expected


def test_integers_are_promoted():
    zeros = np.zeros(3)
    for integers in ([0, 1, 2], (0, 1, 2), np.array([0, 1, 2]), np.array([0, 1, 2], np.uint8), range(3)):
        found = kn.inverse_dynamics(ARM, integers, [0, 0, 0], zeros)  # type: ignore[arg-type]
        np.testing.assert_array_equal(found, kn.inverse_dynamics(ARM, [0.0, 1.0, 2.0], zeros, zeros))
        assert found.dtype == float


def test_float32_is_computed_in_float32():
    """Not in double and rounded at the end: the last place differs from that somewhere."""
    s = states(ARM, (50,))
    single = kn.forward_dynamics(ARM, *(x.astype(np.float32) for x in (s.q, s.v, s.a)))
    double = kn.forward_dynamics(ARM, *(x.astype(np.float32).astype(float) for x in (s.q, s.v, s.a)))
    assert single.dtype == np.float32
    assert np.any(single != double.astype(np.float32))


# what is refused, and how the message reads

NOT_NUMBERS: dict[str, tuple[Any, str]] = {
    "booleans": (np.array([True, False, True]), "q holds bool, and must hold real or complex numbers"),
    "a list of booleans": ([True, False, True], "q holds bool, and must hold real or complex numbers"),
    "text": (["a", "b", "c"], "q holds <U1, and must hold real or complex numbers"),
    "one text": ("0 0 0", "q holds <U5, and must hold real or complex numbers"),
    "bytes": ([b"a", b"b", b"c"], "q holds .S1, and must hold real or complex numbers"),
    "None": (None, r"q is None, and must be an array of shape \(\.\.\., 3\)"),
    "a list with None": ([0.0, None, 1.0], "q holds NoneType objects, and must hold real or complex numbers"),
    "None in an array of objects": (
        np.array([0.0, None, 1.0], object),
        "q holds NoneType objects, and must hold numbers",
    ),
    "text in an array of objects": (np.array([0.0, "x", 1.0], object), "q holds str objects, and must hold numbers"),
    "booleans in an array of objects": (np.array([0.0, True, 1.0], object), "q holds bool objects, and must hold"),
    "decimals": ([Decimal(0)] * 3, "q holds Decimal objects, and must hold numbers of a kind knuckle knows"),
    "dates": (np.zeros(3, "datetime64[s]"), "q holds datetime64.*and must hold real or complex numbers"),
    "a record": (np.zeros(3, [("a", float)]), "q holds .*and must hold real or complex numbers"),
    "a masked array": (np.ma.masked_array([0.0, 1.0, 2.0], [False, True, False]), "q is a masked array"),
    "a dictionary": ({"a": 1.0}, "q holds dict objects, and must hold numbers"),
    "a set": ({0.0, 1.0, 2.0}, "q holds set objects, and must hold numbers"),
    "a function": (abs, "q holds builtin_function_or_method objects, and must hold numbers"),
    "the model": (ARM, "q holds Model objects, and must hold numbers"),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_what_is_not_a_number_is_refused(name: str):
    value, message = NOT_NUMBERS[name]
    with pytest.raises(TypeError, match=message):
        kn.mass_matrix(ARM, value)


WRONG_SHAPES: dict[str, tuple[Any, str]] = {
    "too short": (np.zeros(2), r"q has shape \(2,\), and must have shape \(\.\.\., 3\)"),
    "too long": (np.zeros(4), r"q has shape \(4,\), and must have shape \(\.\.\., 3\)"),
    "a batch of the wrong length": (np.zeros((5, 4)), r"q has shape \(5, 4\), and must have shape \(\.\.\., 3\)"),
    "transposed": (np.zeros((3, 5)), r"q has shape \(3, 5\), and must have shape \(\.\.\., 3\)"),
    "no axis": (np.float64(1.0), r"q has shape \(\), and must have shape \(\.\.\., 3\)"),
    "a number": (1.0, r"q has shape \(\), and must have shape \(\.\.\., 3\)"),
    "empty": ([], r"q has shape \(0,\), and must have shape \(\.\.\., 3\)"),
    "ragged": ([[0.0, 1.0, 2.0], [0.0, 1.0]], "q is not an array of numbers: .*inhomogeneous"),
    "ragged objects": (np.array([[1, 2], [3]], object), r"q"),
}


@pytest.mark.parametrize("name", WRONG_SHAPES)
def test_wrong_shapes_are_refused(name: str):
    value, message = WRONG_SHAPES[name]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        kn.mass_matrix(ARM, value)
    assert isinstance(caught.value, ValueError) or name == "ragged objects"


ARGUMENTS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], str]] = {
    "q": (lambda x: kn.inverse_dynamics(ARM, x, np.zeros(3), np.zeros(3)), (4,), r"\(\.\.\., 3\)"),
    "v": (lambda x: kn.inverse_dynamics(ARM, np.zeros(3), x, np.zeros(3)), (4,), r"\(\.\.\., 3\)"),
    "a": (lambda x: kn.inverse_dynamics(ARM, np.zeros(3), np.zeros(3), x), (4,), r"\(\.\.\., 3\)"),
    "f_ext": (lambda x: kn.inverse_dynamics(ARM, *np.zeros((3, 3)), x), (6, 3), r"\(\.\.\., 3, 6\)"),
    "tau": (lambda x: kn.forward_dynamics(ARM, np.zeros(3), np.zeros(3), x), (1,), r"\(\.\.\., 3\)"),
    "dv": (lambda x: kn.integrate(MODELS["tree"], kn.neutral(MODELS["tree"]), x), (12,), r"\(\.\.\., 11\)"),
    "q0": (lambda x: kn.difference(MODELS["tree"], x, kn.neutral(MODELS["tree"])), (11,), r"\(\.\.\., 13\)"),
    "q1": (lambda x: kn.difference(MODELS["tree"], kn.neutral(MODELS["tree"]), x), (11,), r"\(\.\.\., 13\)"),
    "wrench": (lambda x: kn.external_force(ARM, np.zeros(3), "tool", x), (3,), r"\(\.\.\., 6\)"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_messages_name_the_argument(name: str):
    call, wrong, wanted = ARGUMENTS[name]
    found = str(wrong).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=f"^{name} has shape {found}, and must have shape {wanted}$"):
        call(np.zeros(wrong))
    with pytest.raises(TypeError, match=f"^{name} holds bool"):
        call(np.zeros(wrong, bool))
    if name != "f_ext":
        with pytest.raises(TypeError, match=f"^{name} is None, and must be an array"):
            call(None)


def test_f_ext_may_be_left_out():
    s = states(ARM)
    found = kn.inverse_dynamics(ARM, s.q, s.v, s.a, None)
    np.testing.assert_array_equal(found, kn.inverse_dynamics(ARM, s.q, s.v, s.a))
    np.testing.assert_allclose(found, kn.inverse_dynamics(ARM, s.q, s.v, s.a, np.zeros((3, 6))), rtol=1e-14)


# numbers that are none

HOSTILE = [np.nan, np.inf, -np.inf]


@pytest.mark.sampled
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("argument", ["q", "v", "a"])
def test_nan_and_infinity_stay_in_their_row(model: Model, public: Public, argument: str, value: float):
    s = states(model, (4,))
    clean = public.call(model, s)
    getattr(s, argument)[2, 0] = value
    found = public.call(model, s)
    others = [0, 1, 3]
    np.testing.assert_array_equal(found[others], clean[others])
    alone = public.call(model, State(**{f.name: getattr(s, f.name)[2] for f in fields(s)}))
    np.testing.assert_array_equal(np.isfinite(alone), np.isfinite(found[2]))


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "kinetic_energy"])
def test_nan_and_infinity_stay_in_their_row_of_native_code(name: str):
    s, call = states(ARM, (9,)), FUNCTIONS[name].call
    clean = call(ARM, s)
    s.q[2], s.q[7, 1] = np.nan, np.inf
    found = call(ARM, s)
    others = [0, 1, 3, 4, 5, 6, 8]
    np.testing.assert_allclose(found[others], clean[others], rtol=1e-13, atol=1e-13)
    assert not np.all(np.isfinite(found[2]))
    assert not np.all(np.isfinite(found[7]))


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("value", HOSTILE)
def test_nan_in_nan_out(value: float):
    """Wherever a result depends on it: gravity does not care how far the arm has turned about the vertical."""
    turned = states(ARM)
    turned.q[0] = value
    assert np.all(np.isfinite(kn.gravity_force(ARM, turned.q)))
    assert not np.any(np.isfinite(kn.pose(ARM, turned.q, "tool")[:2, :3]))
    s = states(ARM)
    for argument in ("q", "v", "a"):
        given = State(**{f.name: getattr(s, f.name).copy() for f in fields(s)})
        getattr(given, argument)[1] = value
        assert not np.all(np.isfinite(kn.inverse_dynamics(ARM, given.q, given.v, given.a)))
        assert not np.all(np.isfinite(kn.forward_dynamics(ARM, given.q, given.v, given.a)))


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_division_by_zero_is_no_exception(batch: tuple[int, ...], dtype: Any):
    """A quaternion of zeros is no rotation: the result is NaN, for one state and in a batch, and no warning."""
    model = MODELS["tree"]
    s = states(model, batch)
    s.q[..., :4] = 0
    given = cast(s, dtype)
    assert np.all(np.isnan(kn.pose(model, given.q, "hull")[..., :3, :3]))
    assert np.any(np.isnan(kn.forward_dynamics(model, given.q, given.v, given.a)))
    assert np.any(np.isnan(kn.integrate(model, given.q, given.v)))


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("huge", [1e200, 1e308])
def test_overflow_is_no_exception(huge: float):
    s = states(ARM)
    for batch in ((), (2,)):
        v = np.broadcast_to(s.v * huge, (*batch, 3))
        assert not np.all(np.isfinite(kn.bias_force(ARM, s.q, v)))


@pytest.mark.usefixtures("compilation")
def test_a_joint_that_moves_nothing_is_an_error_of_the_model():
    """Zero in every state, not in this one: said once, clearly, instead of NaN for ever."""
    from knuckle.joints import Revolute
    from knuckle.model import Body, TreeJoint
    from knuckle.spatial import Inertia

    model = arm()
    massless = model.replace(
        bodies=(*model.bodies, Body("ghost", Inertia.zero())),
        joints=(*model.joints, TreeJoint("ghost_joint", Revolute("z"), 2)),
    )
    for batch in ((), (2,)):
        s = states(massless, batch)
        with pytest.raises(kn.ModelError, match="zero in every state"):
            kn.forward_dynamics(massless, s.q, s.v, s.a)
        with pytest.raises(kn.ModelError, match="zero in every state"):
            kn.forward_dynamics.program(massless)
        assert np.all(np.isfinite(kn.inverse_dynamics(massless, s.q, s.v, s.a)))
        assert np.all(kn.mass_matrix(massless, s.q)[..., -1] == 0)


def test_every_function_is_warning_free(model: Model, recwarn: pytest.WarningsRecorder):
    s = states(model, (2,))
    s.q[0], s.v[1] = np.inf, np.nan
    for public in FUNCTIONS.values():
        public.call(model, s)
    assert not list(recwarn)
