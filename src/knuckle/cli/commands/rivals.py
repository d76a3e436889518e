"""Pinocchio and MuJoCo on the same mechanism and the same states, for `knuckle bench`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.formats import adapters, to_mjcf, to_urdf
from knuckle.model import Model

Array = NDArray[Any]
LOOP = 256
"""States in a loop in Python, where there is no call for a batch: more of them take longer and say the same."""


class States(NamedTuple):
    """Batches of positions, velocities, accelerations and joint forces."""

    q: Array
    v: Array
    a: Array
    tau: Array


class RivalFunction(NamedTuple):
    """How a library computes a function: for a batch, how many states that is, for one state, and what it finds."""

    batch: Callable[[], Any]
    states: int
    one: Callable[[], Any]
    result: Callable[[], Array]


class Rival(Protocol):
    """Another library, made from a model, the name of a frame, states and a number of threads."""

    def way(self, function: str) -> RivalFunction:
        """How it computes a function; results are of the first state and in knuckle's variables."""
        ...


def bare(model: Model) -> Model:
    """The model without its shapes: dynamics does not need them, and other readers would look for their meshes."""

    def stripped(body: Any) -> Any:
        return dataclasses.replace(body, visuals=(), collisions=())

    return model.replace(base=stripped(model.base), bodies=tuple(map(stripped, model.bodies)))


class Pinocchio:
    """Its batch calls where it has them, else a loop in Python."""

    def __init__(self, model: Model, frame: str, states: States, threads: int) -> None:
        pin: Any = import_module("pinocchio")
        self.pin, self.threads = pin, threads
        self.model = pin.buildModelFromXML(to_urdf(bare(model), lossy=True))
        self.model.gravity.linear = np.array(model.gravity)
        self.data, self.pool = self.model.createData(), pin.ModelPool(self.model, threads)
        self.place = self.model.getFrameId(frame)
        self.there, self.ours = adapters.pinocchio(model, self.model), states.q[0]
        q, v = self.there.q_to(states.q), self.there.v_to(states.q, states.v)
        a, tau = self.there.a_to(states.q, states.v, states.a), self.there.tau_to(states.q, states.tau)
        self.states = States(q, v, a, tau)

    def way(self, function: str) -> RivalFunction:
        """See `Rival.way`."""
        pin, model, data, (q, v, a, tau) = self.pin, self.model, self.data, self.states
        B = self.there.velocity_map(self.ours)
        match function:
            case "inverse_dynamics":
                one = partial(pin.rnea, model, data, q[0], v[0], a[0])
                result = partial(self.there.tau_from, q[0])
                return RivalFunction(*self._parallel(pin.rneaInParallel, q, v, a), one, lambda: result(one()))
            case "forward_dynamics":
                one = partial(pin.aba, model, data, q[0], v[0], tau[0])
                result = partial(self.there.a_from, q[0], v[0])
                return RivalFunction(*self._parallel(pin.abaInParallel, q, v, tau), one, lambda: result(one()))
            case "mass_matrix":
                one = partial(pin.crba, model, data, q[0])
                loop = self._loop(partial(pin.crba, model, data))
                return RivalFunction(*loop, one, lambda: B.T @ _symmetric(one()) @ B)
            case _:
                jacobian = partial(pin.computeFrameJacobian, model, data)
                one = partial(jacobian, q[0], self.place, pin.LOCAL)
                loop = self._loop(lambda q: jacobian(q, self.place, pin.LOCAL))
                return RivalFunction(*loop, one, lambda: np.roll(one().reshape(6, -1), 3, axis=0) @ B)

    def _parallel(self, call: Any, *arrays: Array) -> tuple[Callable[[], Any], int]:
        columns = [np.asfortranarray(x.T) for x in arrays]
        out = np.zeros((self.model.nv, len(arrays[0])), order="F")
        return partial(call, self.threads, self.pool, *columns, out), len(arrays[0])

    def _loop(self, call: Callable[[Array], Any]) -> tuple[Callable[[], Any], int]:
        rows = [np.ascontiguousarray(q) for q in self.states.q[:LOOP]]

        def loop() -> None:
            for q in rows:
                call(q)

        return loop, len(rows)


