from collections.abc import Iterator

import pytest

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
