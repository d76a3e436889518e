import pytest

from ..seeds import Together, seeds
from .zoo import FEW, ZOO


@pytest.fixture(params=["few", pytest.param("others", marks=pytest.mark.slow)])
def joint(request):
    """Joints of every type, and further ones."""
    return Together(joint for name, joint in ZOO.items() if (name in FEW) == (request.param == "few"))


@pytest.fixture(params=seeds(3, quick=1))
def seed(request):
    return request.param
