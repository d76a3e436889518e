"""The house rules that a machine can check: rooms, purity of the algorithms, lengths, docstrings, what files may name.

Each rule is a checker, a function from source text to a list of complaints; a test that runs it over the repository;
and, in `test_architecture_checkers`, a test that shows it a violation, so that no rule here passes because its checker
sees nothing.
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
    ("knuckle.trajectory.motion_views", "viewer"),
    ("knuckle.simulation.rollout.rollout_result", "viewer"),
    # So do a model and its audit in a notebook; what a model is called says how many freedoms its loops leave.
    ("knuckle.model.model", "viewer"),
    ("knuckle.model.model", "functions"),
    ("knuckle.model.audit.audit_report", "viewer"),
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


@cache
def sources(folder: Path) -> list[Source]:
    below = folder.rglob("*.py")
    return [Source(path.read_text("utf-8"), path.relative_to(PACKAGE.parent).as_posix()) for path in sorted(below)]


def room_of(module: str) -> str:
    """The room of a module of ours; the face itself for `knuckle`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FACE


@cache
def statements(source: Source) -> tuple[ast.AST, ...]:
    """What the rules for all modules look at, wherever it stands."""
    kinds = ast.Import, ast.ImportFrom, ast.Call, ast.ClassDef
    return tuple(node for node in ast.walk(ast.parse(source.text)) if isinstance(node, kinds))


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

    for node in statements(source):
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
        for node in statements(source):
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
    if not BANNED_TEXT.search(text):
        return []
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
