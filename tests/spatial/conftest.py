from collections.abc import Iterator

import mpmath as mp
import pytest

from .zoo import DIGITS, KINDS, Kind


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """A kind of scalar, with a seed of the test's own name."""
    return KINDS[request.param].at(sum(map(ord, request.node.name)))


@pytest.fixture
def floats(request: pytest.FixtureRequest) -> Kind:
    return KINDS["float"].at(sum(map(ord, request.node.name)))


@pytest.fixture(autouse=True)
def _forty_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield
