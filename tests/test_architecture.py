"""The house rules that a machine can check: rooms, purity of the algorithms, lengths, docstrings, what files may name.

Each rule is a checker, a function from source text to a list of complaints; a test that runs it over the repository;
and a test that shows it a violation, so that no rule here passes because its checker sees nothing.
"""

import ast
import inspect
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from knuckle.rooms import ROOMS, ROOMS_WITHIN

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "knuckle"

# The public face `knuckle` gathers all rooms, so only what stands in front of the library may import it.
FACE = "knuckle"
IMPORTS_FACE = {FACE, "__main__", "cli", "testing"}
IMPORTS_ANY_ROOM = {FACE, "__main__", "testing"}
REACHES_FORWARD = {
    # A trajectory shows itself: the method imports the viewer when it is called.
    ("knuckle.trajectory.trajectory", "viewer"),
    # Pictures and files are of one trajectory or of many: the type of many is named in hints.
    ("knuckle.trajectory.trajectory_plot", "simulation"),
    ("knuckle.trajectory.trajectory_files", "simulation"),
}

ALGORITHM_IMPORTS = {
    "knuckle.scalar", "knuckle.spatial", "knuckle.joints", "knuckle.model", "knuckle.algorithms",
    "__future__", "collections.abc", "dataclasses", "typing",
}  # fmt: skip
ALGORITHM_BANNED_NAMES = {"isinstance", "hasattr", "dtype", "shape", "ndarray"}
ALGORITHM_BANNED_CALLS = {"type"}

BODY_LIMITS = {
    ("dynamics/rnea.py", "inverse_dynamics"): 15,
    ("dynamics/crba.py", "mass_matrix"): 15,
    ("dynamics/aba.py", "forward_dynamics"): 30,
}
FILE_LIMIT = 500
ALGORITHM_FILE_LIMIT = 150
FOLDER_LIMIT = 15
NAMES_OF_MANY_FILES = {"__init__.py", "base.py"}

# Written in pieces, because this file is searched too.
BANNED_TEXT = re.compile(
    r"\b(?:py" + r"pi\.org|python" + r"hosted\.org|npm" + r"js\.(?:org|com)|anaconda\." + r"org)\b"
    r"|(?<![\w.~-])/(?:work|root)" + r"/"
)


class Source(NamedTuple):
    """The text of one module of ours, and its path below `src/`."""

    text: str
    path: str

    @property
    def where(self) -> str:
        return f"src/{self.path}"

    @property
    def module(self) -> str:
        """`knuckle/model/parts.py` is `knuckle.model.parts`; `knuckle/model/__init__.py` is `knuckle.model`."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.path.rpartition("/")[0].replace("/", ".")


class Import(NamedTuple):
    """One imported module: its absolute dotted name and the line of the statement."""

    module: str
    line: int


def sources(folder: Path) -> list[Source]:
    below = folder.rglob("*.py")
    return [Source(path.read_text("utf-8"), path.relative_to(PACKAGE.parent).as_posix()) for path in sorted(below)]


def room_of(module: str) -> str:
    """The room of a module of ours; the face itself for `knuckle`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FACE


@cache
def imports(source: Source) -> tuple[Import, ...]:
    return tuple(_imports(source))


def _imports(source: Source) -> Iterator[Import]:
    """Every import of a module, wherever it stands (in functions and under TYPE_CHECKING too), made absolute.

    `from knuckle import a` counts as `knuckle.a` if `a` is a room, else as `knuckle`. A literal name given to
    `import_module` or `__import__` counts as well.
    """

    def absolute(name: str, level: int) -> str:
        if level == 0:
            return name
        base = source.package.split(".")
        return ".".join(base[: len(base) - (level - 1)] + ([name] if name else []))

    for node in ast.walk(ast.parse(source.text)):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(module=name, names=names, level=level):
                origin = absolute(name or "", level)
                for alias in names:
                    rooms = ROOMS if origin == FACE else ROOMS_WITHIN.get(origin.removeprefix(f"{FACE}."), ())
                    yield Import(f"{origin}.{alias.name}" if alias.name in rooms else origin, node.lineno)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                bare = name.lstrip(".")
                yield Import(absolute(bare, len(name) - len(bare)), node.lineno)
            case _:
                pass


