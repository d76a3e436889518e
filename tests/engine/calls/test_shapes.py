"""Batches: shapes, broadcasting, memory layout, and what is not changed."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import numpy_arrays
from knuckle.model import Model

from .mechanisms import FUNCTIONS, MODELS, Public, State, chain, states

TOLERANCE = 1e-12
"""Lanes and single states do the same operations; NumPy's sine may differ from Python's in the last place, which the
largest mass matrix here magnifies by a few hundred."""


def mapped(state: State, f: Any) -> State:
    return State(**{field.name: f(getattr(state, field.name)) for field in fields(state)})


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.sampled
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (2, 1, 3)])
def test_batch_is_state_by_state(model: Model, public: Public, batch: tuple[int, ...]):
    s = states(model, batch, seed=len(batch))
    found = public.call(model, s)
    assert np.shape(found) == batch + public.shape(model)
    for index in np.ndindex(batch):
        close(found[index], public.call(model, mapped(s, lambda x, index=index: x[index])))


@pytest.mark.sampled
@pytest.mark.parametrize("batch", [(0,), (2, 0), (0, 3)])
def test_empty_batch(model: Model, public: Public, batch: tuple[int, ...]):
    found = public.call(model, states(model, batch))
    assert found.shape == batch + public.shape(model)
    assert found.dtype == float


@pytest.mark.usefixtures("compilation")
def test_arguments_broadcast_against_each_other(model: Model):
    s = states(model, (4, 1))
    v, a, f = states(model, (3,), seed=1).v, states(model).a, states(model, (4, 3), seed=2).f_ext
    found = kn.inverse_dynamics(model, s.q, v, a, f)
    assert found.shape == (4, 3, model.nv)
    for i, j in np.ndindex(4, 3):
        close(found[i, j], kn.inverse_dynamics(model, s.q[i, 0], v[j], a, f[i, j]))


def test_one_state_broadcasts_to_many(model: Model):
    s, q = states(model), states(model, (7,), seed=3).q
    close(kn.mass_matrix(model, q)[4], kn.mass_matrix(model, q[4]))
    assert kn.kinetic_energy(model, s.q, states(model, (7,)).v).shape == (7,)
    same = kn.kinetic_energy(model, np.broadcast_to(s.q, (7, model.nq)), s.v)
    assert same.shape == (7,)
    assert np.ptp(same) == 0


def test_batches_that_do_not_broadcast():
    model = MODELS["arm"]
    q, v = states(model, (4,)).q, states(model, (3,)).v
    with pytest.raises(ValueError, match=r"batch axes of the arguments do not broadcast: q \(4,\), v \(3,\)"):
        kn.kinetic_energy(model, q, v)


@pytest.mark.sampled
@pytest.mark.parametrize("block", [1, 3, 7])
def test_blocks_are_the_whole(model: Model, public: Public, block: int, monkeypatch: pytest.MonkeyPatch):
    """A large batch goes through in blocks, each like a small batch."""
    s = states(model, (2, 5))
    whole = public.call(model, s)
    monkeypatch.setattr(numpy_arrays, "BLOCK", block)
    np.testing.assert_array_equal(public.call(model, s), whole)


def test_blocks_broadcast(monkeypatch: pytest.MonkeyPatch):
    model = MODELS["tree"]
    q, v, a = states(model, (5, 1)).q, states(model, (4,), seed=1).v, states(model, seed=2).a
    one = states(model, (1, 1), seed=3).f_ext
    whole = kn.forward_dynamics(model, q, v, a, one)
    monkeypatch.setattr(numpy_arrays, "BLOCK", 3)
    np.testing.assert_array_equal(kn.forward_dynamics(model, q, v, a, one), whole)


LAYOUTS = {
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "middle of a larger one": lambda x: np.pad(x, [(1, 1)] * x.ndim)[(slice(1, -1),) * x.ndim],
    "broadcast view": lambda x: np.broadcast_to(x, x.shape),
    "big endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "unaligned": lambda x: np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape),
}


@pytest.mark.sampled
@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_does_not_matter(model: Model, layout: str):
    s = states(model, (3,))
    given = mapped(s, LAYOUTS[layout])
    for public in (FUNCTIONS["inverse_dynamics with f_ext"], FUNCTIONS["mass_matrix"]):
        found = public.call(model, given)
        np.testing.assert_array_equal(found, public.call(model, s))
        assert found.dtype == np.dtype(float)
        assert found.dtype.isnative


def test_arguments_are_neither_written_nor_returned(model: Model, public: Public):
    for batch in ((), (3,)):
        s = states(model, batch)
        before = mapped(s, np.copy)
        read_only = mapped(s, lambda x: x)
        for field in fields(s):
            getattr(read_only, field.name).flags.writeable = False
        result = public.call(model, read_only)
        for field in fields(s):
            np.testing.assert_array_equal(getattr(s, field.name), getattr(before, field.name))
            assert not np.shares_memory(result, getattr(s, field.name))
        if np.ndim(result):
            assert result.flags.writeable


@pytest.mark.parametrize("convert", [lambda x: x.tolist(), lambda x: tuple(map(tuple, x)) if x.ndim > 1 else tuple(x)])
def test_lists_and_tuples(model: Model, convert: Any):
    s = states(model)
    t = replace(s, q=convert(s.q), v=convert(s.v), a=convert(s.a), f_ext=convert(s.f_ext))
    np.testing.assert_array_equal(
        kn.inverse_dynamics(model, t.q, t.v, t.a, t.f_ext), kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    )
    batch = states(model, (3,))
    found = kn.mass_matrix(model, [list(q) for q in batch.q])
    np.testing.assert_array_equal(found, kn.mass_matrix(model, batch.q))


def test_rows_of_a_list_may_be_arrays(model: Model):
    batch = states(model, (3,))
    np.testing.assert_array_equal(kn.mass_matrix(model, list(batch.q)), kn.mass_matrix(model, batch.q))


def test_a_matrix_is_an_array_of_two_axes():
    """np.matrix is taken as the array that it is, and an array comes back."""
    model, s = MODELS["arm"], states(MODELS["arm"], (2,))
    with pytest.warns(PendingDeprecationWarning):
        q = np.matrix(s.q)
    found = kn.mass_matrix(model, q)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, kn.mass_matrix(model, s.q))


def test_other_array_classes():
    class Tagged(np.ndarray):
        pass

    model, s = MODELS["arm"], states(MODELS["arm"], (2,))
    found = kn.mass_matrix(model, s.q.view(Tagged))
    assert type(found) is np.ndarray

    class Convertible:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return s.q

    converted = kn.mass_matrix(model, Convertible())  # type: ignore[arg-type]
    assert converted.dtype == float
    np.testing.assert_array_equal(converted, found)


@pytest.mark.parametrize("name", ["kinetic_energy", "potential_energy"])
def test_single_numbers_are_numpys_scalars(model: Model, name: str):
    """As NumPy's own functions: a scalar for one state, an array for a batch."""
    energy = FUNCTIONS[name].call(model, states(model))
    assert isinstance(energy, np.float64)
    batch = FUNCTIONS[name].call(model, states(model, (3,)))
    assert isinstance(batch, np.ndarray)
    assert batch.shape == (3,)
    single = FUNCTIONS[name].call(model, mapped(states(model), lambda x: x.astype(np.float32)))
    assert isinstance(single, np.float32)
    stepped = FUNCTIONS[name].call(model, mapped(states(model), lambda x: x.astype(complex)))
    assert isinstance(stepped, np.complex128)


@pytest.mark.usefixtures("compilation")
def test_a_mechanism_without_joints():
    """No variables: arrays of no length in and out."""
    model = chain(0)
    q = np.zeros((4, 0))
    assert kn.inverse_dynamics(model, q, q, q).shape == (4, 0)
    assert kn.mass_matrix(model, q).shape == (4, 0, 0)
    assert kn.jacobian(model, q, "world").shape == (4, 6, 0)
    assert kn.kinetic_energy(model, np.zeros(0), np.zeros(0)) == 0
    assert kn.integrate(model, [], []).shape == (0,)
    assert kn.pose(model, q, "world").shape == (4, 4, 4)


@pytest.mark.usefixtures("compilation")
def test_many_states_need_little_memory():
    """100,000 states of a seven-joint chain: the intermediate lanes of one block, not of all."""
    import tracemalloc

    model = chain(7)
    s = states(model, (1,))
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 100_000, 7))
    kn.forward_dynamics(model, s.q, s.v, s.a)
    tracemalloc.start()
    found = kn.forward_dynamics(model, q, v, a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (100_000, 7)
    assert peak < 100e6
    close(found[77_777], kn.forward_dynamics(model, q[77_777], v[77_777], a[77_777]))
