"""Forward dynamics with closed loops by operators (0.37), against the other methods."""

import numpy as np
import pytest

import knuckle as kn
from knuckle import operators
from knuckle.testing import JOINTS
from knuckle.testing.loops.linkages import LINKAGES, ladder, random_linkage

from ..seeds import FEW_JOINTS, quick


def moving(model: kn.Model, q: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A velocity that the loops allow, and forces."""
    rng = np.random.default_rng(seed)
    K = kn.loops.jacobian(model, q)
    v = rng.normal(size=model.nv)
    return v - np.linalg.lstsq(K, K @ v, rcond=1e-9)[0], rng.normal(size=model.nv)


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> None:
    assert np.abs(a - b).max() <= tolerance * (1 + np.abs(b).max())


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("method", ["aba", "kkt"])
def test_linkages(name: str, method: str):
    linkage = LINKAGES[name]()
    model, q = linkage.model, linkage.q
    v, tau = moving(model, q, 1)
    wanted = kn.forward_dynamics(model, q, v, tau, method=method)  # type: ignore[arg-type]
    close(operators.forward_dynamics(model, q, v, tau), wanted)


@pytest.mark.parametrize("rungs", quick([20, 50], [20]))
def test_a_long_ladder(rungs: int):
    linkage = ladder(rungs)
    model, q = linkage.model, linkage.q
    v, tau = moving(model, q, 2)
    close(operators.forward_dynamics(model, q, v, tau), kn.forward_dynamics(model, q, v, tau))


@pytest.mark.parametrize("kind", quick(sorted(JOINTS), FEW_JOINTS))
def test_every_loop_joint(kind: str):
    linkage = random_linkage(sorted(JOINTS).index(kind) + 7, kinds=[kind])
    model, q = linkage.model, linkage.q
    v, tau = moving(model, q, 3)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q))
    wanted = kn.forward_dynamics(model, q, v, tau, stabilization=0.1)
    close(operators.forward_dynamics(model, q, v, tau, stabilization=0.1), wanted, 1e-12 * condition)


def test_batches_forces_and_stabilisation():
    linkage = LINKAGES["five-bar"]()
    model, rng = linkage.model, np.random.default_rng(4)
    q = linkage.q + 1e-3 * rng.normal(size=(3, 2, model.nq))
    v, tau, f_ext = rng.normal(size=(2, model.nv)), rng.normal(size=(4, 1, 1, model.nv)), rng.normal(size=(model.nb, 6))
    for position in (q, q[0, 0]):
        wanted = kn.forward_dynamics(model, position, v, tau, f_ext, stabilization=0.2)
        close(operators.forward_dynamics(model, position, v, tau, f_ext, stabilization=0.2), wanted)


def test_trees():
    model = kn.robots.load("humanoid")
    rng = np.random.default_rng(5)
    q, v, tau = kn.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    close(operators.forward_dynamics(model, q, v, tau), kn.forward_dynamics(model, q, v, tau))


def test_numbers_only():
    linkage = LINKAGES["five-bar"]()
    model, zero = linkage.model, np.zeros(linkage.model.nv)
    with pytest.raises(TypeError, match="q is of complex128"):
        operators.forward_dynamics(model, linkage.q + 0j, zero, zero)

    @kn.kernel
    def inside(model, q, v, tau):
        return operators.forward_dynamics(model, q, v, tau)

    with pytest.raises(TypeError, match="not inside a kernel"):
        inside(model, linkage.q, zero, zero)