def layering_violations(source: Source) -> list[str]:
    """Imports that go down the house: from a room to one that comes after it."""
    importer = room_of(source.module)
    if importer not in ROOMS and importer not in IMPORTS_FACE:
        return [f"{source.where}:1: '{importer}' is in no room; give it its place in src/knuckle/rooms.py"]
    found = []
    for imported, line in imports(source):
        if imported.split(".")[0] != FACE:
            continue
        target = room_of(imported)
        if target == FACE:
            allowed = importer in IMPORTS_FACE
        elif target not in ROOMS:
            allowed = importer == FACE
        else:
            allowed = (
                importer in IMPORTS_ANY_ROOM
                or ROOMS.index(target) <= ROOMS.index(importer)
                or (source.module, target) in REACHES_FORWARD
            )
        if not allowed:
            found.append(f"{source.where}:{line}: room '{importer}' must not import '{imported}'")
    return found


def inner_layering_violations(source: Source) -> list[str]:
    """Imports that go down within a room: from one of its own rooms to one that comes after it."""
    room, importer = inner_room_of(source.module)
    order = ROOMS_WITHIN.get(room)
    if order is None or not importer:
        return []
    if importer not in order:
        return [f"{source.where}:1: '{importer}' is in no room of '{room}'; give it its place in src/knuckle/rooms.py"]
    found = []
    for imported, line in imports(source):
        if imported.split(".")[0] != FACE:
            continue
        other, target = inner_room_of(imported)
        if other == room and target in order and order.index(target) > order.index(importer):
            found.append(f"{source.where}:{line}: '{room}.{importer}' must not import '{imported}'")
    return found


def inner_room_of(module: str) -> tuple[str, str]:
    """The room of a module, and the room within it; empty where there is none."""
    _, room, inner, *_ = [*module.split("."), "", ""]
    return room, inner


def crowded_folders(paths: list[str]) -> list[str]:
    """Folders with more files than one takes in at a glance, `__init__.py` not counted."""
    counts = Counter(path.rpartition("/")[0] for path in paths if not path.endswith("/__init__.py"))
    return [f"src/{folder}: {n} files; the limit is {FOLDER_LIMIT}" for folder, n in counts.items() if n > FOLDER_LIMIT]


def shared_names(paths: list[str]) -> list[str]:
    """Files of one name: a name alone should say which file is meant."""
    places: dict[str, list[str]] = {}
    for path in paths:
        places.setdefault(path.rpartition("/")[2], []).append(f"src/{path}")
    return [
        f"{', '.join(same)}: one name for {len(same)} files"
        for name, same in places.items()
        if len(same) > 1 and name not in NAMES_OF_MANY_FILES
    ]


def shared_class_names(files: list[Source]) -> list[str]:
    """Public classes of one name: the name alone should say what is meant."""
    places: dict[str, list[str]] = {}
    for source in files:
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(f"{source.where}:{node.lineno}")
    return [f"{', '.join(same)}: {name} has {len(same)} meanings" for name, same in places.items() if len(same) > 1]


def identifiers(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The identifiers that a node itself writes (not those of its children), with their line."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name, node.lineno
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
            yield name, node.lineno
        case _:
            pass


def purity_violations(source: Source) -> list[str]:
    """What has no place in an algorithm: other imports, questions about types, words about arrays."""
    found = []
    for imported, line in imports(source):
        if not any(imported == allowed or imported.startswith(f"{allowed}.") for allowed in ALGORITHM_IMPORTS):
            found.append(f"{source.where}:{line}: an algorithm must not import '{imported}'")
    for node in ast.walk(ast.parse(source.text)):
        for name, line in identifiers(node):
            if name in ALGORITHM_BANNED_NAMES:
                found.append(f"{source.where}:{line}: an algorithm must not name '{name}'")
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in ALGORITHM_BANNED_CALLS:
                found.append(f"{source.where}:{node.lineno}: an algorithm must not call '{name}'")
            case _:
                pass
    return found


def code_lines(source: str, function: str) -> int:
    """Lines of a top-level function's body that hold code: no `def` lines, docstring, comments or blank lines."""
    definitions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == function]
    if not definitions:
        raise LookupError(f"no top-level function '{function}'")
    definition = definitions[-1]
    body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
    if not body:
        return 0
    first, last = body[0].lineno, definition.end_lineno or body[-1].lineno
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines & set(range(first, last + 1)))


def length_violations(source: Source) -> list[str]:
    limit = ALGORITHM_FILE_LIMIT if room_of(source.module) == "algorithms" else FILE_LIMIT
    lines = len(source.text.splitlines())
    return [f"{source.where}:{limit + 1}: {lines} lines; the limit is {limit}"] if lines > limit else []


