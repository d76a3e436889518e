import pytest

from ..seeds import seeds
from .zoo import ZOO


@pytest.fixture(params=ZOO.values(), ids=ZOO.keys())
def joint(request):
    return request.param


@pytest.fixture(params=seeds(3, quick=1))
def seed(request):
    return request.param
