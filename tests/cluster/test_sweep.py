"""Sweeps in this process: what is computed, committed, resumed, read and refused."""

from __future__ import annotations

import errno
import importlib.util
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.cluster import commits, sweeping
from knuckle.cluster.function_identity import identity
from knuckle.cluster.workers import work_order
from knuckle.cluster.workers.work_order import WorkOrder

sys.path.insert(0, str(Path(__file__).parent))
from studies import same, slow_sum, sums

pytest.importorskip("zarr", reason="the extra `cluster` is not installed")


@pytest.fixture(scope="module", autouse=True)
def _plain() -> Iterator[None]:
    """Nothing is compiled: chunks, files and manifests are what is looked at here."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


@pytest.fixture(scope="module")
def pendulum() -> kn.Model:
    return kn.robots.load("pendulum")


@pytest.fixture(scope="module")
def whole(pendulum: kn.Model, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A sweep of sums in one go."""
    return kn.sweep(pendulum, sums(), tmp_path_factory.mktemp("whole") / "s", kernel=slow_sum, chunk=16)


def spring(model: Any, q: Any, v: Any, stiffness: Any) -> Any:
    return -stiffness * q


def damper(model: Any, q: Any, v: Any, stiffness: Any) -> Any:
    return -stiffness * v


def test_rollouts_are_those_of_rollout(pendulum: kn.Model, tmp_path: Path) -> None:
    design = kn.cluster.grid({"controller": [spring, damper], "stiffness": [1.0, 2.0, 3.0], "q0": [[0.3], [0.5]]})
    found = kn.sweep(
        pendulum, design, tmp_path / "s", steps=4, dt=1e-2, save_every=2, chunk=5, keep=["q", "final_v", "energy"],
        measure=lambda rollout, stiffness: {"reach": rollout.q.max((-1, -2)) * stiffness},
    )  # fmt: skip
    assert found["q"].shape == (12, 3, 1)
    for k in (0, 4, 11):
        sample = found.sample(k)
        controller = {"spring": spring, "damper": damper}[sample["controller"]]
        one = kn.rollout(
            pendulum, sample["q0"], None, None, 1e-2, steps=4, save_every=2, controller=controller,
            parameters={"stiffness": sample["stiffness"]}, integrator="rk4",
        )  # fmt: skip
        np.testing.assert_allclose(found["q"][k], one.q, rtol=1e-14)
        np.testing.assert_allclose(found["final_v"][k], one.final[1], rtol=1e-13)
        np.testing.assert_allclose(found["reach"][k], one.q.max() * sample["stiffness"], rtol=1e-14)
    np.testing.assert_array_equal(found.rollout([3, 4]).q, found["q"][:][[3, 4]])


@pytest.mark.slow
def test_xarray_has_times_and_both_kinds_of_arrays(pendulum: kn.Model, tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    design = kn.cluster.grid({"q0": [[0.3], [0.5], [0.7]]})
    found = kn.sweep(
        pendulum, design, tmp_path / "s", steps=4, dt=1e-2, save_every=2, keep=["q", "v"],
        measure=lambda rollout: {"energy": rollout.energy[..., -1], "q0": rollout.q[..., 0, :]},
    )  # fmt: skip
    data = found.to_xarray()
    assert data.q.dims == ("sample", "time", "q_axis0")
    np.testing.assert_allclose(data.time, [0.0, 0.02, 0.04])
    np.testing.assert_array_equal(data.energy, found["energy"][:])
    np.testing.assert_array_equal(data.parameter_q0, data.q0)
    with pytest.raises(ValueError, match="measure gives 'q', which is kept of rollouts already"):
        kn.sweep(pendulum, design, tmp_path / "t", steps=4, keep=["q"], measure=lambda rollout: {"q": rollout.q})


@pytest.mark.parametrize("chunk", [pytest.param(1, marks=pytest.mark.slow), 7, 1000])
def test_chunks_of_any_size_give_the_same(whole: Any, pendulum: kn.Model, chunk: int, tmp_path: Path) -> None:
    assert same(kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, chunk=chunk), whole)


