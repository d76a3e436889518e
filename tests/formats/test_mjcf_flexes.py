"""Flexes of MuJoCo as deformable bodies, with MuJoCo's own forces as oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import read_mjcf

mujoco: Any = pytest.importorskip("mujoco")

XML = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
<body name="hand" pos="0 0 1"><joint name="wrist" type="hinge" axis="0 1 0"/><geom size=".05" mass="1"/>
  <flexcomp name="soft" type="grid" dim="3" count="3 3 2" spacing=".1 .1 .1" mass="2" radius="0.001">
    <elasticity young="2e4" poisson="0.3" damping="0.01"/><pin id="0 1"/></flexcomp></body>
<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="0.1" radius="0.001" pos="0 0 2">
  <elasticity young="1e4" poisson="0.2" thickness="0.01" elastic2d="both"/></flexcomp>
<flexcomp name="rope" type="grid" dim="1" count="4 1 1" spacing=".1 .1 .1" mass="0.1" radius="0.001" pos="0 0 3">
  <edge stiffness="100" damping="1"/></flexcomp>
</worldbody></mujoco>"""


def test_their_forces_are_mujocos() -> None:
    """Solids, sheets that bend and ropes: where they start, what they weigh, and what they do to their vertices."""
    model, theirs = read_mjcf(XML), mujoco.MjModel.from_xml_string(XML)
    assert model.nv == 1  # vertices are no bodies here
    bodies, data = kn.elements.SoftBodies(model), mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    x, _ = bodies.start(kn.neutral(model), np.zeros(1))
    assert np.allclose(x, data.flexvert_xpos, atol=1e-12)
    rng = np.random.default_rng(0)
    data.qpos[1:] = 0.02 * rng.standard_normal(theirs.nq - 1)
    mujoco.mj_forward(theirs, data)
    own = [k for k in range(len(x)) if theirs.flex_vertbodyid[k] != 1]
    force = bodies.forces(data.flexvert_xpos)
    for k in own:
        body = int(theirs.flex_vertbodyid[k])
        at = int(theirs.body_dofadr[body])
        assert np.allclose(force[k], data.qfrc_spring[at : at + 3], rtol=1e-9, atol=1e-9)
        assert bodies.masses[k] == pytest.approx(theirs.body_mass[body])
    (part,) = model.deformable("soft").attachments
    assert (part.frame, part.nodes) == ("hand", (0, 1))
    assert model.deformable("rope").damping == pytest.approx(1.0 / 100.0)


@pytest.mark.slow
def test_they_swing_as_in_mujoco() -> None:
    """The rope, let go with both ends free and stretched: the same motion, to the error of the steps."""
    xml = XML.replace('elastic2d="both"', 'elastic2d="stretch"')
    model, theirs = read_mjcf(xml), mujoco.MjModel.from_xml_string(xml)
    theirs.opt.timestep = 1e-4
    theirs.geom_contype[:] = theirs.flex_contype[:] = 0
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    for _ in range(1000):
        mujoco.mj_step(theirs, data)
    motion = kn.simulate(model, None, None, 0.1, dt=5e-4, contacts=False)
    found = motion.node_rows.x[-1]
    assert np.abs(found - data.flexvert_xpos).max() < 2e-3
    assert np.abs(data.flexvert_xpos - motion.node_rows.x[0]).max() > 0.04


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('<edge stiffness="100" damping="1"/>', '<edge equality="true"/>'), "constraints"),
        (('<edge stiffness="100" damping="1"/>', ""), "no stiffness"),
        (('name="soft" type="grid"', 'name="soft" type="grid" dof="trilinear"'), "interpolation"),
    ],
)
def test_what_has_no_counterpart_has_a_note(change: tuple[str, str], why: str) -> None:
    model = read_mjcf(XML.replace(*change))
    assert len(model.deformables) == 2
    assert any(note.level == "warning" and why in note.text for note in model.provenance.notes)
