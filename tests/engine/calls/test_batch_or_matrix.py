"""An array with one axis more is a batch of vectors; who means a matrix is told how to say so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn

ARM = kn.robots.load("arm")
RNG = np.random.default_rng(5)
Q, V = RNG.normal(size=(2, 5, 7))
K, G = RNG.normal(size=(7, 7)), RNG.normal(size=(7, 14))
WAY_OUT = r'@kn\.kernel\(matrices=\("{}",\)\)'


@kn.kernel
def pushed(model: kn.Model, q: Any, v: Any, K: Any) -> Any:
    return v @ K - q


@kn.kernel
def fed_back(model: kn.Model, q: Any, v: Any, G: Any) -> Any:
    return -G @ np.concatenate([q, v])


def test_as_many_vectors_as_they_are_long():
    """Whether they are a matrix nobody can see: v @ K would be another vector than NumPy's, without a word."""
    with pytest.warns(RuntimeWarning, match=r"pushed: K has shape \(7, 7\), and is taken for 7 vectors") as found:
        pushed(ARM, Q[0], V[0], K)
    assert 'kn.kernel(matrices=("K",))' in str(found[0].message)
    assert found[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="pushed: K has shape"):
        pushed.jacobian(ARM, Q[0], V[0], K=K, wrt="q")
    declared = kn.kernel(matrices=("K",))(lambda model, q, v, K: v @ K - q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(declared(ARM, Q[0], V[0], K), V[0] @ K - Q[0], rtol=1e-13)


def test_what_cannot_be_meant_as_a_matrix():
    """Positions and velocities, batches of another size, a batch that others have too, and what is alone."""

    @kn.kernel
    def alone(model: kn.Model, x: Any) -> Any:
        return 2.0 * x

    @kn.kernel
    def scaled(model: kn.Model, q_ref: Any, x: Any, gain: Any = 1.0) -> Any:
        return gain * (q_ref - x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone(ARM, K)
        scaled(ARM, K, Q[0])
        scaled(ARM, K, K, 2.0)
        scaled(ARM, Q[0], Q)
        scaled(ARM, K.tolist(), K)
        pushed(ARM, K, K, K)


def test_errors_name_the_way_out():
    with pytest.raises(ValueError, match=r"q \(5,\), v \(5,\), K \(7,\); a matrix .*" + WAY_OUT.format("K")):
        pushed(ARM, Q, V, K)
    with pytest.raises(ValueError, match=r"q \(2,\), v \(5,\), K \(\)$"):
        pushed(ARM, Q[:2], V, K[0])


def test_controllers():
    start: tuple[Any, ...] = ARM, Q[0], V[0]
    with pytest.raises(ValueError, match=r"shape \(7, 7\), and must .*shape \(7,\).*" + WAY_OUT.format("K")):
        kn.simulate(*start, 0.01, controller=pushed, parameters={"K": K}, progress=False)
    with pytest.raises(ValueError, match=r"G has shape \(7, 14\).*must have shape \(14,\).*" + WAY_OUT.format("G")):
        kn.simulate(*start, 0.01, controller=fed_back, parameters={"G": G}, progress=False)
    with pytest.raises(ValueError, match=r"fed_back returns has shape \(\).*" + WAY_OUT.format("G")):
        kn.rollout(*start, None, 1e-3, steps=2, controller=fed_back, parameters={"G": G})
    with pytest.warns(RuntimeWarning, match=r"parameters: K has shape \(7, 7\)"):
        kn.rollout(*start, None, 1e-3, steps=2, controller=pushed, parameters={"K": K})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.rollout(ARM, Q, V, None, 1e-3, steps=2, controller=pushed, parameters={"K": K[0]})
        kn.rollout(*start, None, 1e-3, steps=7, controller=pushed, parameters={"K": K}, time_varying=("K",))
