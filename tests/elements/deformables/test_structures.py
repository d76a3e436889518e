"""Structures with known answers: chains, catenaries, cantilevers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn

E = kn.elements
Array = Any


def built(mesh: Any, material: Any, density: float, gravity: Any = (0, 0, -9.81), **options: Any) -> Any:
    b = kn.Builder("structure", gravity=gravity)
    b.deformable("structure", mesh, material=material, density=density, **options)
    return E.SoftBodies(b.build())


def free_rows(bodies: Any) -> Array:
    return np.flatnonzero(np.repeat(bodies.is_free, 3))


def at_rest(bodies: Any, load: Array, x: Array, rounds: int = 60) -> Array:
    """Where forces balance a load (n, 3), by Newton's method with shortened steps."""
    free, x = free_rows(bodies), x.copy()
    for _ in range(rounds):
        left = (bodies.forces(x) + load).ravel()[free]
        if np.abs(left).max() < 1e-11 * np.abs(load).max():
            break
        K = bodies.stiffness(x)[np.ix_(free, free)]
        least = np.linalg.eigvalsh(K)[0]
        step = np.zeros(x.size)
        step[free] = np.linalg.solve(K + max(0.0, 1e-3 - 2 * least) * np.eye(len(free)), left)
        part = 1.0
        while part > 1e-4:
            y = x + part * step.reshape(-1, 3)
            if bodies.energy(y) - (load * y).sum() <= bodies.energy(x) - (load * x).sum():
                break
            part /= 2
        x = x + part * step.reshape(-1, 3)
    return x


def test_a_chain_of_springs_swings_as_it_should() -> None:
    """Fixed at both ends: ω_j = 2 √(k/m) sin(jπ / 2(N + 1)) (redmax, section 4)."""
    N, k, m = 9, 50.0, 0.3
    length = (N + 1) * 0.2
    mesh = E.chain_mesh(length, N + 1)
    bodies = built(mesh, E.Hookean(k * 0.2), m / 0.2, attach={"base": (0, N + 1)})
    x, _ = bodies.start([], [])
    rows = [3 * i for i in range(1, N + 1)]  # along the chain
    K = bodies.stiffness(x)[np.ix_(rows, rows)]
    assert np.allclose(bodies.masses[1:-1], m)
    omega = np.sqrt(np.linalg.eigvalsh(K) / m)
    exact = 2 * np.sqrt(k / m) * np.sin(np.arange(1, N + 1) * np.pi / (2 * (N + 1)))
    assert np.allclose(omega, exact, rtol=1e-12)


def test_the_chain_swings_so_in_time() -> None:
    """The lowest mode through time: the phase of short implicit steps, whose error is of the second order in dt."""
    N, k, m, dt = 5, 50.0, 0.3, 1e-3
    b = kn.Builder("chain", gravity=(0, 0, 0))
    mesh = E.chain_mesh(1.2, N + 1)
    b.deformable("chain", mesh, material=E.Hookean(k * 0.2), density=m / 0.2, attach={"base": (0, N + 1)})
    model = b.build()
    steps = kn.integrators.DeformableSteps(iterations=1, tolerance=1e-12)
    system = kn.integrators.System(model, lambda model, t, q, v: 0 * v)
    state = steps.begin(system, 0.0, np.zeros(0), np.zeros(0), dt)
    x, u = (part.copy() for part in state.memory)
    mode = np.sin(np.arange(N + 2) * np.pi / (N + 1))
    x[::3] += 0.01 * mode
    state = state._replace(memory=(x, u))
    omega = 2 * np.sqrt(k / m) * np.sin(np.pi / (2 * (N + 1)))
    rows = []
    for n in range(100):
        state = steps.step(system, n * dt, state, dt)
        rows.append(state.memory[0][3] - mesh.nodes[1][0])
    # backward Euler: x_n = Re r^n, 1/r = 1 − i ω h, exactly for a linear chain
    r = 1 / (1 - 1j * omega * dt)
    exact = 0.01 * mode[1] * (r ** np.arange(1, 101)).real
    # its first velocity is 0, so that both roots have the same share
    assert np.allclose(rows, exact, rtol=0, atol=1e-6 * 0.01 + 0.0)


def catenary(length: float, span: float) -> tuple[float, float]:
    """(a, sag) of a rope: 2 a sinh(span / 2a) = length."""
    low, high = 1e-3, 1e3
    for _ in range(200):
        a = np.sqrt(low * high)
        low, high = (low, a) if 2 * a * np.sinh(min(span / (2 * a), 600.0)) < length else (a, high)
    return a, a * (np.cosh(span / (2 * a)) - 1)


