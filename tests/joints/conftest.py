import pytest

from .zoo import SEEDS, ZOO


@pytest.fixture(params=ZOO.values(), ids=ZOO.keys())
def joint(request):
    return request.param


@pytest.fixture(params=SEEDS)
def seed(request):
    return request.param
