"""The door to all formats: which one a file is in, and paths that lead nowhere."""

import os
from pathlib import Path

import pytest

from knuckle.errors import ModelError
from knuckle.formats import load, loads, save, to_json
from knuckle.joints import Helical
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.spatial import Inertia

URDF = (
    '<robot name="r"><link name="a"/><link name="b"/>'
    '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
)
MJCF = '<mujoco model="m"><worldbody><body name="a"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
HELIX = Model((Body("b", Inertia.zero()),), (TreeJoint("j", Helical("z", 0.1), ROOT),))


def refused(path: object, **options: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load(path, **options)  # type: ignore[arg-type]
    assert caught.value.file == os.fspath(path)  # type: ignore[call-overload]
    return caught.value


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".URDF", ".txt", ""])
def test_urdf_by_content(tmp_path: Path, suffix: str):
    path = tmp_path / f"r{suffix}"
    path.write_text(URDF)
    assert load(path).frame_names == ("a", "b")
    assert load(str(path), merge_fixed=False).joint_names == ("j",)
    assert load(path).provenance.file == str(path)


def test_json_by_content(tmp_path: Path):
    save(HELIX, tmp_path / "h.json")
    os.replace(tmp_path / "h.json", tmp_path / "h.model")
    assert load(tmp_path / "h.model") == HELIX
    assert loads(to_json(HELIX)) == loads(to_json(HELIX).encode(), format="json") == HELIX


def test_mjcf_by_content(tmp_path: Path):
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(MJCF)
    assert load(tmp_path / "m.xml").provenance.format == "mjcf"
    assert loads(MJCF).joint_names == loads(MJCF.encode(), format="mjcf").joint_names == ("j",)


def test_base_and_mimic_of_json():
    heavy = HELIX.replace(base=Body("chassis", Inertia.of(1.0, (0, 0, 0), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))))
    model = loads(to_json(heavy), base="floating")
    assert (model.joint_names, model.body_names, model.base.name) == (("floating_base", "j"), ("chassis", "b"), "world")
    with pytest.raises(ValueError, match="base='no'"):
        loads(to_json(HELIX), base="no")


def test_paths_that_lead_nowhere(tmp_path: Path):
    assert "no such file" in refused(tmp_path / "x.urdf").message
    assert "there is no folder" in refused(tmp_path / "no" / "x.urdf").message
    (tmp_path / "arm.urdf").write_text(URDF)
    assert refused(tmp_path).message == "a folder, not a model file; it holds arm.urdf"
    (tmp_path / "empty.urdf").write_bytes(b"")
    assert refused(tmp_path / "empty.urdf").message == "the file is empty"
    assert "cannot be read" in refused("a\0b").message
    assert "cannot be read" in refused("x" * 5000).message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.urdf")
    assert refused(tmp_path / "pipe.urdf").message == "not a regular file"


def test_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("knuckle.formats.files.MAX_BYTES", 100)
    (tmp_path / "big.urdf").write_text(URDF)
    assert "the limit is" in refused(tmp_path / "big.urdf").message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "it starts with binary data"),
        (b"solid teapot", "it starts with 'solid teapot'"),
        (b"<html/>", "this is no URDF file"),
        (b"<sdf/>", "SDF file"),
        (b"   \n ", "neither XML nor JSON"),
        (b"[1, 2]", "not a model of knuckle's"),
        (b"{", "not valid JSON"),
    ],
)
def test_other_files(tmp_path: Path, data: bytes, words: str):
    (tmp_path / "f.urdf").write_bytes(data)
    assert words in refused(tmp_path / "f.urdf").message


def test_xacro_by_suffix(tmp_path: Path):
    (tmp_path / "r.urdf.xacro").write_text(URDF)
    assert "has to be expanded" in refused(tmp_path / "r.urdf.xacro").message


def test_byte_order_marks():
    assert loads(b"\xef\xbb\xbf" + URDF.encode()).name == "r"
    assert loads(URDF.encode("utf-16")).name == "r"
    assert loads(b"\xef\xbb\xbf" + to_json(HELIX).encode()) == HELIX


def test_texts_that_cannot_be_read():
    with pytest.raises(ModelError, match="the text is empty"):
        loads("  ")
    with pytest.raises(ValueError, match="format='sdf'; it is one of urdf, mjcf, json"):
        loads(URDF, format="sdf")
    with pytest.raises(ModelError, match="this is an MJCF file"):
        loads(MJCF, format="urdf")


def test_saving(tmp_path: Path):
    with pytest.raises(ModelError, match=r"written as \.json, \.urdf or \.xml, not \.txt"):
        save(HELIX, tmp_path / "h.txt")
    with pytest.raises(ModelError, match="save it as JSON"):
        save(HELIX, tmp_path / "h.urdf")
