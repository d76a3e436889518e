"""`kn.bind`: the library's functions with the way to native code short; everything else as the functions do it."""

from __future__ import annotations

import inspect
import math
import pickle
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.bound import bind as bind_function
from knuckle.engine.calls.function import Function
from knuckle.engine.kernels import batch_code
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import machine_code as native
from knuckle.engine.native import rolled_code
from knuckle.model import Model
from knuckle.public_names import everything

from ..engine.calls.mechanisms import MODELS, State, arm, chain, closed, geared, states
from ..seeds import quick
from .closeness import close

HAS_ENTRY = (
    sys.implementation.name == "cpython" and sys.platform == "linux" and not sysconfig.get_config_var("Py_GIL_DISABLED")
)


class Functions:
    """The functions themselves, called as the methods are."""

    def __init__(self, model: Model, group: Any = kn) -> None:
        self._model, self._group = model, group

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._group, name)
        return Functions(self._model, value) if isinstance(value, ModuleType) else partial(value, self._model)


CALLS: dict[str, Callable[[Any, State], Any]] = {
    "inverse_dynamics": lambda f, s: f.inverse_dynamics(s.q, s.v, s.a),
    "inverse_dynamics with f_ext": lambda f, s: f.inverse_dynamics(s.q, s.v, s.a, s.f_ext),
    "forward_dynamics": lambda f, s: f.forward_dynamics(s.q, s.v, s.a),
    "forward_dynamics with f_ext": lambda f, s: f.forward_dynamics(s.q, s.v, s.a, s.f_ext),
    "derivatives.inverse_dynamics": lambda f, s: f.derivatives.inverse_dynamics(s.q, s.v, s.a).q,
    "derivatives.forward_dynamics": lambda f, s: f.derivatives.forward_dynamics(s.q, s.v, s.a).v,
    "mass_matrix": lambda f, s: f.mass_matrix(s.q),
    "mass_matrix_inverse": lambda f, s: f.mass_matrix_inverse(s.q),
    "coriolis_matrix": lambda f, s: f.coriolis_matrix(s.q, s.v),
    "coriolis_force": lambda f, s: f.coriolis_force(s.q, s.v),
    "bias_force": lambda f, s: f.bias_force(s.q, s.v),
    "gravity_force": lambda f, s: f.gravity_force(s.q),
    "joint_passive_force": lambda f, s: f.joint_passive_force(s.q, s.v),
    "operational_space_inverse_inertia": lambda f, s: f.operational_space_inverse_inertia(s.q, "tool"),
    "pose": lambda f, s: f.pose(s.q, frame="tool"),
    "body_poses": lambda f, s: f.body_poses(s.q),
    "velocity": lambda f, s: f.velocity(s.q, s.v, "tool"),
    "acceleration": lambda f, s: f.acceleration(s.q, s.v, s.a, "tool", classical=True),
    "jacobian": lambda f, s: f.jacobian(s.q, "tool", "aligned"),
    "jacobian_rate": lambda f, s: f.jacobian_rate(s.q, s.v, "tool", expressed_in="world"),
    "external_force": lambda f, s: f.external_force(s.q, "tool", s.w),
    "couplings.tree_positions": lambda f, s: f.couplings.tree_positions(s.q),
    "couplings.matrix": lambda f, s: f.couplings.matrix(s.q),
    "couplings.bias": lambda f, s: f.couplings.bias(s.q, s.v),
    "couplings.forces": lambda f, s: f.couplings.forces(s.q, s.v, s.a),
    "identification.regressor": lambda f, s: f.identification.regressor(s.q, s.v, s.a),
    "kinetic_energy": lambda f, s: f.kinetic_energy(s.q, s.v),
    "potential_energy": lambda f, s: f.potential_energy(s.q),
    "center_of_mass": lambda f, s: f.center_of_mass(s.q),
    "momentum": lambda f, s: f.momentum(s.q, s.v),
    "centroidal_momentum": lambda f, s: f.centroidal_momentum(s.q, s.v),
    "centroidal_matrix": lambda f, s: f.centroidal_matrix(s.q),
    "centroidal_bias": lambda f, s: f.centroidal_bias(s.q, s.v),
    "integrate": lambda f, s: f.integrate(s.q, s.v),
    "difference": lambda f, s: f.difference(s.q, s.q[::-1].copy()),
    "difference_rate": lambda f, s: f.difference_rate(s.v, s.v),
    "velocity_to_qdot": lambda f, s: f.velocity_to_qdot(s.q, s.v),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CALLS)
def test_every_method_gives_what_the_function_gives(name: str, model: Model) -> None:
    fast = kn.bind(model)
    for seed in range(3):
        s = states(model, seed=seed)
        found, wanted = CALLS[name](fast, s), CALLS[name](Functions(model), s)
        assert close(found, wanted)
        assert type(found) is type(wanted)
        assert found.dtype == np.float64


