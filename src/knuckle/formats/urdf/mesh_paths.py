"""Where mesh files are: package://, file://, relative and absolute names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

_PACKAGE_SCHEMES = ("package", "model")


class Resources:
    """Finds the files a URDF names.

    A package is looked for in `package_dirs`, in the environment's ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, in the
    URDF's folder and in every folder above it; each of these may contain the package's folder or be it. A relative
    name counts from the URDF's folder, then from the same places.
    """

    def __init__(self, file: str | None, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.folder = os.path.dirname(os.path.abspath(file)) if file else None
        roots = [os.fspath(folder) for folder in package_dirs]
        roots += [p for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
        roots += [os.path.join(p, "share") for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
        self.roots = list(dict.fromkeys([*roots, *_upward(self.folder)]))
        self._found: dict[str, str | None] = {}

    def find(self, uri: str) -> str | None:
        """The path of an existing file, or None."""
        if uri not in self._found:
            self._found[uri] = next((os.path.abspath(p) for p in self._candidates(uri) if os.path.isfile(p)), None)
        return self._found[uri]

    def _candidates(self, uri: str) -> Iterable[str]:
        scheme, separator, rest = uri.partition("://")
        if not separator:
            yield from self._relative(uri)
        elif scheme in _PACKAGE_SCHEMES:
            package, _, path = rest.partition("/")
            for root in self.roots:
                yield os.path.join(root, package, path)
                if os.path.basename(os.path.normpath(root)) == package:
                    yield os.path.join(root, path)
        elif scheme == "file":
            yield from self._relative(_file_path(uri) or rest)
            yield from self._relative(rest)

    def _relative(self, path: str) -> Iterable[str]:
        if os.path.isabs(path):
            yield path
            return
        for root in ([self.folder] if self.folder else []) + self.roots:
            yield os.path.join(root, path)


def _file_path(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return unquote(parts.netloc + parts.path)


def _upward(folder: str | None) -> list[str]:
    found: list[str] = []
    while folder and folder not in found:
        found.append(folder)
        folder = os.path.dirname(folder)
    return found