def _symmetric(H: Array) -> Array:
    """From the upper half, which is all that Pinocchio fills."""
    return np.triu(H) + np.triu(H, 1).T


class MuJoCo:
    """A loop in Python that sets the state and calls what is needed, without contacts and constraints."""

    def __init__(self, model: Model, frame: str, states: States, threads: int) -> None:
        mj: Any = import_module("mujoco")
        self.mj, self.model = mj, mj.MjModel.from_xml_string(to_mjcf(bare(model), lossy=True))
        off = mj.mjtDisableBit
        self.model.opt.disableflags = int(off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_SENSOR)
        self.data = mj.MjData(self.model)
        site = mj.mj_name2id(self.model, mj.mjtObj.mjOBJ_SITE, frame)
        body = mj.mj_name2id(self.model, mj.mjtObj.mjOBJ_BODY, frame)
        self.jacobian, self.place = (mj.mj_jacSite, site) if site >= 0 else (mj.mj_jacBody, body)
        self.frame = kn.pose(model, states.q[0], frame)[:3, :3]
        self.there, self.ours = adapters.mujoco(model, self.model), States(*(x[0] for x in states))
        q, v, a, tau = (x[:LOOP] for x in states)
        there = self.there
        each = there.q_to(q), there.v_to(q, v), there.a_to(q, v, a), there.tau_to(q, tau)
        self.states = [tuple(map(np.ascontiguousarray, state)) for state in zip(*each, strict=True)]

    def way(self, function: str) -> RivalFunction:
        """See `Rival.way`."""
        work, read = getattr(self, f"_{function}")()

        def loop() -> None:
            for state in self.states:
                work(*state)

        def result() -> Array:
            work(*self.states[0])
            return read()

        return RivalFunction(loop, len(self.states), lambda: work(*self.states[0]), result)

    def _inverse_dynamics(self) -> tuple[Callable[..., None], Callable[[], Array]]:
        mj, m, d = self.mj, self.model, self.data
        force = np.zeros(m.nv)

        def work(q: Array, v: Array, a: Array, tau: Array) -> None:
            d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
            mj.mj_kinematics(m, d)
            mj.mj_comPos(m, d)
            mj.mj_comVel(m, d)
            mj.mj_rne(m, d, 1, force)

        return work, lambda: self.there.tau_from(d.qpos, force)

    def _forward_dynamics(self) -> tuple[Callable[..., None], Callable[[], Array]]:
        m, d = self.model, self.data

        def work(q: Array, v: Array, a: Array, tau: Array) -> None:
            d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
            self.mj.mj_forward(m, d)

        return work, lambda: self.there.a_from(d.qpos, d.qvel, d.qacc)

    def _mass_matrix(self) -> tuple[Callable[..., None], Callable[[], Array]]:
        mj, m, d = self.mj, self.model, self.data

        def work(q: Array, *_: Array) -> None:
            d.qpos[:] = q
            mj.mj_kinematics(m, d)
            mj.mj_comPos(m, d)
            mj.mj_crb(m, d)

        def read() -> Array:
            columns, B = np.zeros((m.nv, m.nv)), self.there.velocity_map(self.ours.q)
            for column, unit in zip(columns, np.eye(m.nv), strict=True):
                mj.mj_mulM(m, d, column, unit)
            return B.T @ columns.T @ B

        return work, read

    def _jacobian(self) -> tuple[Callable[..., None], Callable[[], Array]]:
        mj, m, d = self.mj, self.model, self.data
        linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))

        def work(q: Array, *_: Array) -> None:
            d.qpos[:] = q
            mj.mj_kinematics(m, d)
            mj.mj_comPos(m, d)
            self.jacobian(m, d, linear, angular, self.place)

        def read() -> Array:
            turned = [self.frame.T @ part for part in (angular, linear)]
            return np.vstack(turned) @ self.there.velocity_map(self.ours.q)

        return work, read


RIVALS: dict[str, tuple[str, Callable[[Model, str, States, int], Rival]]] = {
    "Pinocchio": ("pinocchio", Pinocchio),
    "MuJoCo": ("mujoco", MuJoCo),
}
"""The other libraries by name: the module that has to be installed, and what runs it."""
