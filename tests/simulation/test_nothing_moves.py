"""The whole public face on models with nothing to move: no body, welded bodies only, bodies without mass.

Files of arenas, tables and mounts are such models. Every function gives what follows from no bodies (zero energy, empty
arrays), or says with a ModelError why there is nothing to give: a joint that moves no inertia has no acceleration.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.arguments import ARGUMENTS
from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.joints import Fixed, Revolute
from knuckle.public_names import everything

from ..seeds import Together


def built(*bodies: tuple[str, str | None, Any, float]) -> kn.Model:
    b = kn.Builder("a table")
    for name, parent, joint, mass in bodies:
        b.body(name, parent, joint, (0.1, 0.2, 0.3), mass=mass, com=(0, 0.1, 0.2), inertia=(mass, mass, mass))
    return b.build()


NOTHING = {
    "no body": built(),
    "a welded body": built(("plate", None, Fixed(), 2.0)),
    "welded bodies": built(("plate", None, Fixed(), 2.0), ("leg", "plate", Fixed(), 1.0)),
}
WITH_FIXED = built(("plate", None, Fixed(), 2.0), ("arm", "plate", Revolute("y"), 1.0), ("tool", "arm", Fixed(), 0.0))
MASSLESS = {
    "one massless body": built(("a", None, Revolute("y"), 0.0)),
    "a massless tip": built(("a", None, Revolute("y"), 1.0), ("b", "a", Revolute("x"), 0.0)),
}
MIDDLE = built(("a", None, Revolute("y"), 0.0), ("b", "a", Revolute("x"), 1.0))

TIMES = {"duration": 0.04, "dt": 0.01}


@pytest.fixture(params=["never", "always"])
def compilation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "policy", request.param)


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "policy", "never")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "policy", "always")


def q(m: kn.Model) -> np.ndarray:
    return kn.neutral(m)


def z(m: kn.Model) -> np.ndarray:
    return np.zeros(m.nv)


def choice(m: kn.Model) -> Any:
    return kn.loops.independent_variables(m, q(m))


def motion(m: kn.Model, **options: Any) -> kn.Trajectory:
    return kn.simulate(m, **(TIMES | options))


def functions(m: kn.Model, name: str) -> list[Any]:
    """A function of the library, for one state and for three."""
    f = everything(kn)[name]
    options: dict[str, Any] = {"frame": m.frame_names[-1], "choice": None, "constraints": (), "actuated": ()}
    given = {x: options[x] for x in f.__signature__.parameters if x in options}
    if "choice" in given:
        given["choice"] = choice(m)
    arrays = {
        x: q(m) if kind == "q" else np.zeros(ARGUMENTS[kind](m))
        for x, kind in f._arguments.kinds.items()
        if f.__signature__.parameters[x].default is not None
    }
    return [
        f(m, **given, **{x: np.tile(a, (*batch, *[1] * a.ndim)) for x, a in arrays.items()}) for batch in ((), (3,))
    ]


OTHERS: dict[str, Callable[[kn.Model, Path], Any]] = {
    "audit": lambda m, _: str(kn.audit(m)),
    "step": lambda m, _: [kn.step(m, q(m), z(m), z(m), 1e-3), kn.step(m, np.tile(q(m), (3, 1)), z(m))],
    "Stepping": lambda m, _: [kn.Stepping(m).step(z(m)), kn.Stepping(m, np.tile(q(m), (3, 1))).step()],
    "actuators.with_motors": lambda m, _: str(kn.actuators.with_motors(m)),
    "contact.bilateral_staggered_projections": lambda m, _: kn.contact.bilateral_staggered_projections(m, []).v,
    "contact.compliant_dynamics": lambda m, _: kn.contact.compliant_dynamics(
        m, q(m), z(m), z(m), kn.contact.CompliantContacts()
    ),
    "contact.contact_dynamics": lambda m, _: kn.contact.contact_dynamics(m, q(m), z(m), z(m)).a,
    "contact.impact": lambda m, _: kn.contact.impact(m, q(m), z(m)).v,
    "contact.separation_states": lambda m, _: kn.contact.separation_states(m, q(m), z(m)),
    "contact.with_hulls": lambda m, _: str(kn.contact.with_hulls(m)),
    "contact.contact_forces": lambda m, _: kn.contact.contact_forces(m, q(m), z(m), kn.contact.CompliantContacts()),
    "contact.contact_joint_forces": lambda m, _: kn.contact.contact_joint_forces(
        m, q(m), z(m), kn.contact.CompliantContacts()
    ),
    "contact.contact_pairs": lambda m, _: len(kn.contact.contact_pairs(m)),
    "contact.friction_springs": lambda m, _: kn.contact.friction_springs(
        m, [0.0, 0.1], [q(m)] * 2, [z(m)] * 2, kn.contact.CompliantContacts()
    ),
    "contact.single_contact_program": lambda m, _: kn.contact.single_contact_program(m).v,
    "contact.staggered_projections": lambda m, _: kn.contact.staggered_projections(m).v,
    "identification.base_parameters": lambda m, _: kn.identification.base_parameters(m),
    "identification.inertial_parameters": lambda m, _: kn.identification.inertial_parameters(m),
    "bind": lambda m, _: [
        kn.bind(m).inverse_dynamics(q(m), z(m), z(m)),
        kn.bind(m).potential_energy(q(m)),
        kn.bind(m).body_poses(q(m)),
        kn.bind(m).normalize(q(m), z(m)),
    ],
    "loops.sparse_dynamics": lambda m, _: kn.loops.sparse_dynamics(m, q(m), z(m), z(m)),
    "maximal": lambda m, _: kn.maximal(m, drop=("friction", "limits", "rotor_inertia")).nv,
    "maximal_state": lambda m, _: kn.maximal_state(m, q(m), z(m)),
    "reduced_state": lambda m, _: kn.reduced_state(m, *kn.maximal_state(m, q(m), z(m))),
    "maximal_forces": lambda m, _: kn.maximal_forces(m, q(m), z(m)),
    "loops.close": lambda m, _: kn.loops.close(m).q,
    "loops.project": lambda m, _: kn.loops.project(m, q(m), z(m)),
    "loops.degrees_of_freedom": lambda m, _: kn.loops.degrees_of_freedom(m, q(m)),
    "loops.independent_variables": lambda m, _: choice(m),
    "loops.actuation": lambda m, _: str(kn.loops.actuation(m, q(m), ())),
    "constraints.dynamics": lambda m, _: [
        kn.constraints.dynamics(m, q(m), z(m), z(m), list(kn.constraints.joint_limits(m)), method=method)
        for method in ("dense", "dual", "iterative")
    ],
    "constraints.step_velocity": lambda m, _: kn.constraints.step_velocity(m, q(m), z(m), z(m), [], step=0.01),
    "drive_forces": lambda m, _: kn.drive_forces(m, 0.0, q(m), z(m)),
    "hybrid_dynamics": lambda m, _: kn.hybrid_dynamics(m, q(m), z(m), z(m), z(m), prescribed=()),
    "kernel": lambda m, _: kn.kernel(lambda model, q, v: kn.inverse_dynamics(model, q, v, v))(m, q(m), z(m)),
    "load": lambda m, path: _there_and_back(m, path / "a.json"),
    "neutral": lambda m, _: kn.neutral(m),
    "normalize": lambda m, _: kn.normalize(m, q(m), z(m)),
    "simulation.ode_right_hand_side": lambda m, _: kn.simulation.ode_right_hand_side(m)(
        0.0, np.concatenate([q(m), z(m)])
    ),
    "derivatives.casadi_callback": lambda m, _: kn.derivatives.casadi_callback(kn.forward_dynamics, m)(
        q(m), z(m), z(m)
    ).full(),
    "compilation.operation_count": lambda m, _: [
        kn.compilation.operation_count(f, m) for f in (kn.inverse_dynamics, kn.mass_matrix, kn.potential_energy)
    ],
    "operators": lambda m, _: kn.operators.at(m, q(m)),
    "random_configuration": lambda m, _: kn.random_configuration(m, 1),
    "viewer.picture": lambda m, _: kn.viewer.picture(m, size=(32, 24)),
    "viewer.replay": lambda m, _: (
        kn.viewer.replay(motion(m))._repr_html_(),
        m._repr_html_(),
        kn.audit(m)._repr_html_(),
    ),
    "viewer.replay_html": lambda m, path: kn.viewer.replay_html(motion(m), path / "motion.html"),
    "rollout": lambda m, _: kn.rollout(m, np.tile(q(m), (3, 1)), np.zeros((3, m.nv)), None, dt=0.01, steps=3),
    "sweep": lambda m, path: (
        kn.sweep(
            m, kn.cluster.samples({"q0": np.tile(q(m), (3, 1))}), tempfile.mkdtemp(dir=path), dt=0.01, steps=3
        ).summary
    ),
    "rollout_gradient": lambda m, _: (
        kn.rollout_gradient(
            m, kn.kernel(lambda model, v: v @ v), q(m), z(m), dt=0.01, steps=2, contacts=False, integrator="euler"
        ).loss
    ),
    "linearize": lambda m, _: kn.linearize(m, q(m), z(m)),
    "simulate": lambda m, path: [_looked_at(motion(m, **options), path) for options in RUNS],
    "total_mass": lambda m, _: kn.total_mass(m),
    "model.to_planar": lambda m, _: kn.model.to_planar(m),
    "view": lambda m, _: None,  # needs a browser; what it shows is what replays show
    "where": lambda m, _: None,
    "simulation.resume": lambda m, _: None,  # of a checkpoint that a run wrote
    "model.reroot": lambda m, _: kn.model.reroot(m, m.body_names[-1]) if m.nb else None,
    "loops.with_closure_function": lambda m, _: kn.loops.with_closure_function(m, q(m), ()) if m.loops else None,
}
RUNS: list[dict[str, Any]] = [
    {},
    *({"integrator": name} for name in ("euler", "heun", "adaptive", "implicit", "bdf1", "bdf2", "variational")),
    {"joint_limits": kn.simulation.RigidStops()},
    {"controller": lambda model, t, q, v: 0 * v},
    {"controller": kn.kernel(lambda model, t, q, v: v * -1.0)},
    {"events": [kn.simulation.Event(lambda t, q, v: t - 0.015)]},
]


def _there_and_back(m: kn.Model, path: Path) -> kn.Model:
    kn.save(m, path)
    return kn.load(path)


def _looked_at(motion: kn.Trajectory, path: Path) -> list[Any]:
    motion.save(path / "motion.npz")
    energy = motion.energy
    assert energy.shape == motion.times.shape
    assert kn.Trajectory.load(path / "motion.npz", model=motion.model).q.shape == motion.q.shape
    return [energy, motion.state(0.013), motion.resample(dt=0.005), motion.kinetic_energy, repr(motion)]


FUNCTIONS = sorted(name for name, f in everything(kn).items() if isinstance(f, Function) and name not in OTHERS)
EVERYTHING = [*FUNCTIONS, *OTHERS]


def call(name: str, m: kn.Model, path: Path) -> Any:
    return functions(m, name) if name in FUNCTIONS else OTHERS[name](m, path)


def said(name: str, m: kn.Model, path: Path) -> str | None:
    """What a function says against a model: nothing, or with a ModelError or the name of an argument."""
    try:
        call(name, m, path)
    except ValueError as error:  # which a ModelError is
        return str(error)
    return None


def test_every_public_function_is_here():
    others = {name: f for name, f in everything(kn).items() if callable(f) and name not in EVERYTHING}
    settings = {f"compilation.{name}" for name in ("get_threads", "set_kernel_limit", "set_policy", "set_threads")}
    plain = {name for name, f in others.items() if not isinstance(f, (type, ModuleType))}
    meshes = {f"elements.{name}_mesh" for name in ("box", "chain", "grid")}
    known = {"constraints.joint_limits", "elements.activation_rate", "elements.with_activations", "save"}
    numbers = {f"lie_groups.{name}" for name in kn.lie_groups.__all__}
    makers = {f"actuators.{name}" for name in ("motor", "position_servo", "velocity_servo")}
    assert plain == settings | meshes | known | numbers | makers


SOUND = {**NOTHING, "with fixed": WITH_FIXED, "middle": MIDDLE}


@pytest.mark.slow
@pytest.mark.parametrize("name", [Together(EVERYTHING)], ids=["everything"])
def test_nothing_crashes(name: str, tmp_path: Path, never: None):
    for model in SOUND.values():
        must_not_crash(name, model, tmp_path)


@pytest.mark.parametrize("model", SOUND.values(), ids=SOUND)
@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.sampled
def test_nothing_crashes_in_native_code(name: str, model: kn.Model, tmp_path: Path, always: None):
    must_not_crash(name, model, tmp_path)


def must_not_crash(name: str, model: kn.Model, tmp_path: Path) -> None:
    told = said(name, model, tmp_path)
    allowed = {
        "floating_jacobian": "floating",
        "drive_forces": "no joint moves by a law of time",
        "operational_space_inertia": "a direction in which it never moves",
        "model.to_planar": "plane",
        "maximal": "leave it out of `bodies`",
    }
    if not model.nv:
        allowed |= {"center_of_mass": "zero in every state", "external_force": "which no force moves"}
    assert told is None or allowed.get(name, "no error") in told, told


@pytest.mark.slow
@pytest.mark.parametrize("name", [Together(EVERYTHING)], ids=["everything"])
def test_a_joint_that_moves_no_inertia_is_named(name: str, tmp_path: Path, never: None):
    for model in MASSLESS.values():
        must_name_the_joint(name, model, tmp_path)


@pytest.mark.parametrize("model", MASSLESS.values(), ids=MASSLESS)
@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.sampled
def test_a_joint_that_moves_no_inertia_is_named_in_native_code(
    name: str, model: kn.Model, tmp_path: Path, always: None
):
    must_name_the_joint(name, model, tmp_path)


def must_name_the_joint(name: str, model: kn.Model, tmp_path: Path) -> None:
    """Whatever needs its acceleration raises the error of `forward_dynamics`, and nothing raises another."""
    told = said(name, model, tmp_path)
    asked_for_more = name in ("floating_jacobian", "drive_forces", "model.to_planar")
    assert told is None or asked_for_more or "a joint that moves no inertia" in told, told


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.usefixtures("compilation")
def test_simulate_says_what_forward_dynamics_says(run: dict[str, Any]):
    with pytest.raises(kn.ModelError, match="a joint that moves no inertia") as said:
        kn.forward_dynamics(MASSLESS["one massless body"], [0.0], [0.0], [0.0])
    if run.get("integrator") in ("bdf1", "bdf2", "implicit"):
        return  # they solve for velocities, which nothing resists
    with pytest.raises(kn.ModelError) as told:
        motion(MASSLESS["one massless body"], **run)
    assert str(told.value) == str(said.value) or "a joint that moves no inertia" in str(told.value)


@pytest.mark.usefixtures("compilation")
def test_a_users_own_division_by_zero_is_the_users():
    own = kn.kernel(lambda model, q: q * (1 / int(model.nb - model.nb)))
    with pytest.raises(ZeroDivisionError, match=r"^division by zero$"):
        own(WITH_FIXED, q(WITH_FIXED))


@pytest.mark.parametrize("model", NOTHING.values(), ids=NOTHING)
@pytest.mark.usefixtures("compilation")
def test_what_nothing_has(model: kn.Model):
    empty, weight = np.zeros(0), 9.81 * sum(float(I.mass) * (0.3 * (k + 1) + 0.2) for k, I in enumerate(model.I))
    assert kn.kinetic_energy(model, empty, empty) == 0.0
    assert kn.potential_energy(model, empty) == pytest.approx(weight)
    np.testing.assert_array_equal(kn.momentum(model, empty, empty), np.zeros(6))
    np.testing.assert_array_equal(kn.centroidal_momentum(model, empty, empty), np.zeros(6))
    np.testing.assert_array_equal(kn.centroidal_bias(model, np.zeros((2, 0)), empty), np.zeros((2, 6)))
    assert kn.centroidal_matrix(model, empty).shape == (6, 0)
    assert kn.constraints.dynamics(model, np.zeros((5, 0)), empty, empty, []).a.shape == (5, 0)
    run = motion(model)
    np.testing.assert_allclose(run.energy, weight)
    assert run.q.shape == (5, 0)