def test_every_function_with_arrays_is_a_method() -> None:
    functions = [name for name, f in everything(kn).items() if isinstance(f, Function) and f is not kn.step]
    assert len(functions) > 50
    for name in functions:
        assert callable(attrgetter(name)(kn.bind(arm())))


@pytest.mark.skipif(not HAS_ENTRY, reason="another interpreter")
@pytest.mark.parametrize("name", ["inverse_dynamics", "inverse_dynamics with f_ext", "mass_matrix", "kinetic_energy",
                                  "derivatives.inverse_dynamics",
                                  "body_poses", "jacobian"])  # fmt: skip
def test_the_second_call_does_not_come_to_python(name: str, model: Model, no_python: Callable[[], None]) -> None:
    fast, s = kn.bind(model), states(model, seed=4)
    wanted = CALLS[name](Functions(model), s)
    CALLS[name](fast, states(model, seed=5))
    no_python()
    assert close(CALLS[name](fast, s), wanted)


@pytest.mark.skipif(not HAS_ENTRY, reason="another interpreter")
def test_kept_code_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    model, s = arm(), states(arm())
    wanted = kn.bind(model).gravity_force(s.q)

    def refuse(text: str, level: int = 2) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(native, "compile_text", refuse)
    assert np.array_equal(kn.bind(arm()).gravity_force(s.q), wanted)


def test_float32(model: Model, no_python: Callable[[], None]) -> None:
    fast, s = kn.bind(model), states(model)
    wanted = kn.inverse_dynamics(model, s.q, s.v, s.a)
    q, v, a = (x.astype(np.float32) for x in (s.q, s.v, s.a))
    assert fast.inverse_dynamics(s.q, s.v, s.a).dtype == np.float64
    fast.inverse_dynamics(q, v, a)
    if HAS_ENTRY:
        no_python()
    found = fast.inverse_dynamics(q, v, a)
    assert found.dtype == np.float32
    assert close(found, wanted, eps=1.2e-7 / 100)


@pytest.mark.parametrize("entry", [True, False])
def test_what_the_way_does_not_take_goes_the_general_way(
    entry: bool, model: Model, request: pytest.FixtureRequest
) -> None:
    if not entry:
        request.getfixturevalue("no_entry")
    fast, s = kn.bind(model), states(model)
    wanted = fast.inverse_dynamics(s.q, s.v, s.a)
    twice = [np.repeat(x, 2) for x in (s.q, s.v, s.a)]
    frozen = s.q.copy()
    frozen.setflags(write=False)
    others: list[Any] = [
        fast.inverse_dynamics(list(s.q), list(s.v), list(s.a)),
        fast.inverse_dynamics(*(x[::2] for x in twice)),
        fast.inverse_dynamics(*(x.astype(">f8") for x in (s.q, s.v, s.a))),
        fast.inverse_dynamics(s.q, s.v, a=s.a),
        fast.inverse_dynamics(q=s.q, v=s.v, a=s.a, f_ext=None),
        fast.inverse_dynamics(s.q, s.v, s.a, None),
        fast.inverse_dynamics(s.q, s.v, s.a, np.zeros((model.nb, 6), order="F")),
        fast.inverse_dynamics(frozen, s.v, s.a),
        fast.inverse_dynamics(s.q.view(type("Own", (np.ndarray,), {})), s.v, s.a),
    ]
    assert all(close(found, wanted) for found in others)
    batch = states(model, (3, 2))
    assert close(
        fast.inverse_dynamics(batch.q, batch.v, batch.a), kn.inverse_dynamics(model, batch.q, batch.v, batch.a)
    )
    assert fast.inverse_dynamics(s.q[None], s.v, s.a).shape == (1, model.nv)
    assert fast.inverse_dynamics(*(x.astype(np.float32) for x in (s.q, s.v, s.a))).dtype == np.float32
    assert close(fast.forward_dynamics(s.q, s.v, s.a, method="crba"), kn.forward_dynamics(model, s.q, s.v, s.a))


@pytest.mark.parametrize("entry", [True, False])
@pytest.mark.parametrize(
    "args",
    [
        lambda s: (s.q[:-1], s.v, s.a),
        lambda s: (s.q, s.v),
        lambda s: (s.q, s.v, s.a, s.f_ext, s.a),
        lambda s: (s.q, s.v, None),
        lambda s: (s.q, s.v, "abc"),
        lambda s: (s.q, s.v, s.a, s.f_ext[:-1]),
        lambda s: (np.ma.masked_array(s.q), s.v, s.a),
        lambda s: (),
    ],
)
def test_errors_are_those_of_the_function(args: Any, entry: bool, request: pytest.FixtureRequest) -> None:
    if not entry:
        request.getfixturevalue("no_entry")
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    fast.inverse_dynamics(s.q, s.v, s.a)
    with pytest.raises((TypeError, ValueError)) as usual:
        kn.inverse_dynamics(model, *args(s))
    with pytest.raises(usual.type) as found:
        fast.inverse_dynamics(*args(s))
    assert str(found.value) == str(usual.value)


