from collections.abc import Iterator

import mpmath as mp
import pytest

from .zoo import DIGITS, ZOO, Scalar


@pytest.fixture(params=ZOO.values(), ids=ZOO.keys())
def scalar(request: pytest.FixtureRequest) -> Scalar:
    return request.param


@pytest.fixture(autouse=True)
def _forty_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield
