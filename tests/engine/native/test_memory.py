"""Memory for large results: kept and used again, never shared, given back in the end."""

import gc
import os
import threading
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import result_memory

from ..calls.mechanisms import MODELS, states

DOUBLE = np.dtype(np.float64)
LARGE = (result_memory.LEAST // 8 + 1,)


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> result_memory.Blocks:
    """No blocks but those of the test."""
    own = result_memory.Blocks()
    monkeypatch.setattr(result_memory, "blocks", own)
    return own


def test_small_arrays_are_numpys_own(blocks: result_memory.Blocks):
    array = result_memory.empty((3, 5), DOUBLE)
    assert array.base is None
    del array
    assert blocks.free == []


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_array_is_like_any_other(dtype: Any):
    shape = (2, result_memory.LEAST // 8, 1)
    array = result_memory.empty(shape, np.dtype(dtype))
    assert (array.shape, array.dtype, array.nbytes) == (shape, np.dtype(dtype), np.empty(shape, dtype).nbytes)
    assert array.flags.carray
    assert array.ctypes.data % result_memory.GRAIN == 0
    array[...] = 7
    assert np.all(array == 7)


def test_memory_is_used_again_when_the_last_view_is_gone(blocks: result_memory.Blocks):
    array = result_memory.empty(LARGE, DOUBLE)
    place, view = array.ctypes.data, array[5:][::3]
    view[:] = 3.0
    del array
    other = result_memory.empty(LARGE, DOUBLE)
    assert other.ctypes.data != place
    assert np.all(view == 3.0)
    del view
    assert len(blocks.free) == 1
    assert result_memory.empty(LARGE, DOUBLE).ctypes.data == place


@pytest.mark.slow
def test_a_cycle_gives_its_memory_back_when_it_is_collected(blocks: result_memory.Blocks):
    cycle: list[Any] = [result_memory.empty(LARGE, DOUBLE)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert len(blocks.free) == 1


def test_a_block_is_used_for_sizes_near_its_own(blocks: result_memory.Blocks):
    several = (result_memory.GRAIN,)  # 8 grains
    place = result_memory.empty(several, DOUBLE).ctypes.data
    assert result_memory.empty((several[0] * 7 // 8,), DOUBLE).ctypes.data == place
    assert result_memory.empty((several[0] // 2,), DOUBLE).ctypes.data != place
    assert result_memory.empty((several[0] + 1,), DOUBLE).ctypes.data != place


def test_there_is_an_end_to_what_is_kept(blocks: result_memory.Blocks, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(result_memory, "MOST", 10 * result_memory.GRAIN)
    arrays = [result_memory.empty((k * result_memory.GRAIN // 8,), DOUBLE) for k in (4, 3, 5, 2, 11)]
    newest = arrays[3].ctypes.data
    while arrays:
        del arrays[0]
    assert [block.size // result_memory.GRAIN for block in blocks.free] == [3, 5, 2]
    assert blocks.free[-1].address == newest


def test_what_cannot_be_had_is_a_memory_error():
    with pytest.raises(MemoryError, match=r"a result of shape \(36028797018963968,\) and dtype float64 needs"):
        result_memory.empty((1 << 55,), DOUBLE)


def test_what_is_kept_makes_room(blocks: result_memory.Blocks, monkeypatch: pytest.MonkeyPatch):
    kept = result_memory.empty(LARGE, DOUBLE)
    del kept
    make = result_memory.MemoryBlock

    def full(size: int) -> result_memory.MemoryBlock:
        if blocks.free:
            raise OSError("no memory")
        return make(size)

    monkeypatch.setattr(result_memory, "MemoryBlock", full)
    assert result_memory.empty((4 * LARGE[0],), DOUBLE).size == 4 * LARGE[0]


def test_nothing_is_given_back_when_the_interpreter_ends(monkeypatch: pytest.MonkeyPatch):
    """What giving back needs may be gone by then: an array of a script would leave with an error."""
    monkeypatch.setattr(result_memory, "MOST", None)
    lease = result_memory.empty(LARGE, DOUBLE).base
    assert isinstance(lease, result_memory._Lease)
    with pytest.raises(TypeError):
        lease.__del__()
    lease.__del__(lambda: True)
    monkeypatch.undo()


def test_threads_never_share_a_block():
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(30):
            array = result_memory.empty(LARGE, DOUBLE)
            array[::512] = 100 * number + turn
            if not np.all(array[::512] == 100 * number + turn):
                wrong.append(number)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_writes_to_memory_of_its_own():
    array, freed = result_memory.empty(LARGE, DOUBLE), result_memory.empty(LARGE, DOUBLE)
    array[:] = 1.0
    del freed
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        array[:] = 2.0
        result_memory.empty(LARGE, DOUBLE)[:] = 3.0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert np.all(array == 1.0)


def test_results_are_independent(monkeypatch: pytest.MonkeyPatch):
    """What a call returned stays as it is, whatever is called later."""
    monkeypatch.setattr(result_memory, "LEAST", 1)
    monkeypatch.setattr(kernels, "policy", "always")
    model = MODELS["arm"]
    some = [states(model, (40,), seed=k).q for k in range(6)]
    found = [kn.mass_matrix(model, q) for q in some]
    copies = [H.copy() for H in found]
    for q in some:
        kn.mass_matrix(model, q)[...] = np.nan
    for H, copy in zip(found, copies, strict=True):
        np.testing.assert_array_equal(H, copy)
        assert np.isfinite(H).all()
