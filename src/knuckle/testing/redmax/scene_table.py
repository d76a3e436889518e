"""All scenes in one table: what RedMax prints, and what it has to be without its faults, beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from knuckle.integrators import BDF1, BDF2

from .bilateral_steps import AS_PUBLISHED, rubbing_energy
from .faulty_forces import BRACED, block, braced_as_published
from .rubbing_scenes import RUBBING
from .scenes import DIFFERENTIABLE, EULER
from .searched_steps import searched
from .steps import euler_steps, integrated

PRINTED, TRUE = 1e-2, 1e-6
FINER = 40
"""Steps of RK4 in one of RedMax's, where these are to have the true energy."""


@dataclass(frozen=True)
class SceneRow:
    """A scene by one kind of steps.

    Attributes:
        name: its number and what is in it.
        steps: what steps are taken.
        computed: our energy.
        right: what that has to be: RedMax's, the true one, or one without RedMax's faults; None, if there is none.
        within: how near it has to be.
        remark: what `right` is, where it is not what RedMax prints.
    """

    name: str
    steps: str
    computed: Callable[[], float]
    right: float | None
    within: float = PRINTED
    remark: str = ""

    @property
    def key(self) -> str:
        """What it is called in a list."""
        return f"{self.name}: {self.steps}"


def scene_rows() -> list[SceneRow]:
    """All of them, in order."""
    rows = list[SceneRow]()
    for number, scene in EULER.items():
        name, remark = f"{number}, {scene.name}".replace("-", "−"), "" if scene.corrected is None else CORRECTED
        rows.append(SceneRow(name, "Euler", partial(euler_steps, scene), scene.expected, remark=remark))
        if scene.true is not None:
            fine = partial(integrated, scene, "rk4", finer=FINER)
            rows.append(SceneRow(name, "RK4", fine, scene.true, TRUE, "true"))
    name = f"24, {BRACED.name}"
    rows += [
        SceneRow(name, "Euler, with RedMax's faults", braced_as_published, BRACED.printed),
        SceneRow(name, "Euler", partial(integrated, BRACED, "implicit"), None),
        SceneRow(name, "RK4", partial(integrated, BRACED, "rk4", finer=FINER), None, TRUE),
    ]
    for number, rubbing in RUBBING.items():
        name = f"{number}, {rubbing.name}"
        faulty, corrected = partial(rubbing_energy, rubbing, AS_PUBLISHED), partial(rubbing_energy, rubbing)
        remark = "" if rubbing.corrected is None else CORRECTED
        rows.append(SceneRow(name, "Euler, with RedMax's faults", faulty, rubbing.printed))
        rows.append(SceneRow(name, "Euler", corrected, rubbing.corrected, remark=remark))
    for number, scene in DIFFERENTIABLE.items():
        rows.append(SceneRow(f"{number}, {scene.name}", "BDF1", partial(integrated, scene, BDF1()), scene.printed))
        second = partial(integrated, scene, BDF2(start="sdirk2"))
        rows.append(SceneRow(f"{number}, {scene.name}", "BDF2", second, scene.bdf2))
    published, right = block(as_published=True), block(as_published=False)
    name = f"11, {right.name}"
    rows.append(SceneRow(name, "BDF1", partial(integrated, right, BDF1(), rollout=False), right.printed))
    rows.append(SceneRow(name, "BDF2, with RedMax's faults", partial(searched, published), published.bdf2))
    return rows


CORRECTED = "without RedMax's faults"
HEAD = "| scene | steps | ours | RedMax | |\n|---|---|---:|---:|---|"


def table_line(row: SceneRow, ours: float) -> str:
    """A row of the table."""
    right = "" if row.right is None else f"{row.right:.5f}"
    return f"| {row.name} | {row.steps} | {ours:.5f} | {right} | {row.remark} |"
