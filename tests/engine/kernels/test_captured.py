"""Kernels follow what their texts take from around themselves."""

import dataclasses
import functools
import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.constraints.constraint_terms import dense_terms
from knuckle.engine.kernels.captured_values import surroundings
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.spatial import Vector

ARM = kn.robots.load("arm")
Q = np.linspace(0.1, 0.7, 7)

gain, table, weights = 1.0, {"k": 1.0, "more": [1.0]}, np.ones(7)
config = types.ModuleType("config")
config.gain = 1.0  # type: ignore[attr-defined]


@dataclasses.dataclass
class Settings:
    kp: float = 1.0
    calls: int = 0


class Controller:
    limit = 1.0

    def __init__(self) -> None:
        self.kp, self.unrelated = 1.0, 0

    def control(self, model: kn.Model, q: Any) -> Any:
        return self.kp * self.limit * q


settings, controller = Settings(), Controller()


def scaled(q: Any) -> Any:
    return gain * q


def set_global(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


CASES: dict[str, tuple[Any, Callable[[], Any]]] = {
    "a global": (lambda model, q: gain * q, set_global("gain", 2.0)),
    "a function that is called": (lambda model, q: scaled(q), set_global("gain", 2.0)),
    "another function of that name": (lambda model, q: scaled(q), set_global("scaled", lambda q: 2.0 * q)),
    "an entry of a dictionary": (lambda model, q: table["k"] * q, lambda: table.update(k=2.0)),
    "a list in a dictionary": (lambda model, q: table["more"][-1] * q, lambda: table["more"].append(2.0)),  # type: ignore[index,union-attr]
    "an entry of an array": (lambda model, q: weights * q, lambda: weights.__setitem__(slice(None), 2.0)),
    "an attribute": (lambda model, q: settings.kp * q, lambda: setattr(settings, "kp", 2.0)),
    "an attribute of a module": (lambda model, q: config.gain * q, lambda: setattr(config, "gain", 2.0)),
    "an attribute of a class": (lambda model, q: Controller.limit * q, lambda: setattr(Controller, "limit", 2.0)),
    "a method": (controller.control, lambda: setattr(controller, "kp", 2.0)),
    "in a comprehension": (lambda model, q: [gain * x for x in q], set_global("gain", 2.0)),
}


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:
    monkeypatch.setattr(kernels, "policy", "auto")


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    before = {name: globals()[name] for name in ("gain", "scaled")}
    yield
    globals().update(before)
    table.update(k=1.0, more=[1.0])
    weights[:] = 1.0
    settings.kp = controller.kp = Controller.limit = config.gain = 1.0  # type: ignore[attr-defined]


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled, or looked for on the disk."""
    from knuckle.engine.kernels import specialization

    found: list[str] = []
    trace = specialization.Specialization.traced
    monkeypatch.setattr(
        specialization.Specialization, "traced", lambda self, *args: found.append(self.name) or trace(self, *args)
    )
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_noticed(name: str, traces: list[str]):
    text, change = CASES[name]
    own = kn.kernel(text)
    np.testing.assert_array_equal(own(ARM, Q), Q)
    own(ARM, Q)
    assert len(traces) == 1, "nothing changed"
    change()
    np.testing.assert_array_equal(own(ARM, Q), 2 * Q)
    own(ARM, Q)
    assert len(traces) == 2, "one change, one kernel"


def test_a_variable_of_an_enclosing_function(traces: list[str]):
    k, factors = 1.0, [1.0, 1.0]

    @kn.kernel
    def own(model: kn.Model, q: Any) -> Any:
        return k * factors[0] * q

    assert own(ARM, Q)[0] == Q[0]
    k = 2.0
    assert own(ARM, Q)[0] == 2 * Q[0]
    factors[0] = 3.0
    assert own(ARM, Q)[0] == 6 * Q[0]
    k = 4 / 2  # another object, the same number
    assert own(ARM, Q)[0] == 6 * Q[0]
    assert len(traces) == 3


def test_a_kernel_in_a_kernel_and_a_partial(traces: list[str]):
    inner = kn.kernel(lambda model, q: gain * q)
    outer = kn.kernel(lambda model, q: inner(model, q) + q)
    first = functools.partial(lambda s, q: s["k"] * q, table)
    part = kn.kernel(lambda model, q: first(q))
    assert outer(ARM, Q)[1] == 2 * Q[1]
    assert part(ARM, Q)[1] == Q[1]
    globals()["gain"], table["k"] = 3.0, 5.0
    assert outer(ARM, Q)[1] == 4 * Q[1]
    assert part(ARM, Q)[1] == 5 * Q[1]


def test_what_a_text_changes_itself_is_no_change(traces: list[str]):
    seen: list[int] = []

    @kn.kernel
    def counted(model: kn.Model, q: Any) -> Any:
        seen.append(1)
        settings.calls += 1
        return 2.0 * q

    for _ in range(5):
        counted(ARM, Q)
    assert len(seen) == len(traces) == 1
    controller.unrelated += 1
    kernel = kn.kernel(controller.control)
    kernel(ARM, Q)
    controller.unrelated += 1
    kernel(ARM, Q)
    assert len(traces) == 2, "nothing that the text has a name for"


@pytest.mark.slow
def test_through_time(traces: list[str]):
    """Controllers in `simulate` and `rollout` are as they are when a run begins."""
    pendulum = kn.robots.load("pendulum")
    push = {"force": 0.0}

    @kn.kernel
    def pushed(model: kn.Model, t: Any, q: Any, v: Any) -> Any:
        return v * 0 + Vector([push["force"]])

    def ends() -> list[float]:
        run = {"controller": pushed, "dt": 0.01}
        return [
            float(kn.simulate(pendulum, [0.1], [0.0], 0.1, **run).q[-1, 0]),
            float(kn.rollout(pendulum, [0.1], [0.0], None, steps=10, **run).q[-1, 0]),
        ]

    before = ends()
    assert before == ends()
    push["force"] = 5.0
    after = ends()
    assert np.all(np.abs(np.subtract(after, before)) > 1e-4)
    push["force"] = 0.0
    assert ends() == before


def test_laws_in_options_and_models(monkeypatch: pytest.MonkeyPatch):
    """Functions of the library take users' functions too: constraints of their own, couplings."""
    monkeypatch.setattr(kernels, "policy", "always")
    bend = {"k": 1.0}
    coupled = kn.model.edit.couple(ARM, ARM.joint_names[1], ARM.joint_names[0], lambda x: bend["k"] * x * x)
    custom = kn.constraints.Custom(lambda model, q: [bend["k"] * q[0] * q[0]])
    half = np.full(7, 0.5)

    def found() -> list[float]:
        terms = dense_terms(ARM, half, half, constraints=(custom,))
        return [float(kn.couplings.tree_positions(coupled, half[:6])[1]), float(terms[0, 0])]

    np.testing.assert_allclose(found(), [0.25, 1.0])
    bend["k"] = 3.0
    np.testing.assert_allclose(found(), [0.75, 3.0])


def test_functions_of_the_library_have_nothing_around_them():
    for f in (kn.inverse_dynamics, kn.jacobian, kn.kinetic_energy):
        assert surroundings(f, (("frame", "flange"),)) is None
    assert surroundings(lambda model, q: kn.mass_matrix(model, q) @ np.sin(q)) is None


def test_no_model_is_kept_alive():
    model = kn.robots.load("pendulum")

    def text(_: kn.Model, q: Any) -> Any:
        return kn.mass_matrix(model, q)

    found = surroundings(text)
    assert found is not None
    gone = weakref.ref(model)
    model = None  # type: ignore[assignment]
    gc.collect()
    assert not found.is_same()
    assert gone() is None


def test_looking_takes_little_time():
    import timeit

    found = surroundings(lambda model, q: gain * settings.kp * weights[0] * q)
    assert found is not None
    once = min(timeit.repeat(found.is_same, number=1000, repeat=5)) / 1000
    assert once < 20e-6, "some microseconds at most"
