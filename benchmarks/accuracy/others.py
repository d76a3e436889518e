"""What Pinocchio and MuJoCo compute of states, in doubles, in their own variables but in knuckle's order.

Each gives a dictionary of arrays by the name of the function. A floating base has its angular part first; MuJoCo has
the linear part in the world's axes (`world_variables`).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from same_mechanism import plain_text
from world_variables import BaseAxes

Array = np.ndarray[Any, Any]
BASE = "floating_base"
AXES = {
    "Pinocchio": BaseAxes(turn=False, slide=False),
    "MuJoCo": BaseAxes(turn=False, slide=True),
    "Drake": BaseAxes(turn=True, slide=True),
}
SWAP = [3, 4, 5, 0, 1, 2]


class LeftOutError(Exception):
    """Why a library is left out."""


class Pinocchio:
    """Pinocchio's functions of a file."""

    def __init__(self, path: Path, base: str, joints: list[str], frame: str) -> None:
        self.pin: Any = import_module("pinocchio")
        free = [self.pin.JointModelFreeFlyer()] if base == "floating" else []
        try:
            self.model = self.pin.buildModelFromXML(plain_text(path), *free)
        except (ValueError, RuntimeError) as error:
            raise LeftOutError(str(error).splitlines()[0][:90]) from None
        self.data, self.floats = self.model.createData(), base == "floating"
        names = [name for name in joints if name != BASE]
        ids = [self.model.getJointId(name) for name in names]
        if any(k >= self.model.njoints for k in ids):
            raise LeftOutError("joints of other names")
        self.q_at = [self.model.joints[k].idx_q for k in ids]
        self.v_at = [self.model.joints[k].idx_v for k in ids]
        if self.floats:
            self.q_at, self.v_at = [6, 3, 4, 5, 0, 1, 2, *self.q_at], [*SWAP, *self.v_at]
        if len(self.v_at) != self.model.nv:
            raise LeftOutError(f"{self.model.nv} freedoms of {len(self.v_at)}")
        if not self.model.existFrame(frame, self.pin.FrameType.BODY):
            raise LeftOutError(f"no frame {frame}")
        self.frame = self.model.getFrameId(frame, self.pin.FrameType.BODY)

    def compute(self, states: dict[str, Array]) -> dict[str, Array]:
        pin, model, data = self.pin, self.model, self.data
        found: dict[str, list[Any]] = {}
        for q0, v0, a0, t0 in zip(states["q"], states["v"], states["a"], states["tau"], strict=True):
            q, (v, a, tau) = np.zeros(model.nq), np.zeros((3, model.nv))
            q[self.q_at], v[self.v_at], a[self.v_at], tau[self.v_at] = q0, v0, a0, t0
            H = pin.crba(model, data, q)
            H = (np.triu(H) + np.triu(H, 1).T)[np.ix_(self.v_at, self.v_at)]
            J = pin.computeFrameJacobian(model, data, q, self.frame, pin.LOCAL_WORLD_ALIGNED)
            row = {
                "inverse_dynamics": pin.rnea(model, data, q, v, a)[self.v_at],
                "mass_matrix": H,
                "jacobian": J[SWAP][:, self.v_at],
                "kinetic_energy": pin.computeKineticEnergy(model, data, q, v),
                "potential_energy": pin.computePotentialEnergy(model, data, q),
                "forward_dynamics": pin.aba(model, data, q, v, tau)[self.v_at],
            }
            for name, x in row.items():
                found.setdefault(name, []).append(np.array(x))
        return {name: np.array(x) for name, x in found.items()}


class MuJoCo:
    """MuJoCo's functions of a file."""

    def __init__(self, path: Path, base: str, joints: list[str], frame: str) -> None:
        self.mj: Any = import_module("mujoco")
        mj = self.mj
        try:
            self.model = mj.MjModel.from_xml_string(plain_text(path, True, base))
        except ValueError as error:
            raise LeftOutError(str(error).splitlines()[0][:90]) from None
        model = self.model
        self.data, self.floats = mj.MjData(model), base == "floating"
        model.opt.gravity = (0.0, 0.0, -9.81)
        off = mj.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
        model.opt.enableflags |= mj.mjtEnableBit.mjENBL_ENERGY
        model.dof_damping[:], model.dof_frictionloss[:], model.dof_armature[:] = 0, 0, 0
        ids = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name) for name in joints]
        if min(ids, default=0) < 0:
            raise LeftOutError("joints of other names")
        self.q_at = [int(model.jnt_qposadr[k]) for k in ids]
        self.v_at = [int(model.jnt_dofadr[k]) for k in ids]
        if self.floats:
            q, v = self.q_at[0], self.v_at[0]
            self.q_at = [*(q + k for k in (3, 4, 5, 6, 0, 1, 2)), *self.q_at[1:]]
            self.v_at = [*(v + k for k in SWAP), *self.v_at[1:]]
        if len(self.v_at) != model.nv:
            raise LeftOutError(f"{model.nv} freedoms of {len(self.v_at)}")
        self.body = mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, frame)
        if self.body < 0:
            raise LeftOutError(f"no body {frame}")
        for k in range(model.nbody):
            if model.body_weldid[k] == 0:
                model.body_mass[k] = 0.0  # what stands still does not count

    def compute(self, states: dict[str, Array]) -> dict[str, Array]:
        mj, model, data, nv = self.mj, self.model, self.data, self.model.nv
        found: dict[str, list[Any]] = {}
        for q0, v0, a0, t0 in zip(states["q"], states["v"], states["a"], states["tau"], strict=True):
            data.qpos[self.q_at], data.qvel[self.v_at], data.qacc[self.v_at] = q0, v0, a0
            mj.mj_inverse(model, data)
            tau = data.qfrc_inverse[self.v_at].copy()
            data.qfrc_applied[self.v_at] = t0
            mj.mj_forward(model, data)
            columns = np.zeros((nv, nv))
            for k, unit in enumerate(np.eye(nv)):
                mj.mj_mulM(model, data, columns[k], unit)
            J = np.zeros((6, nv))
            mj.mj_jacBody(model, data, J[3:], J[:3], self.body)
            row = {
                "inverse_dynamics": tau,
                "mass_matrix": columns[np.ix_(self.v_at, self.v_at)],
                "jacobian": J[:, self.v_at],
                "kinetic_energy": data.energy[1],
                "potential_energy": data.energy[0],
                "forward_dynamics": data.qacc[self.v_at].copy(),
            }
            for name, x in row.items():
                found.setdefault(name, []).append(np.array(x))
        return {name: np.array(x) for name, x in found.items()}
