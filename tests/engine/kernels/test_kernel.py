"""Native code behind the public functions: equal to the text, for every way arrays come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import numpy_arrays
from knuckle.engine.calls.function import function
from knuckle.engine.kernels import batch_code, fetch_or_compile
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native import machine_code, rolled_code
from knuckle.joints import Joint, Revolute
from knuckle.model import Builder, Model
from knuckle.scalar import absolute, less, select
from knuckle.spatial import Vector, repeated
from knuckle.testing import auto_tree

from ...seeds import quick
from ..calls.mechanisms import MODELS, Public, State, arm, chain, states

TREE = MODELS["tree"]
ROUNDINGS = 64
"""Roundings that may add up in a result, each grown by the conditioning of the mass matrix at most."""


pytestmark = pytest.mark.usefixtures("native_code")


def both(public: Public, model: Model, s: State) -> tuple[Any, Any]:
    """The result by native code and by the text."""
    found = public.call(model, s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "policy", "never")
        return found, public.call(model, s)


def as_dtype(s: State, dtype: Any) -> State:
    return State(*(np.asarray(x, dtype) for x in (s.q, s.v, s.a, s.f_ext, s.w)))


def assert_close(found: Any, expected: Any, condition: float) -> None:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDINGS * condition * np.finfo(found.dtype).eps * scale)


CONDITION = max(np.linalg.cond(H) for H in kn.mass_matrix(TREE, states(TREE, (20,)).q))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_public_function_equals_its_text(public: Public, dtype: Any):
    for batch in ((), (1,), (7,), (3, 5), (0,), (2, 0)):
        s = as_dtype(states(TREE, batch), dtype)
        found, expected = both(public, TREE, s)
        assert_close(found, expected, CONDITION)


def test_every_public_function_is_compiled(public: Public, monkeypatch: pytest.MonkeyPatch):
    """None of them looks at values."""

    def plain(*_: Any) -> Any:
        pytest.fail("the text was run")

    monkeypatch.setattr(numpy_arrays, "_plain", plain)
    assert public.call(TREE, states(TREE, (3,))).shape == (3, *public.shape(TREE))


# how arrays come


def call(q: Any, v: Any, a: Any) -> Any:
    return kn.inverse_dynamics(TREE, q, v, a)


def test_states_are_computed_alike_wherever_they_stand():
    """Alone, in a batch of any size, in any lane: the same bits."""
    s = states(TREE, (67,))
    whole = call(s.q, s.v, s.a)
    for n in (1, 2, 3, 4, 5, 8, 9, 16, 33):
        np.testing.assert_array_equal(call(s.q[:n], s.v[:n], s.a[:n]), whole[:n])
        np.testing.assert_array_equal(call(s.q[-n:], s.v[-n:], s.a[-n:]), whole[-n:])
    for k in range(0, 67, 7):
        np.testing.assert_array_equal(call(s.q[k], s.v[k], s.a[k]), whole[k])


def test_arguments_broadcast():
    s = states(TREE, (3, 5))
    q, v, a = s.q[:, :1], s.v[0], s.a[1, 2]
    expected = call(*(np.broadcast_to(x, (3, 5, x.shape[-1])).copy() for x in (q, v, a)))
    np.testing.assert_array_equal(call(q, v, a), expected)
    assert call(s.q[0, 0], s.v[0, 0], s.a[0]).shape == (5, TREE.nv)


def _fortran(x: Any) -> Any:
    return np.asfortranarray(x)


def _every_second(x: Any) -> Any:
    return np.repeat(x, 2, axis=-1)[..., ::2]


def _backwards(x: Any) -> Any:
    return np.ascontiguousarray(x[::-1])[::-1]


def _read_only(x: Any) -> Any:
    y = x.copy()
    y.flags.writeable = False
    return y


def _odd_address(x: Any) -> Any:
    room = np.empty(x.nbytes + 1, np.uint8)[1:]
    y = room.view(x.dtype).reshape(x.shape)
    y[...] = x
    assert not y.flags.aligned
    return y


def _other_bytes(x: Any) -> Any:
    return x.astype(x.dtype.newbyteorder())


@pytest.mark.parametrize(
    "form", [_fortran, _every_second, _backwards, _read_only, _odd_address, _other_bytes, np.ndarray.tolist]
)
def test_arrays_of_any_form(form: Any):
    s = states(TREE, (6,))
    given = [form(x) for x in (s.q, s.v, s.a)]
    np.testing.assert_array_equal(call(*given), call(s.q, s.v, s.a))
    for x, before in zip(given, (s.q, s.v, s.a), strict=True):
        np.testing.assert_array_equal(x, before)


def test_integers_are_promoted_and_precisions_meet():
    s = states(TREE, (4,))
    q = s.q.astype(np.float32)
    whole = np.ones((4, TREE.nv), np.int32)
    assert call(q, whole, whole).dtype == np.float64
    np.testing.assert_array_equal(
        call(q, whole, whole), call(q.astype(float), whole.astype(float), whole.astype(float))
    )
    assert call(q, s.v.astype(np.float32), s.a).dtype == np.float64
    assert call(q, s.v.astype(np.float32), s.a.astype(np.float32)).dtype == np.float32


def test_results_are_new_and_writable():
    s = states(TREE, (2,))
    first, second = call(s.q, s.v, s.a), call(s.q, s.v, s.a)
    assert first.flags.writeable
    assert first.flags.owndata or first.base.flags.owndata
    assert not np.shares_memory(first, second)


def test_other_precisions_run_as_text(built: list[str]):
    s = states(TREE, (2,))
    assert kn.gravity_force(TREE, s.q.astype(np.longdouble)).dtype == np.longdouble
    assert kn.gravity_force(TREE, s.q.astype(complex)).dtype == complex
    assert built == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e6, -3e8])
def test_a_strange_row_leaves_the_others_alone(bad: float):
    """NaN, and large angles."""
    model = MODELS["arm"]
    s = states(model, (13,))
    expected = kn.inverse_dynamics(model, s.q, s.v, s.a)
    q = s.q.copy()
    q[5, 1] = bad
    found = kn.inverse_dynamics(model, q, s.v, s.a)
    others = np.arange(13) != 5
    np.testing.assert_array_equal(found[others], expected[others])
    if np.isfinite(bad):
        near = q[5].copy()
        near[1] = np.arctan2(np.sin(bad), np.cos(bad))
        np.testing.assert_allclose(found[5], kn.inverse_dynamics(model, near, s.v[5], s.a[5]), rtol=1e-12)
    else:
        assert np.isnan(found[5]).any()


def test_all_angles_large():
    model = MODELS["arm"]
    s = states(model, (3, 2))
    turns = 2 * np.pi * 1e5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "policy", "never")
        expected = kn.mass_matrix(model, s.q + turns)
    np.testing.assert_allclose(kn.mass_matrix(model, s.q + turns), expected, rtol=1e-12)


def test_errors_are_those_of_the_text():
    s = states(TREE)
    with pytest.raises(KeyError, match="no frame is called 'nowhere'"):
        kn.pose(TREE, s.q, "nowhere")
    with pytest.raises(ValueError, match="expressed_in is"):
        kn.jacobian(TREE, s.q, "tool", "sideways")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="q has shape"):
        kn.mass_matrix(TREE, s.q[:-1])


def test_a_model_that_does_not_move():
    b = Builder("post", base="world")
    model = b.build()
    assert kn.inverse_dynamics(model, np.zeros((4, 0)), np.zeros((4, 0)), np.zeros((4, 0))).shape == (4, 0)
    assert kn.kinetic_energy(model, np.zeros((4, 0)), np.zeros((4, 0))).tolist() == [0, 0, 0, 0]


# large mechanisms


def spied(monkeypatch: pytest.MonkeyPatch) -> list[Model]:
    """The models for which texts are rolled and compiled from now on."""
    roll, seen = batch_code._rolled, list[Model]()

    def spy(specialization: Specialization, arguments: Any) -> Any:
        seen.append(specialization.model)
        return roll(specialization, arguments)

    monkeypatch.setattr(batch_code, "_rolled", spy)
    return seen


@pytest.mark.parametrize("dtype", quick([np.float64, np.float32], [np.float64]))
def test_straight_and_rolled_code_are_equal(dtype: Any, monkeypatch: pytest.MonkeyPatch):
    model, again = chain(5), chain(5)
    s = as_dtype(states(model, (6,)), dtype)
    straight = kn.forward_dynamics(model, s.q, s.v, s.a)
    condition = max(np.linalg.cond(H) for H in kn.mass_matrix(model, s.q).astype(float))
    monkeypatch.setattr(rolled_code, "BODIES", 4)
    rolled = spied(monkeypatch)
    assert_close(kn.forward_dynamics(again, s.q, s.v, s.a), straight, condition)
    assert rolled == [again]
    fetch_or_compile._in_use.clear()
    once_more = chain(5)
    np.testing.assert_array_equal(
        kn.forward_dynamics(once_more, s.q, s.v, s.a), kn.forward_dynamics(again, s.q, s.v, s.a)
    )
    assert rolled == [again], "kept on disk"
    with pytest.raises(KeyError, match="no frame is called 'nowhere'"):
        kn.pose(again, s.q, "nowhere")

    @kn.kernel
    def half(model: Model, q: Any, v: Any, a: Any) -> Any:
        return kn.forward_dynamics(model, q, v, a) / 2, q[0]

    found, first = half(again, s.q, s.v, s.a)
    assert_close(found, straight / 2, condition)
    np.testing.assert_array_equal(first, s.q[:, 0])


def test_a_long_text_over_few_bodies_is_rolled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By the number of its operations, not of its bodies; if there is repetition in it."""
    model, again, once_more = chain(6), chain(6), chain(6)
    q = states(model, (20,)).q
    straight = kn.mass_matrix(model, q)
    rolled = spied(monkeypatch)
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(rolled_code, "NODES", 10)
    fetch_or_compile._in_use.clear()
    assert_close(kn.mass_matrix(again, q), straight, 1.0)
    assert rolled == [again]
    monkeypatch.setattr(batch_code, "MOST_STEPS", 3)
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path / "other"))
    fetch_or_compile._in_use.clear()
    np.testing.assert_array_equal(kn.mass_matrix(once_more, q), straight)


