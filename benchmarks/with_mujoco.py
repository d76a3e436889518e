"""MuJoCo without contacts and constraints, in a loop in Python that sets the state and calls what is needed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from subjects import States, Subject
from timing import Case

import knuckle as kn

Array = np.ndarray[Any, Any]
LOOP = 256

WAYS = {
    "inverse dynamics": "kinematics, comPos, comVel, mj_rne",
    "forward dynamics": "mj_forward",
    "mass matrix": "kinematics, comPos, mj_crb, mj_factorM",
    "frame Jacobian": "kinematics, comPos, mj_jacBody",
}


def urdf_without_shapes(model: kn.Model) -> str:
    """The model's URDF without shapes: MuJoCo needs their meshes, and dynamics does not."""
    root = ElementTree.fromstring(kn.formats.to_urdf(model, lossy=True).encode())
    for link in root.iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")


class MuJoCo:
    """A subject as MuJoCo has it, and its states in MuJoCo's variables."""

    def __init__(self, subject: Subject, states: States, few: int) -> None:
        mj: Any = import_module("mujoco")
        self.mj, self.few = mj, few
        self.model = mj.MjModel.from_xml_string(urdf_without_shapes(subject.model))
        off = mj.mjtDisableBit
        self.model.opt.disableflags = int(off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_SENSOR)
        self.model.opt.gravity = subject.model.gravity
        self.data = mj.MjData(self.model)
        self.body = mj.mj_name2id(self.model, mj.mjtObj.mjOBJ_BODY, subject.frame)
        self.jacp, self.jacr = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self.force = np.zeros(self.model.nv)
        self.subject, self.ours = subject, states.first(few)
        there, some = kn.formats.adapters.mujoco(subject.model, self.model), states.first(LOOP)
        self.there = there
        q, v = there.q_to(some.q), there.v_to(some.q, some.v)
        a, tau = there.a_to(some.q, some.v, some.a), there.tau_to(some.q, some.tau)
        self.states = [tuple(map(np.ascontiguousarray, state)) for state in zip(q, v, a, tau, strict=True)]

    def cases(self, function: str) -> Iterator[Case]:
        """A loop over states: there is no other way from Python to many results of one kind."""
        work, read = self._function(function)

        def loop() -> None:
            for state in self.states:
                work(*state)

        def each() -> Array:
            found = []
            for state in self.states[: self.few]:
                work(*state)
                found.append(read())
            return self._back(function, np.array(found))

        def one(state: Any = self.states[0]) -> None:
            work(*state)

        yield Case(function, "MuJoCo", "batch", WAYS[function], loop, len(self.states), each)
        yield Case(function, "MuJoCo", "one state", WAYS[function], one, 1, each)

    def _function(self, function: str) -> tuple[Callable[..., None], Callable[[], Array]]:
        """The work for one state, and where its result is found."""
        mj, model, data = self.mj, self.model, self.data
        qpos, qvel, qacc, applied = data.qpos, data.qvel, data.qacc, data.qfrc_applied

        def inverse(q: Array, v: Array, a: Array, tau: Array) -> None:
            qpos[:], qvel[:], qacc[:] = q, v, a
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_comVel(model, data)
            mj.mj_rne(model, data, 1, self.force)

        def forward(q: Array, v: Array, a: Array, tau: Array) -> None:
            qpos[:], qvel[:], applied[:] = q, v, tau
            mj.mj_forward(model, data)

        def matrix(q: Array, v: Array, a: Array, tau: Array) -> None:
            qpos[:] = q
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_crb(model, data)
            mj.mj_factorM(model, data)

        def jacobian(q: Array, v: Array, a: Array, tau: Array) -> None:
            qpos[:] = q
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_jacBody(model, data, self.jacp, self.jacr, self.body)

        return {
            "inverse dynamics": (inverse, self.force.copy),
            "forward dynamics": (forward, lambda: qacc.copy()),
            "mass matrix": (matrix, self._full_matrix),
            "frame Jacobian": (jacobian, lambda: np.vstack([self.jacr, self.jacp])),
        }[function]

    def _full_matrix(self) -> Array:
        columns = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(columns, np.eye(self.model.nv), strict=True):
            self.mj.mj_mulM(self.model, self.data, column, unit)
        return columns.T

    def _back(self, function: str, found: Array) -> Array:
        """Results in knuckle's variables."""
        q, v = self.there.q_to(self.ours.q), self.there.v_to(self.ours.q, self.ours.v)
        if function == "inverse dynamics":
            return self.there.tau_from(q, found)
        if function == "forward dynamics":
            return self.there.a_from(q, v, found)
        B = self.there.velocity_map(self.ours.q)
        if function == "mass matrix":
            return np.swapaxes(B, -1, -2) @ found @ B
        R = kn.pose(self.subject.model, self.ours.q, self.subject.frame)[:, :3, :3]
        aligned = found @ B  # at the frame's origin with the world's axes; ours are the frame's
        turned = np.einsum("bji,bkjn->bkin", R, aligned.reshape(len(R), 2, 3, -1))
        return turned.reshape(aligned.shape)
