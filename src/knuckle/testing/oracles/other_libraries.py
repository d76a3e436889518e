"""Other libraries as oracles: the same file, the same state, the relative difference of every quantity.

Needs the `pin` and `mujoco` packages. Differences are relative to the largest entry; accelerations, which need the
mass matrix inverted, also to its condition number.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from knuckle import derivatives
from knuckle.errors import ModelError
from knuckle.formats import adapters, load
from knuckle.functions import bias_force, center_of_mass, forward_dynamics, inverse_dynamics, jacobian, mass_matrix
from knuckle.model import Model
from knuckle.testing.laws import condition, relative
from knuckle.testing.mechanisms import FullState, random_state

Array = NDArray[Any]
Errors = dict[str, float]


class NotComparableError(Exception):
    """Why a file cannot be compared."""


def _model(path: Path, base: Literal["fixed", "floating"]) -> Model:
    """As other libraries see it: mimic joints independent, joint damping and friction left out."""
    try:
        model = load(path, base=base, mimic=False).without_friction()
    except ModelError as error:
        raise NotComparableError(f"knuckle refuses it: {_reason(error, path)}") from None
    if model.nv == 0:
        raise NotComparableError("no moving joint")
    return model


def _invertible(model: Model, s: FullState) -> float:
    """The condition number of H where forward dynamics has an answer."""
    c = condition(model, s)
    return c if np.isfinite(c) and c < 1e14 else 0.0


def _in_pinocchio(path: Path, base: Literal["fixed", "floating"]) -> tuple[Any, Model, Any, Any, Any]:
    """Pinocchio, the model, Pinocchio's, the way between their variables, and Pinocchio's data."""
    pin: Any = import_module("pinocchio")

    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    try:
        other = pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError) as error:
        raise NotComparableError(f"Pinocchio does not load it: {_reason(error, path)}") from None
    model = _model(path, base)
    return pin, model, other, adapters.pinocchio(model, other), other.createData()


def derivatives_against_pinocchio(path: Path, base: Literal["fixed", "floating"], seed: int = 0) -> Errors:
    """The derivatives of inverse and forward dynamics in q, v, a and τ."""
    pin, model, other, adapter, data = _in_pinocchio(path, base)
    s = random_state(model, seed)
    q, v, a, B = adapter.q_to(s.q), adapter.v_to(s.q, s.v), adapter.a_to(s.q, s.v, s.a), adapter.velocity_map(s.q)
    theirs = [B.T @ M @ B for M in pin.computeRNEADerivatives(other, data, q, v, a)[:2]]
    ours = derivatives.inverse_dynamics(model, s.q, s.v, s.a)
    speed = np.abs(s.v).max(initial=0.0)  # of terms that may cancel, as all of ∂τ/∂v do where nothing couples
    worst = {f"inverse, {k}": relative(x - y, y, speed * ours.a) for k, x, y in zip("qv", ours, theirs, strict=False)}
    cond = _invertible(model, s)
    if cond:
        tau = pin.rnea(other, data, q, v, a) + 1.0
        inverse = np.linalg.inv(B)
        pairs = [inverse @ M @ B for M in pin.computeABADerivatives(other, data, q, v, tau)[:2]]
        ours = derivatives.forward_dynamics(model, s.q, s.v, adapter.tau_from(q, tau))
        worst |= {f"forward, {k}": relative(x - y, y, speed) / cond for k, x, y in zip("qv", ours, pairs, strict=False)}
    return worst


def against_pinocchio(path: Path, base: Literal["fixed", "floating"], states: int = 3, seed: int = 0) -> Errors:
    """Inverse dynamics, mass matrix, forward dynamics, a frame's Jacobian and the centre of mass."""
    pin, model, other, adapter, data = _in_pinocchio(path, base)
    frame = next(name for name in reversed(model.frame_names) if other.existFrame(name, pin.FrameType.BODY))
    place = other.getFrameId(frame, pin.FrameType.BODY)
    worst: Errors = dict.fromkeys(
        ("inverse dynamics", "mass matrix", "forward dynamics", "jacobian", "center of mass"), 0.0
    )
    for k in range(states):
        s = random_state(model, seed + k)
        q, v, a = adapter.q_to(s.q), adapter.v_to(s.q, s.v), adapter.a_to(s.q, s.v, s.a)
        B = adapter.velocity_map(s.q)
        tau = adapter.tau_from(q, pin.rnea(other, data, q, v, a))
        H = pin.crba(other, data, q)
        H = B.T @ (np.triu(H) + np.triu(H, 1).T) @ B
        found: Errors = {
            "inverse dynamics": relative(inverse_dynamics(model, s.q, s.v, s.a) - tau, tau),
            "mass matrix": relative(mass_matrix(model, s.q) - H, H),
            "center of mass": relative(center_of_mass(model, s.q) - _com(pin, other, data, q), 1.0),
            "jacobian": max(
                _jacobian_error(model, s, frame, e, pin.computeFrameJacobian(other, data, q, place, r) @ B)
                for e, r in (("body", pin.LOCAL), ("world", pin.WORLD), ("aligned", pin.LOCAL_WORLD_ALIGNED))
            ),
        }
        cond = _invertible(model, s)
        if cond:
            acceleration = adapter.a_from(q, v, pin.aba(other, data, q, v, pin.rnea(other, data, q, v, a) + 1.0))
            push = adapter.tau_from(q, np.ones(other.nv))
            ours = forward_dynamics(model, s.q, s.v, tau + push)
            found["forward dynamics"] = relative(ours - acceleration, acceleration) / cond
        else:
            found["forward dynamics"] = float("nan")
        worst = {name: float(np.maximum(worst[name], found[name])) for name in worst}
    return worst


