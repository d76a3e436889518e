"""What objects show in a notebook: a model its tree and joints, a motion its plot, many their spread; plots once."""

import base64
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import knuckle as kn
from knuckle.functions.loops.freedoms_at_start import freedoms_at_start
from knuckle.model import Model
from knuckle.viewer import Replay, replay
from knuckle.viewer.notebook.tree_drawing import MOST_ROWS, tree_svg

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def chain(n: int) -> Model:
    b = kn.Builder("chain")
    for k in range(n):
        on = {"on": f"link{k - 1}"} if k else {}
        b.body(f"link{k}", joint=kn.joints.Revolute("z"), mass=1.0, **on)
    return b.build()


@pytest.mark.parametrize("name", ["arm", "humanoid", "four_bar", "cart_pole"])
def test_a_model_draws_its_tree(name: str):
    """A dot for each body and the base, a line from each body to what carries it, and one for each loop."""
    model = kn.robots.load(name)
    drawing = ElementTree.fromstring(tree_svg(model))
    assert len(drawing.findall(f"{SVG}circle")) == model.nb + 1
    links = [path for path in drawing.findall(f"{SVG}path") if path.get("stroke-dasharray") is None]
    assert len(links) == model.nb
    assert len(drawing.findall(f"{SVG}path")) - len(links) == len(model.loops)
    dots = [(float(dot.get("cx", 0)), float(dot.get("cy", 0))) for dot in drawing.findall(f"{SVG}circle")]
    for link in links:
        x, y, v, u = map(float, re.fullmatch(r"M(\S+) (\S+)V(\S+)H(\S+)", link.get("d", "")).groups())  # type: ignore[union-attr]
        assert {(x, y), (u, v)} <= set(dots)
        assert u > x
        assert v > y
    page = model._repr_html_()
    assert all(joint in page for joint in model.joint_names)


def test_a_long_model_is_cut():
    model = chain(MOST_ROWS + 40)
    assert tree_svg(model).count("<circle") == MOST_ROWS
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 41}" in model._repr_html_()


def test_names_cannot_leave_their_place():
    b = kn.Builder("<b>x</b>")
    b.body("<script>1</script>", joint=kn.joints.Revolute("z"), mass=1.0)
    model = b.build()
    for page in (
        model._repr_html_(),
        kn.audit(model)._repr_html_(),
        replay((model, [0.0, 1.0], np.zeros((2, 1))))._repr_html_(),
    ):
        assert "<script>1" not in page
        assert "<b>x" not in page


def test_freedoms_are_those_that_loops_leave():
    """A four-bar has one, whatever its three joints are; an open chain says nothing."""
    four_bar = kn.robots.load("four_bar")
    found = freedoms_at_start(four_bar)
    assert found is not None
    assert found.freedoms == 1
    assert "freedoms: 1" in str(four_bar)
    assert "1 degree of freedom;" in four_bar._repr_html_()
    assert freedoms_at_start(kn.robots.load("arm")) is None
    assert str(kn.robots.load("humanoid")) == "humanoid: 30 bodies, nq=36, nv=35, joints: free, 29 revolute"


@pytest.fixture(scope="module")
def swing() -> kn.Trajectory:
    times = np.linspace(0.0, 1.0, 11)
    model = kn.robots.load("pendulum")
    return kn.Trajectory(model, times, np.sin(times)[:, None], np.cos(times)[:, None], np.zeros((11, 1)))


def picture(page: str) -> Image.Image:
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.slow
def test_a_trajectory_shows_its_plot(swing: kn.Trajectory):
    page = swing._repr_html_()
    assert "Trajectory of pendulum" in page
    assert picture(page).width > 500
    assert "finished" in page


@pytest.mark.slow
def test_a_rollout_shows_its_spread():
    """The middle of the last positions is in the table; what diverged is not counted among them."""
    model = kn.robots.load("pendulum")
    last = np.linspace(0.0, 1.0, 101)
    q = np.stack([np.zeros(101), last], -1)[..., None]
    rollout = kn.simulation.Rollout(model, np.array([0.0, 1.0]), q, q, np.full(101, np.nan))
    page = rollout._repr_html_()
    assert "0.5 (0.05 … 0.95)" in re.sub(" +", " ", page)
    assert picture(page).width > 500


