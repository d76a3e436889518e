"""What the README, the docs and the examples say is run: every block of Python, and what it is said to print.

The Python blocks of a page share one namespace and run in an empty folder. A block of text that follows one directly is
what it prints. `{.python .no-run}` marks a block that needs something of the reader's own.
"""

import contextlib
import io
import pydoc
import re
import runpy
import textwrap
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from .seeds import Together, quick

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONG = {
    ROOT / "examples" / name
    for name in (
        "pass_the_object.py",
        "quadruped_trot.py",
        "somersault.py",
        "payloads.py",
        "payload_study.py",
        "satellite.py",
        "quadruped_turning.py",
        "bouncing_arm.py",
        "muscle_arm.py",
        "arm_reaching.py",
        "humanoid_walk.py",
        "quadruped_push.py",
        "soft_block.py",
        "double_pendulum.py",
        "chaos.py",
        "identification.py",
        "maximal_and_reduced.py",
        "cable_bridge.py",
        "arm_ilqr.py",
        "many_hands.py",
        "mass_from_motion.py",
        "policy_torch.py",
        "quadruped_jump.py",
        "rubbing_linkage.py",
        "cart_pole_learning.py",
        "quadruped_learning.py",
        "computed_torque.py",
        "sampled_pid.py",
        "monte_carlo.py",
        "motor_four_bar.py",
    )
}
"""Examples that run in `make test-all` only; what all examples name is looked for below."""
LONG_PAGES = {
    ROOT / "docs" / name
    for name in (
        "rollout.md",
        "sweeps.md",
        "control.md",
        "environments.md",
        "gradients.md",
        "derivatives_tasks.md",
        "quickstart.md",
        "constraints.md",
        "book/chapter-11.md",
        "simulation.md",
        "scalars.md",
        "hybrid.md",
        "operators.md",
        "contact.md",
        "friction.md",
        "loops.md",
        "notebooks.md",
        "viewer.md",
    )
}
"""Pages that run in `make test-all` only: a second or more each. What they name is looked for below, too."""

FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<target>[^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: what follows its backticks, its text, its first line, and what it prints if that is said."""

    info: str
    text: str
    line: int
    output: str | None


def blocks(page: str) -> list[Block]:
    found = list(FENCE.finditer(page))
    made = []
    for k, fence in enumerate(found):
        following = found[k + 1] if k + 1 < len(found) else None
        adjoining = following is not None and not page[fence.end() : following.start()].strip()
        output = textwrap.dedent(following["body"]) if adjoining and following["info"] == "text" else None
        line = page.count("\n", 0, fence.start()) + 2
        made.append(Block(fence["info"].strip(), textwrap.dedent(fence["body"]), line, output))
    return made


def run_page(page: str, name: str) -> int:
    """Runs the Python blocks of a page; returns how many. Errors and line numbers are those of the page."""
    namespace: dict[str, object] = {"__name__": "__docs__"}
    count = 0
    for block in blocks(page):
        if block.info != "python":
            continue
        code = compile("\n" * (block.line - 1) + block.text, name, "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block.output is not None and printed.getvalue().strip() != block.output.strip():
            pytest.fail(f"{name}:{block.line} prints\n{printed.getvalue()}\nand the page says\n{block.output}", False)
        count += 1
    return count


def test_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run_page((ROOT / "README.md").read_text("utf-8"), "README.md")


@pytest.mark.parametrize(
    "path",
    quick((path for path in PAGES if path.name != "README.md"), set(PAGES) - LONG_PAGES),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run_page(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())


def test_blocks_compile():
    for path in PAGES:
        for block in blocks(path.read_text("utf-8")):
            if "python" in block.info:
                compile("\n" * (block.line - 1) + block.text, str(path), "exec")


def test_pages_have_blocks():
    counts = {path.name: sum(block.info == "python" for block in blocks(path.read_text("utf-8"))) for path in PAGES}
    assert counts["README.md"] >= 3
    assert sum(counts.values()) >= 20


def test_blocks_are_python_or_another_known_kind():
    known = {"python", "{.python .no-run}", "sh", "text", "xml", "json", "toml"}
    strange = {(path.name, block.line): block.info for path in PAGES for block in blocks(path.read_text("utf-8"))}
    assert {where: info for where, info in strange.items() if info not in known} == {}


@pytest.mark.parametrize("path", [Together(PAGES)], ids=["every"])
def test_links_to_files_lead_somewhere(path: Path):
    text = FENCE.sub("", path.read_text("utf-8"))
    targets = [match["target"].partition("#")[0] for match in LINK.finditer(text)]
    missing = [
        t for t in targets if t and "://" not in t and not t.startswith("mailto:") and not (path.parent / t).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("path", [Together(PAGES)], ids=["every"])
def test_pictures_are_there(path: Path):
    text = FENCE.sub("", path.read_text("utf-8"))
    pictures = [match["target"] for match in PICTURE.finditer(text)]
    assert [name for name in pictures if "://" in name or not (path.parent / name).is_file()] == []


def test_every_example_is_in_the_gallery():
    page = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    assert [path.name for path in EXAMPLES if f"`examples/{path.name}`" not in page] == []


def test_what_the_pages_show_is_small():
    """A page should open at once: a picture within half a megabyte, a replay within one."""
    limits = {".webp": 500_000, ".png": 500_000, ".svg": 20_000, ".html": 1_000_000}
    files = [file for file in (ROOT / "docs").rglob("*") if file.suffix in limits]
    assert len(files) > 20
    assert {file.name: file.stat().st_size for file in files if file.stat().st_size > limits[file.suffix]} == {}


@pytest.mark.parametrize(
    "path", quick(EXAMPLES, set(EXAMPLES) - LONG), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip(), "an example says something"


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


# What the pages name, exists; what exists, they name


def named(pattern: str) -> list[tuple[str, str]]:
    """(page, name) for every match of a pattern in the pages, in the examples and in the benchmarks."""
    files = [*PAGES, *EXAMPLES, *(ROOT / "benchmarks").glob("*.py")]
    return [(path.name, match[1]) for path in files for match in re.finditer(pattern, path.read_text("utf-8"))]


def test_functions_that_the_pages_name_exist():
    import knuckle as kn

    names = named(r"\bkn\.(\w+(?:\.\w+)?)")
    assert len(names) > 100
    modules = {name for name in kn.__all__ if isinstance(getattr(kn, name), ModuleType)}
    whole = [(page, *name.split(".")) for page, name in names]
    assert [(page, name) for page, name, *_ in whole if not hasattr(kn, name)] == []
    inner = [(page, name, *part) for page, name, *part in whole if part and name in modules]
    assert [(page, name, part) for page, name, part in inner if not hasattr(getattr(kn, name), part)] == []


def test_modules_that_the_pages_name_exist():
    names = named(r"`(knuckle(?:\.[a-z_]+)+)")
    assert len(names) > 10
    assert [(page, name) for page, name in names if pydoc.locate(name) is None] == []


def test_files_that_the_pages_name_exist():
    names = named(r"`((?:src|tests|examples|docs|algorithms|joints|knuckle)/[\w./]*)`")
    assert len(names) > 20
    places = (ROOT, ROOT / "src", ROOT / "src" / "knuckle")
    assert [(page, name) for page, name in names if not any((place / name).exists() for place in places)] == []


def test_every_public_name_is_in_the_api_page():
    import knuckle as kn

    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert [name for name in kn.__all__ if not re.search(rf"\bknuckle\.{name}\b", page)] == []


def test_every_joint_is_in_the_joints_page():
    import knuckle as kn

    page = (ROOT / "docs" / "joints.md").read_text("utf-8")
    joints = [getattr(kn.joints, name) for name in kn.joints.__all__]
    concrete = [
        j for j in joints if isinstance(j, type) and issubclass(j, kn.joints.Joint) and not j.__abstractmethods__
    ]
    assert len(concrete) > 20
    assert [joint.__name__ for joint in concrete if f"`{joint.__name__}(" not in page] == []


# The runner, on pages that are wrong


def test_runner_reports_an_error_with_the_line_of_the_page():
    page = "# Title\n\n```python\nx = 1\n```\n\n```python\nx / 0\n```\n"
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(page, "page.md")
    assert (caught.traceback[-1].path, caught.traceback[-1].lineno + 1) == (Path("page.md"), 8) or (
        str(caught.traceback[-1].path).endswith("page.md") and caught.traceback[-1].lineno + 1 == 8
    )


def test_runner_compares_what_is_printed():
    right, wrong = (f"```python\nprint(1 + 1)\n```\n\n```text\n{n}\n```\n" for n in (2, 3))
    assert run_page(right, "page.md") == 1
    with pytest.raises(pytest.fail.Exception, match=r"page\.md:2 prints"):
        run_page(wrong, "page.md")


def test_runner_leaves_out_what_it_is_told_to():
    assert run_page("```{.python .no-run}\n1 / 0\n```\n\n```sh\nmake\n```\n", "page.md") == 0


def test_runner_runs_blocks_in_tabs():
    page = '=== "one"\n\n    ```python\n    print(3)\n    ```\n\n    ```text\n    3\n    ```\n'
    assert run_page(page, "page.md") == 1
    with pytest.raises(pytest.fail.Exception, match=r"page\.md:4 prints"):
        run_page(page.replace("    3\n", "    4\n"), "page.md")


def test_runner_shares_names_within_a_page():
    assert run_page("```python\nx = 2\n```\ntext between\n```python\nassert x == 2\n```\n", "page.md") == 2
