"""Public names are registered where they are made; what lists them says the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import knuckle as kn
from knuckle.bound import Bound
from knuckle.bound.bound_group import BoundGroup, BoundMethod
from knuckle.engine.calls.function import Function
from knuckle.public_names import GROUPS, PUBLIC, everything

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = everything(kn)


def static_names(text: str) -> set[str]:
    """What a type checker sees to be exported: names that are imported as themselves."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return {a.name for node in imports for a in node.names if a.asname == a.name}


def methods_of(bound: BoundGroup, prefix: str = "") -> dict[str, Any]:
    """The functions behind the methods of what `kn.bind` makes, those of groups with a dot."""
    found = {f"{prefix}{name}": x.function for name, x in vars(type(bound)).items() if isinstance(x, BoundMethod)}
    for group in GROUPS if isinstance(bound, Bound) else ():
        if hasattr(bound, group):
            found |= methods_of(getattr(bound, group), f"{group}.")
    return found


def test_what_is_exported_is_what_type_checkers_see() -> None:
    assert static_names("from .a import b as b\nfrom .a import c\nfrom .a import d as e") == {"b"}
    assert static_names(Path(str(kn.__file__)).read_text("utf-8")) == set(kn.__all__)


def test_what_is_flat_is_what_most_people_need() -> None:
    assert len([name for name in kn.__all__ if not hasattr(getattr(kn, name), "__path__")]) <= 62
    assert set(GROUPS) <= set(kn.__all__)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_has_what_is_registered_for_it(group: str) -> None:
    registered = {name for name in PUBLIC if name.startswith(f"{group}.")}
    exported = {f"{group}.{name}" for name in getattr(kn, group).__all__}
    assert registered
    assert registered == exported if group != "constraints" else registered <= exported


def test_everything_that_is_registered_is_exported() -> None:
    assert len(PUBLIC) > 70
    assert {name: EVERYTHING.get(name) for name in PUBLIC} == PUBLIC


def test_every_function_that_is_exported_is_registered_once() -> None:
    functions = {name for name, x in EVERYTHING.items() if isinstance(x, Function)}
    assert len(functions) > 50
    assert functions <= set(PUBLIC)
    assert len({id(x) for x in PUBLIC.values()}) == len(PUBLIC)


def test_the_methods_of_bound_are_the_registered_functions(arm: kn.Model) -> None:
    functions = {name: x for name, x in PUBLIC.items() if isinstance(x, Function) and not x._traits.is_users}
    assert methods_of(kn.bind(arm)) == functions


@pytest.fixture(scope="module")
def arm() -> kn.Model:
    return kn.robots.load("arm")


def test_the_page_of_the_api_has_every_name_once() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    shown = re.findall(r"^::: knuckle\.([\w.]+)$", page, flags=re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(PUBLIC) <= set(shown)
