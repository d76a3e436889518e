"""Trajectories: files, slices, what is between rows, quantities along them, pictures."""

import dataclasses
import inspect
import math
import sys

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model.labels import position_labels, position_units, velocity_labels
from knuckle.trajectory.trajectory_plot import panels

ARM = kn.robots.load("arm")


def floating():
    builder = kn.Builder("satellite")
    builder.body("hub", joint=Free(), mass=3.0, inertia=(0.1, 0.2, 0.25), joint_name="floating_base")
    builder.body(
        "arm", on="hub", at=(0.1, 0, 0), joint=Revolute("y"), mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    builder.body(
        "dish", on="arm", at=(0.5, 0, 0), joint=Revolute("z"), mass=0.5, com=(0.1, 0, 0.1), inertia=(0.01,) * 3
    )
    builder.frame("feed", on="dish", at=(0, 0, 0.2))
    return builder.build()


FLOATING = floating()


@pytest.fixture(scope="module")
def swing():
    rng = np.random.default_rng(0)
    q0 = kn.random_configuration(FLOATING, rng)
    return kn.simulate(
        FLOATING, q0, rng.standard_normal(FLOATING.nv), 1.0, controller=0.1 * np.arange(FLOATING.nv),
        events={"level": lambda t, q, v: q[-1], "clock": lambda t, q, v: t - 0.5}, frames=FLOATING.frame_names[-1:],
    )  # fmt: skip


def identical(a, b):
    arrays = all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("times", "q", "v", "tau"))
    events = [(o.time, o.name, o.kind, *o.q, *o.v, *o.v_before) for o in a.events] == [
        (o.time, o.name, o.kind, *o.q, *o.v, *o.v_before) for o in b.events
    ]
    facts = all(getattr(a, x) == getattr(b, x) for x in ("reason", "message", "integrator", "dt"))
    frames = a.frames.keys() == b.frames.keys() and all(np.array_equal(a.frames[x], b.frames[x]) for x in a.frames)
    return arrays and events and facts and frames


# files


@pytest.mark.parametrize("suffix", [".npz", ".nc"])
def test_a_file_gives_it_back_to_the_last_bit(swing, tmp_path, suffix):
    if suffix == ".nc":
        pytest.importorskip("xarray")
        pytest.importorskip("netCDF4")
    path = tmp_path / f"swing{suffix}"
    swing.save(path)
    back = kn.Trajectory.load(path)
    assert identical(swing, back)
    assert back.model == FLOATING
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_with_a_joint_of_your_own_needs_the_model(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Own(Revolute):
        def __init__(self):
            super().__init__("y")

    builder = kn.Builder("own")
    builder.body("bob", joint=Own(), mass=1.0, com=(0, 0, -1))
    model = builder.build()
    motion = kn.simulate(model, [0.3], None, 0.1)
    motion.save(tmp_path / "own.npz")
    with pytest.raises(ValueError, match=r"own\.npz could not hold its model.*load it with model=\.\.\."):
        kn.Trajectory.load(tmp_path / "own.npz")
    assert identical(motion, kn.Trajectory.load(tmp_path / "own.npz", model=model))
    with pytest.raises(ValueError, match="was computed with another model than the one given, 'arm'"):
        kn.Trajectory.load(tmp_path / "own.npz", model=ARM)


def test_damaged_and_foreign_files_are_refused(swing, tmp_path):
    path = tmp_path / "swing.npz"
    swing.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"swing\.npz is damaged"):
        kn.Trajectory.load(path)
    path.write_bytes(data[:1000])
    with pytest.raises(ValueError, match=r"swing\.npz is damaged"):
        kn.Trajectory.load(path)
    np.savez(path, times=np.zeros(3))
    with pytest.raises(ValueError, match="was not written by knuckle"):
        kn.Trajectory.load(path)
    with pytest.raises(ValueError, match=r"a trajectory is saved as \.npz or, through xarray, as \.nc"):
        swing.save(tmp_path / "swing.xls")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        swing.save(tmp_path / "nowhere" / "swing.npz")


def test_a_file_that_was_there_stays_if_writing_fails(swing, tmp_path, monkeypatch):
    path = tmp_path / "swing.npz"
    swing.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        swing[0.0:0.5].save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_not_installed_is_named(swing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"need (xarray|netCDF4), which is not installed: pip install xarray netCDF4"):
        swing.save(tmp_path / "swing.nc")
    with pytest.raises(ImportError, match="xarray datasets need xarray"):
        swing.to_xarray()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib, which is not installed: .*install matplotlib"):
        swing.plot(tmp_path / "swing.png")


