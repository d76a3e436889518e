"""Springs at joints keep energy: what they do is the rate of ½ k d², at joints whose variables are no rates too."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing import JOINTS

SPRUNG = sorted(name for name in JOINTS if JOINTS[name](np.random.default_rng(0)).nv)


@pytest.mark.parametrize("name", SPRUNG)
def test_power_is_the_rate_of_the_energy(name: str):
    """d/dt ½ k (q ⊖ rest)² = f·v with a stiffness of its own in every direction, by central differences."""
    rng = np.random.default_rng(SPRUNG.index(name))
    kind = JOINTS[name](rng)
    b = kn.Builder("sprung", gravity=(0, 0, 0))
    stiffness = tuple(rng.uniform(1, 3, kind.nv))
    b.body(
        "body", joint=kind, mass=1.0, inertia=(1, 2, 3), stiffness=stiffness, rest=tuple(rng.uniform(0, 0.2, kind.nv))
    )
    model = b.build()
    q = kn.integrate(model, kn.neutral(model), 0.3 * rng.standard_normal(model.nv))
    v, step = rng.standard_normal(model.nv), 1e-6
    ahead, behind = (kn.potential_energy(model, kn.integrate(model, q, s * step * v)) for s in (1, -1))
    power = kn.joint_passive_force(model, q, np.zeros(model.nv)) @ v
    assert (ahead - behind) / (2 * step) == pytest.approx(power, abs=1e-7 * (1 + np.abs(v).sum()))
