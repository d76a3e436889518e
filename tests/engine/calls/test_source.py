"""Printed functions say what they were printed for."""

from __future__ import annotations

from typing import Any

import pytest

import knuckle as kn

from .mechanisms import arm


@pytest.mark.parametrize(
    ("options", "said"), [({}, ""), ({"expressed_in": "world"}, ", expressed_in='world'")], ids=["plain", "world"]
)
def test_c_names_its_mechanism_and_options(options: dict[str, Any], said: str) -> None:
    text = kn.jacobian.source(arm(), language="c", frame="tool", **options)
    assert text.splitlines()[1] == f" * jacobian: for {arm().name}, frame='tool'{said}"


def test_c_of_a_kernel_names_its_mechanism() -> None:
    @kn.kernel
    def doubled(model: kn.Model, q: Any) -> Any:
        return q + q

    assert doubled.source(arm(), language="c").splitlines()[1] == f" * doubled: for {arm().name}"


def test_a_name_cannot_end_the_comment() -> None:
    text = kn.gravity_force.source(arm().replace(name="*/ int x; /*"), language="c")
    assert text.count("*/") == text.count("/*") == 1


def test_a_mechanism_without_a_name() -> None:
    assert "gravity_force: for a mechanism\n" in kn.gravity_force.source(arm().replace(name=""), language="c")
