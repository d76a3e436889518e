"""Texts that choose: `where` in kernels, and what becomes of those that look at values otherwise."""

import operator
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.spatial import Matrix, Vector

ARM = kn.robots.load("arm")
RNG = np.random.default_rng(5)
Q, V = RNG.normal(size=(2, 5, 7))
V[2, 0] = 0.0


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:
    monkeypatch.setattr(kernels, "policy", "auto")


def deadband(model: kn.Model, q: Any, v: Any) -> Any:
    return 0.0 * q if v[0] == 0.0 else q


LOOKING: dict[str, Any] = {
    "==": deadband,
    "!=": lambda model, q, v: q if v[0] != 0.0 else 0.0 * q,
    "vectors": lambda model, q, v: 1.0 if q == v else 0.0,
    "in": lambda model, q, v: 1.0 if v[0] in (0.0, 3.0) else 0.0,
    "set": lambda model, q, v: float(len({v[0], 0.0})),
    "dict": lambda model, q, v: {0.0: 2.0}.get(v[0], 1.0),
    "index": lambda model, q, v: q[0] if list(v).count(0.0) else q[1],
    "NumPy's number": lambda model, q, v: 1.0 if v[0] == np.float32(0) or v[0] == np.int64(0) else 0.0,
    "max": lambda model, q, v: max(v),
    ">": lambda model, q, v: 1.0 if v[0] > 0 else 0.0,
    ">=": lambda model, q, v: 1.0 if v[0] >= 0 else 0.0,
}


@pytest.mark.parametrize("name", LOOKING)
def test_a_text_that_looks_at_values_gives_what_it_says(name: str):
    """Never one branch for all: the text runs as it stands, and the warning names its line and the way out."""
    text = LOOKING[name]
    own = kn.kernel(text)
    line = text.__code__.co_firstlineno + (name == "==")
    with pytest.warns(RuntimeWarning, match=rf"runs as plain Python.*kn\.where.*line {line} of test_where\.py"):
        found = own(ARM, Q, V)
    for k in range(5):
        one = own.reference(ARM, Q[k], V[k])
        np.testing.assert_array_equal(found[k], list(one) if isinstance(one, Vector) else one)
    with pytest.raises(TypeError, match=r"kn\.where"):
        own.program(ARM)


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_where_is_compiled(op: Any, recwarn: pytest.WarningsRecorder):
    @kn.kernel
    def chosen(model: kn.Model, q: Any, v: Any) -> Any:
        M = kn.mass_matrix(model, q)
        vector, number = kn.where(op(v[0], 0.0), q, 2.0), kn.where(op(v[0], v[1]), v[2], 1)
        return vector, number, kn.where(op(1.5, v[0]), M, np.eye(7)), kn.where(op(0.0, 1.0), np.arange(7.0), q)

    v = np.concatenate([V, V])
    v[5, 0], v[6, 0], v[7, 1] = np.nan, 1.5, v[7, 0]
    q = np.concatenate([Q, Q])
    vector, number, matrix, constant = chosen(ARM, q, v)
    first = op(v[:, 0], 0.0)
    np.testing.assert_array_equal(vector, np.where(first[:, None], q, 2.0))
    np.testing.assert_array_equal(number, np.where(op(v[:, 0], v[:, 1]), v[:, 2], 1.0))
    masses = np.where(op(1.5, v[:, 0])[:, None, None], kn.mass_matrix(ARM, q), np.eye(7))
    np.testing.assert_allclose(matrix, masses, atol=1e-14)
    np.testing.assert_array_equal(constant, np.broadcast_to(np.arange(7.0), q.shape) if op(0.0, 1.0) else q)
    assert not recwarn.list
    for k in (2, 5, 6):
        np.testing.assert_array_equal(list(chosen.reference(ARM, q[k], v[k])[0]), vector[k])
    assert "?" in chosen.source(ARM, language="c")