def _jacobian_error(model: Model, s: FullState, frame: str, expression: Any, theirs: Array) -> float:
    J = np.roll(theirs, 3, axis=0)
    return relative(jacobian(model, s.q, frame, expression) - J, J, 1.0)


def _com(pin: Any, other: Any, data: Any, q: Array) -> Array:
    """Pinocchio's centre of mass of the moving bodies: the root link is not counted."""
    pin.centerOfMass(other, data, q)
    total = sum(other.inertias[i].mass for i in range(1, other.njoints))
    moments = (other.inertias[i].mass * (data.oMi[i] * other.inertias[i].lever) for i in range(1, other.njoints))
    return sum(moments, np.zeros(3)) / total


def against_mujoco(path: Path, states: int = 3, seed: int = 0) -> Errors:
    """Inertia matrix and bias force."""
    mujoco: Any = import_module("mujoco")

    if ghosts := _massless_with_inertia(path):
        raise NotComparableError(f"MuJoCo drops the rotational inertia of massless links: {', '.join(ghosts)}")

    try:
        other = mujoco.MjModel.from_xml_string(_without_shapes(path))
    except ValueError as error:
        raise NotComparableError(f"MuJoCo does not load it: {_reason(error, path)}") from None
    model = _model(path, "fixed")
    if other.nv != model.nv:
        raise NotComparableError(f"MuJoCo reads {other.nv} freedoms of {model.nv}")
    other.opt.gravity = model.gravity
    adapter, data = adapters.mujoco(model, other), mujoco.MjData(other)
    worst: Errors = dict.fromkeys(("inertia matrix", "bias force"), 0.0)
    for k in range(states):
        s = random_state(model, seed + k)
        data.qpos, data.qvel = adapter.q_to(s.q), adapter.v_to(s.q, s.v)
        mujoco.mj_forward(other, data)
        B = adapter.velocity_map(s.q)
        H, C = B.T @ _full_matrix(mujoco, other, data) @ B, adapter.tau_from(data.qpos, data.qfrc_bias)
        worst["inertia matrix"] = max(worst["inertia matrix"], relative(mass_matrix(model, s.q) - H, H))
        worst["bias force"] = max(worst["bias force"], relative(bias_force(model, s.q, s.v) - C, C, 1.0))
    return worst


def _full_matrix(mujoco: Any, other: Any, data: Any) -> Array:
    """MuJoCo's inertia matrix, column by column: `mj_mulM` looks the same in every version."""
    columns = np.zeros((other.nv, other.nv))
    for k, unit in enumerate(np.eye(other.nv)):
        mujoco.mj_mulM(other, data, columns[k], unit)
    return columns.T


def _reason(error: Exception, path: Path) -> str:
    """The first line of an error, without the path that everybody sees anyway."""
    return str(error).strip().splitlines()[0].replace(str(path), path.name)[:100]


def _without_shapes(path: Path) -> str:
    """The file without visuals and collisions: MuJoCo needs their meshes, and dynamics does not."""
    tree = ElementTree.parse(path)
    for link in tree.getroot().iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    return ElementTree.tostring(tree.getroot(), encoding="unicode")


def _massless_with_inertia(path: Path) -> list[str]:
    """Links of no mass that state a rotational inertia all the same."""
    return [
        str(link.get("name"))
        for link in ElementTree.parse(path).getroot().iter("link")
        for mass, inertia in [(link.find("inertial/mass"), link.find("inertial/inertia"))]
        if mass is not None and inertia is not None and float(mass.get("value", "0")) == 0.0
        if any(float(inertia.get(name, "0")) for name in ("ixx", "iyy", "izz"))
    ]


def robot_files() -> list[Path]:
    """Every URDF of the `example-robot-data` package."""
    listed = metadata.files("example-robot-data") or []
    return sorted(Path(str(f.locate())).resolve() for f in listed if f.suffix == ".urdf")


def outcome(compare: Callable[[], Errors]) -> Errors | str:
    """The errors of a comparison, or why it was left out."""
    try:
        return compare()
    except NotComparableError as reason:
        return str(reason)
