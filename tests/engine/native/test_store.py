"""Kernels on disk: shared by processes, rebuilt when damaged, never read from a place that others can write to."""

import contextlib
import json
import multiprocessing
import os
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels import fetch_or_compile
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import disk_cache
from knuckle.engine.native import machine_code as native
from knuckle.engine.native.python_abi import python_abi

from ..calls.mechanisms import chain

NAME = "ab" * 32
posix = pytest.mark.skipif(not disk_cache.OWNED, reason="files have no owner and mode here")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, _plain: None) -> Path:
    """An empty folder, and native code at once."""
    monkeypatch.setattr(kernels, "policy", "always")
    path = tmp_path / "kernels"
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(path))
    return path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled, without that of the entry for Python, which a process has once."""
    python_abi()
    texts: list[str] = []
    compile_text = native.compile_text
    monkeypatch.setattr(native, "compile_text", lambda text: texts.append(text) or compile_text(text))
    return texts


def compute(n: int = 3) -> Any:
    """A result on a new model, as another process would compute it: nothing is in memory."""
    fetch_or_compile._in_use.clear()
    return kn.gravity_force(chain(n), np.linspace(0, 1, n))


def the_file(place: Path) -> Path:
    (file,) = place.glob("*.kernel")
    return file


# reading and writing


def test_what_is_kept_comes_back(place: Path):
    disk_cache.write(NAME, {"shape": [3], "function": "f"}, b"code\nand more\0")
    assert disk_cache.read(NAME) == ({"shape": [3], "function": "f"}, b"code\nand more\0")
    assert disk_cache.read("cd" * 32) is None
    assert [file.name for file in place.iterdir()] == [NAME + ".kernel"]


@posix
def test_the_folder_is_ours_alone(place: Path):
    old = os.umask(0)
    try:
        disk_cache.write(NAME, {}, b"code")
    finally:
        os.umask(old)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_file(place).stat().st_mode) == 0o600


def test_the_folder_without_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("KNUCKLE_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert disk_cache.folder() == tmp_path / "knuckle"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert disk_cache.folder() == Path.home() / ".cache" / "knuckle"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert disk_cache.folder() == Path.home() / "Library" / "Caches" / "knuckle"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert disk_cache.folder() == tmp_path / "knuckle"


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiled: list[str]):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("KNUCKLE_CACHE_DIR")
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert disk_cache.folder().parent == tmp_path
    np.testing.assert_array_equal(compute(), compute())
    assert len(compiled) == 1


def test_the_name_says_what_it_was_made_from():
    host = native.host()
    parts: list[Any] = [disk_cache.library_hash(), host, "f", ("q", 3)]
    names = {disk_cache.key(*parts)}
    other = replace(host, cpu="another")
    for k, changed in enumerate(["x", other, "g", ("q", 4)]):
        names.add(disk_cache.key(*parts[:k], changed, *parts[k + 1 :]))
    newer = replace(host, llvm="99.0.0")
    names.add(disk_cache.key(parts[0], newer, *parts[2:]))
    assert len(names) == 6
    assert all(disk_cache.NAME.fullmatch(name) for name in names)


def test_entries_and_clear(place: Path):
    assert (list(disk_cache.entries()), disk_cache.clear()) == ([], 0)
    before = time.time() - 2
    compute()
    compute(2)
    found = list(disk_cache.entries())
    assert sorted(entry.description["model"] for entry in found) == ["chain of 2", "chain of 3"]
    assert {entry.description["function"] for entry in found} == {"gravity_force"}
    assert all(entry.size > 1000 and entry.made > before for entry in found)
    the_other = place / "notes.txt"
    the_other.write_text("mine")
    stranger = place / "letters.kernel"
    stranger.write_text("mine")
    (place / (NAME + ".kernel")).write_bytes(b"damaged")
    (place / (NAME + ".0123.part")).write_bytes(b"left behind")
    assert len(list(disk_cache.entries())) == 2
    assert disk_cache.clear() == 3
    assert sorted(place.iterdir()) == [stranger, the_other]


# kernels


def test_a_kernel_is_compiled_once(compiled: list[str], place: Path):
    first = compute()
    assert len(compiled) == 1
    np.testing.assert_array_equal(compute(), first)
    assert len(compiled) == 1
    the_file(place).unlink()
    np.testing.assert_array_equal(compute(), first)
    assert len(compiled) == 2


def _flip(data: bytes, k: int) -> bytes:
    return data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :]


DAMAGE = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one byte longer": lambda data: data + b"\0",
    "flipped first bit": lambda data: _flip(data, 0),
    "flipped in the checksum": lambda data: _flip(data, len(disk_cache.MAGIC) + 3),
    "flipped in the description": lambda data: _flip(data, len(disk_cache.MAGIC) + 40),
    "flipped in the code": lambda data: _flip(data, len(data) - 200),
    "another format": lambda data: b"knuckle kernel 0\n" + data[len(disk_cache.MAGIC) :],
    "no kernel": lambda data: b"hello",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_rebuilt(damage: Any, compiled: list[str], place: Path):
    expected = compute()
    file = the_file(place)
    sound = file.read_bytes()
    file.write_bytes(damage(sound))
    assert list(disk_cache.entries()) == []
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2
    assert disk_cache.read(file.stem) is not None
    assert len(file.read_bytes()) == len(sound)


def test_a_file_of_another_kernel_is_not_taken(compiled: list[str], place: Path):
    expected = compute(3)
    mine = the_file(place)
    mine.unlink()
    other = compute(4)
    the_file(place).rename(mine)
    np.testing.assert_array_equal(compute(3), expected)
    assert len(compiled) == 3
    np.testing.assert_array_equal(compute(4), other)


def test_code_that_does_not_load_is_rebuilt(compiled: list[str], monkeypatch: pytest.MonkeyPatch):
    expected = compute()
    loaded, refusals = native.Loaded, [RuntimeError("not for this machine")]

    def load(code: bytes) -> native.Loaded:
        if refusals:
            raise refusals.pop()
        return loaded(code)

    monkeypatch.setattr(native, "Loaded", load)
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2


@pytest.mark.parametrize("said", [{}, {"shape": None}, {"shape": "x"}])
def test_a_description_that_says_nothing_is_rebuilt(said: Any, compiled: list[str], place: Path):
    expected = compute()
    name = the_file(place).stem
    _, code = disk_cache.read(name) or pytest.fail("nothing kept")
    disk_cache.write(name, said, code)
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2


# folders that cannot be used


def test_a_folder_that_cannot_be_made(compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for path in (blocked, blocked / "below"):
        monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(path))
        assert np.isfinite(compute()).all()
    assert len(compiled) == 2
    assert blocked.read_text() == ""


def test_a_folder_that_can_only_be_read(compiled: list[str], monkeypatch: pytest.MonkeyPatch, place: Path):
    """What is in it is used, what is not is computed."""
    expected = compute()
    opened = disk_cache.CacheFolder.open

    def read_only(self: disk_cache.CacheFolder, name: str, flags: int) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", name)
        return opened(self, name, flags)

    monkeypatch.setattr(disk_cache.CacheFolder, "open", read_only)
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 1
    assert np.isfinite(compute(2)).all()
    assert len(list(place.iterdir())) == 1


def test_a_disk_that_is_full(compiled: list[str], monkeypatch: pytest.MonkeyPatch, place: Path):
    def full(self: disk_cache.CacheFolder, old: str, new: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.CacheFolder, "rename", full)
    assert np.isfinite(compute()).all()
    assert list(place.iterdir()) == [], "nothing is left behind"


@posix
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o775])
def test_a_folder_that_others_can_write_to_is_not_trusted(mode: int, compiled: list[str], place: Path):
    expected = compute()
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"no compiled kernels are kept in .*others can write to it .mode {mode:o}"):
        np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2, "the code in it was not run"
    np.testing.assert_array_equal(compute(), expected)  # and says it no more
    assert (len(compiled), list(disk_cache.entries())) == (3, [])


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_not_trusted(mode: int, compiled: list[str], place: Path):
    expected = compute()
    the_file(place).chmod(mode)
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2
    assert stat.S_IMODE(the_file(place).stat().st_mode) == 0o600


@posix
def test_a_folder_of_somebody_else_is_not_trusted(compiled: list[str], monkeypatch: pytest.MonkeyPatch, place: Path):
    expected = compute()
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.warns(RuntimeWarning, match=f"it belongs to another user .number {me}"):
        np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2
    assert [file.suffix for file in place.iterdir()] == [".kernel"]


@posix
def test_links(compiled: list[str], monkeypatch: pytest.MonkeyPatch, place: Path, tmp_path: Path):
    """A link of ours to a folder of ours is fine; a kernel that is a link is not."""
    expected = compute()
    link = tmp_path / "link"
    link.symlink_to(place)
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(link))
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 1
    file = the_file(place)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    before = elsewhere.read_bytes()
    file.symlink_to(elsewhere)
    np.testing.assert_array_equal(compute(), expected)
    assert len(compiled) == 2
    assert not file.is_symlink(), "the link was replaced"
    assert elsewhere.read_bytes() == before, "and not followed"


# processes

TOGETHER = """
import json, sys
import numpy as np
import knuckle as kn
from knuckle.testing import general_chain
kn.compilation.set_policy("always")
model = general_chain(3)
q = np.linspace(0, 1, 15).reshape(5, 3)
sys.stdin.read(1)
print(json.dumps(kn.inverse_dynamics(model, q, q, q).tolist()))
"""


@pytest.mark.slow
def test_processes_that_start_together(place: Path):
    started = [
        subprocess.Popen([sys.executable, "-c", TOGETHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    results = [json.loads(process.communicate()[0]) for process in started]
    assert [process.returncode for process in started] == [0] * 3
    assert all(result == results[0] for result in results)
    q = np.linspace(0, 1, 15).reshape(5, 3)
    kn.compilation.set_policy("never")
    np.testing.assert_allclose(
        results[0], kn.inverse_dynamics(kn.testing.general_chain(3), q, q, q), rtol=1e-12, atol=1e-13
    )
    assert [file.suffix for file in place.iterdir()] == [".kernel"]


def test_another_process_finds_the_kernel(place: Path, monkeypatch: pytest.MonkeyPatch):
    code = TOGETHER.replace(
        "sys.stdin.read(1)", "from knuckle.engine.native import machine_code as m\nm.compile_text = None"
    )
    run = [sys.executable, "-c", TOGETHER.replace("sys.stdin.read(1)", "pass")]
    first = subprocess.run(run, capture_output=True, text=True)
    again = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout != ""
    the_file(place).unlink()
    without = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert "runs as plain Python" in without.stderr, "the trap works"


def _writer(folder: str, k: int) -> None:
    os.environ["KNUCKLE_CACHE_DIR"] = folder
    for _ in range(50):
        disk_cache.write(NAME, {"k": k}, bytes([k]) * 20000)
        found = disk_cache.read(NAME)
        assert found is not None
        assert found[1] == bytes([found[0]["k"]]) * 20000


def test_files_appear_whole(place: Path):
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    processes = [context.Process(target=_writer, args=(str(place), k)) for k in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert [file.name for file in place.iterdir()] == [NAME + ".kernel"]


# how much is kept


def written(count: int, size: int, start: int = 0) -> list[str]:
    """Files of the same size, each older than the next by a day."""
    names = [f"{start + k:064x}" for k in range(count)]
    for k, name in enumerate(names):
        disk_cache.write(name, {}, b"x" * size)
        with contextlib.suppress(FileNotFoundError):
            os.utime(disk_cache.folder() / (name + ".kernel"), (time.time() - 86400 * (count - k),) * 2)
    return names


def kept() -> list[str]:
    return sorted(path.stem for path in disk_cache.folder().glob("*.kernel"))


def test_what_was_not_read_for_longest_goes_first(place: Path, monkeypatch: pytest.MonkeyPatch):
    names = written(8, 10_000)
    assert disk_cache.trim(10**6) == 0
    assert disk_cache.read(names[0]) is not None, "which is a use of it"
    assert list(disk_cache.entries())[1].used < time.time() - 86400, "looking at the list is none"
    (place / f"{'ef' * 32}.{'0' * 16}.part").write_bytes(b"half")
    os.utime(place / f"{'ef' * 32}.{'0' * 16}.part", (time.time() - 7200,) * 2)
    assert disk_cache.trim(45_000) == 5, "to seven eighths of the limit"
    assert kept() == sorted([names[0], *names[6:]])
    assert not list(place.glob("*.part")), "what somebody began to write and did not end"
    monkeypatch.setenv("KNUCKLE_CACHE_LIMIT", "15kB")
    assert disk_cache.limit() == 15_000
    assert disk_cache.trim() == 2
    assert kept() == [names[0]]


def test_writing_keeps_the_limit(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_CACHE_LIMIT", "100kB")
    for start in range(0, 200, 20):
        written(20, 5_000, start)
        assert sum(path.stat().st_size for path in place.iterdir()) < 100_000 * (1 + 1 / 16) + 5_200
    assert len(kept()) > 10


def test_a_limit_that_is_no_size(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_CACHE_LIMIT", "a lot")
    with pytest.warns(RuntimeWarning, match="KNUCKLE_CACHE_LIMIT is 'a lot': a size is a number of bytes"):
        assert disk_cache.limit() == disk_cache.LIMIT
    monkeypatch.delenv("KNUCKLE_CACHE_LIMIT")
    place.mkdir(mode=0o700)
    (place / "limit").write_text("?")
    assert disk_cache.limit() == disk_cache.LIMIT
    (place / "limit").write_text("2 GiB")
    assert disk_cache.limit() == 2**31


def _churn(seed: int) -> int:
    """Writes and reads under a small limit, beside others who do the same; how often something read was wrong."""
    os.environ["KNUCKLE_CACHE_LIMIT"] = "50kB"
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(300):
        k = int(rng.integers(40))
        disk_cache.write(f"{k:064x}", {"k": k}, bytes([k]) * 3_000)
        found = disk_cache.read(f"{int(rng.integers(40)):064x}")
        wrong += found is not None and found[1] != bytes([found[0]["k"]]) * 3_000
    return wrong


@pytest.mark.slow
def test_processes_that_write_and_remove_at_once(place: Path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert sum(pool.map(_churn, range(2))) == 0
    assert sum(path.stat().st_size for path in place.glob("*.kernel")) < 80_000
    assert not list(place.glob("*.part"))
