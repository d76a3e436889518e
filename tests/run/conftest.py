import pytest

from knuckle.model import Model

from .mechanisms import FUNCTIONS, MODELS, Public


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request: pytest.FixtureRequest) -> Model:
    return request.param


@pytest.fixture(params=FUNCTIONS.values(), ids=FUNCTIONS.keys())
def public(request: pytest.FixtureRequest) -> Public:
    return request.param
