"""One door for all formats: `load`, `loads`, `save`. What reads and writes a format is loaded with its first file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.edit import merge_fixed as merge_fixed_joints

from .base_link import Base, check_base, floating
from .files import read_bytes
from .impossible_bodies import warn_of_bodies

FORMATS = ("urdf", "mjcf", "json")
_BY_TAG = {"robot": "urdf", "mujoco": "mjcf"}


def load(
    path: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    mimic: bool = True,
    merge_fixed: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    joint_types: Iterable[type] = (),
) -> Model:
    """Read a model file: URDF, MJCF (through MuJoCo) or knuckle's JSON, told apart by what is in it.

    Args:
        path: the file.
        base: "fixed" takes the root link as the base that stands still; "floating" puts it on a first joint
            "floating_base" with six freedoms. MJCF says itself what floats: there, "floating" acts only on a file whose
            single root body has no joint. A JSON model floats if it was saved so; "floating" adds the joint.
        mimic: True couples the joints that a file says follow others; False leaves them independent.
        merge_fixed: True merges links on fixed joints into their parents and keeps their names as frames.
        package_dirs: folders in which package:// names of meshes are looked for first.
        joint_types: classes of your own that a JSON file names: joints, and laws of time of driven joints.

    Example:
        model = kn.load("robot.urdf", base="floating")

    Raises:
        ModelError: the file is missing, is of no known format, or cannot be used; says where and why.
    """
    name = os.fspath(path)
    data = read_bytes(name)
    if name.lower().endswith(".xacro"):
        from .urdf.xacro import EXPAND

        raise ModelError(f"a xacro file has to be expanded before it can be read. {EXPAND}", file=name)
    return _read(data, _format_of(data, name), name, base, mimic, merge_fixed, package_dirs, joint_types)


def loads(
    text: str | bytes,
    *,
    format: str | None = None,
    base: Base = "fixed",
    mimic: bool = True,
    merge_fixed: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    joint_types: Iterable[type] = (),
) -> Model:
    """Read a model from its text; `format` is "urdf", "mjcf" or "json", found out if not given. See `load`."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"format={format!r}; it is one of {', '.join(FORMATS)}")
    if not text.strip():
        raise ModelError("the text is empty")
    chosen = format or _format_of(text if isinstance(text, bytes) else text.encode(errors="replace"), None)
    return _read(text, chosen, None, base, mimic, merge_fixed, package_dirs, joint_types)


def save(model: Model, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
    """Write a model to a file, as JSON (.json, everything), URDF (.urdf) or MJCF (.xml), what these can say.

    `lossy=True` lets a URDF or MJCF file leave out what it cannot say instead of refusing; see `to_urdf`, `to_mjcf`.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".json":
        from .json import write_json

        write_json(model, path)
    elif suffix == ".urdf":
        from .urdf import write_urdf

        write_urdf(model, path, lossy=lossy)
    elif suffix == ".xml":
        from .mjcf import write_mjcf

        write_mjcf(model, path, lossy=lossy)
    else:
        raise ModelError(
            f"models are written as .json, .urdf or .xml, not {suffix or 'without suffix'}", file=os.fspath(path)
        )


def _read(
    data: str | bytes,
    format: str,
    file: str | None,
    base: Base,
    mimic: bool,
    merge_fixed: bool,
    package_dirs: Iterable[str | os.PathLike[str]],
    joint_types: Iterable[type],
) -> Model:
    if format == "urdf":
        from .urdf import read_urdf

        return read_urdf(
            data, file=file, base=base, mimic=mimic, merge_fixed=merge_fixed, package_dirs=package_dirs
        )  # fmt: skip
    if format == "mjcf":
        from .mjcf import read_mjcf

        return read_mjcf(data, file=file, base=base, mimic=mimic, merge_fixed=merge_fixed)
    from .json import read_json

    check_base(base)
    model = read_json(data, file=file, joint_types=joint_types)
    warn_of_bodies(file or model.name, model.bodies)
    model = model if mimic else model.without_couplings()
    model = merge_fixed_joints(model) if merge_fixed else model
    return floating(model) if base == "floating" else model


def _format_of(data: bytes, file: str | None) -> str:
    """By the first character, and for XML by the outermost tag."""
    from .xml import parse_xml, shorten

    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] in (b"{", b"["):
        return "json"
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if start[:1] != b"<" and not utf16:
        binary = b"\0" in start
        found = "binary data" if binary else f"{shorten(start[:40].decode(errors='replace'))!r}"
        raise ModelError(f"neither XML nor JSON: it starts with {found}; knuckle reads URDF, MJCF and its own JSON",
                         file=file, line=1)  # fmt: skip
    root = parse_xml(data, file=file)
    return _BY_TAG.get(root.tag, "urdf")
