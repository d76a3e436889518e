"""Materials and cells: slopes of energies, rigid motion, momentum, patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.elements.elastic_stress import StressTerms, slopes
from knuckle.elements.deformables.cell_geometry import cell_geometry, hinge_geometry
from knuckle.model.deformables.elastic_materials import HingeBending
from knuckle.spatial import Matrix, Vector

from ...seeds import quick

E = kn.elements
MATERIALS = {
    "rubber": (E.NeoHookean(2.0, 0.35), 3),
    "rubber membrane": (E.NeoHookean(2.0, 0.35), 2),
    "linear": (E.StVenantKirchhoff(2.0, 0.35), 3),
    "linear membrane": (E.StVenantKirchhoff(2.0, 0.35), 2),
    "linear fibre": (E.StVenantKirchhoff(2.0, 0.35), 1),
    "springs": (E.Hookean(2.0), 1),
}


def distorted(mesh: kn.elements.NodeMesh, amount: float, seed: int = 3) -> kn.elements.NodeMesh:
    """The mesh with its nodes moved about."""
    nodes = np.array(mesh.nodes)
    shift = amount * np.random.default_rng(seed).standard_normal(nodes.shape)
    if mesh.dimension == 2:
        shift[:, 2] = 0.0
    return E.NodeMesh(nodes + shift, mesh.cells)


QUICK = ("tetrahedra", "quadratic", "cloth", "net")
MESHES: dict[str, tuple[Any, Any, float]] = {
    "tetrahedra": (distorted(E.box_mesh((1, 1, 1.2), (2, 2, 1)), 0.05), E.NeoHookean(30.0, 0.3), 0.0),
    "linear tetrahedra": (distorted(E.box_mesh((1, 1, 1.2), (1, 1, 2)), 0.05), E.StVenantKirchhoff(30.0, 0.3), 0.0),
    "quadratic": (E.box_mesh((1, 1, 1.2), (1, 1, 1), quadratic=True), E.NeoHookean(30.0, 0.3), 0.0),
    "cloth": (distorted(E.grid_mesh((1, 1), (3, 2)), 0.05), E.StVenantKirchhoff(30.0, 0.3), 0.4),
    "rubber sheet": (distorted(E.grid_mesh((1, 1), (2, 3)), 0.05), E.NeoHookean(30.0, 0.3), 0.0),
    "net": (distorted(E.grid_mesh((1, 1), (2, 2)), 0.05).net, E.Hookean(30.0), 0.0),
}


def soft_bodies(name: str, damping: float = 0.1) -> Any:
    mesh, material, bending = MESHES[name]
    b = kn.Builder("block")
    b.deformable("block", mesh, material=material, density=2.0, damping=damping, bending=bending, section=0.5)
    return E.SoftBodies(b.build())


def strained(bodies: Any, seed: int = 1, amount: float = 0.08) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x, _ = bodies.start([], [])
    return x + amount * rng.standard_normal(x.shape), rng.standard_normal(x.shape)


def total_energy(bodies: Any, x: Any) -> Any:
    """The energy of all cells, straight from the materials, on any numbers."""
    (soft,) = bodies.model.deformables
    parts = [(cell_geometry(soft), soft.material)]
    parts += [(hinge_geometry(soft), HingeBending(soft.bending))] if soft.bending else []
    total = 0.0
    for geometry, material in parts:
        for cell, gradients, weights in zip(geometry.node, geometry.gradient, geometry.weight, strict=True):
            for g, w in zip(gradients, weights, strict=True):
                rows = [
                    [sum(x[3 * n + i] * g[a, j] for a, n in enumerate(cell)) for j in range(g.shape[1])]
                    for i in range(3)
                ]
                total = total + w * material.energy(Matrix(rows))
    return total


@pytest.mark.parametrize("name", quick(MATERIALS, ("rubber", "rubber membrane", "springs")))
def test_stress_and_stiffness_are_slopes_of_the_energy(name: str) -> None:
    material, d = MATERIALS[name]
    rng = np.random.default_rng(5)
    F = np.eye(3)[:, :d] + 0.3 * rng.standard_normal((3, d))

    def energy(x: Any) -> Any:
        return material.energy(Matrix([[x[d * i + k] for k in range(d)] for i in range(3)]))

    flat = Vector(F.ravel().tolist())
    value, P, H = slopes(energy, flat)
    assert value == pytest.approx(energy(flat), rel=1e-14)
    for k in range(3 * d):
        step = Vector(complex(x, 1e-30 * (i == k)) for i, x in enumerate(flat))
        assert energy(step).imag / 1e-30 == pytest.approx(float(P[k]), rel=1e-12, abs=1e-13)
        _, slope, _ = slopes(energy, step)
        assert np.allclose([s.imag / 1e-30 for s in slope], np.array(H[k], float), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", quick(MATERIALS, ("rubber", "rubber membrane", "springs")))
def test_at_rest_a_material_is_hookes(name: str) -> None:
    """ψ is zero there, stress too, and the second slope is 2 μ ε + λ tr ε."""
    material, d = MATERIALS[name]

    def energy(x: Any) -> Any:
        return material.energy(Matrix([[x[d * i + k] for k in range(d)] for i in range(3)]))

    value, P, H = slopes(energy, Vector(np.eye(3)[:, :d].ravel().tolist()))
    lam, mu = (0.0, 1.0) if isinstance(material, E.Hookean) else material.lame(d)
    G = np.random.default_rng(0).standard_normal((3, d))
    strain = (G[:d] + G[:d].T) / 2
    stress = np.zeros((3, d))
    stress[:d] = 2 * mu * strain + float(lam) * np.trace(strain) * np.eye(d)
    assert abs(value) < 1e-12
    assert np.allclose(np.array(P, float), 0.0, atol=1e-12)
    assert np.allclose(np.array(H, float) @ G.ravel(), stress.ravel(), atol=1e-12)


def test_rubber_comes_back_from_inversion() -> None:
    """Turned inside out it has more energy than at rest, and its stress leads back through the flat state."""
    material = E.NeoHookean(1.0, 0.4)
    energies = [material.energy(Matrix(np.diag([1.0, 1.0, s]).tolist())) for s in (1.0, 0.5, 0.0, -0.5, -1.0)]
    assert np.all(np.diff(energies) > 0)


@pytest.mark.parametrize("name", quick(MESHES, QUICK))
def test_forces_are_minus_the_slope_of_the_energy(name: str) -> None:
    bodies = soft_bodies(name)
    x, _ = strained(bodies)
    flat = x.ravel()
    assert bodies.energy(x) == pytest.approx(total_energy(bodies, flat), rel=1e-12)
    rng = np.random.default_rng(2)
    for _ in range(2):
        direction = rng.standard_normal(flat.shape)
        slope = total_energy(bodies, flat + 1e-30j * direction).imag / 1e-30
        assert -bodies.forces(x).ravel() @ direction == pytest.approx(slope, rel=1e-11)


@pytest.mark.parametrize("name", quick(MESHES, QUICK))
def test_stiffness_is_the_second_slope_of_the_energy(name: str) -> None:
    bodies = soft_bodies(name)
    x, _ = strained(bodies)
    rng = np.random.default_rng(2)
    d = rng.standard_normal((2, x.size))
    K = bodies.stiffness(x)
    assert np.allclose(K, K.T, rtol=0, atol=1e-12 * np.abs(K).max())
    flat = x.ravel()

    def along(s: Any) -> Any:
        return total_energy(bodies, [a + s[0] * b + s[1] * c for a, b, c in zip(flat, *d, strict=True)])

    _, _, H = slopes(along, Vector([0.0, 0.0]))
    exact = np.array(H, float)
    assert np.allclose(d @ K @ d.T, exact, rtol=1e-10, atol=1e-10 * np.abs(exact).max())


@pytest.mark.parametrize("name", quick(MESHES, QUICK))
def test_damping_is_linear_positive_and_blind_to_turning(name: str) -> None:
    bodies = soft_bodies(name)
    x, u = strained(bodies)
    D = bodies.viscosity(x)
    viscous = bodies.forces(x, u) - bodies.forces(x)
    assert np.allclose(viscous.ravel(), -D @ u.ravel(), rtol=1e-10, atol=1e-10 * np.abs(viscous).max())
    assert np.linalg.eigvalsh(D).min() > -1e-10 * np.abs(D).max()
    if not bodies.model.deformables[0].bending:
        turning = np.cross([0.3, -0.7, 1.1], x) + np.array([1.0, 2.0, 3.0])
        assert np.abs(D @ turning.ravel()).max() < 1e-11 * np.abs(D).max()
    rest, _ = bodies.start([], [])
    beta = bodies.model.deformables[0].damping
    assert np.allclose(bodies.viscosity(rest), beta * bodies.stiffness(rest), atol=1e-10 * np.abs(D).max())


@pytest.mark.parametrize("name", quick(MESHES, QUICK))
def test_cells_push_nothing_but_each_other(name: str) -> None:
    bodies = soft_bodies(name)
    x, u = strained(bodies)
    for f in (bodies.forces(x), bodies.forces(x, u)):
        size = np.abs(f).sum()
        assert np.abs(f.sum(axis=0)).max() < 1e-13 * size
        if not bodies.model.deformables[0].bending:
            assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * size


@pytest.mark.parametrize("name", quick(MESHES, QUICK))
def test_rigid_motion_strains_nothing(name: str) -> None:
    bodies = soft_bodies(name)
    rest, _ = bodies.start([], [])
    axis = np.array([0.6, -0.48, 0.64])
    W = np.cross(np.eye(3), axis)
    R = np.eye(3) + np.sin(1.9) * W + (1 - np.cos(1.9)) * W @ W
    moved = rest @ R.T + [3.0, -2.0, 5.0]
    scale = np.abs(bodies.stiffness(rest)).max()
    assert np.abs(bodies.forces(moved)).max() < 1e-13 * scale * 5
    assert abs(bodies.energy(moved)) < 1e-12 * scale


@pytest.mark.parametrize("name", ["tetrahedra", "linear tetrahedra", "cloth", "rubber sheet"])
def test_patch(name: str) -> None:
    """A linear field of displacements is one of constant stress: inner nodes of a distorted mesh feel no force."""
    bodies = soft_bodies(name)
    (soft,) = bodies.model.deformables
    rest, _ = bodies.start([], [])
    A = np.eye(3) + 0.2 * np.random.default_rng(8).standard_normal((3, 3))
    f = bodies.forces(rest @ A.T)
    sides: dict[Any, int] = {}
    for cell in soft.mesh.cells:
        for k in range(len(cell)):
            side = tuple(sorted(cell[:k] + cell[k + 1 :]))
            sides[side] = sides.get(side, 0) + 1
    outer = {k for side, count in sides.items() if count == 1 for k in side}
    inner = [k for k in range(len(rest)) if k not in outer]
    if soft.bending:  # a linear field bends nothing either
        assert inner
    for k in inner:
        assert np.abs(f[k]).max() < 1e-12 * np.abs(f).max()


def test_the_volume_and_mass_of_a_box() -> None:
    for quadratic in (False, True):
        mesh = E.box_mesh((1.0, 2.0, 0.5), (2, 3, 1), quadratic=quadratic)
        b = kn.Builder("box")
        b.deformable("box", mesh, material=E.NeoHookean(1.0), density=3.0)
        bodies = E.SoftBodies(b.build())
        assert bodies.masses.sum() == pytest.approx(3.0, rel=1e-12)
        assert bodies.masses.min() > 0
        corners = np.array(mesh.nodes)[np.array(mesh.surface)]
        volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume == pytest.approx(1.0, rel=1e-12)  # the surface is closed and turned outwards


def test_a_bent_strip_has_the_energy_of_a_plate() -> None:
    """B/2 κ² per area of a strip that is rolled to a radius, to the first order of its cells."""
    errors = []
    for n in (4, 8):
        mesh = E.grid_mesh((1.0, 0.25), (4 * n, n))
        b = kn.Builder("strip")
        b.deformable("strip", mesh, material=E.StVenantKirchhoff(1e-12), density=1.0, bending=2.0)
        bodies = E.SoftBodies(b.build())
        X, radius = np.array(mesh.nodes), 3.0
        x = np.stack([radius * np.sin(X[:, 0] / radius), X[:, 1], radius * (1 - np.cos(X[:, 0] / radius))], axis=1)
        errors.append(abs(bodies.energy(x) / (2.0 / 2 / radius**2 * 0.25) - 1))
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.06


@dataclass(frozen=True)
class Fung(E.ElasticMaterial):
    """A material of one's own."""

    stiffness: float
    hardening: float
    dimensions = (1,)

    def energy(self, F: Matrix) -> Any:
        stretch = sum(row[0] * row[0] for row in F.rows) - 1
        return self.stiffness / 2 * stretch * stretch * (1 + self.hardening * stretch * stretch)


