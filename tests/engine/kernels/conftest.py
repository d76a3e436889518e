from typing import Any

import pytest

from knuckle.engine.kernels import one_state
from knuckle.engine.kernels.kernel_registry import Kernel, kernels

from ..calls.conftest import _plain, compilation, model, public  # noqa: F401 - fixtures


@pytest.fixture
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:  # noqa: F811
    monkeypatch.setattr(kernels, "policy", "always")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that were built, in order."""
    names: list[str] = []
    build = Kernel.build.__func__  # type: ignore[attr-defined]

    straight = one_state.straight

    def spy(cls: type[Kernel], target: Any, specialization: Any, *others: Any) -> Kernel:
        names.append(specialization.name)
        return build(cls, target, specialization, *others)

    def spy_on_one(target: Any, specialization: Any, *others: Any) -> Any:
        names.append(specialization.name)
        return straight(target, specialization, *others)

    monkeypatch.setattr(Kernel, "build", classmethod(spy))
    monkeypatch.setattr(one_state, "straight", spy_on_one)
    return names
