"""Nobody vouches for an MJCF file: what would keep MuJoCo busy for ever is refused before it sees it."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import read_mjcf
from knuckle.formats.files import MAX_BYTES

mujoco: Any = pytest.importorskip("mujoco")

GEOM = '<geom size=".1"/>'
BODY = f'<body><joint name="j"/>{GEOM}</body>'


def world(inside: str = GEOM, before: str = "", after: str = "") -> str:
    return f"<mujoco>\n{before}\n<worldbody>\n{inside}\n</worldbody>\n{after}</mujoco>"


def refused(text: str, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read_mjcf(text, **options)
    assert "MuJoCo cannot read" not in caught.value.message, "MuJoCo has seen it"
    return caught.value


BOMBS = {
    "replicate": (world(f'<replicate count="100000000">{GEOM}</replicate>'), 4, "<replicate>", "copies"),
    "nested replicate": (world(f'<replicate count="300">\n<replicate count="300">{GEOM}</replicate></replicate>'), 4,
                         "<replicate>", "copies"),
    "two words": (world(f'<replicate count="100000000 1">{GEOM}</replicate>'), 4, "<replicate>", "copies"),
    "bodies": (world(f"{BODY}\n" * 6000), 3, "<worldbody>", "6000 bodies"),
    "keyframes": (world(before='<size nkey="1000000000"/>'), 2, "<size>", "keyframes"),
    "keyframes of many": (world(BODY * 400, '<size nkey="9999"/>').replace(' name="j"', ""), 1, "<mujoco>", "numbers"),
    "user data": (world(before='<size nuser_body="1000000000"/>'), 1, "<mujoco>", "numbers"),
    "more user data": (world(before='<size nuserdata="1000000000"/>'), 2, "<size>", "numbers"),
    "memory": (world(before='<size memory="100G"/>'), 2, "<size>", "memory='100G'"),
    "constraints": (world(before='<size njmax="1000000000"/>'), 2, "<size>", "njmax"),
    "hfield": (world(before='<asset><hfield nrow="60000" ncol="60000"/></asset>'), 2, "<hfield>", "cells"),
    "texture": (world(before='<asset><texture type="cube" builtin="flat" width="9000" height="9000"/></asset>'), 2,
                "<texture>", "cells"),
    "textures": (world(before='<asset>\n' + '<texture type="2d" width="8000" height="8000"/>\n' * 2 + "</asset>"), 4,
                 "<texture>", "cells"),
    "grid": (world('<flexcomp name="f" type="grid" count="100 100 1"/>'), 4, "<flexcomp>", "10000 bodies"),
    "points": (world(f'<flexcomp name="f" type="direct" point="{"0 " * 18000}"/>'), 4, "<flexcomp>", "6000 bodies"),
    "cable": (world('<composite type="cable" count="100000 1 1"/>'), 4, "<composite>", "100000 bodies"),
    "mesh": (world(before='<asset><mesh builtin="supersphere" params="900 900 1"/></asset>'), 2, "<mesh>", "vertices"),
    "cone": (world(before='<asset><mesh builtin="cone" params="100000 1"/></asset>'), 2, "<mesh>", "params"),
    "muscle": (world(before='<compiler><lengthrange inttotal="1e9" timestep="1e-6"/></compiler>'), 2, "<lengthrange>",
               "steps"),
    "sensor": (world(after='<sensor><user dim="2000000000"/></sensor>'), 6, "<user>", "numbers"),
    "camera": (world('<camera resolution="100000 100000"/>'), 4, "<camera>", "pixels"),
    "activations": (world(BODY, after='<actuator><general joint="j" actdim="1000000000"/></actuator>'), 6, "<general>",
                    "numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str):
    text, line, element, words = BOMBS[name]
    error = refused(text)
    assert (error.line, error.element) == (line, element), str(error)
    assert words in error.message


def test_what_people_write_is_not_refused():
    model = read_mjcf(
        world(
            f'<replicate count="20" offset="1 0 0"><replicate count="20" offset="0 1 0">{BODY}</replicate></replicate>',
            '<size nkey="3" memory="10M"/><asset>'
            '<texture type="2d" name="t" builtin="checker" width="512" height="512"/>'
            '<hfield name="h" nrow="100" ncol="100" size="1 1 1 1"/></asset>',
        )
    )
    assert (model.nb, len(model.keyframes)) == (400, 3)


# files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize(
    "asset",
    [
        '<mesh name="m" file="pipe"/>',
        '<texture name="t" type="2d" file="pipe"/>',
        '<texture name="t" type="cube" fileright="pipe"/>',
        '<hfield name="h" file="pipe" size="1 1 1 1"/>',
        '<skin name="s" file="pipe"/>',
        '<model name="o" file="pipe"/>',
    ],
)
@pytest.mark.parametrize("folder", [None, "meshes"])
def test_pipes_are_no_files(tmp_path: Path, asset: str, folder: str | None):
    place = tmp_path / (folder or "")
    place.mkdir(exist_ok=True)
    os.mkfifo(place / "pipe")
    before = f'<compiler assetdir="{folder}"/>' if folder else ""
    (tmp_path / "m.xml").write_text(world(before=f"{before}<asset>{asset}</asset>"))
    with pytest.raises(ModelError, match="not a regular file") as caught:
        kn.load(tmp_path / "m.xml")
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "m.xml"), 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_that_are_included_and_names_of_other_folders(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "m.xml").write_text('<mujoco>\n<include file="pipe"/></mujoco>')
    with pytest.raises(ModelError, match="not a regular file"):
        kn.load(tmp_path / "m.xml")
    (tmp_path / "n.xml").write_text(
        world(before='<compiler strippath="true"/><asset><mesh name="m" file="a/b/pipe"/></asset>')
    )
    with pytest.raises(ModelError, match="not a regular file"):
        kn.load(tmp_path / "n.xml")


def test_files_are_bounded(tmp_path: Path):
    with (tmp_path / "big.stl").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    (tmp_path / "m.xml").write_text(world(before='<asset><mesh name="m" file="big.stl"/></asset>'))
    with pytest.raises(ModelError, match=r"m\.xml:2: <mesh>: file 'big.stl' has \d+ bytes; the limit is"):
        kn.load(tmp_path / "m.xml")
    (tmp_path / "flex.stl").write_bytes(b"0" * 300_000)
    (tmp_path / "f.xml").write_text(world('<flexcomp name="f" type="mesh" file="flex.stl"/>'))
    with pytest.raises(ModelError, match="<flexcomp>: 6000 bodies"):
        kn.load(tmp_path / "f.xml")


def test_images_that_unpack_without_end(tmp_path: Path):
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0)
    (tmp_path / "t.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b""))
    (tmp_path / "m.xml").write_text(world(before='<asset><texture type="2d" name="t" file="t.png"/></asset>'))
    with pytest.raises(ModelError, match="<texture>: 2500000000 cells"):
        kn.load(tmp_path / "m.xml")


@pytest.mark.slow
def test_copies_through_other_files(tmp_path: Path):
    """Included and attached files count wherever they are copied, and do not go round in circles."""
    (tmp_path / "part.xml").write_text(f"<mujoco><worldbody>{GEOM * 100}</worldbody></mujoco>")
    (tmp_path / "geoms.xml").write_text(f"<mujoco>{GEOM * 100}</mujoco>")
    (tmp_path / "m.xml").write_text(world('<replicate count="200">\n<include file="geoms.xml"/></replicate>'))
    with pytest.raises(ModelError, match=r"m\.xml:4: <replicate>: 20\d+ copies"):
        kn.load(tmp_path / "m.xml")
    attach = '<frame><attach model="p" body="b" prefix="x"/></frame>'
    (tmp_path / "n.xml").write_text(world(attach * 120, '<asset><model name="p" file="part.xml"/></asset>'))
    with pytest.raises(ModelError, match=r"<attach>: \d+ copies"):
        kn.load(tmp_path / "n.xml")
    (tmp_path / "a.xml").write_text('<mujoco>\n<include file="a.xml"/></mujoco>')
    with pytest.raises(ModelError, match="includes itself"):
        kn.load(tmp_path / "a.xml")
    for k in range(25):  # two of the next in each: 2²⁵ files in all
        twice = f'<include file="{k + 1}.xml"/>' * 2
        (tmp_path / f"{k}.xml").write_text(f"<mujoco>{twice}</mujoco>")
    (tmp_path / "25.xml").write_text("<mujoco/>")
    with pytest.raises(ModelError, match="elements"):
        kn.load(tmp_path / "0.xml")


def test_what_mujoco_fails_at_is_a_model_error(monkeypatch: pytest.MonkeyPatch):
    """Whatever exception MuJoCo's own code comes up with."""

    def fail(_: str) -> None:
        raise RuntimeError("Caught an unknown exception!")

    monkeypatch.setattr(mujoco.MjModel, "from_xml_string", fail)
    with pytest.raises(ModelError, match="MuJoCo cannot read it: Caught an unknown exception"):
        read_mjcf(world())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_no_mesh_to_draw(tmp_path: Path):
    """JSON names the path of a mesh itself, and the viewer would open it."""
    pytest.importorskip("trimesh")
    from knuckle.viewer.scene.mesh_file import UnreadableMeshError, read

    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(UnreadableMeshError, match="not a regular file"):
        read(str(tmp_path / "pipe.stl"))
