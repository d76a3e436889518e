"""Random mechanisms with loops: every joint type as a loop joint, alone and in company."""

import numpy as np
import pytest

from knuckle.testing import JOINTS
from knuckle.testing.loops.linkages import LINKAGES, Linkage, random_linkage

from ..seeds import quick, seeds


@pytest.fixture(params=quick(sorted(JOINTS), JOINTS.keys() - {"spline_surface"}))
def one_loop(request: pytest.FixtureRequest) -> Linkage:
    """A random tree with one loop joint of each type."""
    return random_linkage(sorted(JOINTS).index(request.param) + 7, kinds=[request.param])


CHEAP = [name for name in JOINTS if name not in ("composite", "spline_curve", "spline_surface")]


@pytest.fixture(params=seeds(10, quick=3))
def several_loops(request: pytest.FixtureRequest) -> Linkage:
    """A random tree with three loop joints, which may depend on each other."""
    rng = np.random.default_rng([request.param, 3])
    return random_linkage(rng, 9, kinds=[str(name) for name in rng.choice(CHEAP, 3)])


@pytest.fixture(params=sorted(LINKAGES), scope="module")
def linkage(request: pytest.FixtureRequest) -> Linkage:
    """The named mechanisms."""
    return LINKAGES[request.param]()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(len(request.node.name))
