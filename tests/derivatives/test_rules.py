"""Rules of derivatives: in code that keeps the loops over bodies, and where parameters of the model are symbols."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.differentiate.derivative_texts import Call, Gradients, OfLibrary, Rates
from knuckle.engine.differentiate.solved_results import solved_count
from knuckle.engine.trace.blocks import Ruled
from knuckle.engine.trace.execute import record
from knuckle.engine.trace.regions import trace_rolled
from knuckle.engine.trace.rolled_blocks import RolledBlock
from knuckle.joints import Free, Revolute, Spherical
from knuckle.model import solid_box
from knuckle.model.edit import attach, with_joint
from knuckle.spatial import Inertia, Transform, Vector

from .cases import MECHANISMS

FORWARD = OfLibrary(("q", "v", "tau"), ("q",), "knuckle.functions.dynamics", "forward_dynamics")
ARGUMENTS = ("q", "v", "tau")


def chain(count: int, first: Any) -> kn.Model:
    b = kn.Builder("chain", base="world")
    for i in range(count):
        joint = first if i == 0 else Spherical() if i == 2 else Revolute("y")
        b.body(f"b{i}", on=f"b{i - 1}" if i else "world", joint=joint, at=dict(xyz=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0)),
               inertia=solid_box(1.13, (0.1, 0.2, 0.3), at=(0.02, 0.01, 0.1)), damping=0.1)  # fmt: skip
    return b.build()


def rolled(text: Any, model: kn.Model, **arrays: Any) -> RolledBlock:
    """The code of a text with its loops over bodies kept."""

    def unpack(result: Any) -> Any:
        parts = result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else (result,)
        scalars = [x for part in parts for x in part]
        return scalars, (len(scalars),)

    return RolledBlock(trace_rolled(text, model, {name: x.shape for name, x in arrays.items()}, unpack))


@pytest.mark.parametrize(
    "first", [Revolute("x"), pytest.param(Free(), marks=pytest.mark.slow)], ids=["fixed", "floating"]
)
def test_the_rule_of_forward_dynamics_holds_in_kept_loops(first: Any) -> None:
    """Products of rolled code with weights and along directions, against the Jacobian by its own equations."""
    model, rng = chain(4, first), np.random.default_rng(3)
    q = kn.random_configuration(model, 2)
    v, tau, w = rng.normal(size=(3, model.nv))
    J = kn.forward_dynamics.jacobian(model, q, v, tau)
    arrays = {"q": q, "v": v, "tau": tau}
    backward = rolled(Gradients(FORWARD, ARGUMENTS), model, **arrays, weight=w)
    wanted = np.concatenate([w @ J[name] for name in ARGUMENTS])
    found = backward.evaluate(np.concatenate([q, v, tau, w]).tolist())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    forward = rolled(Rates(FORWARD, ARGUMENTS, ("dq", "dv", "dtau")), model, **arrays, dq=w, dv=v, dtau=tau)
    rate = J["q"] @ w + J["v"] @ v + J["tau"] @ tau
    found = forward.evaluate(np.concatenate([q, v, tau, w, v, tau]).tolist())[model.nv :]
    np.testing.assert_allclose(found, rate, rtol=0, atol=1e-11 * np.abs(rate).max())


@pytest.mark.slow
def test_the_work_of_a_gradient_grows_with_the_chain_as_that_of_forward_dynamics() -> None:
    """One more body adds as many operations anywhere in the chain, below three times those of forward dynamics."""

    def operations(text: Any, count: int, more: tuple[str, ...]) -> int:
        model = chain(count, Revolute("x"))
        return rolled(text, model, q=np.zeros(model.nq), **{name: np.zeros(model.nv) for name in more}).work()

    plain, products = [], []
    for count in (5, 6, 7):
        plain.append(operations(FORWARD.text, count, ("v", "tau")))
        products.append(operations(Gradients(FORWARD, ARGUMENTS), count, ("v", "tau", "weight")))
    assert plain[2] - plain[1] == plain[1] - plain[0]
    assert products[2] - products[1] == products[1] - products[0]
    assert products[2] - products[0] < 3 * (plain[2] - plain[0])


def _joint(model: kn.Model, **changes: Any) -> kn.Model:
    first, second, *others = model.joints
    return model.replace(joints=(first, dataclasses.replace(second, **changes), *others))


PARAMETERS: dict[str, Any] = {
    "mass": lambda m, p: attach(m, m.frame_names[-1], Inertia.of(p, (0.0, 0.0, 0.1), ((0.0,) * 3,) * 3)),
    "length": lambda m, p: with_joint(m, m.joint_names[-1], X_tree=Transform.translation((0.0, 0.0, p))),
    "gravity": lambda m, p: m.replace(gravity=(0.0, 0.0, -p)),
    "stiffness": lambda m, p: _joint(m, stiffness=(p,)),
    "damping": lambda m, p: _joint(m, damping=(p,)),
    "friction": lambda m, p: _joint(m, friction=(p,)),
    "rotor": lambda m, p: _joint(m, rotor_inertia=(p,)),
}


@kn.kernel
def with_all(model: kn.Model, q: Any, v: Any, tau: Any, p: Any) -> Any:
    """The acceleration of a mechanism with parameters of every kind."""
    for k, change in enumerate(PARAMETERS.values()):
        model = change(model, p[k])
    return kn.forward_dynamics(model, q, v, tau)


@pytest.mark.parametrize("name", ["tree", pytest.param("loop", marks=pytest.mark.slow)])
def test_parameters_of_every_kind_by_the_rule(name: str) -> None:
    """Against complex steps; the acceleration is one piece, though its model has symbols."""
    mechanism = MECHANISMS[name]()
    model, rng, h = mechanism.model, np.random.default_rng(7), 1e-30
    v, tau, w = rng.normal(size=(3, model.nv))
    p = rng.uniform(0.4, 1.0, len(PARAMETERS))
    columns: list[Any] = []
    for k in range(len(p)):
        moved = model
        for i, change in enumerate(PARAMETERS.values()):
            moved = change(moved, complex(p[i], h) if i == k else float(p[i]))
        a = kn.forward_dynamics.reference(moved, mechanism.q.tolist(), v.tolist(), tau.tolist())
        columns.append([complex(x).imag / h for x in a])
    wanted = np.array(columns).T
    found = with_all.vjp(model, mechanism.q, v, tau, p, weight=w, wrt=("p", "tau"))
    np.testing.assert_allclose(found["p"], w @ wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    found = with_all.jacobian(model, mechanism.q, v, tau, p, wrt="p")["p"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())

    shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "p": p.shape}
    program = record(lambda **x: with_all.reference(model, **x), shapes, lambda r: (list(r), (len(r),)), has_rules=True)
    assert any(isinstance(block, Ruled) for block in program.blocks)


def test_what_was_solved_for_may_be_known() -> None:
    """With the accelerations of another run nothing is solved again, and derivatives are by those that are given."""
    model = chain(3, Free())
    s = kn.testing.random_state(model, 3)
    arrays = {"q": s.q, "v": s.v, "tau": s.a}
    call = Call.of(FORWARD, model, {name: Vector(x.tolist()) for name, x in arrays.items()})
    assert solved_count(call.specialization, call.shapes) == model.nv
    sweep, _ = call.sweep()
    assert np.allclose(sweep.solved, kn.forward_dynamics(model, s.q, s.v, s.a), rtol=1e-9)
    weights = np.random.default_rng(1).normal(size=model.nv).tolist()
    again, _ = call.sweep(known=sweep.solved)
    assert again.pulled(weights) == sweep.pulled(weights)
    other, _ = call.sweep(known=[x + 1.0 for x in sweep.solved])
    assert other.outputs == [x + 1.0 for x in sweep.outputs]
    assert other.pulled(weights) != sweep.pulled(weights)