def hanging(n: int) -> float:
    """How far the lowest point of a chain of n links is from that of a catenary."""
    length, span = 1.0, 0.7
    mesh = E.chain_mesh(length, n)
    a, sag = catenary(length, span)
    bodies = built(mesh, E.Hookean(1e5), 1.0, attach={"base": (0, n)})
    s = np.array(mesh.nodes)[:, 0] - length / 2
    X = a * np.arcsinh(s / a)
    x = np.stack([X, 0 * s, a * np.cosh(X / a)], axis=1)  # near enough to begin with
    load = bodies.masses[:, None] * np.array(bodies.model.gravity)
    x = at_rest(bodies, load, x)
    assert np.abs((bodies.forces(x) + load)[1:-1]).max() < 1e-8
    return abs((x[0, 2] - x[n // 2, 2]) - sag)


@pytest.mark.slow
def test_a_hanging_chain_is_a_catenary() -> None:
    """To the second order of its links, which is better than the first."""
    errors = [hanging(n) for n in (10, 20)]
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3


@pytest.mark.slow
def test_a_hanging_chain_of_many_links_is_a_catenary() -> None:
    assert hanging(80) < 1e-4


L, H, W, YOUNG, DENSITY = 1.0, 0.1, 0.1, 1e7, 1000.0


def cantilever(cells: tuple[int, int, int], quadratic: bool, nu: float = 0.3) -> tuple[float, float]:
    """Deflection under a small load at the tip, and the lowest frequency, over those of a slender beam."""
    mesh = E.box_mesh((L, W, H), cells, quadratic=quadratic)
    wall = mesh.where(lambda x, y, z: x < -L / 2 + 1e-9)
    bodies = built(mesh, E.NeoHookean(YOUNG, nu), DENSITY, attach={"base": wall})
    X, free = np.array(mesh.nodes), free_rows(bodies)
    tip = np.flatnonzero(X[:, 0] > L / 2 - 1e-9)
    load = np.zeros_like(X)
    load[tip, 2] = -1e-3 / len(tip)
    K = bodies.stiffness(X)[np.ix_(free, free)]
    inverse = np.linalg.inv(K)
    moved = np.zeros(X.size)
    moved[free] = inverse @ load.ravel()[free]
    second = W * H**3 / 12
    deflection = -moved.reshape(-1, 3)[tip, 2].mean() / (1e-3 * L**3 / (3 * YOUNG * second))
    mass, shape = np.repeat(bodies.masses, 3)[free], moved[free]
    for _ in range(8):
        shape = inverse @ (mass * shape)
        shape /= np.linalg.norm(shape)
    omega = np.sqrt(shape @ K @ shape / (shape @ (mass * shape)))
    beam = 1.8751040687**2 * np.sqrt(YOUNG * second / (DENSITY * W * H * L**4))
    return deflection, omega / beam


def test_a_cantilever_bends_and_swings_as_a_beam() -> None:
    """δ = P L³ / 3 E I and f₁ = 1.875²/2π √(E I / ρ A L⁴), by quadratic tetrahedra, to 2 %."""
    deflection, frequency = cantilever((10, 1, 1), quadratic=True)
    assert deflection == pytest.approx(1.0, abs=0.02)
    assert frequency == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
def test_linear_tetrahedra_lock() -> None:
    """As coarse as that, linear ones are far too stiff, which is why there are quadratic ones; finer is softer."""
    coarse, _ = cantilever((6, 1, 1), quadratic=False)
    fine, _ = cantilever((16, 2, 2), quadratic=False)
    assert coarse < 0.3
    assert 0.5 < fine < 0.7


@pytest.mark.slow
def test_a_fine_cantilever_of_linear_tetrahedra_comes_nearer() -> None:
    values = [cantilever(cells, quadratic=False)[0] for cells in ((20, 2, 2), (40, 4, 4))]
    assert values[0] < values[1] < 1.0
    assert 1 - values[1] < 0.35 * (1 - values[0])
    deflection, frequency = cantilever((16, 2, 2), quadratic=True)
    assert deflection == pytest.approx(1.0, abs=0.02)
    assert frequency == pytest.approx(1.0, abs=0.02)


def test_a_bar_that_is_pulled_grows_thinner() -> None:
    """σ = E ε along, −ν ε across, in a bar with free sides; of quadratic tetrahedra and of linear ones exactly."""
    for quadratic in (False, True):
        mesh = E.box_mesh((1.0, 0.5, 0.5), (1, 1, 1), quadratic=quadratic)
        bodies = built(mesh, E.StVenantKirchhoff(200.0, 0.25), 1.0)
        X, strain = np.array(mesh.nodes), 1e-6
        f = bodies.forces(X * [1 + strain, 1 - 0.25 * strain, 1 - 0.25 * strain])
        assert f[X[:, 0] > 0.4, 0].sum() == pytest.approx(-200.0 * strain * 0.25, rel=1e-5)
        assert np.abs(f[:, 1:]).max() < 1e-5 * np.abs(f[:, 0]).max()


@pytest.mark.slow
def test_a_membrane_that_is_pulled_is_in_plane_stress() -> None:
    mesh = E.grid_mesh((1.0, 0.5), (2, 2))
    for material in (E.StVenantKirchhoff(200.0, 0.25), E.NeoHookean(200.0, 0.25)):
        bodies = built(mesh, material, 1.0, section=0.01)
        X, strain = np.array(mesh.nodes), 1e-6
        f = bodies.forces(X * [1 + strain, 1 - 0.25 * strain, 1.0])
        assert f[X[:, 0] > 0.4, 0].sum() == pytest.approx(-200.0 * strain * 0.5 * 0.01, rel=1e-5)
        assert np.abs(f[:, 1:]).max() < 1e-5 * np.abs(f[:, 0]).max()
