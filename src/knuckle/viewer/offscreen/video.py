"""Videos and pictures of motions as files, without a browser or a display."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from knuckle.extras import install, need
from knuckle.functions import neutral
from knuckle.functions.loops.assembly import close as close_loops
from knuckle.model import Model
from knuckle.viewer.recording import Recording, recordings
from knuckle.viewer.scene.triangles import Array

from .film_set import FilmSet, film_set

_ENCODED, _PAGES = (".mp4", ".webm", ".mkv", ".mov"), (".gif", ".webp", ".png")
_CODECS = {".webm": ("libvpx-vp9", "-b:v", "0", "-crf", "34")}
_H264 = ("libx264", "-crf", "20", "-preset", "medium", "-movflags", "+faststart")


class VideoOptions(TypedDict, total=False):
    """The options of `video`."""

    size: tuple[int, int]
    rate: float
    speed: float
    theme: Literal["light", "dark"]
    spacing: float | None
    contacts: bool
    trails: Sequence[str]
    follow: bool
    most_faces: int
    progress: Callable[[float], None] | None


def video(
    trajectory: Any,
    path: str | Path,
    *,
    size: tuple[int, int] = (960, 540),
    rate: float = 30.0,
    speed: float = 1.0,
    theme: Literal["light", "dark"] = "light",
    spacing: float | None = None,
    contacts: bool = True,
    trails: Sequence[str] = (),
    follow: bool = False,
    most_faces: int = 40_000,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Writes a motion, or several side by side, as a video, drawn without a browser or a display.

    Args:
        trajectory: a trajectory, a tuple (model, times, q) or (model, times, q, v), a list of them, or a small rollout.
        path: the file: .mp4, .webm, .mkv or .mov through ffmpeg, which is on the path or comes with imageio-ffmpeg;
            .gif, .webp or .png (animated) through Pillow. A name without a suffix is a folder for single PNG files.
        size: width and height in pixels, even numbers.
        rate: pictures per second.
        speed: times real time.
        theme: "light" or "dark".
        spacing: the distance between several robots; None keeps them apart, 0 puts them in one place.
        contacts: whether the forces of contacts, where the motion knows them, are arrows.
        trails: names of frames whose paths are drawn.
        follow: whether the camera goes along with what moves.
        most_faces: meshes are made coarser until a robot has about this many triangles.
        progress: called with the part that is done, from 0 to 1.

    Returns:
        The path of the file or folder.

    Example:
        kn.simulate(model, duration=2.0).video("swing.mp4", trails=["tool0"])
    """
    target, (width, height) = Path(path), size
    for name, value in (("rate", rate), ("speed", speed)):
        if not value > 0:
            raise ValueError(f"{name} is a number above zero, not {value!r}")
    _check_look(size, theme)
    if target.suffix.lower() not in (*_ENCODED, *_PAGES, ""):
        known = ", ".join((*_ENCODED, *_PAGES))
        raise ValueError(f"path is a file that ends in {known}, or a folder; {target.name!r} is neither")
    write = _writer(target, width, height, rate)
    motions = [one.thinned(max(rate * 2, 60.0)) for one in recordings(trajectory)]
    scene = film_set(motions, size, most_faces, spacing, theme, contacts, trails, follow)
    _warn(scene)
    write(_pictures(scene, rate, speed, follow, progress))
    return target


