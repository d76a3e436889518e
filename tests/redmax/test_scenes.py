"""RedMax's scenes: the energies that it prints, or those without its faults, to a hundredth; true ones to 1e-6.

The table in docs/maximal.md has them all, and is checked. With KNUCKLE_UPDATE_GOLDEN=1 in the environment
`pytest -m "" tests/redmax` writes it anew.
"""

import os
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.seeds import quick

import knuckle as kn
from knuckle.contact import JointBearing, bilateral_staggered_projections
from knuckle.integrators import BDF1, BDF2
from knuckle.testing.redmax.bilateral_steps import CONVERGED, CORRECTED, Rules, rubbing_energy, rubbing_step
from knuckle.testing.redmax.faulty_forces import BRACED, block, block_at_rest
from knuckle.testing.redmax.rubbing_scenes import RUBBING
from knuckle.testing.redmax.scene_table import HEAD, SceneRow, scene_rows, table_line
from knuckle.testing.redmax.scenes import DIFFERENTIABLE
from knuckle.testing.redmax.steps import integrated

PAGE = Path(__file__).parents[2] / "docs/maximal.md"
ROWS = {row.key: row for row in scene_rows()}
LAST_DIGIT = 1e-5
QUICK = (
    "−1, double pendulum: Euler", "3, ball joints by rotation vectors: Euler", "6, a joint with stops: Euler",
    "9, a law of time: Euler", "24, a spring with a damper: Euler, with RedMax's faults",
    "27, hinges that rub: Euler", "6, a cube in a plane: BDF1",
)  # fmt: skip


def lines() -> dict[str, str]:
    """The rows of the table in the docs."""
    rest = PAGE.read_text(encoding="utf-8").split(HEAD + "\n")[1].splitlines()
    table = takewhile(lambda line: line.startswith("|"), rest)
    return {": ".join(cell.strip() for cell in line.split("|")[1:3]): line for line in table}


@pytest.mark.parametrize("key", quick(ROWS, QUICK))
def test_a_scene_ends_with_its_energy_and_the_docs_have_it(key: str):
    row = ROWS[key]
    ours = row.computed()
    if row.right is not None:
        assert ours == pytest.approx(row.right, abs=row.within)
    if os.environ.get("KNUCKLE_UPDATE_GOLDEN") == "1":
        written(row, ours)
    cells = [cell.strip() for cell in lines()[key].split("|")]
    assert float(cells[3]) == pytest.approx(ours, abs=max(row.within, LAST_DIGIT))


def test_the_table_in_the_docs_has_every_scene_and_what_it_must_be():
    table = lines()
    assert list(table) == list(ROWS)
    for key, row in ROWS.items():
        assert table[key] == table_line(row, float(table[key].split("|")[3])), key


def written(row: SceneRow, ours: float) -> None:
    """A line of the table written anew: the one of this row, or all in order where one is missing."""
    known, text = lines(), PAGE.read_text(encoding="utf-8")
    before = "".join(f"{line}\n" for line in known.values())
    known[row.key] = table_line(row, ours)
    after = "".join(f"{known[key]}\n" for key in ROWS if key in known)
    PAGE.write_text(text.replace(f"{HEAD}\n{before}", f"{HEAD}\n{after}"), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("number", DIFFERENTIABLE)
def test_simulations_end_where_rollouts_do(number: int):
    scene = DIFFERENTIABLE[number]
    assert integrated(scene, BDF1(), rollout=False) == pytest.approx(scene.printed, abs=1e-2)
    assert integrated(scene, BDF2(start="sdirk2"), rollout=False) == pytest.approx(scene.bdf2, abs=1e-2)


# friction in joints


@pytest.mark.parametrize(
    ("number", "size"),
    [(27, {"radius": 0.5, "length": 1.0}), pytest.param(28, {"radius": 1.0}, marks=pytest.mark.slow)],
)
def test_what_redmax_iterates_converges_to_our_step(number: int, size: dict[str, Any]):
    """Its rounds go on until forces change by 3 %, with friction for J q̇⁺ + h J̇q̇; without that it is our step."""
    scene = RUBBING[number]
    model, q, v, friction = scene.model, np.array(scene.q), np.zeros(scene.model.nv), np.zeros(6 * scene.model.nb)
    for _ in range(20):
        v, friction = rubbing_step(scene, q, v, friction, CORRECTED)
        q = kn.integrate(model, q, scene.step * v)
    theirs, _ = rubbing_step(scene, q, v, friction, CONVERGED)
    bearings = [JointBearing(joint.name, scene.friction, **size) for joint in model.joints]
    ours = bilateral_staggered_projections(model, bearings, q, v, dt=scene.step, cone="box")
    assert ours.is_converged
    np.testing.assert_allclose(theirs, ours.v, atol=2e-6)
    assert np.abs(rubbing_step(scene, q, v, friction, CORRECTED)[0] - ours.v).max() > 1e-4


@pytest.mark.slow
def test_without_friction_only_the_corrected_steps_are_free():
    """Notes 2.113: what joints pass on does no work, and without M J̇q̇ it does (H = −3492 instead of 51839)."""
    scene = RUBBING[27]
    smooth = scene.__class__(**{**scene.__dict__, "friction": 0.0})
    v = np.array([3.0, -2.0])
    free = v + scene.step * kn.forward_dynamics(scene.model, [0.3, 0.5], v, [0.0, 0.0])
    at = smooth, np.array([0.3, 0.5]), v, np.zeros(12)
    np.testing.assert_allclose(rubbing_step(*at, CORRECTED)[0], free, rtol=1e-9)
    assert np.abs(rubbing_step(*at, Rules(has_faults=True))[0] - free).max() > 1e-2
    assert rubbing_energy(smooth) == pytest.approx(51839, abs=1)
    assert rubbing_energy(smooth, Rules(has_faults=True)) == pytest.approx(-3492, abs=1)


# laws of force


@pytest.mark.slow
def test_with_the_right_sign_euler_steps_converge_to_the_true_energy():
    """Scene 24, of the first order; RedMax's damper drives what it should slow."""
    true = integrated(BRACED, "rk4", finer=40)
    errors = [integrated(BRACED, "implicit", finer=n) - true for n in (32, 64, 128)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1, abs=0.25)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_the_block_comes_to_rest_on_its_corners():
    """Scene 11 of the other folder ends where the springs carry the weight; later also where friction pushes."""
    scene = block(as_published=True)
    longer = scene.__class__(**{**scene.__dict__, "duration": 1.2})
    assert block_at_rest() == pytest.approx(scene.printed, abs=1e-5)
    assert integrated(longer, BDF2(start="sdirk2"), rollout=False) == pytest.approx(block_at_rest(), abs=1e-2)