def test_large_angles() -> None:
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    fast.gravity_force(s.q)
    far = s.q + 2 * math.pi * 1e7
    assert close(fast.gravity_force(far), kn.gravity_force(model, far))
    assert close(fast.potential_energy(far), kn.potential_energy(model, far))


def test_nan_goes_through() -> None:
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    fast.inverse_dynamics(s.q, s.v, s.a)
    assert np.isnan(fast.inverse_dynamics(s.q * np.nan, s.v, s.a)).all()
    assert np.isfinite(fast.inverse_dynamics(s.q, s.v, s.a)).all()


def test_prepared(model: Model, no_python: Callable[[], None]) -> None:
    s, fast = states(model), kn.bind(model)
    J, push = (
        fast.prepare(kn.jacobian, frame="tool", expressed_in="world"),
        fast.prepare(kn.external_force, frame="tool"),
    )
    crba = fast.prepare(kn.forward_dynamics, method="crba")
    wanted = kn.jacobian(model, s.q, "tool", "world")
    pushed, moved = kn.external_force(model, s.q, "tool", s.w), kn.forward_dynamics(model, s.q, s.v, s.a, s.f_ext)
    assert close(J(list(s.q)), wanted)
    assert close(push(s.q, wrench=s.w), pushed)
    assert close(crba(s.q, s.v, s.a, s.f_ext), moved)
    with pytest.raises(TypeError, match="external_force: missing a required argument: 'wrench'"):
        push(s.q)
    J(s.q), push(s.q, s.w)
    if HAS_ENTRY:
        no_python()
    assert close(J(s.q), wanted)
    assert close(push(s.q, s.w), pushed)
    assert close(crba(s.q, s.v, s.a, s.f_ext), moved)


def test_prepared_wrongly() -> None:
    fast, s = kn.bind(arm()), states(arm())
    with pytest.raises(TypeError, match="jacobian has no option 'fame'"):
        fast.prepare(kn.jacobian, fame="tool")
    with pytest.raises(TypeError, match="jacobian has no option 'q'"):
        fast.prepare(kn.jacobian, q=s.q)
    with pytest.raises(TypeError, match="prepare needs a function of the library"):
        fast.prepare(kn.neutral)  # type: ignore[arg-type]
    for call in (lambda: fast.jacobian(s.q, "nowhere"), lambda: fast.prepare(kn.jacobian, frame="nowhere")(s.q)):
        with pytest.raises(Exception, match="nowhere") as found:
            call()
        with pytest.raises(found.type):
            kn.jacobian(arm(), s.q, "nowhere")
    with pytest.raises(TypeError, match=r"missing a required argument: 'frame'"):
        fast.jacobian(s.q)  # type: ignore[call-arg]


def test_options_in_every_spelling(model: Model) -> None:
    fast, s = kn.bind(model), states(model)
    body, world = kn.velocity(model, s.q, s.v, "tool"), kn.velocity(model, s.q, s.v, "tool", "world")
    for _ in range(2):
        assert close(fast.velocity(s.q, s.v, "tool"), body)
        assert close(fast.velocity(s.q, s.v, frame="tool"), body)
        assert close(fast.velocity(s.q, v=s.v, frame="tool"), body)
        assert close(fast.velocity(s.q, s.v, "tool", "world"), world)
        assert close(fast.velocity(s.q, s.v, expressed_in="world", frame="tool"), world)
        assert close(fast.velocity(tuple(s.q), frame="tool", v=tuple(s.v)), body)
        assert close(fast.velocity(s.q, frame="tool", v=tuple(2 * s.v)), 2 * body)
        assert close(fast.pose(frame="tool", q=s.q), kn.pose(model, s.q, "tool"))


@pytest.mark.slow
@pytest.mark.parametrize("model", [arm(), pytest.param(MODELS["tree"], marks=pytest.mark.slow)], ids=["arm", "tree"])
def test_without_an_entry_all_methods_work(model: Model, no_entry: None) -> None:
    fast, s = kn.bind(model), states(model)
    for call in CALLS.values():
        assert close(call(fast, s), call(Functions(model), s))
    assert close(fast.prepare(kn.jacobian, frame="tool")(s.q), kn.jacobian(model, s.q, "tool"))


def test_plain_text_if_the_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "policy", "never")
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    for _ in range(2):
        assert np.array_equal(fast.inverse_dynamics(s.q, s.v, s.a), kn.inverse_dynamics(model, s.q, s.v, s.a))