def test_xarray_names_variables_and_units(swing):
    pytest.importorskip("xarray")
    data = swing.to_xarray()
    assert np.array_equal(data.q.sel(position="floating_base.pz"), swing.q[:, 6])
    assert np.array_equal(data.v.sel(velocity=FLOATING.joint_names[-1]), swing.v[:, -1])
    assert data.time.attrs["units"] == "s"
    assert data.tau.attrs["units"] == "N m, N"
    assert np.allclose(data.kinetic_energy + data.potential_energy, swing.energy)


# time


def test_slices_are_of_time(swing):
    part = swing[0.25:0.5]
    assert part.times[0] >= 0.25
    assert part.times[-1] <= 0.5
    assert len(part) == 251
    assert np.array_equal(part.q, swing.q[250:501])
    assert [o.name for o in part.events if o.name == "clock"] == ["clock"]
    assert "clock" not in [o.name for o in swing[:0.4].events]
    assert identical(swing[:], swing)
    assert np.array_equal(next(iter(part.frames.values())), next(iter(swing.frames.values()))[250:501])
    even = swing[0.1:0.5:0.1]
    assert even.times == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert np.array_equal(swing.rows(slice(None, None, 10)).q, swing.q[::10])


def test_wrong_slices_and_times(swing):
    with pytest.raises(TypeError, match=r"sliced by time, as trajectory\[1\.0:2\.0\]"):
        swing[3]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"no row between 0\.0001 and 0\.0002 s"):
        swing[0.0001:0.0002]
    with pytest.raises(ValueError, match="t: 2 s is outside of the trajectory, which has 0 to 1 s"):
        swing.state(2.0)
    with pytest.raises(ValueError, match="times: nan s is outside"):
        swing.resample([math.nan])
    with pytest.raises(ValueError, match="times must not decrease"):
        swing.resample([0.2, 0.1])
    with pytest.raises(TypeError, match="either times or dt"):
        swing.resample()
    with pytest.raises(ValueError, match="dt=0 must be positive"):
        swing.resample(dt=0)


def test_rows_are_given_back_where_they_are(swing):
    again = swing.resample(swing.times[::7])
    assert np.array_equal(again.q, swing.q[::7])
    assert np.array_equal(again.v, swing.v[::7])
    _, q, v = swing.state(float(swing.times[17]))
    assert np.array_equal(q, swing.q[17])
    assert np.array_equal(v, swing.v[17])
    assert swing.resample(dt=0.001).times == pytest.approx(swing.times)


def test_resampling_converges_on_the_manifold(swing):
    """Errors between rows h apart: O(h⁴) for q and O(h³) for v, and quaternions stay unit."""
    at = np.linspace(0.003, 0.997, 101)
    exact = swing.resample(at)

    def errors(every):
        coarse = swing.rows(slice(None, None, every)).resample(at[at <= swing.times[::every][-1]])
        n = len(coarse)
        dq = kn.difference(FLOATING, exact.q[:n], coarse.q)
        norms = np.linalg.norm(coarse.q[:, :4], axis=-1)
        assert np.abs(norms - 1).max() < 1e-14
        return np.abs(dq).max(), np.abs(exact.v[:n] - coarse.v).max()

    (q1, v1), (q2, v2) = errors(40), errors(20)
    assert math.log2(q1 / q2) > 3.5
    assert math.log2(v1 / v2) > 2.5


def test_velocity_is_the_rate_of_the_position_between_rows(swing):
    t, h = 0.12345, 1e-6
    before, here, after = (swing.rows(slice(None, None, 50)).state(t + d) for d in (-h, 0.0, h))
    rate = kn.difference(FLOATING, before.q, after.q) / (2 * h)
    assert np.allclose(rate, here.v, atol=1e-7 * max(1.0, np.abs(here.v).max()))


def test_between_rows_of_one_time_nothing_is_invented():
    builder = kn.Builder("ball")
    builder.body("ball", joint=Prismatic("z"), mass=1.0, limits=(0.0, math.inf))
    motion = kn.simulate(builder.build(), [1.0], None, 1.0, dt=0.02, joint_limits=kn.simulation.RigidStops(0.8))
    impact = motion.events[0]
    _, _, v = motion.state(impact.time)
    assert np.array_equal(v, impact.v)
    _, _, before = motion.state(impact.time - 1e-9)
    assert before == pytest.approx(impact.v_before, abs=1e-7)
    fall = motion.resample(dt=0.001)
    exact = 1 - 9.81 / 2 * fall.times**2
    assert np.allclose(fall.q[fall.times < impact.time, 0], exact[fall.times < impact.time], atol=1e-12)


def test_a_single_row():
    model = kn.robots.load("double_pendulum")
    one = kn.simulate(model, [1.0, 0.5], None, 0.1).rows([0])
    assert len(one) == 1
    assert np.array_equal(one.state(0.0).q, [1.0, 0.5])
    assert one.duration == 0.0