def picture(
    subject: Any,
    path: str | Path | None = None,
    *,
    q: ArrayLike | None = None,
    time: float | None = None,
    size: tuple[int, int] = (960, 540),
    theme: Literal["light", "dark"] = "light",
    spacing: float | None = None,
    contacts: bool = True,
    trails: Sequence[str] = (),
    most_faces: int = 200_000,
) -> Array:
    """Draws a model at a position, or a motion at a moment, without a browser or a display.

    Args:
        subject: a model; or a motion, as for `video`.
        path: a file to write, .png or what else Pillow writes; none, if not given.
        q: the position of a model (nq,); neutral, if not given.
        time: the moment of a motion, in seconds; its end, if not given.
        size: width and height in pixels.
        theme: "light" or "dark".
        spacing, contacts, trails, most_faces: as for `video`.

    Returns:
        The picture (height, width, 3) in 255 parts of red, green and blue.

    Example:
        kn.viewer.picture(kn.robots.load("arm"), "arm.png", q=[0.3, 0.8, 0.0, 1.2, 0.0, -0.5, 0.0])
    """
    _check_look(size, theme)
    if isinstance(subject, Model):
        if time is not None:
            raise TypeError("time is for a motion; a model is drawn at the position q")
        motions = [_standing(subject, q)]
    elif q is not None:
        raise TypeError("q is for a model; a motion is drawn at a time")
    else:
        motions = recordings(subject)
    scene = film_set(motions, size, most_faces, spacing, theme, contacts, trails)
    _warn(scene)
    drawn = scene.picture(scene.span[1] if time is None else float(time))
    if path is not None:
        need("PIL.Image", "a picture as a file needs", "video").fromarray(drawn).save(path)
    return drawn


def _standing(model: Model, q: ArrayLike | None) -> Recording:
    if q is None:
        at = np.asarray(neutral(model), float)
        at = close_loops(model, at).q if model.loops else at
    else:
        at = np.asarray(q, float)
    if at.shape != (model.nq,):
        raise ValueError(f"q has shape {at.shape}; {model.name} needs {(model.nq,)}")
    return Recording(model, np.zeros(1), at[None])


def _check_look(size: tuple[int, int], theme: str) -> None:
    if len(size) != 2 or any(int(x) != x or x < 16 or x % 2 for x in size):
        raise ValueError(f"size is two even numbers of pixels, 16 at least, not {size!r}")
    if theme not in ("light", "dark"):
        raise ValueError(f'theme is "light" or "dark", not {theme!r}')


def _warn(scene: FilmSet) -> None:
    for problem in scene.problems:
        warnings.warn(problem, stacklevel=3)


def _pictures(
    scene: FilmSet, rate: float, speed: float, follow: bool, progress: Callable[[float], None] | None
) -> Iterator[Array]:
    first, last = scene.span
    count = max(1, round((last - first) / speed * rate) + 1)
    for k in range(count):
        yield scene.picture(min(first + k * speed / rate, last), follow)
        if progress is not None:
            progress((k + 1) / count)


def _writer(target: Path, width: int, height: int, rate: float) -> Callable[[Iterator[Array]], None]:
    """What writes pictures to a file; an error where what it needs is not installed."""
    if target.suffix.lower() in _ENCODED:
        program = ffmpeg(target)
        return lambda pictures: _encode(program, target, width, height, rate, pictures)
    image = need("PIL.Image", f"{target.name} needs", "video")
    if not target.suffix:
        return lambda pictures: _single(image, target, pictures)
    return lambda pictures: _animate(image, target, rate, pictures)


def ffmpeg(target: Path) -> str:
    """The program that encodes videos: on the path, or that of imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    if importlib.util.find_spec("imageio_ffmpeg") is not None:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    raise ImportError(
        f"{target.name} needs ffmpeg, which is not on the path: {install('video')} brings one. A file that ends in "
        ".gif, .webp or .png, or a folder of pictures, needs none",
        name="imageio_ffmpeg",
    )


def _encode(program: str, target: Path, width: int, height: int, rate: float, pictures: Iterator[Array]) -> None:
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "-"]
    codec = _CODECS.get(target.suffix.lower(), _H264)
    command = [program, "-y", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", "-c:v", *codec, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        try:
            for one in pictures:
                running.stdin.write(one.tobytes())
            running.stdin.close()
        except BrokenPipeError:
            pass
        said = running.stderr.read().decode(errors="replace").strip()
    if running.returncode:
        raise RuntimeError(f"ffmpeg did not write {target}: {said or f'exit code {running.returncode}'}")


def _single(image: Any, folder: Path, pictures: Iterator[Array]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for k, one in enumerate(pictures):
        image.fromarray(one).save(folder / f"{k:05d}.png")


def _animate(image: Any, target: Path, rate: float, pictures: Iterator[Array]) -> None:
    frames = [image.fromarray(one) for one in pictures]
    options: dict[str, Any] = {"quality": 80, "method": 4} if target.suffix.lower() == ".webp" else {}
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=1000 / rate, loop=0, **options)