def test_where_with_arrays_and_numbers():
    np.testing.assert_array_equal(kn.where([True, False], [1.0, 2.0], 3.0), [1.0, 3.0])
    np.testing.assert_array_equal(kn.where(Q > 0, Q, 0.0), np.where(Q > 0, Q, 0.0))
    assert kn.where(True, 1.0, 2.0) == 1.0
    assert kn.where(np.bool_(False), Vector([1, 2]), 0) == Vector([0, 0])
    assert kn.where(Vector([True, False]), Vector([1, 2]), 0) == Vector([1, 0])
    with pytest.raises(ValueError, match="vectors of lengths 2 and 3 do not fit"):
        kn.where(True, Vector([1, 2]), Vector([1, 2, 3]))


# arrays of constants in texts

K, D, S = np.arange(1.0, 8.0), np.linspace(0.5, 2.0, 7), RNG.normal(size=(7, 7))


@pytest.mark.parametrize(
    "text",
    [
        lambda q: K * q, lambda q: q * K, lambda q: q / D, lambda q: D / q, lambda q: K + q, lambda q: q + K,
        lambda q: K - q, lambda q: q - K, lambda q: S @ q, lambda q: K @ q, lambda q: q @ K,
        lambda q: np.float64(2) * q + np.array(3.0) * q,
    ],
)  # fmt: skip
def test_arrays_go_with_vectors(text: Any, recwarn: pytest.WarningsRecorder):
    own = kn.kernel(lambda model, q: text(q))
    np.testing.assert_allclose(own(ARM, Q), [text(q) for q in Q], rtol=1e-13)
    plain = own.reference(ARM, Q[0])
    np.testing.assert_allclose(list(plain) if isinstance(plain, Vector) else plain, text(Q[0]), rtol=1e-13)
    assert not recwarn.list


def test_arrays_go_with_matrices():
    own = kn.kernel(lambda model, q: (S @ kn.mass_matrix(model, q), kn.mass_matrix(model, q) @ S + S,
                                      S - kn.mass_matrix(model, q), kn.mass_matrix(model, q) @ K))  # fmt: skip
    H = kn.mass_matrix(ARM, Q)
    for found, expected in zip(own(ARM, Q), (S @ H, H @ S + S, S - H, H @ K), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda q: np.ones(3) * q, "vectors of lengths 3 and 7 do not fit"),
        (lambda q: q - np.ones(3), "vectors of lengths 7 and 3 do not fit"),
        (lambda q: np.ones((7, 6)) * q, r"arrays of shapes \(7, 6\) and \(7,\) do not fit"),
        (lambda q: np.ones((2, 7)) * np.outer(q, q), "2x7 and 7x7 do not fit"),
        (lambda q: np.ones((1, 1, 6)) * q, r"arrays of shapes \(1, 1, 6\) and \(7,\) do not fit"),
        (lambda q: np.ones((2, 6)) @ q, "vectors of lengths 6 and 7 do not fit"),
    ],
)
def test_arrays_that_do_not_fit_are_named(text: Any, message: str):
    with pytest.raises((TypeError, ValueError), match=message):
        kn.kernel(lambda model, q: text(q))(ARM, Q)


def test_outside_of_kernels_an_array_is_a_scalar_of_many_states():
    lanes = np.arange(3.0)
    np.testing.assert_array_equal(list(Vector([1.0, 2.0, 3.0]) * lanes), np.outer([1, 2, 3], lanes))
    assert isinstance(Matrix([[1.0]]) * lanes, Matrix)


def test_array_defaults_have_shapes():
    @kn.kernel
    def weighted(model: kn.Model, q: Any, w: Any = np.ones(7), k: Any = 2.0) -> Any:  # noqa: B008
        return k * q * w

    assert kn.compilation.operation_count(weighted, ARM).mul == 14
    assert weighted.program(ARM).arguments == (("q", 7), ("w", 7), ("k", 1))
    assert "define" in weighted.source(ARM)
    np.testing.assert_array_equal(weighted(ARM, Q), 2 * Q)
