"""Files and other libraries."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import mujoco
import pinocchio as pin

import knuckle as kn
from knuckle.formats import adapters
from knuckle.formats.mjcf.mjcf_writer import to_mjcf
from knuckle.formats.urdf.urdf_writer import to_urdf
from knuckle.model import Model

from ..cases import Case
from .base import Pair, Rows, bare, same

ROWS = Rows()
row = ROWS.row


@row("save, load: JSON")
def json_file(c: Case) -> Iterator[Pair]:
    back = kn.formats.loads(kn.formats.to_json(c.model))
    yield back == c.model, True
    yield from same(c, back, c.q, c.v)


@row("save, load: URDF")
def urdf_file(c: Case) -> Iterator[Pair]:
    yield from same(c, _with_forces(c, kn.formats.loads(to_urdf(c.model, lossy=True))), c.q, c.v)


@row("save, load: MJCF")
def mjcf_file(c: Case) -> Iterator[Pair]:
    yield from same(c, _with_forces(c, kn.formats.loads(to_mjcf(c.model, lossy=True), format="mjcf")), c.q, c.v)


def _with_forces(c: Case, model: Model) -> Model:
    """The model read, with the springs and rotors that the file cannot say."""
    joints = {joint.name: joint for joint in c.model.joints}
    kept = ("damping", "friction", "rotor_inertia", "stiffness", "rest")
    given = (dataclasses.replace(j, **{k: getattr(joints[j.name], k) for k in kept}) for j in model.joints)
    return model.replace(joints=tuple(given))


@row("adapters.pinocchio")
def pinocchio(c: Case) -> Iterator[Pair]:
    theirs = pin.buildModelFromXML(to_urdf(bare(c.tree), lossy=True))
    there = adapters.pinocchio(c.model, theirs)
    q, v, a = there.q_to(c.q), there.v_to(c.q, c.v), there.a_to(c.q, c.v, c.a)
    tau = pin.rnea(theirs, theirs.createData(), q, v, a)
    yield there.tau_from(q, tau), c.G.T @ kn.inverse_dynamics(bare(c.tree), c.Q, c.V, c.A)
    yield there.q_from(q), c.q
    yield there.v_from(q, v), c.v
    yield there.a_from(q, v, a), c.a


@row("adapters.mujoco")
def mujoco_adapter(c: Case) -> Iterator[Pair]:
    theirs = mujoco.MjModel.from_xml_string(to_mjcf(bare(c.tree), lossy=True))
    there, data = adapters.mujoco(c.model, theirs), mujoco.MjData(theirs)
    data.qpos, data.qvel, data.qacc = there.q_to(c.q), there.v_to(c.q, c.v), there.a_to(c.q, c.v, c.a)
    mujoco.mj_inverse(theirs, data)
    wanted = c.G.T @ kn.inverse_dynamics(bare(c.tree), c.Q, c.V, c.A)
    yield there.tau_from(data.qpos, data.qfrc_inverse), wanted