@pytest.mark.slow
def test_the_mass_matrix_of_a_large_tree_is_native(monkeypatch: pytest.MonkeyPatch):
    model = auto_tree(64, 2.0, 0.3, 0.98)
    s = states(model, (5,))
    monkeypatch.setattr(kernels, "policy", "never")
    expected = kn.mass_matrix(model, s.q)
    monkeypatch.setattr(kernels, "policy", "always")
    monkeypatch.setattr(numpy_arrays, "_plain", lambda *_: pytest.fail("the text was run"))
    assert_close(kn.mass_matrix(model, s.q), expected, 1.0)


def test_what_cannot_be_rolled_runs_as_text(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rolled_code, "BODIES", 2)
    monkeypatch.setattr(batch_code, "MOST_STEPS", 3)
    model = chain(3)
    found = kn.gravity_force(model, np.ones((2, 3)))
    monkeypatch.setattr(kernels, "policy", "never")
    np.testing.assert_array_equal(found, kn.gravity_force(model, np.ones((2, 3))))


# what code is shared by


def test_equal_models_share_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path / "file" / "no folder"))
    (tmp_path / "file").write_text("in the way")
    texts: list[str] = []
    compile_text = machine_code.compile_text
    monkeypatch.setattr(machine_code, "compile_text", lambda text: texts.append(text) or compile_text(text))
    first, second, other = chain(4), chain(4), chain(4).with_gravity((0, 0, -1))
    q = np.ones(4)
    np.testing.assert_array_equal(kn.gravity_force(first, q), kn.gravity_force(second, q))
    assert len(texts) == 1
    kn.gravity_force(other, q)
    assert len(texts) == 2