LARGE = ("gravity_force", "inverse_dynamics", "inverse_dynamics with f_ext", "forward_dynamics", "kinetic_energy",
         "body_poses")  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not HAS_ENTRY, reason="another interpreter")
@pytest.mark.parametrize("dtype", quick([np.float64, np.float32], [np.float64]))
def test_large_mechanisms_have_a_short_way(
    dtype: Any, no_python: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rolled code is called as directly as code of one state, and it is that of batches: the numbers are the same."""
    monkeypatch.setattr(rolled_code, "BODIES", 4)
    model = chain(7)
    s, other = ({x: y.astype(dtype) for x, y in vars(states(model, seed=k)).items()} for k in (0, 1))
    s, other = State(**s), State(**other)
    fast = kn.bind(model)
    monkeypatch.setattr(kernels, "policy", "always")
    wanted = [(CALLS[name](Functions(model), s), CALLS[name](Functions(model), other)) for name in LARGE]
    first = [CALLS[name](fast, s) for name in LARGE]
    no_python()
    for name, found, (here, there) in zip(LARGE, first, wanted, strict=True):
        assert found.dtype == dtype
        assert np.array_equal(found, here), name
        assert np.array_equal(CALLS[name](fast, other), there), name
        assert np.array_equal(CALLS[name](fast, s), here), name


@pytest.mark.skipif(not HAS_ENTRY, reason="another interpreter")
def test_large_mechanisms_without_tricks(no_python: Callable[[], None]) -> None:
    model = chain(70)
    s, fast = states(model), kn.bind(model)
    wanted = kn.gravity_force(model, s.q)
    assert close(fast.gravity_force(s.q), wanted)
    far = s.q + 2 * math.pi * 1e7
    assert close(fast.gravity_force(far), kn.gravity_force(model, far))
    no_python()
    assert close(fast.gravity_force(s.q), wanted)
    assert np.isnan(fast.gravity_force(s.q * np.nan)).any()
    assert close(fast.gravity_force(s.q), wanted)


@pytest.mark.skipif(not HAS_ENTRY, reason="another interpreter")
def test_long_functions_have_a_short_way(monkeypatch: pytest.MonkeyPatch, no_python: Callable[[], None]) -> None:
    """A function too long for straight-line code of its own calls the kernel, rolled or not."""
    monkeypatch.setattr(rolled_code, "NODES", 10)
    model, s = arm(), states(arm())
    fast, wanted = kn.bind(model), kn.forward_dynamics(model, s.q, s.v, s.a)
    assert close(fast.forward_dynamics(s.q, s.v, s.a), wanted)
    no_python()
    assert close(fast.forward_dynamics(s.q, s.v, s.a), wanted)


def test_a_large_mechanism_that_cannot_be_rolled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_code, "MOST_STEPS", 0)
    monkeypatch.setattr(rolled_code, "BODIES", 2)
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    for _ in range(2):
        assert close(fast.forward_dynamics(s.q, s.v, s.a), kn.forward_dynamics(model, s.q, s.v, s.a))


def test_loops_and_couplings() -> None:
    s, model = states(closed()), closed()
    with pytest.raises(kn.ModelError, match="knows trees"):
        kn.bind(model).inverse_dynamics(s.q, s.v, s.a)
    assert close(kn.bind(model).kinetic_energy(s.q, s.v), kn.kinetic_energy(model, s.q, s.v))
    pair = geared(2.0)
    g = states(pair)
    assert close(kn.bind(pair).forward_dynamics(g.q, g.v, g.a), kn.forward_dynamics(pair, g.q, g.v, g.a))


def test_names_signatures_and_copies() -> None:
    fast, s = kn.bind(arm()), states(arm())
    assert fast.inverse_dynamics.__name__ == "inverse_dynamics"
    assert "Newton-Euler" in str(fast.inverse_dynamics.__doc__)
    for method, function in ((fast.forward_dynamics, kn.forward_dynamics), (fast.jacobian, kn.jacobian)):
        names = list(inspect.signature(method).parameters)
        assert names == list(function.__signature__.parameters)[1:]
    assert fast.inverse_dynamics is fast.inverse_dynamics
    assert repr(kn.bind(arm())) == "<knuckle functions of 'arm'>"
    again = pickle.loads(pickle.dumps(fast))
    assert close(again.gravity_force(s.q), fast.gravity_force(s.q))
    q, v = fast.normalize(s.q, s.v)
    assert close(q, kn.normalize(arm(), s.q, s.v)[0])
    assert close(v, kn.normalize(arm(), s.q, s.v)[1])


def test_what_cannot_be_bound() -> None:
    with pytest.raises(TypeError, match=r"bind needs a knuckle\.Model, not str"):
        bind_function("arm.urdf")  # type: ignore[arg-type]
