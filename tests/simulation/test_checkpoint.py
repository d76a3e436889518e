"""Checkpoints: a run that is killed goes on, and ends as if nothing had happened, to the last bit."""

import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.simulation.long_runs import checkpoint

PENDULUM = kn.robots.load("double_pendulum")
Q0, V0 = [1.0, -0.4], [0.3, 2.0]

KILLED = """
import os, sys, time
import numpy as np
import knuckle as kn

def controller(model, t, q, v):
    if os.environ.get("SLOW"):
        time.sleep(2e-4)
    return -0.3 * v + kn.gravity_force(model, q) * np.sin(t)

def low(t, q, v):
    return q[0]

def run(folder=None, **options):
    model = kn.robots.load("double_pendulum")
    return kn.simulate(model, [1.0, -0.4], [0.3, 2.0], 0.6, controller=controller, events=low, save_every=3,
                       joint_limits=kn.simulation.RigidStops(0.5), checkpoint=folder, **options)

if __name__ == "__main__":
    motion = run(sys.argv[1], resume=True, checkpoint_every=float(sys.argv[3]))
    motion.save(sys.argv[2])
"""


def identical(a, b):
    arrays = all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("times", "q", "v", "tau"))
    events = [(o.time, o.name, o.kind, *o.q, *o.v) for o in a.events] == [
        (o.time, o.name, o.kind, *o.q, *o.v) for o in b.events
    ]
    return arrays and events and (a.reason, a.message) == (b.reason, b.message)


def files(folder: Path):
    return sorted(p.name for p in folder.glob("0*.npz"))


def killed(tmp_path: Path) -> tuple[Path, Path]:
    """A run in another process that was killed when it had left a few checkpoints."""
    script, folder = tmp_path / "run.py", tmp_path / "run"
    script.write_text(KILLED)
    arguments = [sys.executable, str(script), str(folder), str(tmp_path / "whole.npz"), "0.02"]
    process = subprocess.Popen(arguments, env={**os.environ, "SLOW": "1"})
    deadline = time.monotonic() + 60
    while len(files(folder)) < 4 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was over before it was killed"
    assert len(files(folder)) >= 4
    assert not (tmp_path / "whole.npz").exists()
    return script, folder


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_ends_as_if_nothing_had_happened(tmp_path):
    script, folder = killed(tmp_path)
    damaged = tmp_path / "damaged"  # a copy whose last checkpoint is damaged, as by a disk: the one before is used
    subprocess.run(["cp", "-r", str(folder), str(damaged)], check=True)
    last = damaged / files(folder)[-1]
    data = bytearray(last.read_bytes())
    data[1024:1536] = bytes(512)  # a lost sector
    last.write_bytes(data)

    out = tmp_path / "resumed.npz"
    subprocess.run([sys.executable, str(script), str(folder), str(out), "1000"], check=True, capture_output=True)
    run = runpy.run_path(str(script))["run"]
    whole = run()
    assert len(whole) > 200
    assert len(whole.events) >= 1
    assert identical(kn.Trajectory.load(out), whole)
    with pytest.warns(RuntimeWarning, match="is damaged"):
        assert identical(run(damaged, resume=True), whole)


# in this process, with clocks that make every step a checkpoint


def broken_off(monkeypatch, folder, after, **options):
    """A run that breaks off in the middle of writing its nth checkpoint."""
    write, count = checkpoint.write_archive, []

    def failing(path, *args):
        count.append(path)
        if len(count) > after:
            raise OSError("the power is gone")
        return write(path, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_archive", failing)
        with pytest.raises(OSError, match="the power is gone"):
            kn.simulate(PENDULUM, Q0, V0, 0.5, checkpoint=folder, checkpoint_every=0.0, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"save_every": 7},
        {"integrator": "adaptive"},
        {"integrator": "adaptive", "dt": 0.01},
        {"integrator": "bdf2"},
        {"integrator": "variational"},
        {"controller": [1.0, -2.0], "joint_limits": kn.simulation.CompliantStops(100.0, 1.0)},
        {"joint_limits": kn.simulation.RigidStops(0.5, rest_speed=0.1)},
        {"events": {"low": lambda t, q, v: q[0]}},
        {"external_forces": np.ones((2, 6)), "frames": ("tip",)},
    ],
    ids=lambda options: " ".join(map(str, options)) or "plain",
)
def test_a_run_goes_on_to_the_last_bit(options, tmp_path, monkeypatch):
    if "frames" in options:
        options = {**options, "frames": PENDULUM.frame_names[-1:]}
    whole = kn.simulate(PENDULUM, Q0, V0, 0.5, **options)
    broken_off(monkeypatch, tmp_path / "run", 4, **options)
    assert files(tmp_path / "run") == ["00000001.npz", "00000002.npz", "00000003.npz"]
    given = {"events": options["events"]} if "events" in options else {}
    again = kn.simulation.resume(tmp_path / "run", **given)
    assert identical(again, whole)
    assert again.frames.keys() == whole.frames.keys()
    assert identical(kn.simulation.resume(tmp_path / "run", **given), whole)  # it is over: nothing is computed