def test_what_is_read_is_what_was_computed(whole: Any) -> None:
    design, read = sums(), kn.cluster.read_sweep(whole.folder)
    expected = slow_sum(whole.model, **design.columns(np.arange(100)))
    for name, x in (design.columns(np.arange(100)) | expected).items():
        np.testing.assert_array_equal(read[name][:], x)
    assert read.is_complete
    assert read.model.content_hash == whole.model.content_hash
    assert read.summary["total"].mean == pytest.approx(expected["total"].mean(), rel=1e-13)
    assert read.summary["sines[2]"].largest[0][0] == expected["sines"][:, 2].max()
    assert "100 samples of x, y" in repr(read)
    assert not read.damaged()
    facts = read.manifest.facts
    assert facts["code"]
    assert {"python", "numpy", "knuckle"} <= set(facts["versions"])
    assert read.instructions == {facts["instructions"]: 7}
    with pytest.raises(KeyError, match="no 'totl'; did you mean 'total'"):
        read["totl"]
    with pytest.raises(ValueError, match="only read"):
        read.rollout([0])


def stopping_after(chunks: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What carries chunks out raises an error after so many of them; the chunks that were begun are listed."""
    begun, carry_out = list[int](), WorkOrder.carry_out

    def stops(self: WorkOrder, chunk: int) -> Any:
        begun.append(chunk)
        if len(begun) > chunks:
            raise error
        return carry_out(self, chunk)

    monkeypatch.setattr(WorkOrder, "carry_out", stops)
    return begun


def test_ctrl_c_leaves_what_the_same_call_goes_on_with(
    whole: Any, pendulum: kn.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = stopping_after(3, KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt, match="stopped: 3 of 7 chunks are in"):
        kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, chunk=16)
    partly = kn.cluster.read_sweep(tmp_path / "s")
    assert partly.missing == [3, 4, 5, 6]
    assert np.isnan(partly["total"][48:]).all()
    assert "4 of 7 chunks are not there yet" in repr(partly)
    monkeypatch.undo()
    kn.compilation.set_policy("never")
    begun.clear()
    begun = stopping_after(99, RuntimeError(), monkeypatch)
    assert same(kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum), whole)
    assert begun == [3, 4, 5, 6]


@pytest.mark.parametrize("file", [5, *(pytest.param(k, marks=pytest.mark.slow) for k in range(5))])
def test_a_disk_that_is_full_is_named_and_leaves_no_half_of_anything(
    whole: Any, pendulum: kn.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: int
) -> None:
    """Whichever file of the second chunk it is that finds no room."""
    written, write = list[Path](), commits._write

    def full(path: Path, content: bytes) -> None:
        written.append(path)
        if len(written) == 6 + file:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, content)

    monkeypatch.setattr(commits, "_write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, chunk=16)
    assert "the same call goes on" in caught.value.__notes__[0]
    monkeypatch.undo()
    partly = kn.cluster.read_sweep(tmp_path / "s")
    assert partly.missing == ([1, 2, 3, 4, 5, 6] if file < 5 else [2, 3, 4, 5, 6])
    assert not partly.damaged()
    assert not list((tmp_path / "s").rglob("*.part"))
    assert same(kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum), whole)


def damage(folder: Path, kind: str) -> None:
    """Harms chunk 2."""
    file = folder / "data.zarr/results/total/c.2"
    content = bytearray(file.read_bytes())
    if kind == "bit":
        content[17] ^= 1
        file.write_bytes(content)
    elif kind == "short":
        file.write_bytes(content[:-9])
    elif kind == "gone":
        file.unlink()
    else:
        record = commits.record_path(folder, 2)
        record.write_bytes(record.read_bytes()[: 40 if kind == "record" else -1])


@pytest.mark.parametrize("kind", ["bit", "short", "gone", "record", "end of record"])
def test_what_is_damaged_is_found_and_computed_again(whole: Any, pendulum: kn.Model, tmp_path: Path, kind: str) -> None:
    shutil.copytree(whole.folder, tmp_path / "s")
    damage(tmp_path / "s", kind)
    assert list(kn.cluster.read_sweep(tmp_path / "s").damaged()) == [2]
    if kind == "bit":
        with pytest.raises(ValueError, match=r"[Cc]hecksum"):
            kn.cluster.read_sweep(tmp_path / "s")["total"][32:48]
    with pytest.warns(RuntimeWarning, match="chunk 2 in .* is computed again"):
        again = kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum)
    assert same(again, whole)
    assert not again.damaged()


def test_a_chunk_comes_once_however_often_it_is_committed(whole: Any, pendulum: kn.Model, tmp_path: Path) -> None:
    shutil.copytree(whole.folder, tmp_path / "s")
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    order = sweeping._prepared(whole.job, tmp_path / "s")
    for chunk in (3, 3, 0):
        order.carry_out(chunk)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    assert same(kn.cluster.read_sweep(tmp_path / "s"), whole)


def test_a_worker_that_does_not_see_the_folder_sends_its_chunk(whole: Any, pendulum: kn.Model, tmp_path: Path) -> None:
    order = sweeping._prepared(whole.job, tmp_path / "s")
    elsewhere = WorkOrder(order.job, str(tmp_path / "not here"), order.token, order.specs)
    for chunk in range(7):
        receipt = elsewhere.carry_out(chunk)
        assert receipt.parcel is not None
        commits.commit(tmp_path / "s", receipt.parcel)
    assert same(kn.cluster.read_sweep(tmp_path / "s"), whole)


def picky(model: kn.Model, x: Any, y: Any) -> Any:
    if (x > 0.9).any():
        raise ArithmeticError(f"{int((x > 0.9).sum())} above")
    return np.where(x < 0.1, np.inf, x)


def test_failures_are_named_with_their_parameters(pendulum: kn.Model, tmp_path: Path) -> None:
    design = kn.cluster.samples({"x": np.linspace(0.0, 1.0, 50), "y": np.zeros(50)})
    with pytest.raises(ArithmeticError, match="above"):
        kn.sweep(pendulum, design, tmp_path / "s", kernel=picky, chunk=16)
    found = kn.sweep(pendulum, design, tmp_path / "s", kernel=picky, chunk=16, on_error="note")
    x = design.columns(np.arange(50))["x"]
    assert found.failed == np.sum((x < 0.1) | (x > 0.9))
    assert {one.sample for one in found.failures()} == set(np.flatnonzero((x < 0.1) | (x > 0.9)))
    assert found.failures(1)[0] == kn.cluster.Failure(0, "picky is not finite", {"x": 0.0, "y": 0.0})
    assert found.failures()[-1].reason == "ArithmeticError: 1 above"
    fine = (x >= 0.1) & (x <= 0.9)
    np.testing.assert_array_equal(found["picky"][:][fine], x[fine])
    assert np.isnan(found["picky"][:][x > 0.9]).all()
    assert found.summary["picky"].count == fine.sum()


def test_motions_that_diverge_are_failures(pendulum: kn.Model, tmp_path: Path) -> None:
    design = kn.cluster.grid({"stiffness": [1.0, 1e200], "q0": [[0.1], [0.2]]})
    found = kn.sweep(pendulum, design, tmp_path / "s", controller=spring, steps=5, dt=1e-2)
    assert found.failed == 2
    assert [one.sample for one in found.failures()] == [2, 3]
    assert found.failures()[0].reason.startswith("diverged at t = 0.0")
    assert found.failures()[0].parameters["stiffness"] == 1e200


def test_another_sweep_is_not_mixed_with_the_one_in_the_folder(whole: Any, pendulum: kn.Model) -> None:
    into = whole.folder
    heavier = pendulum.replace(gravity=(0.0, 0.0, -1.0)) if hasattr(pendulum, "replace") else pendulum
    for model, design, options, what in (
        (heavier, sums(), {}, "model"),
        (pendulum, sums(seed=1), {}, "design"),
        (pendulum, sums(101), {}, "design"),
        (pendulum, sums(), {"chunk": 8}, "chunk"),
        (pendulum, sums(), {"dtype": "float32"}, "dtype"),
        (pendulum, sums(), {"kernel": lambda model, x, y: x + y.sum(-1)}, "what is computed"),
    ):
        with pytest.raises(ValueError, match=f"holds another sweep: not the same are .*{what}"):
            kn.sweep(model, design, into, **{"kernel": slow_sum, **options})


def test_other_code_is_recognised_by_what_it_says_and_refers_to(whole: Any, pendulum: kn.Model, tmp_path: Path) -> None:
    def times(factor: float) -> Any:
        return lambda model, x: factor * x

    assert identity(times(2.0)) == identity(times(2.0)) != identity(times(3.0))
    assert identity(spring) != identity(damper)
    shutil.copytree(whole.folder, tmp_path / "s")
    facts = json.loads((tmp_path / "s/manifest.json").read_text())
    (tmp_path / "s/manifest.json").write_text(json.dumps({**facts, "code": "0"}))
    with pytest.raises(ValueError, match="the version of knuckle"):
        kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum)
    (tmp_path / "s/manifest.json").write_text(json.dumps({**facts, "instructions": "z80", "versions": {"numpy": "1"}}))
    with pytest.warns(RuntimeWarning) as said:
        kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum)
    assert any("other versions" in str(one.message) for one in said)
    assert any("other instructions, z80" in str(one.message) for one in said)
    (tmp_path / "s/manifest.json").write_text("{")
    with pytest.raises(ValueError, match="no manifest of a sweep, or is damaged"):
        kn.cluster.read_sweep(tmp_path / "s")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stepz": 3}, "no argument 'stepz'; did you mean 'steps'"),
        ({"keep": ["p"]}, "keep names 'p', which rollouts do not have"),
        ({"kernel": slow_sum, "steps": 3}, "steps goes with rollouts, and kernel= computes none"),
        ({"kernel": lambda model, x: x}, "has no argument 'y', a parameter of the design"),
        ({"kernel": lambda model, x, y, z: x}, "asks for 'z', which is no parameter of the sweep"),
        ({"kernel": lambda model, x, y: x[:1]}, "should have one entry for each of 2 samples"),
        ({"kernel": lambda model, x, y: x.astype(str)}, "should have numbers"),
        ({"kernel": lambda model, x, y: {"a b": x}}, "'a b' cannot be the name"),
        ({"kernel": slow_sum, "parameters": {"x": 1.0}}, "x is in parameters and in the design"),
        ({"kernel": slow_sum, "chunk": 0}, "chunk must be a whole number from 1, and is 0"),
        ({"kernel": slow_sum, "workers": 0}, "workers must be a whole number from 1, and is 0"),
        ({"kernel": slow_sum, "dtype": "int8"}, "dtype must be 'float64' or 'float32'"),
        ({"kernel": slow_sum, "on_error": "hide"}, "on_error must be 'stop' or 'note'"),
        ({"kernel": slow_sum, "worker_options": {"num_gpus": 1}}, "they need address="),
    ],
)
def test_what_is_wrong_is_named(pendulum: kn.Model, options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        kn.sweep(pendulum, sums(), tmp_path / "s", **options)


def test_folders_and_arguments_of_other_kinds_are_refused(pendulum: kn.Model, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ValueError, match="a folder with other things in it"):
        kn.sweep(pendulum, sums(), tmp_path, kernel=slow_sum)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(TypeError, match=r"design must be one of kn\.cluster"):
        kn.sweep(pendulum, {"x": [1.0]}, tmp_path / "s")  # pyright: ignore[reportArgumentType]
    with pytest.raises(FileNotFoundError, match="holds no sweep"):
        kn.cluster.read_sweep(tmp_path / "s")


def test_progress_is_told(pendulum: kn.Model, tmp_path: Path) -> None:
    parts = list[float]()
    kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, chunk=16, progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_processors_with_other_instructions_are_warned_of(
    pendulum: kn.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["avx2"] * 4 + ["avx512"] * 1000)
    monkeypatch.setattr(work_order, "instruction_set", lambda: next(names))
    with pytest.warns(RuntimeWarning, match="processors with different instructions.*avx2.*avx512"):
        kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, chunk=16)


def test_single_precision_is_kept(pendulum: kn.Model, tmp_path: Path) -> None:
    found = kn.sweep(pendulum, sums(), tmp_path / "s", kernel=slow_sum, dtype="float32")
    assert found["total"].dtype == found["x"].dtype == np.float32


@pytest.mark.slow
def test_the_picture_is_drawn(pendulum: kn.Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    design = kn.cluster.sobol({"q0": kn.cluster.uniform(0, 1, 1)}, 8)
    found = kn.sweep(
        pendulum, design, tmp_path / "s", steps=3, measure=lambda rollout: {"reach": rollout.q.max((-1, -2))}
    )
    figure = found.plot(tmp_path / "s.png", what="reach", worst=2)
    assert (tmp_path / "s.png").stat().st_size > 5000
    histogram, motions = (part.axes for part in figure.subfigs)
    assert "reach" in histogram[0].get_xlabel()
    assert len(motions[0].lines) == 2
    with pytest.raises(ValueError, match="what='rech' is no number of this sweep; did you mean 'reach'"):
        found.plot(tmp_path / "s.png", what="rech")


def test_comments_and_docstrings_are_not_what_a_study_is(tmp_path: Path) -> None:
    """Three files with the same name and function: another docstring and comment, and another number."""
    found: list[str] = []
    for k, body in enumerate(("return 2 * x", '"""Twice x."""\n    # doubled\n    return 2 * x  # so', "return 3 * x")):
        path = tmp_path / str(k) / "mine.py"
        path.parent.mkdir()
        path.write_text(f"def twice(x):\n    {body}\n")
        spec = importlib.util.spec_from_file_location("mine", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(identity(module.twice))
    assert found[0] == found[1] != found[2]