# quantities


def test_energies_and_frames(swing):
    assert np.array_equal(swing.kinetic_energy, kn.kinetic_energy(FLOATING, swing.q, swing.v))
    assert np.array_equal(swing.potential_energy, kn.potential_energy(FLOATING, swing.q))
    assert np.array_equal(swing.energy, swing.kinetic_energy + swing.potential_energy)
    name = FLOATING.frame_names[-1]
    assert np.array_equal(swing.frames[name], kn.pose(FLOATING, swing.q, name))
    assert np.array_equal(swing.frame(name), swing.frames[name])
    assert swing.frame(FLOATING.body_names[0]).shape == (len(swing), 4, 4)
    with pytest.raises(KeyError, match="no frame is called 'toool'"):
        swing.frame("toool")


def test_repr_is_worth_reading(swing):
    text = repr(swing)
    assert "1001 rows, 0 to 1 s, rk4, dt=0.001 s" in text
    assert "finished" in text
    assert "event 'clock' × 1" in text


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"v has shape \(3, 6\); with 3 times it must have shape \(3, 7\)"):
        kn.Trajectory(ARM, np.zeros(3), np.zeros((3, 7)), np.zeros((3, 6)), np.zeros((3, 7)))
    with pytest.raises(ValueError, match="a trajectory has at least one state"):
        kn.Trajectory(ARM, np.zeros(0), np.zeros((0, 7)), np.zeros((0, 7)), np.zeros((0, 7)))


# pictures


def test_labels_tell_variables_apart():
    builder = kn.Builder("all")
    builder.body("a", joint=Free(), mass=1.0, joint_name="base")
    builder.body("b", on="a", joint=Revolute("x"), mass=1.0, joint_name="knee")
    builder.body("c", on="b", joint=kn.joints.Universal(), mass=1.0, joint_name="u")
    model = builder.build()
    assert position_labels(model) == (
        *(f"base.{x}" for x in ("w", "x", "y", "z", "px", "py", "pz")),
        "knee",
        "u.0",
        "u.1",
    )
    assert velocity_labels(model) == (
        *(f"base.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")),
        "knee",
        "u.0",
        "u.1",
    )
    assert position_units(model) == ("1",) * 4 + ("m",) * 3 + ("rad",) * 3
    assert len(set(position_labels(FLOATING))) == FLOATING.nq


def test_panels_have_units(swing):
    titles = [panel.title for panel in panels(swing, ("q", "v", "tau", "energy"), None)]
    assert titles == [
        "quaternion", "position [m]", "position [rad]", "velocity [rad/s]", "velocity [m/s]", "force [N m]",
        "force [N]", "energy [J]",
    ]  # fmt: skip
    (panel,) = panels(swing, ("q",), (FLOATING.joint_names[-1],))
    assert np.array_equal(panel.curves[FLOATING.joint_names[-1]], swing.q[:, -1])
    with pytest.raises(ValueError, match="what='x'; a plot shows 'q', 'v', 'tau', 'activation', 'energy', 'contact'"):
        panels(swing, ("x",), None)
    with pytest.raises(KeyError, match="no joint is called 'hip'"):
        panels(swing, ("q",), ("hip",))


def test_plot_goes_to_a_file_without_a_window(swing, tmp_path):
    figure = swing.plot(tmp_path / "swing.png", title="A swing")
    assert (tmp_path / "swing.png").read_bytes()[:4] == b"\x89PNG"
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    assert any(np.array_equal(line.get_ydata(), swing.q[:, 0]) for line in lines)
    assert figure.axes[-1].get_xlabel() == "time [s]"
    swing.plot(tmp_path / "swing.svg", what="energy")
    assert b"<svg" in (tmp_path / "swing.svg").read_bytes()


def test_play_hands_it_to_the_viewer(swing, monkeypatch):
    view = pytest.importorskip("knuckle.viewer")
    played = []
    monkeypatch.setattr(view, "play", lambda motion, **options: played.append((motion, options)) or "a viewer")
    assert swing.play(speed=2.0) == "a viewer"
    ((motion, options),) = played
    assert motion is swing
    assert options["speed"] == 2.0


@pytest.mark.parametrize("kind", [kn.Trajectory, kn.simulation.Rollout])
def test_the_options_of_methods_are_named_as_those_of_what_they_call(kind):
    """Names and defaults of `play` and `plot` are those of the viewer's and of the plot's function."""
    from knuckle.trajectory.trajectory_plot import plot

    for method, function in ((kind.play, kn.viewer.play), (kind.plot, plot)):
        own, called = (list(inspect.signature(x).parameters.values())[1:] for x in (method, function))
        assert [(p.name, p.kind, p.default) for p in own] == [(p.name, p.kind, p.default) for p in called]
