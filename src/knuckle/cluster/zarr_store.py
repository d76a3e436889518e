"""Results on disk: a Zarr group with one array for each parameter and result, and one file for each chunk of each.

Zarr, not Parquet: results are arrays over samples, times and joints, of which people read a part; xarray and dask open
them as they are. A chunk file is the numbers as they are in memory, and a CRC-32C, Zarr's own codecs "bytes" and
"crc32c": compression would take longer than rollouts do and gain a few percent, as the digits of states are noise.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import need

Array: TypeAlias = NDArray[Any]
DATA = "data.zarr"
PARAMETERS, RESULTS = "parameters", "results"
NEEDS = "sweeps need"


@dataclass(frozen=True)
class ArraySpec:
    """An array of a sweep: its place in the group, and the shape and type of one sample's entry."""

    path: str
    tail: tuple[int, ...]
    dtype: str
    is_over_time: bool = False
    """Whether its second axis is time"""

    @property
    def name(self) -> str:
        """The parameter or result."""
        return self.path.partition("/")[2]

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of its axes, for xarray."""
        first = ("sample", "time") if self.is_over_time else ("sample",)
        return (*first, *(f"{self.name}_axis{k}" for k in range(len(self.tail) + 1 - len(first))))

    @property
    def fill(self) -> Any:
        """What stands where there is no chunk yet."""
        kind = np.dtype(self.dtype)
        return kind.type(np.nan) if kind.kind == "f" else kind.type(0)

    def file(self, chunk: int) -> str:
        """The file of a chunk, below the folder of the sweep."""
        return f"{DATA}/{self.path}/c.{chunk}{'.0' * len(self.tail)}"

    def size(self, chunk: int) -> int:
        """Bytes of a file for chunks of so many samples."""
        return chunk * int(np.prod(self.tail, dtype=np.int64)) * np.dtype(self.dtype).itemsize + 4


def specs_of(
    parameters: Mapping[str, Array], results: Mapping[str, Array], over_time: tuple[str, ...]
) -> tuple[ArraySpec, ...]:
    """The arrays of a sweep whose first samples have these parameters and results; some results go over time."""
    for name in (*parameters, *results):
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot be the name of a parameter or result: letters, digits and _ can")
    times = {(RESULTS, name) for name in over_time}
    named = [(PARAMETERS, parameters), (RESULTS, results)]
    return tuple(
        ArraySpec(f"{group}/{name}", x.shape[1:], np.dtype(x.dtype).newbyteorder("<").str, (group, name) in times)
        for group, arrays in named
        for name, x in arrays.items()
    )


def create_arrays(folder: Path, specs: tuple[ArraySpec, ...], count: int, chunk: int) -> None:
    """The descriptions of the arrays, so that readers know them before there is a chunk."""
    zarr = need("zarr", NEEDS, "cluster")
    codecs = need("zarr.codecs", NEEDS, "cluster")
    group = zarr.open_group(str(folder / DATA), mode="a", zarr_format=3)
    for spec in specs:
        group.create_array(
            spec.path,
            shape=(count, *spec.tail),
            chunks=(chunk, *(max(1, n) for n in spec.tail)),
            dtype=np.dtype(spec.dtype),
            compressors=(codecs.Crc32cCodec(),),
            fill_value=spec.fill,
            chunk_key_encoding={"name": "default", "separator": "."},
            dimension_names=spec.dimensions,
            overwrite=True,
        )


def open_arrays(folder: Path) -> Any:
    """The group, to be read."""
    return need("zarr", NEEDS, "cluster").open_group(str(folder / DATA), mode="r")


def encoded(spec: ArraySpec, values: Array, chunk: int) -> bytes:
    """The file of a chunk: its numbers, those of a last chunk filled up, and their CRC-32C."""
    crc32c = need("google_crc32c", NEEDS, "cluster")
    if values.shape[1:] != spec.tail:
        raise ValueError(
            f"{spec.name} has entries of shape {values.shape[1:]} in this chunk, and {spec.tail} in the first samples"
        )
    numbers = values.astype(spec.dtype, copy=False)
    if numbers.dtype != values.dtype.newbyteorder("<"):
        raise TypeError(f"{spec.name} has entries of type {values.dtype} in this chunk, and {spec.dtype} in the first")
    if len(values) < chunk:
        rest = np.full((chunk - len(values), *spec.tail), spec.fill, spec.dtype)
        numbers = np.concatenate([numbers, rest])
    content = np.ascontiguousarray(numbers).tobytes()
    return content + struct.pack("<I", crc32c.value(content))


def checksum(content: bytes) -> int:
    """Of a whole file; a file that was cut off or changed has another."""
    return int(need("google_crc32c", NEEDS, "cluster").value(content))
