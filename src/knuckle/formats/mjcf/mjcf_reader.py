"""MJCF to `Model`."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from knuckle.errors import ModelError
from knuckle.extras import install
from knuckle.formats.base_link import check_base
from knuckle.formats.xml import parse_xml
from knuckle.model import Body, ContactRules, Model, Provenance
from knuckle.model.edit import merge_fixed as merge_fixed_joints
from knuckle.spatial import Inertia

from .actuators.read_actuators import actuators
from .equality import constraints
from .file_bounds import check_bounds
from .flexes.read_flexes import flexes
from .geoms.exclusions import exclusions
from .geoms.read_shapes import shapes
from .mjcf_keyframes import keyframes
from .mjcf_source import MjcfSource, numbers
from .mjcf_tree import build_tree
from .read_tendons import tendons
from .remarks import remark

_LINE = re.compile(r"[Ll]ine(?: number)?[ =](\d+)")


def read_mjcf(
    data: bytes | str, *, file: str | None = None, base: str = "fixed", mimic: bool = True, merge_fixed: bool = True
) -> Model:
    """The model an MJCF document describes, as MuJoCo's own parser understands it.

    Args:
        data: the document; MuJoCo reads `file` itself if that is given.
        file: its path, from which includes and meshes are found.
        base: "fixed" takes the file at its word, and a freejoint in it floats; "floating" puts the file's only root
            body, if that has no joint, on a free joint "floating_base".
        mimic: whether joint equalities become couplings.
        merge_fixed: whether bodies without joints become part of their parents and stay as frames.

    Raises:
        ModelError: the file cannot be used.
        ImportError: MuJoCo is not installed.
    """
    check_base(base)
    mujoco = _mujoco()
    check_bounds(parse_xml(data, file=file), file)
    try:
        if file is not None:
            compiled = mujoco.MjModel.from_xml_path(file)
        else:
            compiled = mujoco.MjModel.from_xml_string(data if isinstance(data, str) else data.decode())
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        text = " ".join(str(error).split())
        line = _LINE.search(text)
        number = int(line.group(1)) if line else None
        raise ModelError(f"MuJoCo cannot read it: {text}", file=file, line=number) from None
    return from_mujoco(compiled, file=file, base=base, mimic=mimic, merge_fixed=merge_fixed)


def from_mujoco(
    compiled: Any, *, file: str | None = None, base: str = "fixed", mimic: bool = True, merge_fixed: bool = True
) -> Model:
    """The model of a compiled `mujoco.MjModel`; arguments as for `read_mjcf`.

    See `knuckle.formats.mjcf.mjcf_tree` for the names and frames of bodies with several joints or anchored ones, and
    `knuckle.formats.adapters` for the order of q and v. What does not map exactly is in the notes of the provenance.
    """
    check_base(base)
    source = MjcfSource(compiled)
    soft = flexes(source)
    floating = base == "floating" and _needs_floating(source)
    tree = build_tree(source, file, floating)
    loops, couplings = constraints(source, tree, mimic)
    keys = keyframes(source, tree, couplings)
    lines = tendons(source, tree)
    driven = actuators(source, tree)
    remark(source)
    visuals, collisions = shapes(source, 0, (0.0, 0.0, 0.0), file)
    x, y, z = numbers(compiled.opt.gravity)
    names: bytes = compiled.names
    model = Model(
        bodies=tuple(tree.bodies),
        joints=tuple(tree.joints),
        frames=tuple(tree.frames),
        loops=tuple(loops),
        couplings=tuple(couplings),
        gravity=(0.0, 0.0, 0.0) if source.disabled("GRAVITY") else (x, y, z),
        name=names[: names.index(b"\0")].decode(errors="replace") or "mechanism",
        base=Body("world", Inertia.zero(), visuals, collisions),
        keyframes=keys,
        elements=lines,
        deformables=tuple(soft),
        actuators=driven,
        contact=ContactRules(source.contacts.surfaces, source.contacts.pairs),
    )
    rules = dataclasses.replace(model.contact, ignored=exclusions(source, tree, model))
    model = model.replace(contact=rules, provenance=Provenance(file, "mjcf", tuple(source.notes)))
    return merge_fixed_joints(model) if merge_fixed else model


def _needs_floating(source: MjcfSource) -> bool:
    """Whether a free joint has to be added: the one root body has no joint. More root bodies are an error."""
    m = source.m
    roots = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
    names = ", ".join(source.name("body", b) for b in roots)
    if len(roots) != 1:
        text = f'base="floating" needs one body in the world, not {len(roots)} ({names}); give them freejoints instead'
        raise ModelError(text)
    (root,) = roots
    if not m.body_jntnum[root]:
        return True
    if m.jnt_type[m.body_jntadr[root]] != source.mujoco.mjtJoint.mjJNT_FREE:
        raise ModelError('base="floating" needs a root body without joints of its own', element=names)
    source.note("info", names, "the file says that it floats: no joint added")
    return False


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise ImportError(f"reading MJCF needs MuJoCo: {install('mjcf')}") from None
    return mujoco
