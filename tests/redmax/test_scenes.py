"""RedMax's scenes: the energies that it prints, or those without its faults, to a hundredth; true ones to 1e-6."""

import pytest
from tests.seeds import quick

from knuckle.integrators import BDF1, BDF2
from knuckle.testing.redmax.scenes import DIFFERENTIABLE, EULER
from knuckle.testing.redmax.steps import euler_steps, integrated

PRINTED = 1e-2


@pytest.mark.parametrize("number", quick(list(EULER), (-1, 3, 6, 9)))
def test_euler_steps_end_with_the_energy_of_redmax(number: int):
    scene = EULER[number]
    assert euler_steps(scene) == pytest.approx(scene.expected, abs=PRINTED)


@pytest.mark.parametrize("number", [number for number, scene in EULER.items() if scene.true is not None])
@pytest.mark.slow
def test_fine_steps_end_with_the_true_energy(number: int):
    scene = EULER[number]
    assert integrated(scene, "rk4", finer=40) == pytest.approx(scene.true, abs=1e-6)


@pytest.mark.parametrize("way", ["rollout", pytest.param("simulate", marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", quick(list(DIFFERENTIABLE), (6,)))
def test_backward_differentiation_ends_with_the_energy_of_redmax(number: int, way: str):
    scene = DIFFERENTIABLE[number]
    rollout = way == "rollout"
    assert integrated(scene, BDF1(), rollout=rollout) == pytest.approx(scene.printed, abs=PRINTED)
    assert integrated(scene, BDF2(start="sdirk2"), rollout=rollout) == pytest.approx(scene.bdf2, abs=PRINTED)
