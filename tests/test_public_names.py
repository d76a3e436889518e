"""Public names are registered where they are made; what lists them says the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import knuckle as kn
from knuckle.bound import Bound, _Method
from knuckle.engine.calls.function import Function
from knuckle.public_names import PUBLIC

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = {name: getattr(kn, name) for name in kn.__all__}


def static_names(text: str) -> set[str]:
    """What a type checker sees to be exported: names that are imported as themselves."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return {a.name for node in imports for a in node.names if a.asname == a.name}


def test_what_is_exported_is_what_type_checkers_see() -> None:
    assert static_names("from .a import b as b\nfrom .a import c\nfrom .a import d as e") == {"b"}
    assert static_names(Path(str(kn.__file__)).read_text("utf-8")) == set(kn.__all__)


def test_everything_that_is_registered_is_exported() -> None:
    assert len(PUBLIC) > 70
    assert {name: EVERYTHING.get(name) for name in PUBLIC} == PUBLIC


def test_every_function_that_is_exported_is_registered() -> None:
    functions = {name for name, x in EVERYTHING.items() if isinstance(x, Function)}
    assert len(functions) > 50
    assert functions <= set(PUBLIC)


def test_the_methods_of_bound_are_the_registered_functions() -> None:
    methods = {name: x.function for name, x in vars(Bound).items() if isinstance(x, _Method)}
    assert methods == {name: x for name, x in PUBLIC.items() if isinstance(x, Function) and not x._traits.is_users}


def test_the_page_of_the_api_has_every_name_once() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    shown = re.findall(r"^::: knuckle\.(\w+)$", page, flags=re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(PUBLIC) <= set(shown)