def test_texts_of_one_name_are_told_apart():
    """In memory and on disk: names of other people's functions and joints say nothing."""

    def made(factor: float) -> Any:
        @function(q="q")
        def same(model: Model, q: Any) -> Any:
            return factor * Vector(q)

        return same

    q = np.ones(3)
    for factor in (2.0, 3.0):
        assert made(factor)(chain(3), q).tolist() == [factor] * 3


def test_joints_of_one_name_are_told_apart():
    def made(reach: float) -> Model:
        class Sneaky(Joint):
            _q = _v = ("rad",)

            def transform(self, q: Any) -> Any:
                return Revolute("z").transform(reach * q)

        b = Builder("sneaky", base="world")
        b.body("tip", on="world", joint=Sneaky(), mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
        return b.build()

    ends = [kn.pose(made(reach), np.array([0.5]), "tip")[0, 0] for reach in (1.0, 2.0)]
    np.testing.assert_allclose(ends, [np.cos(0.5), np.cos(1.0)], rtol=1e-15)


def test_options_are_told_apart_by_type():
    @function(q="q")
    def halved(model: Model, q: Any, by: Any) -> Any:
        return Vector(x / (2 if isinstance(by, bool) else 4) for x in q)

    assert halved(arm(), np.ones(3), True).tolist() == [0.5] * 3
    model = arm()
    assert (halved(model, np.ones(3), True)[0], halved(model, np.ones(3), 1)[0]) == (0.5, 0.25)


def test_long_texts_with_rounds_are_not_written_round_by_round(monkeypatch: pytest.MonkeyPatch):
    """Rolled code has no rounds and would hold each of a thousand; a text that is long enough for it keeps them."""
    monkeypatch.setattr(rolled_code, "NODES", 10)
    model, written = arm(), []

    @kn.kernel
    def root(model: Model, q: Any) -> Any:
        def better(_: Any, x: Any) -> Any:
            written.append(1)
            new = (x + q[0] / x) / 2
            return select(less(absolute(new - x), 1e-14), 0, 1), new

        return repeated(better, (1, q[0]), 1000)[1]

    q = np.full(model.nq, 2.0)
    assert root(model, q) == pytest.approx(np.sqrt(2.0), abs=1e-14)
    assert root(model, np.tile(q, (300, 1))) == pytest.approx(np.sqrt(2.0), abs=1e-14)
    assert 0 < len(written) < 100