def test_a_material_of_ones_own() -> None:
    b = kn.Builder("fibre")
    b.deformable("fibre", E.chain_mesh(1.0, 2), material=Fung(3.0, 0.5), density=1.0)
    bodies = E.SoftBodies(b.build())
    x = np.array([[0.0, 0, 0], [0.6, 0, 0], [1.3, 0, 0]])
    strains = np.array([1.2**2 - 1, 1.4**2 - 1])
    assert bodies.energy(x) == pytest.approx(0.5 * (1.5 * strains**2 * (1 + 0.5 * strains**2)).sum(), rel=1e-12)
    assert bodies.forces(x)[0, 0] > 0 > bodies.forces(x)[2, 0]
    b = kn.Builder("fibre")
    b.deformable("fibre", E.chain_mesh(1.0, 2), material=Fung(3.0, 0.5), density=1.0, damping=0.1)
    with pytest.raises(kn.ModelError, match="dissipation"):
        E.SoftBodies(b.build())


def test_the_text_of_a_step_has_both_stresses() -> None:
    """P + β ∂φ/∂Ḟ and H + β/h ∂²φ/∂Ḟ²."""
    material, rng = E.NeoHookean(2.0, 0.3), np.random.default_rng(0)
    F, rate = (rng.standard_normal(9) for _ in range(2))
    model = kn.Builder("nothing").build()
    with_damping, without = (
        np.array(
            [
                *StressTerms(material, 3, damped)(
                    model, Vector(F.tolist()), Vector(rate.tolist()), (2.0, 0.3), (0.5, 4.0)
                )
            ],
            float,
        )
        for damped in (True, False)
    )
    f, r = F.reshape(3, 3), rate.reshape(3, 3)
    lam, mu = material.lame(3)
    strain = (f.T @ r + r.T @ f) / 2
    viscous = f @ (2 * mu * strain + lam * np.trace(strain) * np.eye(3))
    assert np.allclose(with_damping[1:10] - without[1:10], 0.5 * viscous.ravel(), atol=1e-12)
    power = rate @ (with_damping[10:] - without[10:]).reshape(9, 9) @ rate
    assert power == pytest.approx(4.0 * (viscous * r).sum(), rel=1e-11)
