"""Documents of MJCF, short to write, and what became of them."""

from typing import Any

import numpy as np
import pytest

from knuckle.formats import read_mjcf
from knuckle.model import Model

mujoco = pytest.importorskip("mujoco")


def compiled(text: str) -> Any:
    return mujoco.MjModel.from_xml_string(text)


def worlds(inside: str, **options: Any) -> Model:
    """The model of a document with these bodies."""
    return read_mjcf(f"<mujoco><worldbody>{inside}</worldbody></mujoco>", **options)


def body(name: str, inside: str = "", **attributes: str) -> str:
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<body name="{name}"{given}><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{inside}</body>'


def random_state(m: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = m.qpos0.copy()
    mujoco.mj_integratePos(m, q, rng.normal(size=m.nv), 1.0)
    return q, rng.normal(size=m.nv), rng.normal(size=m.nv)


def texts(model: Model, subject: str | None = None) -> list[str]:
    return [note.text for note in model.provenance.notes if subject in (None, note.subject)]
