"""Extras: each is used and described, and what people are told to type works before knuckle is on any index."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from knuckle import extras

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FOR_WORK = {"test", "docs", "browser", "notebook"}
"""Extras of those who work on knuckle; the Makefile installs them."""
EXTRAS = {name: rows for name, rows in PROJECT["optional-dependencies"].items() if name not in FOR_WORK}


def bare(requirement: str) -> str:
    return re.split("[<>=~!;[]", requirement)[0].strip()


def test_nobody_is_told_to_install_what_is_not_on_an_index():
    told = re.compile(r"pip install ['\"]?knuckle\b")
    texts = [path for kind in ("src/**/*.py", "docs/**/*.md", "examples/*.py", "*.md") for path in ROOT.glob(kind)]
    wrong = [f"{path.relative_to(ROOT)}: {m[0]}" for path in texts for m in told.finditer(path.read_text("utf-8"))]
    assert wrong == []


def test_every_extra_is_imported_somewhere_and_described():
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    modules = {"fast-simplification": "fast_simplification", "pillow": "PIL", "imageio-ffmpeg": "imageio_ffmpeg"}
    modules["pycollada"] = "trimesh"  # which reads .dae with it
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", (ROOT / "docs/index.md").read_text("utf-8"), re.M))
    for name, packages in EXTRAS.items():
        names = [bare(one) for one in packages]
        for package in names:
            module = modules.get(package, package)
            is_sympy = module == "sympy"  # its values come to us: their classes are recognised, never imported
            assert is_sympy or re.search(rf"(import|from|\")\s*{module}\b", code), f"nothing uses {package} of {name}"
        assert rows[name].split(", ") == names
    assert set(rows) == set(EXTRAS)


def test_the_command_names_the_packages_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(folder))
    assert extras.install("plot") == "pip install matplotlib"
    assert re.search(r"pip install .*\"viser>=[\d.]+\"", extras.install("view"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(folder.parent)
    assert extras.install("plot") == f"{Path(folder.name) / Path(sys.executable).name} -m pip install matplotlib"
    assert extras.program() == str(Path(folder.name) / "knuckle")
    monkeypatch.setattr(extras, "requirements", lambda extra: [])
    assert extras.install("plot").endswith('install ".[plot]" in a clone of knuckle')


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=r"the viewer needs viser, which is not installed: .*pip install") as caught:
        extras.need("viser", "the viewer needs", "view")
    assert caught.value.name == "viser"
