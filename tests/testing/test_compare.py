"""The comparisons that other tests rest on must be able to fail."""

import numpy as np
import pytest

from knuckle.spatial import Force, Inertia, Matrix, Motion, Subspace, Transform, Vector
from knuckle.testing.compare import array, close, vanishes


def test_close_accepts_rounding_and_nothing_else():
    a = np.array([1.0, -3e5, 1e-9])
    close(a, a * (1 + 4e-15))
    with pytest.raises(AssertionError):
        close(a, a * (1 + 1e-13))
    close(a, a * (1 + 1e-13), factor=10)
    with pytest.raises(AssertionError):
        close([1.0], [1.0 + 1e-13])
    close([1.0], [1.0 + 1e-13], size=100)
    with pytest.raises(AssertionError):
        close([0.0], [1e-300])
    with pytest.raises(AssertionError):
        close([np.nan], [1.0])
    with pytest.raises(AssertionError):
        close([1.0, 2.0], [1.0])
    close(np.zeros((0, 3)), np.zeros((0, 3)))


def test_vanishes():
    vanishes([1e-15, -1e-14], [3.0, 1.0], 2.0)
    with pytest.raises(AssertionError):
        vanishes([1e-12], [3.0, 1.0], 2.0)
    with pytest.raises(AssertionError):
        vanishes([1e-300], 0.0)


def test_array_of_every_quantity():
    assert array(Motion.basis()[1]).tolist() == [0, 1, 0, 0, 0, 0]
    assert array(Force.of([1, 2, 3, 4, 5, 6])).tolist() == [1, 2, 3, 4, 5, 6]
    assert array(Vector([1, 2])).tolist() == [1, 2]
    assert array((1, 2)).tolist() == [1, 2]
    assert array(Matrix.zero(0, 4)).shape == (0, 4)
    assert array(Subspace(Motion)).shape == (6, 0)
    assert array(Transform.identity()).tolist() == np.eye(6).tolist()
    assert array(Inertia.of(2, (0, 0, 0), np.eye(3).tolist())).tolist() == np.diag([1, 1, 1, 2, 2, 2]).tolist()
