"""Pictures and videos without a browser: what is seen where, what hides what, shadows, files."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import knuckle as kn
from knuckle.model import Box, Geometry, Material, Sphere
from knuckle.spatial import Transform
from knuckle.viewer.offscreen.camera import Camera
from knuckle.viewer.offscreen.drawn_solids import Solid, arrows, rods, solid
from knuckle.viewer.offscreen.raster_loops import draw_triangles
from knuckle.viewer.offscreen.renderer import Renderer
from knuckle.viewer.offscreen.video import ffmpeg
from knuckle.viewer.scene.triangles import box, ellipsoid

from ..seeds import quick

SMALL = (64, 48)
EYE = np.array([3.0, -3.0, 2.0])
RED, BLUE = (0.9, 0.05, 0.05, 1.0), (0.05, 0.05, 0.9, 1.0)


def renderer(width: int = 160, height: int = 120) -> Renderer:
    return Renderer(EYE, np.zeros(3), width, height, ground=-1.0, cell=0.5, radius=1.5)


def ball(at: tuple[float, float, float], radius: float, color: tuple[float, ...]) -> Solid:
    surface = ellipsoid([radius] * 3)
    return solid(surface.vertices + np.array(at), surface.faces, color)


def pixels(picture: np.ndarray, channel: int) -> np.ndarray:
    """(n, 2): where a picture has one colour, as columns and rows."""
    others = [k for k in range(3) if k != channel]
    strong = picture[..., channel].astype(int) > picture[..., others].max(axis=-1).astype(int) + 60
    return np.argwhere(strong)[:, ::-1]


@pytest.mark.parametrize("at", quick([(0.4, 0.5, 0.3), (0.0, 0.0, 0.0), (-0.6, 0.2, -0.3)], [(0.4, 0.5, 0.3)]))
def test_a_ball_is_where_the_camera_sees_its_middle(at: tuple[float, float, float]):
    drawn = renderer().draw([ball(at, 0.15, RED)])
    expected = Camera(EYE, np.zeros(3), 160, 120).project(np.array([at]))[0, :2]
    assert np.allclose(pixels(drawn, 0).mean(axis=0) + 0.5, expected, atol=1.5)


@pytest.mark.slow
def test_a_place_is_as_large_as_its_distance_says():
    """Twice as far away from the eye, half as wide."""
    near, far = (EYE * (1 - k) for k in (0.3, 0.6))
    widths = [np.ptp(pixels(renderer(400, 300).draw([ball(tuple(x), 0.05, RED)]), 0)[:, 0]) for x in (near, far)]
    assert widths[0] == pytest.approx(2 * widths[1], abs=3)


def test_what_is_nearer_hides_what_is_behind_it_in_any_order():
    near, far = ball(tuple(0.4 * EYE), 0.2, RED), ball((0.0, 0.0, 0.0), 0.2, BLUE)
    for order in ([near, far], [far, near]):
        drawn = renderer().draw(order)
        assert len(pixels(drawn, 0)) > 50
        assert len(pixels(drawn, 2)) == 0
    clear = ball(tuple(0.4 * EYE), 0.2, (*RED[:3], 0.3))
    through = renderer().draw([far, clear])[60, 80].astype(int)
    assert through[2] > 40
    assert through[0] > 40


@pytest.mark.slow
def test_the_ground_is_darker_in_the_shadow():
    """Below a plate, away from the sun; and only there."""
    plate = box((0.8, 0.8, 0.05))
    empty, shaded = (renderer().draw(x).astype(int) for x in ([], [solid(plate.vertices, plate.faces, BLUE)]))
    sun = np.array([0.42, -0.55, 0.95])
    below = Camera(EYE, np.zeros(3), 160, 120).project(np.array([-sun / sun[2] - [0, 0, 0.0]]))[0, :2].astype(int)
    assert shaded[below[1], below[0]].sum() < empty[below[1], below[0]].sum() - 60
    assert np.array_equal(shaded[-1], empty[-1])


def test_native_code_sees_what_the_text_sees():
    rng = np.random.default_rng(0)
    corners = np.column_stack([rng.uniform(-4, 24, (12 * 3, 2)), rng.uniform(0.1, 1, 12 * 3)]).reshape(-1)
    results = []
    for call in (draw_triangles, draw_triangles.python):
        near, face, weight = np.zeros(400), np.full(400, -1), np.zeros(800)
        call(12, corners, 20, 20, near, face, weight)
        results.append((near, face, weight))
    assert np.any(results[0][1] >= 0)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_rods_and_arrows_are_closed_surfaces():
    """Every edge belongs to two triangles, once each way; the volume of a rod is that of a prism."""
    ends = np.array([[[0.0, 0.0, 0.0], [0.0, 0.3, 0.4]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.7]]])
    for one in (
        rods(ends, np.full((2, 2), 0.1), np.zeros((2, 3))),
        *arrows(ends[:, 0], ends[:, 1], 0.05, np.zeros((2, 3))),
    ):
        edges = np.concatenate([one.faces[:, [0, 1]], one.faces[:, [1, 2]], one.faces[:, [2, 0]]])
        keys = {tuple(edge) for edge in edges.tolist()}
        assert len(keys) == len(edges)
        assert all((b, a) in keys for a, b in keys)
        a, b, c = np.moveaxis(one.vertices[one.faces], 1, 0)
        assert np.sum(np.cross(a, b) * c) / 6 > 0


@pytest.fixture(scope="module")
def swing() -> kn.Trajectory:
    times = np.linspace(0.0, 0.2, 21)
    model = kn.robots.load("pendulum")
    return kn.Trajectory(model, times, np.sin(9 * times)[:, None], np.cos(times)[:, None], np.zeros((21, 1)))


def test_a_folder_has_a_picture_for_each_moment(swing: kn.Trajectory, tmp_path: Path):
    folder = swing.video(tmp_path / "frames", size=(32, 24), rate=5.0)
    first, last = (np.asarray(Image.open(file), int) for file in sorted(folder.iterdir()))
    assert first.shape == (24, 32, 3)
    assert np.abs(first - last).max() > 50


@pytest.mark.slow
def test_a_video_has_its_pictures(swing: kn.Trajectory, tmp_path: Path):
    done = list[float]()
    made = swing.video(tmp_path / "swing.gif", size=SMALL, rate=20.0, progress=done.append)
    with Image.open(made) as film:
        assert film.size == SMALL
        assert film.n_frames == 5  # 0, 0.05, …, 0.2 s
        assert film.info["duration"] == 50
    assert done == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    folder = kn.viewer.video([swing, swing], tmp_path / "frames", size=SMALL, rate=10.0, speed=0.5, theme="dark")
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"{k:05d}.png" for k in range(5)]
    first, last = (np.asarray(Image.open(file), int) for file in (files[0], files[-1]))
    assert np.abs(first - last).max() > 50


@pytest.mark.slow
def test_a_picture_of_a_model_and_of_a_motion(swing: kn.Trajectory, tmp_path: Path):
    tip = swing.model.frame_names[-1]
    drawn = kn.viewer.picture(swing, tmp_path / "a.png", time=0.1, size=SMALL, trails=[tip])
    assert drawn.shape == (48, 64, 3)
    assert np.array_equal(np.asarray(Image.open(tmp_path / "a.png")), drawn)
    same = kn.viewer.picture(swing.model, q=swing.q[0], size=SMALL)
    other = kn.viewer.picture(swing.model, q=swing.q[0] + 1.0, size=SMALL)
    assert np.abs(same.astype(int) - other.astype(int)).max() > 50


def test_what_cannot_be_filmed(swing: kn.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for options, complaint in (
        ({"rate": 0.0}, "rate is a number above zero"),
        ({"size": (63, 48)}, "size is two even numbers"),
        ({"theme": "pink"}, "theme is"),
    ):
        with pytest.raises(ValueError, match=complaint):
            swing.video(tmp_path / "x.gif", **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ends in"):
        swing.video(tmp_path / "x.avi2")
    with pytest.raises(KeyError, match="no frame is called 'nose'"):
        swing.video(tmp_path / "x.gif", trails=["nose"], size=SMALL)
    with pytest.raises(TypeError, match="q is for a model"):
        kn.viewer.picture(swing, q=[0.0])
    with pytest.raises(ValueError, match="q has shape"):
        kn.viewer.picture(swing.model, q=[0.0, 1.0])
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"x\.mp4 needs ffmpeg.*install.*\.gif"):
        swing.video(tmp_path / "x.mp4")


@pytest.mark.slow
def test_a_video_through_ffmpeg(swing: kn.Trajectory, tmp_path: Path):
    try:
        ffmpeg(tmp_path)
    except ImportError as error:
        pytest.skip(str(error))
    for name in ("swing.mp4", "swing.webm"):
        assert swing.video(tmp_path / name, size=SMALL, rate=20.0).stat().st_size > 500
    assert b"ftyp" in (tmp_path / "swing.mp4").read_bytes()[:16]


@pytest.mark.slow
def test_a_camera_that_follows_keeps_the_robot_in_the_middle(tmp_path: Path):
    """A ball that rolls ten metres is in the same place of the picture all the time."""
    b = kn.Builder("ball")
    red = Geometry(Sphere(0.2), Transform.identity(), material=Material("", RED))
    b.body("ball", joint=kn.joints.Prismatic("x"), mass=1.0, inertia=(0.01, 0.01, 0.01), visuals=red)
    b.body("hat", on="ball", at=(0, 0, 0.3), mass=0.1, visuals=Geometry(Box((0.1, 0.1, 0.1))))
    motion = (b.build(), [0.0, 1.0], [[0.0], [10.0]])
    kn.viewer.video(motion, tmp_path / "follow", size=(160, 120), rate=1.0, follow=True)
    places = [pixels(np.asarray(Image.open(tmp_path / "follow" / f"0000{k}.png")), 0).mean(axis=0) for k in (0, 1)]
    assert np.allclose(*places, atol=1.0)
