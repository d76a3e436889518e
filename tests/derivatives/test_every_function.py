"""The derivatives of every public function by every argument, on mechanisms of every kind, against complex steps.

With KNUCKLE_UPDATE_GOLDEN=1 in the environment `pytest -m ""` writes the table in docs/derivatives.md anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.function import Function

from .cases import MECHANISMS, OF_OPTIONS, Mechanism, arguments, functions

PAGE = Path(__file__).parents[2] / "docs" / "derivatives.md"
BEGIN, END = "<!-- the table, written by tests/derivatives/test_every_function.py -->", "<!-- end of the table -->"
STEP = 1e-30
"""Of a complex step: nothing cancels, so that its derivatives are as exact as the function."""
ROUNDING = 1e-11
"""Of the largest derivative; condition numbers are up to 1e3 here."""
SINGULAR = {"kn.operational_space_inertia"}
"""Infinite where a frame has less than six freedoms, as in most of these mechanisms."""
QUICK = ("floating", "redundant loop")


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """Nothing is compiled: what is compared are the texts."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


def complex_steps(function: Function[..., Any], mechanism: Mechanism, given: dict[str, Any], name: str) -> list[Any]:
    """The derivatives of every result by an argument, on the last axis."""
    x = np.asarray(given[name], float)
    is_position = function._arguments.kinds[name] == "q"  # type: ignore[attr-defined]
    model = mechanism.model
    units = np.eye(model.nv if is_position else x.size)
    directions = [kn.velocity_to_qdot(model, x, e) for e in units] if is_position else units.reshape(-1, *x.shape)
    changed = x + 1j * STEP * np.asarray(directions)
    if function in OF_OPTIONS.values():  # whose texts see one state
        moved: Any = np.stack([function(model, **{**given, name: one}) for one in changed])
    else:
        moved = function(model, **{**given, name: changed})
    results = moved if isinstance(moved, tuple) else (moved,)
    return [np.moveaxis(np.imag(result), 0, -1) / STEP for result in results]


def outcome(what: str, mechanism: Mechanism) -> str:
    """ "right", or what the function itself refuses."""
    function = functions()[what]
    given = arguments(function, mechanism, np.random.default_rng(1))
    if given is None:
        return "–"
    try:
        value = function(mechanism.model, **given)
    except kn.ModelError as error:
        return "–" if "knows trees" in str(error) or "floating" in str(error) else str(error)
    if not any(np.size(part) for part in (value if isinstance(value, tuple) else (value,))):
        return "–"
    names = [name for name in given if name in function._arguments.kinds]  # type: ignore[attr-defined]
    found = function.jacobian(mechanism.model, **given, wrt=names)
    for name in names:
        parts = found[name] if isinstance(found[name], tuple) else (found[name],)
        for part, wanted in zip(parts, complex_steps(function, mechanism, given, name), strict=True):
            size = max(1.0, np.abs(wanted).max(initial=0.0))
            got = part.reshape(wanted.shape)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=ROUNDING * size, err_msg=f"{what} by {name}")
    return "right"


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in MECHANISMS]
)
def test_jacobians_are_those_of_complex_steps(kind: str) -> None:
    mechanism = MECHANISMS[kind]()
    outcomes = [outcome(what, mechanism) for what in functions() if what not in SINGULAR]
    assert outcomes.count("right") > 25


@pytest.mark.slow
@pytest.mark.parametrize("kind", MECHANISMS)
def test_products_are_those_of_the_jacobian(kind: str) -> None:
    mechanism, rng = MECHANISMS[kind](), np.random.default_rng(3)
    model = mechanism.model
    for what, function in functions().items():
        given = arguments(function, mechanism, rng)
        if given is None or what in SINGULAR or what == "kn.normalize":
            continue
        try:
            value = np.asarray(function(model, **given))
        except kn.ModelError:
            continue
        if not value.size:
            continue
        names = [name for name in given if name in function._arguments.kinds]  # type: ignore[attr-defined]
        J = function.jacobian(model, **given, wrt=names)
        flat = {name: np.reshape(J[name], (value.size, -1)) for name in names}
        along = {name: rng.normal(size=np.shape(J[name])[value.ndim :]) for name in names}
        weight = rng.normal(size=value.shape)
        size = max(1.0, *(np.abs(x).max(initial=0.0) for x in flat.values()))
        same, rate = function.jvp(model, **given, along=along)
        wanted = sum(flat[name] @ along[name].ravel() for name in names)
        np.testing.assert_allclose(np.ravel(rate), wanted, rtol=0, atol=ROUNDING * size * 10, err_msg=what)
        np.testing.assert_allclose(same, value, rtol=0, atol=ROUNDING * max(1.0, np.abs(value).max(initial=0.0)))
        gradients = function.vjp(model, **given, weight=weight, wrt=names)
        for name in names:
            wanted = weight.ravel() @ flat[name]
            np.testing.assert_allclose(
                np.ravel(gradients[name]), wanted, rtol=0, atol=ROUNDING * size * 10, err_msg=f"{what} by {name}"
            )


CURVED = {"kn.integrate", "kn.difference", "kn.difference_rate", "kn.inverse_dynamics", "kn.potential_energy"}
"""Whose second derivatives are looked at, too."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["floating", "ball", "springs", "friction", "tree"])
def test_nothing_is_undefined_at_rest_in_the_neutral_position(kind: str) -> None:
    mechanism, rng = MECHANISMS[kind](), np.random.default_rng(0)
    model = mechanism.model
    looked_at = 0
    for what, function in functions().items():
        given = arguments(function, mechanism, rng)
        if given is None or what in SINGULAR:
            continue
        kinds = function._arguments.kinds  # type: ignore[attr-defined]
        for name in given:
            if kinds.get(name) in ("q", "v"):
                given[name] = kn.neutral(model) if kinds[name] == "q" else np.zeros(model.nv)
        try:
            value = function(model, **given)
        except kn.ModelError:
            continue
        names = [name for name in given if name in kinds]
        found: list[Any] = [function.jacobian(model, **given, wrt=names)]
        if not isinstance(value, tuple):
            ones = np.ones(np.shape(value))
            found.append(function.vjp(model, **given, wrt=names, weight=ones))
            if what in CURVED:
                found.append(function.hessian(model, **given, wrt=names, weight=ones))
        assert all(np.isfinite(x).all() for x in _arrays(found)), what
        looked_at += 1
    assert looked_at > 50


def _arrays(x: Any) -> Iterator[Any]:
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        for part in x:
            yield from _arrays(part)
    else:
        yield x


@pytest.mark.slow
def test_the_table_says_which_derivatives_there_are() -> None:
    made = {kind: make() for kind, make in MECHANISMS.items()}
    lines = [f"| function | {' | '.join(made)} |", "|---" * (len(made) + 1) + "|"]
    for what in functions():
        if what in SINGULAR:
            marks = ["where it is finite"] * len(made)
        else:
            marks = [{"right": "✓"}.get(result, result) for result in (outcome(what, m) for m in made.values())]
        lines.append(f"| `{what}` | {' | '.join(marks)} |")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    old, after = rest.split(END)
    table = "\n".join(("", "", *lines, "", ""))
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        PAGE.write_text(before + BEGIN + table + END + after, encoding="utf-8")
    else:
        assert old == table, "docs/derivatives.md says something else; if this is right, set KNUCKLE_UPDATE_GOLDEN=1"
