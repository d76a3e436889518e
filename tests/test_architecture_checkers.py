"""The checkers of the house rules, on sources that break them: no rule passes because its checker sees nothing."""

import inspect
import re

import pytest

from .test_architecture import (
    FOLDER_LIMIT,
    Source,
    banned_text,
    code_lines,
    crowded_folders,
    inner_layering_violations,
    layering_violations,
    length_violations,
    purity_violations,
    shared_class_names,
    shared_names,
    undocumented,
)


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
