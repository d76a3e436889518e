"""Shapes that begin inside each other are pushed apart, and people are told."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.model.surfaces import ContactRules, Surface

from .scenes import RADIUS, G, ball, box, on_plane, placed


def _told(recwarn) -> list[str]:
    return [str(x.message) for x in recwarn if "overlap" in str(x.message)]


def test_a_ball_in_the_ground(recwarn):
    model = on_plane(ball())
    for gap in (-0.9e-3, 0.0, 0.3):
        kn.simulate(model, placed(model, (0, 0, RADIUS + gap)), None, 0.01)
        assert not _told(recwarn)
    motion = kn.simulate(model, placed(model, (0, 0, RADIUS - 0.05)), None, 0.01)
    assert "'body0' and 'ground' of scene overlap by 0.05 m at the start:" in _told(recwarn)[0]
    assert motion.energy[-1] > motion.energy[0] + 0.8 * G * 0.05  # it was lifted, ten times by a fifth


def test_soft_surfaces_may_overlap(recwarn):
    model = on_plane(ball()).replace(contact=ContactRules((Surface(stiffness=1e4, damping=10.0),)))
    kn.simulate(model, placed(model, (0, 0, 0.95 * RADIUS)), None, 0.01)
    assert not _told(recwarn)


@pytest.mark.slow
def test_many_shapes():
    model = on_plane(*[box((1, 1, 1))] * 20)
    with pytest.warns(RuntimeWarning, match=r"'body\d+' and 'body\d+' .* by 0\.1 m .* and 18 other pairs"):
        motion = kn.simulate(model, placed(model, *[(0, 0, 0.5 + 0.9 * k) for k in range(20)]), None, 0.002)
    assert np.isfinite(motion.q).all()
