from collections.abc import Iterator

import mpmath as mp
import pytest

from ..seeds import Together
from .zoo import DIGITS, KINDS, Kind


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Together:
    """Every kind of scalar, with a seed of the test's own name."""
    return Together(kind.at(sum(map(ord, f"{request.node.name}[{name}]"))) for name, kind in KINDS.items())


@pytest.fixture
def floats(request: pytest.FixtureRequest) -> Kind:
    return KINDS["float"].at(sum(map(ord, request.node.name)))


@pytest.fixture(autouse=True)
def _forty_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield
