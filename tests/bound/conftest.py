from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import python_abi

from ..engine.calls.conftest import _plain, compilation, model, public  # noqa: F401 - fixtures


@pytest.fixture(scope="module")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch, _plain: None, _kept: Path) -> None:  # noqa: F811
    """Native code where one asks for it, as it is outside these tests; kernels kept apart from the user's."""
    monkeypatch.setattr(kernels, "policy", "auto")
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(_kept))


@pytest.fixture
def no_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with another interpreter."""
    monkeypatch.setattr(python_abi, "_python_abi", lambda: None)


@pytest.fixture
def no_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, no function of the library can be called from Python."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the call came to Python")

    return lambda: monkeypatch.setattr(Function, "_evaluated", refuse)
