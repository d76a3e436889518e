"""Force elements of planar models are those of the mechanism in space."""

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.elements import Bushing, Drag, JointLine, Line, LinePoint, Spring, Winding, Wrap

E = kn.elements


def mechanism(height: float = 0.0) -> kn.Model:
    """Two links and a slider in the xy plane, with elements of many kinds, some of which reach out of the plane."""
    b = kn.Builder("flat", gravity=(0, -9.81, 0))
    bar = kn.model.solid_box(1.0, (0.5, 0.1, 0.1), at=(0.25, 0, 0))
    b.body("upper", joint=kn.joints.Revolute("z"), inertia=bar)
    b.body("lower", "upper", kn.joints.Revolute("z"), (0.5, 0, height), inertia=bar)
    b.body("cart", joint=kn.joints.Prismatic("x"), at=(0, -0.8, 0), mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.spring("spring", ("base", (0.3, 0.4, 0.1)), ("lower", (0.4, 0.05, -0.2)), stiffness=30.0, damping=2.0, rest=0.2)
    b.element(Drag("drag", "lower", 0.3))
    points = LinePoint("upper", (0.3, 0.1, 0.0)), Wrap("drum", 0.06, "cylinder"), LinePoint("cart", (0.1, 0.0, 0.05))
    b.frame("drum", "lower", (0.1, 0.02, 0.0))
    b.element(Line("cable", points, Spring(40.0, 0.3, 0.5), 0.4))
    b.element(JointLine("belt", (Winding("upper", 0.3), Winding("cart", -0.5)), Spring(5.0, 0.1, 0.2)))
    b.element(Bushing("bush", "lower", "cart", (9.0, 8.0, 7.0, 20.0, 15.0, 10.0), (0.9, 0.8, 0.7, 3.0, 2.0, 1.0)))
    return b.build()


def test_every_element_does_what_it_does_in_space() -> None:
    model = mechanism()
    flat, rng = kn.model.to_planar(model), np.random.default_rng(2)
    assert flat.algebra.dimension == 3
    for _ in range(3):
        q, v, tau = rng.uniform(-0.6, 0.6, (3, model.nv))
        for name in ("tensions", "rates", "powers", "joint_forces", "stiffness", "damping"):
            one, other = (getattr(E, name)(m, q, v) for m in (model, flat))
            np.testing.assert_allclose(other, one, atol=1e-11 * (1 + np.abs(one).max()), err_msg=name)
        np.testing.assert_allclose(E.moment_arms(flat, q), E.moment_arms(model, q), atol=1e-13)
        np.testing.assert_allclose(kn.potential_energy(flat, q), kn.potential_energy(model, q), rtol=1e-12)
        np.testing.assert_allclose(kn.kinetic_energy(flat, q, v), kn.kinetic_energy(model, q, v), rtol=1e-12)
        a = kn.forward_dynamics(model, q, v, tau)
        np.testing.assert_allclose(kn.forward_dynamics(flat, q, v, tau), a, rtol=1e-9)
        np.testing.assert_allclose(kn.inverse_dynamics(flat, q, v, a), tau, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_motions_are_the_same(integrator: Any) -> None:
    model = mechanism()
    q, v = [0.3, -0.5, 0.2], [0.1, 0.2, -0.3]
    one, other = (kn.simulate(m, q, v, 0.2, dt=1e-3, integrator=integrator) for m in (model, kn.model.to_planar(model)))
    np.testing.assert_allclose(other.q, one.q, atol=1e-9)


def test_points_in_other_planes_are_refused() -> None:
    with pytest.raises(kn.ModelError, match=r"apart along z"):
        kn.model.to_planar(mechanism(height=0.2))
    b = kn.Builder("tilted")
    b.body("bar", joint=kn.joints.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    b.frame("up", "bar", {"rpy": (1.0, 0, 0)})
    b.spring("spring", "base", "up", stiffness=1.0)
    with pytest.raises(kn.ModelError, match="tilts the plane"):
        kn.model.to_planar(b.build())
