"""`import knuckle` loads what everybody needs, and leaves the rest until it is asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "casadi",
    "cloudpickle",
    "concurrent.futures",
    "email",
    "gymnasium",
    "http",
    "knuckle.cli",
    "knuckle.cluster",
    "knuckle.engine.emit.c_code",
    "knuckle.environments",
    "knuckle.formats.adapters",
    "knuckle.formats.json",
    "knuckle.formats.mjcf",
    "knuckle.formats.urdf",
    "knuckle.model.canonical",
    "knuckle.model.build.dh",
    "knuckle.simulation",
    "knuckle.testing",
    "knuckle.viewer",
    "matplotlib",
    "mpmath",
    "mujoco",
    "numpy.ma",
    "numpy.random",
    "pinocchio",
    "pyarrow",
    "ray",
    "rich",
    "scipy",
    "ssl",
    "sympy",
    "trimesh",
    "typer",
    "urllib.request",
    "viser",
    "xml",
    "zarr",
)
"""Packages of others that some functions use, and parts of ours that some people do.

llvmlite is not among them: the first call of a function whose kernel is on the disk would have to wait for it.
"""


def loaded_by(statement: str) -> set[str]:
    """The modules that a statement loads in a fresh process, beyond those that NumPy loads."""
    found = "print(json.dumps(sorted(set(sys.modules) - before)))"
    script = f"import json, sys, numpy\nbefore = set(sys.modules)\n{statement}\n{found}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_leaves_out_what_few_need() -> None:
    loaded = loaded_by("import knuckle")
    assert "knuckle.engine.kernels.kernel_registry" in loaded
    assert [module for module in loaded if any(f"{module}.".startswith(f"{name}.") for name in HEAVY)] == []


def test_what_was_left_out_is_there_when_asked_for() -> None:
    parts = {
        "knuckle.kernel": "knuckle.engine.calls.function",
        "knuckle.testing.LAWS": "knuckle.testing",
        "knuckle.formats.adapters.pinocchio": "knuckle.formats.adapters",
        "knuckle.formats.read_urdf": "knuckle.formats.urdf",
        "knuckle.formats.to_json": "knuckle.formats.json",
        "knuckle.formats.from_mujoco": "knuckle.formats.mjcf",
        "knuckle.model.to_dh": "knuckle.model.build.dh",
    }
    assert set(parts.values()) <= loaded_by("\n".join(["import knuckle", *parts]))


PARTS = (
    "algorithms.contact",
    "constraints",
    "contact",
    "elements",
    "engine.routines",
    "integrators.contact_loops",
    "integrators.deformable",
    "integrators.implicit_loops",
    "integrators.methods.implicit_euler",
    "integrators.methods.muscle_steps",
    "maximal_coordinates",
    "simulation.contacts",
    "solvers.cones",
    "viewer",
)
"""What only models with contacts, force elements, loops, deformable bodies or stiff springs need."""


@pytest.mark.parametrize(
    "motion",
    [
        "kn.simulate(arm, duration=0.002, joint_limits='rigid', events=lambda t, q, v: q[0] - 1)",
        "kn.rollout(arm, numpy.zeros((2, arm.nq)), steps=2)[0].energy",
    ],
)
def test_a_plain_motion_loads_no_parts_that_the_model_has_not(motion: str) -> None:
    loaded = loaded_by(
        f"import knuckle as kn\nkn.compilation.set_policy('never')\narm = kn.robots.load('arm')\n{motion}"
    )
    assert "knuckle.integrators.system" in loaded
    assert sorted(x for x in loaded if any(f"{x}.".startswith(f"knuckle.{part}.") for part in PARTS)) == []


PACKAGES = ["knuckle.engine.emit", "knuckle.formats", "knuckle.integrators", "knuckle.model", "knuckle"]


def test_public_names_are_all_there() -> None:
    """In a fresh process, by `import *`, which asks for every name."""
    lines = [
        f"names = {{}}\nexec('from {package} import *', names)\nimport {package} as found\n"
        "assert set(found.__all__) <= {*names, *dir(found)}"
        for package in PACKAGES
    ]
    loaded_by("\n".join(lines))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_wrong_name_is_an_ordinary_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'nothing'"):
        getattr(__import__(package, fromlist=["x"]), "nothing")  # noqa: B009 - pyright knows that there is none