def undocumented(names: dict[str, object]) -> list[str]:
    """The names whose value has no docstring of its own: one taken from its class or made by `dataclass` is none."""
    found = []
    for name, value in names.items():
        doc = getattr(value, "__doc__", None)
        if inspect.isclass(value):
            own = bool(doc) and not str(doc).startswith(f"{value.__name__}(")
        else:
            own = bool(doc) and doc not in {c.__doc__ for c in type(value).__mro__ if c.__name__ != name}
        if not own:
            found.append(name)
    return found


def banned_text(text: str, where: str) -> list[str]:
    """Lines that name a package registry's host or a path that exists at one workplace only."""
    return [
        f"{where}:{number}: names '{match.group()}'"
        for number, line in enumerate(text.splitlines(), 1)
        for match in BANNED_TEXT.finditer(line)
    ]


def repository_files() -> list[Path]:
    """What git tracks, and what it would track: new files are checked before they are committed."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def complain(rule: str, violations: list[str]) -> None:
    if violations:
        pytest.fail("\n".join([f"{rule}:", *violations]), pytrace=False)


# The rules, on this repository


def test_rooms_import_only_from_the_rooms_before():
    violations = [v for source in sources(PACKAGE) for v in layering_violations(source)]
    complain("Each room may import only from itself and the rooms before it", violations)


def test_rooms_within_rooms_import_only_from_those_before():
    violations = [v for source in sources(PACKAGE) for v in inner_layering_violations(source)]
    complain("Each room within a room may import only from itself and those before it", violations)


def test_folders_are_small():
    complain("A folder is taken in at a glance", crowded_folders([source.path for source in sources(PACKAGE)]))


def test_files_have_names_of_their_own():
    complain("A name says which file it is", shared_names([source.path for source in sources(PACKAGE)]))


def test_classes_have_names_of_their_own():
    complain("A class name has one meaning", shared_class_names(sources(PACKAGE)))


def test_algorithms_are_pure():
    violations = [v for source in sources(PACKAGE / "algorithms") for v in purity_violations(source)]
    complain("Algorithms are the book's text over any scalar", violations)


@pytest.mark.parametrize(("file", "function"), BODY_LIMITS)
def test_algorithm_bodies_are_short(file: str, function: str):
    path = PACKAGE / "algorithms" / file
    if not path.is_file():
        pytest.fail(f"src/knuckle/algorithms/{file} is missing", pytrace=False)
    limit = BODY_LIMITS[file, function]
    lines = code_lines(path.read_text("utf-8"), function)
    if lines > limit:
        pytest.fail(f"{file}: {function} has {lines} lines of code; the limit is {limit}", pytrace=False)


def test_files_are_short():
    violations = [v for source in sources(PACKAGE) for v in length_violations(source)]
    complain("A file is read in one sitting", violations)


def test_public_names_have_docstrings():
    import knuckle

    names = {name: getattr(knuckle, name) for name in knuckle.__all__ if name != "__version__"}
    assert names, "knuckle.__all__ is empty"
    complain("Public names without a docstring", undocumented(names))


def test_files_name_no_registry_and_no_workplace():
    violations = []
    for path in repository_files():
        violations += banned_text(path.read_bytes().decode("latin-1"), path.relative_to(ROOT).as_posix())
    complain("No registry host and no workplace path in the repository", violations)


# The checkers, on sources that break the rules


@pytest.mark.parametrize(
    "statement",
    [
        "from knuckle.engine import kernel",
        "import knuckle.engine.kernels",
        "from ..engine.kernel import Kernel",
        "from .. import engine",
        "from knuckle import engine",
        "def f():\n    from ..engine import kernel",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..engine import kernel",
        "import importlib\nimportlib.import_module('knuckle.engine')",
        "from importlib import import_module\nimport_module('..engine', __package__)",
    ],
)
def test_layering_reports_an_import_from_a_later_room(statement: str):
    (violation,) = layering_violations(Source(statement, "knuckle/model/parts.py"))
    line = len(statement.splitlines())
    assert violation.startswith(f"src/knuckle/model/parts.py:{line}: room 'model' must not import 'knuckle.engine")


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("import knuckle", "knuckle/simulation/simulate.py"),
        ("from knuckle import load", "knuckle/simulation/simulate.py"),
        ("from .. import __version__", "knuckle/simulation/simulate.py"),
        ("from knuckle import *", "knuckle/simulation/simulate.py"),
        ("from ..engine import kernel", "knuckle/model/__init__.py"),
        ("from .run import kernel", "knuckle/scalar.py"),
        ("from . import scalar", "knuckle/errors.py"),
        ("from ..testing import laws", "knuckle/cli/__init__.py"),
        ("from ..utils import helper", "knuckle/model/parts.py"),
    ],
)
def test_layering_reports_the_face_and_what_comes_later(statement: str, path: str):
    (violation,) = layering_violations(Source(statement, path))
    assert re.fullmatch(rf"src/{path}:1: room '\w+' must not import 'knuckle[.\w]*'", violation)


def test_layering_reports_a_module_in_no_room():
    (violation,) = layering_violations(Source("", "knuckle/utils.py"))
    assert "'utils' is in no room" in violation


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("from knuckle.spatial import Motion", "knuckle/joints/base.py"),
        ("from ..errors import ModelError", "knuckle/model/__init__.py"),
        ("from .run import start", "knuckle/model/__init__.py"),
        ("from . import connectivity", "knuckle/model/parts.py"),
        ("from ..formats import urdf\nfrom ..algorithms import rnea", "knuckle/functions/dynamics.py"),
        ("from . import testing, cli\nfrom .run import kernel", "knuckle/__init__.py"),
        ("import knuckle as kn\nfrom knuckle import load", "knuckle/testing/laws.py"),
        ("import numpy\nfrom collections import abc", "knuckle/functions/dynamics.py"),
    ],
)
def test_layering_accepts_imports_from_before(statement: str, path: str):
    assert layering_violations(Source(statement, path)) == []


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("from ..calls import function", "knuckle/engine/native/target.py"),
        ("from .. import calls", "knuckle/engine/native/target.py"),
        ("from knuckle.engine.kernels.one_state import code_of", "knuckle/engine/arrays/base.py"),
        ("from .kinematics import body_motions", "knuckle/algorithms/types.py"),
    ],
)
def test_inner_layering_reports_a_later_room(statement: str, path: str):
    (violation,) = inner_layering_violations(Source(statement, path))
    assert re.fullmatch(rf"src/{path}:1: '[.\w]+' must not import 'knuckle[.\w]*'", violation)


def test_inner_layering_reports_a_module_in_no_room():
    (violation,) = inner_layering_violations(Source("", "knuckle/engine/cuda/target.py"))
    assert "'cuda' is in no room of 'engine'" in violation


def test_inner_layering_accepts_imports_from_before():
    source = "from ..trace import Program\nfrom .threads import get_threads\nfrom knuckle.model import Model"
    assert inner_layering_violations(Source(source, "knuckle/engine/native/target.py")) == []
    assert inner_layering_violations(Source("from . import calls", "knuckle/engine/__init__.py")) == []
    assert inner_layering_violations(Source("from .edit import rename", "knuckle/model/parts.py")) == []


def test_crowded_folders_reports():
    files = [f"knuckle/model/part{k}.py" for k in range(FOLDER_LIMIT)]
    assert crowded_folders([*files, "knuckle/model/__init__.py", "knuckle/model/edit/edits.py"]) == []
    assert crowded_folders([*files, "knuckle/model/more.py"]) == ["src/knuckle/model: 16 files; the limit is 15"]


def test_shared_names_reports():
    files = [
        "knuckle/model/__init__.py",
        "knuckle/joints/__init__.py",
        "knuckle/joints/base.py",
        "knuckle/engine/base.py",
    ]
    assert shared_names([*files, "knuckle/model/graph.py"]) == []
    (violation,) = shared_names([*files, "knuckle/model/graph.py", "knuckle/engine/trace/graph.py"])
    assert violation == "src/knuckle/model/graph.py, src/knuckle/engine/trace/graph.py: one name for 2 files"


def test_shared_class_names_reports():
    first = Source("class State:\n    class Inner: ...", "knuckle/integrators/base.py")
    assert shared_class_names([first, Source("class _State: ...", "knuckle/model/parts.py")]) == []
    (violation,) = shared_class_names([first, Source("x = 1\n\nclass State: ...", "knuckle/constraints/base.py")])
    assert violation == "src/knuckle/integrators/base.py:1, src/knuckle/constraints/base.py:3: State has 2 meanings"


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("import numpy as np", "import 'numpy'"),
        ("from scipy import linalg", "import 'scipy'"),
        ("import math", "import 'math'"),
        ("def f():\n    import casadi", "import 'casadi'"),
        ("from ..errors import ModelError", "import 'knuckle.errors'"),
        ("from ..engine import kernel", "import 'knuckle.engine'"),
        ("from knuckle import inverse_dynamics", "import 'knuckle'"),
        ("import collections", "import 'collections'"),
        ("ok = isinstance(x, float)", "name 'isinstance'"),
        ("ok = hasattr(x, 'sin')", "name 'hasattr'"),
        ("kind = type(x)", "call 'type'"),
        ("n = x.shape[0]", "name 'shape'"),
        ("def f(x, dtype=None):\n    return x", "name 'dtype'"),
        ("y = zeros(3, dtype=float)", "name 'dtype'"),
        ("x: ndarray = y", "name 'ndarray'"),
        ("from ..scalar import ndarray", "name 'ndarray'"),
    ],
)
def test_purity_reports(statement: str, complaint: str):
    (violation,) = purity_violations(Source(statement, "knuckle/algorithms/rnea.py"))
    assert re.fullmatch(rf"src/knuckle/algorithms/rnea\.py:\d: an algorithm must not {complaint}", violation)


def test_purity_names_the_line():
    source = "from ..spatial import Motion\n\n\ndef f(x):\n    y = x\n    return isinstance(y, Motion)\n"
    (violation,) = purity_violations(Source(source, "knuckle/algorithms/rnea.py"))
    assert violation == "src/knuckle/algorithms/rnea.py:6: an algorithm must not name 'isinstance'"


def test_purity_accepts_an_algorithm():
    source = '''
        from __future__ import annotations
        from collections.abc import Sequence
        from dataclasses import dataclass
        from typing import TYPE_CHECKING
        from .. import spatial
        from ..joints.base import Revolute
        from ..model import ROOT, Model
        from ..scalar import sin
        from . import kinematics
        from .kinematics import velocities
        def f(model, q):
            """No shape, no dtype, no isinstance."""
            return model.joint.type  # numpy
    '''
    assert purity_violations(Source(inspect.cleandoc(source), "knuckle/algorithms/rnea.py")) == []


def test_length_reports():
    (violation,) = length_violations(Source("x = 1\n" * 501, "knuckle/model/parts.py"))
    assert violation == "src/knuckle/model/parts.py:501: 501 lines; the limit is 500"
    (violation,) = length_violations(Source("x = 1\n" * 151, "knuckle/algorithms/rnea.py"))
    assert violation == "src/knuckle/algorithms/rnea.py:151: 151 lines; the limit is 150"
    assert length_violations(Source("x = 1\n" * 500, "knuckle/model/parts.py")) == []
    assert length_violations(Source("x = 1\n" * 150, "knuckle/algorithms/rnea.py")) == []


def test_code_lines_counts_code_only():
    source = '''
        @decorated
        def f(
            model,
            q,
        ):
            """One line.

            More lines.
            """
            # a comment

            x = 1  # counts
            y = [
                x,

                # not this one
                x,
            ]
            for i in y:
                x += i
            return x

        def g(): return 1
        def h():
            """Nothing else."""
    '''
    source = inspect.cleandoc(source)
    assert code_lines(source, "f") == 8
    assert code_lines(source, "g") == 1
    assert code_lines(source, "h") == 0
    with pytest.raises(LookupError, match="'missing'"):
        code_lines(source, "missing")


def test_undocumented_reports():
    class Documented:
        """It is."""

    class Bare:
        pass

    def function():
        pass

    names = {"Documented": Documented, "instance": Documented(), "Bare": Bare, "function": function, "number": 3}
    assert undocumented(names) == ["instance", "Bare", "function", "number"]


@pytest.mark.parametrize(
    "text",
    [
        "https://py" + "pi.org/simple",
        "files.python" + "hosted.org",
        "registry.npm" + "js.org",
        "conda.anaconda." + "org",
        "cd /work" + "/main",
        "file:///root" + "/x",
    ],
)
def test_banned_text_reports(text: str):
    (violation,) = banned_text(f"fine\nsee {text} for it\n", "README.md")
    assert violation.startswith("README.md:2: names ")


def test_banned_text_accepts_ordinary_words():
    assert banned_text("virtual work, the root of the tree, chapters/work" + "/a, ~/root" + "/b, PyPI", "x") == []
