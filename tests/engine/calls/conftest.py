from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.kernel_registry import set_policy as set_compilation
from knuckle.model import Model

from .mechanisms import FUNCTIONS, MODELS, Public


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request: pytest.FixtureRequest) -> Model:
    return request.param


@pytest.fixture(params=FUNCTIONS.values(), ids=FUNCTIONS.keys())
def public(request: pytest.FixtureRequest) -> Public:
    return request.param


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text itself, not native code that takes over after some calls."""
    monkeypatch.setattr(kernels, "policy", "never")


@pytest.fixture(params=["never", "always"])
def compilation(request: pytest.FixtureRequest, _plain: None) -> Iterator[str]:
    """Plain and native code behind one face."""
    set_compilation(request.param)
    yield request.param
    set_compilation("never")


@pytest.fixture(scope="module")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch, _plain: None, _kept: Path) -> None:
    """Native code as for users, kept where only the tests of a file find it."""
    monkeypatch.setattr(kernels, "policy", "auto")
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(_kept))


@pytest.fixture
def no_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, no function of the library can be called by way of Python."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the call came to Python")

    return lambda: monkeypatch.setattr(Function, "_evaluated", refuse)