def test_an_audit_shows_its_verdict():
    bad = chain(2)
    page = kn.audit(bad)._repr_html_()
    assert ("not fit" in page) == (not kn.audit(bad).ok)
    assert "Audit of chain" in page
    assert len(repr(kn.audit(bad))) < 120


def test_a_replay_is_a_page_in_a_frame(swing: kn.Trajectory, tmp_path):
    shown = swing.replay(height=300, title="A swing")
    assert isinstance(shown, Replay)
    assert "height:300px" in shown._repr_html_()
    assert 'sandbox="allow-scripts"' in shown._repr_html_()
    assert shown.save(tmp_path / "x.html").read_text("utf-8") == shown.page
    with pytest.raises(ValueError, match="theme is"):
        swing.replay(theme="pink")


CELLS = (
    "import knuckle as kn\nmodel = kn.robots.load('pendulum')\nmodel",
    "motion = kn.simulate(model, [1.0], duration=0.1)\nmotion",
    "motion.plot()",
    "figure = motion.plot()",
    "figure",
    "motion.replay()",
)


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[list[set[str]]]]:
    """The kinds of what the code cells of a notebook show."""
    nbclient = pytest.importorskip("nbclient", reason="needs the extra `notebook`")
    pytest.importorskip("ipykernel", reason="needs the extra `notebook`")
    monkeypatch.delenv("MPLBACKEND", raising=False)

    def execute(book: Any) -> list[list[set[str]]]:
        nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
        cells = [cell for cell in book.cells if cell["cell_type"] == "code"]
        return [[set(out["data"]) for out in cell["outputs"] if "data" in out] for cell in cells]

    return execute


@pytest.mark.slow
def test_the_tour_runs_and_shows_something_in_every_cell(executed: Callable[[Any], list[list[set[str]]]]):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("viser", reason="the viewer is an extra")
    book = nbformat.read(ROOT / "examples" / "notebook_tour.ipynb", as_version=4)
    nbformat.validate(book)
    outputs = executed(book)
    assert [len(cell) for cell in outputs] == [1] * (len(outputs) - 1) + [0]
    assert sum("text/html" in cell[0] for cell in outputs[:-1]) == len(outputs) - 2
    assert [k for k, cell in enumerate(outputs[:-1]) if "image/png" in cell[0]] == [3]


def test_the_cells_of_the_tour_name_what_there_is():
    """Without a kernel of Jupyter and without running motions: every cell compiles, and names public things."""
    cells = json.loads((ROOT / "examples" / "notebook_tour.ipynb").read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {name for text in texts for name in re.findall(r"\bkn\.([\w.]+)", text)}
    assert len(names) >= 5
    for name in names:
        thing = kn
        for part in name.split("."):
            thing = getattr(thing, part)
    namespace: dict[str, Any] = {}
    for text in texts[:2]:
        exec(compile(text, "notebook_tour", "exec"), namespace)
    for text in texts:
        compile(text, "notebook_tour", "exec")
    assert "_repr_html_" in dir(namespace["model"])


def test_the_tour_is_kept_without_results():
    cells = json.loads((ROOT / "examples" / "notebook_tour.ipynb").read_text("utf-8"))["cells"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code")


@pytest.mark.slow
def test_in_a_notebook_everything_shows_once(executed: Callable[[Any], list[list[set[str]]]]):
    nbformat = pytest.importorskip("nbformat")
    outputs = executed(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS]))
    assert [len(cell) for cell in outputs] == [1, 1, 1, 1, 1, 1]
    assert ["text/html" in cell[0] for cell in outputs] == [True, True, False, False, False, True]
    assert ["image/png" in cell[0] for cell in outputs] == [False, False, True, True, True, False]
