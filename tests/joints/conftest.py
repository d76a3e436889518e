import pytest

from ..seeds import quick, seeds
from .zoo import FEW, ZOO


@pytest.fixture(params=quick(ZOO, FEW))
def joint(request):
    return ZOO[request.param]


@pytest.fixture(params=seeds(3, quick=1))
def seed(request):
    return request.param