def test_a_damaged_checkpoint_in_the_middle(tmp_path, monkeypatch):
    whole = kn.simulate(PENDULUM, Q0, V0, 0.5)
    broken_off(monkeypatch, tmp_path / "run", 6)
    second = tmp_path / "run" / "00000002.npz"
    second.write_bytes(second.read_bytes()[:-200])
    with pytest.warns(RuntimeWarning, match=r"00000002\.npz is damaged.*is computed again"):
        again = kn.simulation.resume(tmp_path / "run")
    assert identical(again, whole)


def test_a_checkpoint_of_another_run_is_not_taken(tmp_path, monkeypatch):
    for name, v0 in (("a", [0.3, 2.0]), ("b", [0.0, 0.0])):
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[__name__], "V0", v0)
            broken_off(monkeypatch, tmp_path / name, 4)
    (tmp_path / "a" / "00000003.npz").write_bytes((tmp_path / "b" / "00000003.npz").read_bytes())
    with pytest.warns(RuntimeWarning, match="does not belong to this run"):
        again = kn.simulation.resume(tmp_path / "a")
    assert identical(again, kn.simulate(PENDULUM, Q0, V0, 0.5))


def test_an_interrupted_run_is_a_prefix_and_goes_on(tmp_path):
    presses = [0.2]

    def controller(model, t, q, v):
        if presses and t >= presses[0]:
            presses.clear()
            raise KeyboardInterrupt
        return -v

    whole = kn.simulate(PENDULUM, Q0, V0, 0.4, controller=lambda model, t, q, v: -v)
    part = kn.simulate(PENDULUM, Q0, V0, 0.4, controller=controller, checkpoint=tmp_path / "run")
    assert part.reason == "interrupted"
    assert np.array_equal(part.q, whole.q[: len(part)])
    assert identical(kn.simulation.resume(tmp_path / "run", controller=controller), whole)


def test_a_run_with_everything_in_the_file_needs_nothing(tmp_path):
    @kn.kernel
    def servo(model, q, v, kp, q_ref):
        return kp * (q_ref - q) - v

    given = {"kp": 20.0, "q_ref": [0.1, 0.2]}
    whole = kn.simulate(PENDULUM, Q0, V0, 0.1, controller=servo, parameters=given, checkpoint=tmp_path / "run")
    assert identical(kn.simulation.resume(tmp_path / "run", controller=servo), whole)
    with pytest.raises(
        TypeError, match=r"was computed with the controller .*servo, which a file cannot hold: give controller="
    ):
        kn.simulation.resume(tmp_path / "run")


def test_files_are_for_their_owner(tmp_path):
    kn.simulate(PENDULUM, Q0, V0, 0.01, checkpoint=tmp_path / "run")
    if os.name == "posix":
        assert (tmp_path / "run").stat().st_mode & 0o077 == 0
        assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "run").iterdir())
    assert files(tmp_path / "run") == ["00000001.npz"]
    arrays = np.load(tmp_path / "run" / "00000001.npz")
    assert arrays["times"].shape == (11,)


def test_what_is_refused(tmp_path):
    folder = tmp_path / "run"
    kn.simulate(PENDULUM, Q0, V0, 0.01, checkpoint=folder)
    with pytest.raises(FileExistsError, match="holds the checkpoints of a run: resume=True goes on with it"):
        kn.simulate(PENDULUM, Q0, V0, 0.01, checkpoint=folder)
    with pytest.raises(ValueError, match="holds another run: v0 was not the same when it was begun"):
        kn.simulate(PENDULUM, Q0, [0, 0], 0.01, checkpoint=folder, resume=True)
    with pytest.raises(ValueError, match="holds another run: controller was not the same"):
        kn.simulate(PENDULUM, Q0, V0, 0.01, controller=lambda model, v: -v, checkpoint=folder, resume=True)
    with pytest.raises(ValueError, match="holds another run: model was not the same"):
        kn.simulate(PENDULUM.without_friction().with_gravity((0, 0, -1)), Q0, V0, 0.01, checkpoint=folder, resume=True)
    with pytest.raises(FileNotFoundError, match="holds no checkpoints of a simulation"):
        kn.simulation.resume(tmp_path / "nothing")
    (folder / "start.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"start\.npz is damaged.*remove .* and begin again"):
        kn.simulation.resume(folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"is a folder with other files in it, such as thesis\.tex"):
        kn.simulate(PENDULUM, Q0, V0, 0.01, checkpoint=other)
    assert (other / "thesis.tex").read_text() == "mine"
