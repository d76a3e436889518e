from collections.abc import Iterator

import mpmath as mp
import pytest

from ..seeds import Together
from .zoo import DIGITS, ZOO


@pytest.fixture
def scalar() -> Together:
    """A scalar of every kind."""
    return Together(ZOO.values())


@pytest.fixture(autouse=True)
def _forty_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield
