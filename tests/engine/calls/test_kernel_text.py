"""What people write in kernels: NumPy's arrays and functions, with the results that NumPy gives."""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.arrays.result_layout import laid_out
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.scalar import Dual, inside_a_kernel
from knuckle.spatial import Vector

ARM = kn.robots.load("arm")
RNG = np.random.default_rng(3)
Q, V = RNG.normal(size=(2, 6, 7))
Q[5, 2] = V[5, 2] = 0.5
K, g, P, W = (RNG.normal(size=shape) for shape in ((7, 7), (7,), (3, 7), (2, 3, 4)))


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:
    monkeypatch.setattr(kernels, "policy", "auto")


Text = Callable[[Any, Any], Any]

TEXTS: tuple[Text, ...] = (
    lambda q, v: 10 * (g - q) - v,
    lambda q, v: g * q,
    lambda q, v: 0.5 - q,
    lambda q, v: q + 1,
    lambda q, v: 1 / q,
    lambda q, v: q / g,
    lambda q, v: g / q,
    lambda q, v: K @ v,
    lambda q, v: q @ K,
    lambda q, v: q @ g,
    lambda q, v: g @ q,
    lambda q, v: P @ q,
    lambda q, v: K * q,
    lambda q, v: q * K,
    lambda q, v: K + q[:, None],
    lambda q, v: q[::2],
    lambda q, v: q[[0, 3, 1]],
    lambda q, v: q[np.array([2, 2])],
    lambda q, v: q[g > 0],
    lambda q, v: q[:, None] * v,
    lambda q, v: q[None],
    lambda q, v: q[...],
    lambda q, v: q[-1] + v[0],
    lambda q, v: np.float64(2.0) * q,
    lambda q, v: np.array(2.0) * q[0],
    lambda q, v: g * q[0],
    lambda q, v: q[0] * g,
    lambda q, v: q[0] + g,
    lambda q, v: q[0] - K,
    lambda q, v: g[0] - q[0],
    lambda q, v: sum(q),
    lambda q, v: abs(q),
    lambda q, v: abs(q[0]),
    lambda q, v: q**2,
    lambda q, v: q[0] ** 3,
    lambda q, v: np.abs(q) ** 1.5,
    lambda q, v: np.abs(q) ** 0.5,
    lambda q, v: 2.0**q,
    lambda q, v: q % 1.5,
    lambda q, v: (q + np.pi) % (2 * np.pi) - np.pi,
    lambda q, v: q[0] % 2.0,
    lambda q, v: q // 0.7,
    lambda q, v: np.sin(q) + np.cos(q[0]),
    lambda q, v: np.tan(q),
    lambda q, v: np.arcsin(np.tanh(q)),
    lambda q, v: np.arccos(np.tanh(q)),
    lambda q, v: np.arctan(q),
    lambda q, v: np.arctan2(q, v),
    lambda q, v: np.arctan2(q[0], v[0]),
    lambda q, v: np.tanh(q),
    lambda q, v: np.sinh(q),
    lambda q, v: np.cosh(q),
    lambda q, v: np.exp(q),
    lambda q, v: np.log(np.abs(q)),
    lambda q, v: np.log2(np.abs(q)),
    lambda q, v: np.log10(np.abs(q)),
    lambda q, v: np.sqrt(np.abs(q)),
    lambda q, v: np.sign(q),
    lambda q, v: np.minimum(q, v),
    lambda q, v: np.minimum(q, 0.2),
    lambda q, v: np.maximum(q[0], 0.0),
    lambda q, v: np.maximum(0.0, q),
    lambda q, v: np.clip(q, -0.5, 0.5),
    lambda q, v: np.clip(q, -np.abs(g), np.abs(g)),
    lambda q, v: np.clip(q[0], -0.1, 0.1),
    lambda q, v: np.where(q > 0, q, v),
    lambda q, v: np.where(q[0] > 0, q, 0.0),
    lambda q, v: np.where((q > 0) & (v < 0.5), 1.0, 0.0),
    lambda q, v: np.where((q > 0) | ~(v < 0.5), 1.0, q),
    lambda q, v: np.where(np.logical_and(q > 0, v > 0), 1.0, 0.0),
    lambda q, v: np.where(np.any(q > 1.0), q, v),
    lambda q, v: np.where(np.all(q > -1.0), q, v),
    lambda q, v: np.where(q == v, q, 0.0),
    lambda q, v: np.where(q != v, q, 0.0),
    lambda q, v: np.where(q > 0.1, g, K),
    lambda q, v: np.where(g > 0, q, v),
    lambda q, v: kn.where(q > v, q, v),
    lambda q, v: kn.where(g > q, q, v),
    lambda q, v: np.select([q > 1, q > 0], [v, 2 * v], -1.0),
    lambda q, v: np.concatenate([q, v]),
    lambda q, v: np.concatenate([q[:2], g[:1], [1.0]]),
    lambda q, v: np.concatenate([[q[0]], v]),
    lambda q, v: np.stack([q, v]),
    lambda q, v: np.stack([q[0], v[1], 2.0]),
    lambda q, v: np.stack([q, v], axis=1),
    lambda q, v: np.hstack([q, v]),
    lambda q, v: np.vstack([q, g]),
    lambda q, v: np.column_stack([q, v]),
    lambda q, v: np.dot(q, v),
    lambda q, v: np.dot(K, q),
    lambda q, v: np.matmul(K, q),
    lambda q, v: np.inner(q, g),
    lambda q, v: np.outer(q, v),
    lambda q, v: np.outer(q, g),
    lambda q, v: np.cross(q[:3], v[:3]),
    lambda q, v: np.cross(g[:3], v[:3]),
    lambda q, v: np.sum(q),
    lambda q, v: np.sum(np.outer(q, v), axis=0),
    lambda q, v: np.sum(np.outer(q, v), axis=1, keepdims=True),
    lambda q, v: np.mean(q),
    lambda q, v: np.mean(np.outer(q, v), axis=1),
    lambda q, v: np.prod(q),
    lambda q, v: np.max(q),
    lambda q, v: np.min(q),
    lambda q, v: np.max(np.outer(q, v), axis=0),
    lambda q, v: np.maximum.reduce(q),
    lambda q, v: np.add.reduce(q),
    lambda q, v: np.cumsum(q),
    lambda q, v: np.std(q),
    lambda q, v: np.var(q),
    lambda q, v: np.linalg.norm(q),
    lambda q, v: np.linalg.norm(q, 1),
    lambda q, v: np.linalg.norm(q, np.inf),
    lambda q, v: np.linalg.norm(np.outer(q, v)),
    lambda q, v: np.linalg.norm(np.outer(q, v), axis=1),
    lambda q, v: np.linalg.solve(np.outer(q[:3], v[:3]) + K[:3, :3], q[:3]),
    lambda q, v: np.linalg.solve(np.stack([np.stack([0 * q[0], q[1]]), np.stack([q[2], v[0]])]), q[:2]),
    lambda q, v: np.linalg.inv(np.outer(q[:3], v[:3]) + K[:3, :3]),
    lambda q, v: np.linalg.det(np.outer(q[:3], v[:3]) + K[:3, :3]),
    lambda q, v: np.zeros_like(q) + 1,
    lambda q, v: np.ones_like(q) * q,
    lambda q, v: np.full_like(q, 3.0),
    lambda q, v: np.diag(q),
    lambda q, v: np.diag(np.outer(q, v)),
    lambda q, v: np.eye(7) * q[0],
    lambda q, v: np.array([q[0], v[1], 1.0]),
    lambda q, v: np.array([q, v]) @ g,
    lambda q, v: np.array([q[0], v[1]]) * 2 + q[:2],
    lambda q, v: K[:2, :2] @ np.array([q[0], v[1]]),
    lambda q, v: np.array([[np.cos(q[0]), -np.sin(q[0])], [np.sin(q[0]), np.cos(q[0])]]) @ q[:2],
    lambda q, v: q[:6].reshape(2, 3),
    lambda q, v: np.reshape(q[:6], (3, -1)),
    lambda q, v: np.ravel(np.outer(q, v)),
    lambda q, v: np.outer(q, v).T,
    lambda q, v: np.transpose(np.outer(q, v)),
    lambda q, v: np.einsum("ij,j->i", K, q),
    lambda q, v: np.einsum("i,j->ij", q, v),
    lambda q, v: np.square(q),
    lambda q, v: np.power(q, 3),
    lambda q, v: np.hypot(q, v),
    lambda q, v: np.floor(3 * q),
    lambda q, v: np.ceil(3 * q),
    lambda q, v: np.round(3 * q),
    lambda q, v: np.rint(3 * q),
    lambda q, v: np.trunc(3 * q),
    lambda q, v: np.deg2rad(q),
    lambda q, v: np.reciprocal(q),
    lambda q, v: np.copysign(q, v),
    lambda q, v: np.heaviside(q, 0.5),
    lambda q, v: np.roll(q, 1),
    lambda q, v: np.flip(q),
    lambda q, v: np.diff(q),
    lambda q, v: np.tile(q, 2),
    lambda q, v: np.repeat(q, 2),
    lambda q, v: np.trace(np.outer(q, v)),
    lambda q, v: np.tril(np.outer(q, v)),
    lambda q, v: np.kron(q[:2], v[:2]),
    lambda q, v: np.expand_dims(q, 0),
    lambda q, v: np.atleast_2d(q),
    lambda q, v: np.append(q, 1.0),
    lambda q, v: np.split(q[:6], 2)[1],
    lambda q, v: np.stack([W[k] @ q[:4] for k in range(2)]),
    lambda q, v: W * q[0],
    lambda q, v: np.tensordot(W, q[:4], axes=1),
    lambda q, v: q.sum() + v.mean() + q.max() - q.min(),
    lambda q, v: q.dot(v),
    lambda q, v: q.T @ v,
    lambda q, v: q.reshape(7, 1) @ v.reshape(1, 7),
    lambda q, v: q.shape[0] * q.size * q.ndim * len(q) * q,
    lambda q, v: q.copy() + q.astype(float),
    lambda q, v: np.stack([x for x in q]),
    lambda q, v: np.stack([2 * x + i for i, x in enumerate(q)]),
    lambda q, v: np.stack([a * b for a, b in zip(q, v, strict=True)]),
    lambda q, v: -q,
    lambda q, v: +q,
    lambda q, v: np.negative(q),
    lambda q, v: (lambda M: M[:3, 3])(np.outer(q, v)),
    lambda q, v: (lambda M: M[1] * 2 + M[:, 0])(np.outer(q, v)),
    lambda q, v: (lambda M: M[1, 2] + M[-1][0])(np.outer(q, v)),
    lambda q, v: np.outer(q, v) ** 2 - np.outer(v, q) * K + 1,
    lambda q, v: np.outer(q, v) / q,
    lambda q, v: np.outer(q, v) @ K @ q + q @ np.outer(q, v),
    lambda q, v: np.zeros((2, 7)) + q,
    lambda q, v: np.shape(q)[0] * q,
    lambda q, v: np.stack([np.outer(q[:3], v[:3])] * 2)[1, :, 2],
    lambda q, v: np.linalg.solve(np.diag(q[:4]) + K[:4, :4], K[:4, :2]),
    lambda q, v: W @ q[:4],
    lambda q, v: np.where(np.sign(q) > 0, np.fabs(q), -q),
    lambda q, v: np.linalg.inv(K[:2, :2] * q[0]),
    lambda q, v: np.block([[np.outer(q[:2], v[:2]), K[:2, :1]], [K[:1, :2], np.eye(1)]]),
    lambda q, v: np.where(q > v, K, 0.0) @ v,
    lambda q, v: np.float32(0.5) * q,
    lambda q, v: np.vdot(q, v),
)


def numbers(result: Any) -> np.ndarray:
    """The numbers of what a text gave, of whatever kind."""
    with inside_a_kernel():
        return np.array(laid_out(result, "text")[0], float)


def named(text: Any) -> str:
    return f"the expression in line {text.__code__.co_firstlineno}"


def same(found: Any, text: Text, q: Any, v: Any) -> None:
    expected = np.asarray(text(q, v), float)
    np.testing.assert_allclose(np.ravel(found), expected.ravel(), rtol=1e-10, atol=1e-11, err_msg=named(text))


def test_texts_give_what_numpy_gives():
    """On symbols and on numbers, against the same text on NumPy's arrays."""
    together = kn.kernel(lambda model, q, v: tuple(text(q, v) for text in TEXTS))
    program = together.program(ARM)
    sizes = np.cumsum([np.size(text(Q[0], V[0])) for text in TEXTS])
    for q, v in zip(Q, V, strict=True):
        traced = np.split(np.array(program.evaluate([*q.tolist(), *v.tolist()])), sizes[:-1])
        plain = together.reference(ARM, q, v)
        for text, symbolic, numeric in zip(TEXTS, traced, plain, strict=True):
            same(symbolic, text, q, v)
            same(numbers(numeric), text, q, v)


COMPILED = tuple(
    text for text in TEXTS if set(text.__code__.co_names) & {"sinh", "cosh", "floor", "power", "solve", "rint"}
)


@pytest.mark.parametrize("texts", [COMPILED, pytest.param(TEXTS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_texts_as_code_give_what_numpy_gives(texts: tuple[Text, ...], recwarn: pytest.WarningsRecorder):
    """All of them in one kernel, with the shapes that NumPy's results have."""
    found = kn.kernel(lambda model, q, v: tuple(text(q, v) for text in texts))(ARM, Q, V)
    for k, text in enumerate(texts):
        for state, (q, v) in enumerate(zip(Q, V, strict=True)):
            assert np.shape(found[k][state]) == np.shape(text(q, v)), named(text)
            same(found[k][state], text, q, v)
    assert not recwarn.list


def test_texts_have_derivatives():
    """The same texts on dual numbers, as implicit integrators run them: slopes are those of differences."""
    q, v, h = Q[0], V[0], 1e-6
    direction = np.array([0.5, -1.0, 0.25, 0.75, -0.5, 1.0, 0.125])
    with inside_a_kernel():
        duals = Vector(map(Dual, q.tolist(), direction.tolist()))
        for text in TEXTS:
            scalars, _ = laid_out(text(duals, Vector(v.tolist())), "text")
            slopes = [float(x.derivative) if isinstance(x, Dual) else 0.0 for x in scalars]
            ahead, behind = (np.ravel(np.asarray(text(q + s * h * direction, v), float)) for s in (1, -1))
            np.testing.assert_allclose(slopes, (ahead - behind) / (2 * h), rtol=2e-6, atol=2e-6, err_msg=named(text))


def test_results_and_poses_of_the_library_are_arrays_too():
    @kn.kernel
    def text(model: kn.Model, q: Any, v: Any) -> Any:
        J, T, poses = kn.jacobian(model, q, "tool0"), kn.pose(model, q, "tool0"), kn.body_poses(model, q)
        R, p = T[:3, :3], T[:3, 3]
        return {
            "row": 2 * J[0] + J[1], "translations": poses[:, :3, 3], "one": poses[2, :3, 3],
            "turned": R.T @ (p - g[:3]),
            "weighted": np.linalg.solve(J @ J.T + 0.1 * np.eye(6), J @ v), "shape": p.shape[0] * len(poses) * p,
            "each": np.stack([np.linalg.norm(pose[:3, 3]) for pose in poses]), "scaled": poses * 2.0,
        }  # fmt: skip

    found, J, T, poses = text(ARM, Q, V), kn.jacobian(ARM, Q, "tool0"), kn.pose(ARM, Q, "tool0"), kn.body_poses(ARM, Q)
    weighted = np.linalg.solve(J @ J.swapaxes(1, 2) + 0.1 * np.eye(6), (J @ V[..., None]))[..., 0]
    turned = (T[:, :3, :3].swapaxes(1, 2) @ (T[:, :3, 3] - g[:3])[..., None])[..., 0]
    expected = {
        "row": 2 * J[:, 0] + J[:, 1], "translations": poses[:, :, :3, 3], "one": poses[:, 2, :3, 3], "turned": turned,
        "weighted": weighted, "shape": 3 * poses.shape[1] * T[:, :3, 3],
        "each": np.linalg.norm(poses[:, :, :3, 3], axis=-1), "scaled": 2 * poses,
    }  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-10, atol=1e-12, err_msg=name)


def test_a_solution_takes_its_pivots_where_they_are():
    """Each order of the rows of a triangular matrix: without exchanges most of them divide by zero."""

    @kn.kernel(matrices=("A",))
    def solved(model: kn.Model, A: Any, b: Any) -> Any:
        return np.linalg.solve(A, b), np.linalg.det(A), np.linalg.inv(A)

    triangle = np.array([[2.0, 1.0, 3.0], [0.0, -4.0, 1.0], [0.0, 0.0, 5.0]])
    A, b = np.stack([triangle[list(order)] for order in itertools.permutations(range(3))]), RNG.normal(size=(6, 3))
    x, size, inverse = solved(ARM, A, b)
    np.testing.assert_allclose(x, np.linalg.solve(A, b[..., None])[..., 0], atol=1e-14)
    np.testing.assert_allclose(size, np.linalg.det(A), rtol=1e-14)
    np.testing.assert_allclose(inverse, np.linalg.inv(A), atol=1e-14)


# what is refused

REFUSED: tuple[tuple[Text, str], ...] = (
    (lambda q, v: q if q[0] > 0 else v, r"kn\.where"),
    (lambda q, v: q if q[0] > 0 and v[0] > 0 else v, r"kn\.where.*& and \| join"),
    (lambda q, v: q if q[0] else v, r"kn\.where"),
    (lambda q, v: q if (q > 0).any() else v, r"kn\.where"),
    (lambda q, v: q if np.all(q > 0) else v, r"kn\.where"),
    (lambda q, v: next(q for _ in iter(lambda: bool(q[0] < 1), True)), r"kn\.where"),
    (lambda q, v: max(q), r"kn\.where.*np\.max is max"),
    (lambda q, v: sorted(q), r"kn\.where"),
    (lambda q, v: float(q[0]), r"no float.*np\.stack"),
    (lambda q, v: math.sin(q[0]), r"np\.sin and the like take it, math\.sin does not"),
    (lambda q, v: int(q[0]), r"no whole number.*kn\.where.*np\.floor"),
    (lambda q, v: [1.0] * len(range(q[0])), r"no whole number.*kn\.where"),
    (lambda q, v: v[q[0]], r"no whole number, for an index.*kn\.where"),
    (lambda q, v: operator.setitem(np.zeros(3), 0, q[1]), r"np\.zeros\(2, object\)"),
    (lambda q, v: operator.setitem(np.zeros(3), slice(2), q[:2]), r"np\.zeros\(2, object\)"),
    (lambda q, v: operator.setitem(np.zeros_like(q), 0, 1.0), r"are not written to.*np\.stack"),
    (lambda q, v: operator.setitem(q, 0, 1.0), r"are not written to.*np\.where"),
    (lambda q, v: np.array([q[0], v[0]], float), r"no float.*np\.stack"),
    (lambda q, v: q[q > 0], r"np\.where\(q > 0, q, 0\)"),
    (lambda q, v: np.where(q > 0), r"np\.where\(condition, x, y\)"),
    (lambda q, v: np.sum(q > 0), r"kn\.where\(condition, 1\.0, 0\.0\)"),
    (lambda q, v: (q[0] > 0) * v, r"kn\.where\(condition, 1\.0, 0\.0\)"),
    (lambda q, v: q & 1, r"&, \|, \^ and ~ join comparisons"),
    (lambda q, v: np.argmax(q), r"np\.argmax has no operation.*write kn\.where"),
    (lambda q, v: np.sort(q), r"np\.sort has no operation.*write np\.minimum and np\.maximum"),
    (lambda q, v: np.isnan(q), r"np\.isnan has no operation.*write x != x"),
    (lambda q, v: np.log1p(q), r"np\.log1p has no operation.*write np\.log\(1 \+ x\)"),
    (lambda q, v: np.fft.fft(q), r"np\.fft\.fft has no operation"),
    (lambda q, v: np.linalg.svd(np.outer(q, v)), r"np\.linalg\.svd has no operation.*write np\.linalg\.solve"),
    (lambda q, v: np.linalg.eigvalsh(np.outer(q, v)), r"np\.linalg\.eigvalsh has no operation"),
    (lambda q, v: np.linalg.norm(np.outer(q, v), 2), r"np\.linalg\.norm with ord=2.*write a norm of vectors"),
    (lambda q, v: np.linalg.solve(q, v), r"np\.linalg\.solve needs one square matrix, and this has shape \(7,\)"),
    (lambda q, v: np.linalg.inv(np.diag(np.tile(q, 3))), r"linalg\.inv of 21 unknowns.*16 unknowns at most"),
    (lambda q, v: np.allclose(q, v), r"np\.allclose has no operation.*np\.all\(np\.abs"),
    (lambda q, v: np.interp(q[0], [0, 1], [2, 3]), r"no float|np\.interp has no operation"),
    (lambda q, v: np.add(q, v, out=np.zeros(7)), r"np\.add with out or where has no operation"),
    (lambda q, v: np.maximum(np.array([q[0], v[0]]), 0.0), r"np\.stack"),
    (lambda q, v: q.astype(int), r"astype.*np\.floor"),
    (lambda q, v: q > 0, r"kn\.where\(condition, 1\.0, 0\.0\)"),
    (lambda q, v: {q[0]: 1}, r"kn\.where"),
)


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_says_what_to_write(text: Text, message: str):
    """In one line, which names the line of the text too."""
    own = kn.kernel(lambda model, q, v: text(q, v))
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        own.program(ARM)
    assert "\n" not in str(caught.value)


def test_the_line_is_named():
    def text(model: kn.Model, q: Any) -> Any:
        y = 2.0 * q
        return np.sort(y)

    line = text.__code__.co_firstlineno + 2
    with pytest.warns(RuntimeWarning, match=rf"np\.sort has no operation.*line {line} of test_kernel_text\.py"):
        np.testing.assert_array_equal(kn.kernel(text)(ARM, Q), np.sort(2.0 * Q))


# matrices and networks


def test_matrices_are_arguments():
    @kn.kernel(matrices=("gains",))
    def feedback(model: kn.Model, q: Any, v: Any, gains: Any, offset: Any) -> Any:
        return gains @ np.concatenate([q, v]) + offset, gains[0, 1], gains.T[3], gains.shape[1] * offset

    gains, offset = RNG.normal(size=(6, 7, 14)), RNG.normal(size=7)
    found = feedback(ARM, Q, V, gains, offset)
    for k in range(6):
        expected = feedback.reference(ARM, Q[k], V[k], gains[k], offset)
        np.testing.assert_allclose(found[0][k], gains[k] @ np.concatenate([Q[k], V[k]]) + offset, rtol=1e-13)
        np.testing.assert_allclose(numbers(expected[0]), found[0][k], rtol=1e-13)
        np.testing.assert_array_equal(found[2][k], gains[k][:, 3])
    np.testing.assert_array_equal(found[1], gains[:, 0, 1])
    assert feedback(ARM, Q, V, gains[0], offset)[0].shape == (6, 7), "one matrix for all"
    with pytest.raises(ValueError, match=r"gains has shape \(7,\), and must have shape \(..., m, n\)"):
        feedback(ARM, Q, V, offset, offset)
    with pytest.raises(TypeError, match="<lambda> has no argument K, which matrices names"):
        kn.kernel(matrices=("K",))(lambda model, q: q)
    with pytest.raises(TypeError, match="matrices is a tuple of names"):
        kn.kernel(matrices="K")(lambda model, q, K: q)


LAYERS = [(RNG.normal(size=shape) / 4, RNG.normal(size=shape[0])) for shape in ((20, 14), (17, 20), (7, 17))]


def network(x: Any, layers: Any) -> Any:
    for A, b in layers[:-1]:
        x = np.tanh(A @ x + b)
    return layers[-1][0] @ x + layers[-1][1]


@kn.kernel
def policy(model: kn.Model, q: Any, v: Any) -> Any:
    return network(np.concatenate([q, v]), LAYERS)


@kn.kernel(matrices=("A0", "A1", "A2"))
def trained(model: kn.Model, q: Any, v: Any, A0: Any, b0: Any, A1: Any, b1: Any, A2: Any, b2: Any) -> Any:
    return network(np.concatenate([q, v]), [(A0, b0), (A1, b1), (A2, b2)])


WEIGHTS = {f"{letter}{k}": x for k, layer in enumerate(LAYERS) for letter, x in zip("Ab", layer, strict=True)}


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_networks_with_weights_that_are_constants_or_arguments(dtype: Any):
    expected = [network(np.concatenate([q, v]), LAYERS) for q, v in zip(Q, V, strict=True)]
    q, v, weights = Q.astype(dtype), V.astype(dtype), {name: x.astype(dtype) for name, x in WEIGHTS.items()}
    for found in (policy(ARM, q, v), trained(ARM, q, v, **weights)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e3 * np.finfo(dtype).eps, atol=1e2 * np.finfo(dtype).eps)
    one = policy(ARM, q[0], v[0]), trained(ARM, q[0], v[0], **weights)
    for alone, many in zip(one, (policy(ARM, q, v)[0], trained(ARM, q, v, **weights)[0]), strict=True):
        np.testing.assert_array_equal(alone, many)


def test_layers_are_loops():
    program = policy.program(ARM)
    assert [block.outputs for block in program.blocks] == [20, 17], "small ones stand in a row"
    assert kn.compilation.operation_count(policy, ARM).mul == sum(A.size for A, _ in LAYERS)
    point = [*Q[0], *V[0]]
    np.testing.assert_allclose(program.evaluate(point), network(np.array(point), LAYERS), rtol=1e-12)
    C = policy.source(ARM, language="c")
    assert "_matrix[280]" in C


@pytest.mark.slow
def test_networks_in_rollouts():
    """Constants and parameters give the same."""
    few: dict[str, Any] = {"dt": 1e-3, "steps": 2}
    constant = kn.rollout(ARM, Q, V, controller=policy, integrator="euler", **few)
    parameter = kn.rollout(ARM, Q, V, controller=trained, parameters=WEIGHTS, integrator="euler", **few)
    np.testing.assert_allclose(constant.q, parameter.q, rtol=1e-13, atol=1e-15)
    a = kn.forward_dynamics(ARM, Q, V, np.array([network(np.concatenate(x), LAYERS) for x in zip(Q, V, strict=True)]))
    np.testing.assert_allclose(constant.v[:, 1], V + 1e-3 * a, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_a_policy_of_two_layers_of_64():
    layers = [(RNG.normal(size=s) / 8, RNG.normal(size=s[0])) for s in ((64, 50), (64, 64), (7, 64))]
    extra = RNG.normal(size=36)
    own = kn.kernel(lambda model, q, v: network(np.concatenate([q, v, extra]), layers))
    expected = [network(np.concatenate([q, v, extra]), layers) for q, v in zip(Q, V, strict=True)]
    np.testing.assert_allclose(own(ARM, Q, V), expected, rtol=1e-12)
    rolled = kn.rollout(ARM, Q, V, dt=1e-3, steps=3, controller=own)
    one = kn.rollout(ARM, Q[0], V[0], dt=1e-3, steps=3, controller=own)
    np.testing.assert_array_equal(rolled.q[0], one.q)


@pytest.mark.slow
def test_implicit_steps_have_the_slopes_of_large_products():
    """The same network with every operation by itself."""

    @kn.kernel
    def summed(model: kn.Model, q: Any, v: Any) -> Any:
        x = np.concatenate([q, v])
        for A, b in LAYERS[:-1]:
            x = np.tanh(np.sum(A * x, axis=1) + b)
        return LAYERS[-1][0] @ x + LAYERS[-1][1]

    looped, alone = (
        kn.rollout(ARM, Q, V, dt=1e-3, steps=1, controller=controller, integrator="implicit")
        for controller in (policy, summed)
    )
    np.testing.assert_allclose(looped.q, alone.q, rtol=1e-10, atol=1e-12)
