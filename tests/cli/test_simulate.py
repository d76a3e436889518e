"""`knuckle simulate`: what it computes, reports, writes and refuses."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cli.commands import simulate_model as simulate_module
from knuckle.cli.commands.on_motion import Method
from knuckle.integrators.registry import INTEGRATORS
from knuckle.model import Box, solid_box

from ..seeds import quick

PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["simulate", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def told(*arguments: Any, code: int = 0) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json", code=code).stdout)


def test_it_is_what_the_library_computes(tmp_path: Path):
    out = tmp_path / "swing.npz"
    said = told("double_pendulum", "-t", 0.5, "--dt", 0.01, "--start", "upper_pivot=2", "--out", out)
    model = kn.robots.load("double_pendulum")
    expected = kn.simulate(model, [2.0, 0.0], None, 0.5, dt=0.01)
    found = kn.Trajectory.load(out)
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.v, expected.v)
    assert said["q"] == dict(zip(model.joint_names, expected.q[-1].tolist(), strict=True))
    assert (said["rows"], said["dt"], said["integrator"], said["reason"]) == (51, 0.01, "rk4", "finished")
    assert said["files"] == {"trajectory": str(out)}
    assert said["real_time_factor"] == pytest.approx(said["duration"] / said["wall_s"])


def test_the_energy_of_a_free_swing_is_reported():
    said = told("pendulum", "-t", 1, "--start", "pivot=1")["energy"]
    assert said["drift"] < 1e-9
    assert said["after"] == pytest.approx(said["before"])
    assert said["work"] == 0.0
    shown = run("pendulum", "-t", 1, "--start", "pivot=1").stdout
    for word in ("pendulum: 1 s, rk4, steps of 1 ms", "times real time", "largest error", "J of motion", "pivot"):
        assert word in shown


@pytest.mark.slow
def test_work_is_what_the_energy_gains_without_friction():
    """dE = τ·v dt, up to the error h²/12 (P'(T) − P'(0)) of the trapezoidal rule: some 2e-6 of the motion here."""
    arguments = ("arm", "-c", "pd", "--goal", "elbow_pitch=1", "--no-joint-friction", "-t", 0.5, "--dt", 1e-4)
    said = told(*arguments)["energy"]
    assert said["after"] - said["before"] == pytest.approx(said["work"], abs=1e-5 * said["greatest_kinetic"])
    assert said["work"] < -1.0  # the arm comes down
    assert "of work" in run("arm", "-c", "pd", "--goal", "elbow_pitch=1", "-t", 0.1).stdout


@pytest.mark.slow
def test_hold_holds_and_none_does_not():
    start = "shoulder_pitch=1.2,elbow_pitch=0.5"
    for controller, moved in (("hold", False), ("none", True)):
        q = told("arm", "-c", controller, "--start", start, "-t", 0.3)["q"]
        assert (abs(q["shoulder_pitch"] - 1.2) > 1e-2) == moved
        assert (abs(q["shoulder_pitch"] - 1.2) < 1e-9) != moved


def test_pd_arrives():
    q = told("arm", "-c", "pd", "--goal", "elbow_pitch=1.1", "--goal", "shoulder_yaw=0.5", "-t", 1.5)["q"]
    assert q["elbow_pitch"] == pytest.approx(1.1, abs=1e-4)
    assert q["shoulder_yaw"] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.slow
def test_a_floating_robot_falls_and_its_joints_are_held():
    """The base is not driven: its centre of mass falls by g t²/2; and the knees bend to where they are pulled."""
    said = told("quadruped", "-c", "pd", "--goal", "front_left_knee=0.5", "-t", 1, "--start", "floating_base.pz=5")
    model = kn.robots.load("quadruped")
    q0 = kn.neutral(model)
    q0[6] = 5.0
    fallen = kn.center_of_mass(model, q0) - kn.center_of_mass(model, np.array(list(said["q"].values())))
    np.testing.assert_allclose(fallen, [0.0, 0.0, 9.81 / 2], atol=1e-6)
    assert said["q"]["front_left_knee"] == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_a_floor_is_put_under_a_robot(tmp_path: Path):
    out = tmp_path / "stands.npz"
    arguments = ("quadruped", "--base", "floating", "-c", "hold", "--bandwidth", 10, "-t", 0.1, "--out", out)
    report = " ".join(run(*arguments, "--ground", "--friction", 0.8).output.split())
    motion = kn.Trajectory.load(out)
    assert re.search(r"contact: \w+ on world, .*; \d+% of the time, \d+% sliding, at most [\d.e+]+ N", report)
    assert np.linalg.norm(motion.contact_force("world"), axis=1).max() > 50
    (floor,) = motion.model.base.collisions
    assert motion.model.contact.between("ground", "").friction == 0.8
    assert float(floor.X.r[2]) == pytest.approx(-0.348, abs=1e-3)
    assert motion.integrator == "contact"
    assert motion.q[-1, 6] > -0.025
    run(*arguments, "--ground", "--no-contacts")
    assert kn.Trajectory.load(out).q[-1, 6] < -0.04
    assert "--friction is that of a floor" in run("arm", "--friction", 2, code=2).output


@pytest.mark.slow
def test_a_floor_is_put_under_a_block(tmp_path: Path):
    """Where it is lowest."""
    file, out = tmp_path / "block.json", tmp_path / "falls.npz"
    b = kn.Builder("block")
    b.body("block", joint=kn.joints.Free(), inertia=solid_box(2.0, (0.2, 0.2, 0.2)), collisions=Box((0.2, 0.2, 0.2)))
    kn.save(b.build(), file)
    arguments = (file, "-t", 0.1, "--out", out)
    report = " ".join(run(*arguments, "--ground", "--friction", 0.8).output.split())
    assert re.search(r"contact: block on \w+.* at most [\d.e+]+ N", report)
    motion = kn.Trajectory.load(out)
    assert (motion.integrator, motion.model.contact.between("ground", "").friction) == ("contact", 0.8)
    (floor,) = motion.model.base.collisions
    assert float(floor.X.r[2]) == pytest.approx(-0.1, abs=1e-9)
    assert motion.contact_force("block")[-1] == pytest.approx([0, 0, 2.0 * 9.81], abs=1e-6)
    run(*arguments, "--ground", "--no-contacts")
    assert kn.Trajectory.load(out).q[-1, 6] == pytest.approx(-9.81 / 2 * 0.1**2, abs=1e-9)
    assert "--friction is that of a floor" in run("arm", "--friction", 2, code=2).output


def test_loops_move_and_stay_closed():
    said = told("four_bar", "-t", 0.3)
    model = kn.robots.load("four_bar")
    q = np.array(list(said["q"].values()))
    assert np.abs(q).max() > 0.05
    assert np.abs(kn.loops.error(model, q)).max() < 1e-6


def test_stops_and_speeds():
    free = told("cart_pole", "--speed", "slide=4", "-t", 0.5)
    stopped = told("cart_pole", "--speed", "slide=4", "-t", 0.5, "--joint-limits", "rigid")
    assert free["q"]["slide"] > 1.2
    assert stopped["q"]["slide"] <= 1.2 + 1e-9
    assert "slide" in {event["name"] for event in stopped["events"]}
    assert (
        "at their stops: slide" in run("cart_pole", "--speed", "slide=4", "-t", 0.5, "--joint-limits", "rigid").stdout
    )


def test_every_integrator_of_the_library_is_offered():
    assert {method.value for method in Method} == set(INTEGRATORS)


@pytest.mark.parametrize("integrator", quick(INTEGRATORS, ["rk4", "implicit", "variational4"]))
def test_every_integrator_runs(integrator: str):
    said = told("pendulum", "-i", integrator, "-t", 0.1, "--start", "pivot=1")
    assert said["q"]["pivot"] == pytest.approx(0.917, abs=0.01)  # 1 − g/l sin(1) t²/2, and some inertia of the ball


def test_pictures_and_replays(tmp_path: Path):
    plot, html = tmp_path / "a.png", tmp_path / "a.html"
    shown = run("pendulum", "-t", 0.1, "--plot", plot, "--html", html).stdout
    assert f"plot: {plot}" in shown
    assert f"replay: {html}" in shown
    assert plot.read_bytes().startswith(PNG)
    assert "<title>pendulum</title>" in html.read_text("utf-8")


def test_a_motion_that_diverges_is_a_failure(tmp_path: Path):
    out = tmp_path / "d.npz"
    arguments = ("arm", "-i", "euler", "--dt", 0.2, "-t", 20, "--start", "shoulder_pitch=1", "--no-joint-friction")
    said = told(*arguments, "--out", out, code=1)
    assert said["reason"] == "diverged"
    assert said["energy"] is None
    assert np.all(np.isfinite(kn.Trajectory.load(out).q))
    assert "diverged" in run(*arguments, code=1).stdout


def test_ctrl_c_writes_what_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    real = simulate_module.simulate

    def interrupted(*args: Any, **options: Any) -> Any:
        done = real(*args, **options)
        return done if done.duration < 0.05 else _ended(done)

    monkeypatch.setattr(simulate_module, "simulate", interrupted)
    out = tmp_path / "i.npz"
    said = told("pendulum", "-t", 0.2, "--out", out, code=130)
    assert said["reason"] == "interrupted"
    assert len(kn.Trajectory.load(out)) == 101


def _ended(motion: Any) -> Any:
    import dataclasses

    return dataclasses.replace(motion.rows(slice(0, 101)), reason="interrupted", message="at t = 0.1 s")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--goal", "elbow_pitch=1"), "--goal is for --controller pd, not for none"),
        (("--start", "elbow=1"), "--start elbow=1: no variable is called 'elbow'; did you mean elbow_pitch?"),
        (("--start", "elbow_pitch"), "--start elbow_pitch: expected joint=value, such as shoulder_yaw=0.5"),
        (("--speed", "elbow_pitch=fast"), "--speed elbow_pitch=fast: 'fast' is not a number"),
        (("--start", "elbow_pitch=inf"), "--start elbow_pitch=inf: 'inf' is not a number"),
        (("--dt", "-1"), "dt=-1.0 must be positive"),
        (("--duration", "0"), "duration=0.0 must be positive"),
        (("--out", "a.xls"), "--out a.xls: expected a file that ends in .npz or .nc or .csv"),
        (("--dt", "5", "--duration", "1"), "--dt 5 is longer than --duration 1"),
        (("--duration", "abc"), "Invalid value for '--duration'"),
        (("--nonsense",), "No such option: --nonsense"),
        (("--plot", "no/a.png"), "--plot no/a.png: there is no folder no"),
        (
            ("--start", "elbow_pitch=9", "--joint-limits", "rigid"),
            "q0: joint 'elbow_pitch' is at 9, beyond its upper limit",
        ),
    ],
)
def test_wrong_words_are_one_line(arguments: tuple[str, ...], complaint: str):
    (line,) = run("arm", *arguments, code=2).stderr.splitlines()
    assert line.startswith(f"error: {complaint}")


def test_wrong_choices_are_refused():
    assert "rk4" in run("arm", "--integrator", "rk5", code=2).output
    assert "hold" in run("arm", "--controller", "pid", code=2).output


def test_the_command_in_a_process_of_its_own(tmp_path: Path):
    command = [sys.executable, "-m", "knuckle", "simulate", "pendulum", "-t", "0.1", "--out", "p.npz", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 101
    assert (tmp_path / "p.npz").exists()


def test_degrees_go_in_and_come_out():
    said = run("pendulum", "-t", "0.01", "--start", "pivot=90", "--degrees").output
    assert "°" in said
    assert " 90 " in said


def test_a_table_for_other_programs(tmp_path: Path):
    run("pendulum", "-t", "0.01", "--out", tmp_path / "p.csv")
    heading, *rows = (tmp_path / "p.csv").read_text("utf-8").splitlines()
    assert heading.startswith("time [s],q pivot [rad],v pivot [rad/s],tau pivot [N m],")
    motion = kn.simulate(kn.robots.load("pendulum"), duration=0.01)
    assert [float(row.split(",")[1]) for row in rows] == motion.q[:, 0].tolist()
    with pytest.raises(ValueError, match="no model"):
        kn.Trajectory.load(tmp_path / "p.csv")


@pytest.mark.slow
def test_compliant_limits_push_back(tmp_path: Path):
    """The elbow starts fast towards its limit, and is turned back a little beyond it."""
    at = ("--start", "elbow_pitch=2.3", "--speed", "elbow_pitch=3", "--no-joint-friction")
    run("arm", "-t", "0.2", *at, "--joint-limits", "compliant", "--out", tmp_path / "a.npz")
    q = kn.Trajectory.load(tmp_path / "a.npz").q[:, 3]
    assert 2.4 < q.max() < 2.6
    assert q[-1] < q.max()
