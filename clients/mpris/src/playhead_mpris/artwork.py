"""Pictures for panels: in files of a private folder, which hold what is shown and nothing else."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from playhead import Picture

ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp"}
PREFIX = "art-"
KEPT = 2
"""How many pictures are kept: a panel may still be reading the last one."""


class Artwork:
    """The folder. It is made when the first picture comes, with mode 0700, and removed by `clear`.

    A lock on it says that its bridge runs: what a bridge that was killed has left is removed by `sweep`.
    """

    def __init__(self, parent: pathlib.Path | None = None) -> None:
        self._parent = parent or default_folder()
        self._folder: pathlib.Path | None = None
        self._lock: int | None = None
        self._files: list[pathlib.Path] = []

    def store(self, picture: Picture) -> str:
        """Writes a picture, unless it is there; gives its URL."""
        folder = self._folder
        if folder is None or not folder.is_dir():
            # A cache may be emptied by anybody at any time.
            self.clear()
            folder = self._folder = self._make()
        path = folder / (hashlib.sha256(picture.data).hexdigest() + ENDINGS.get(picture.media_type, ""))
        if path in self._files:
            self._files.remove(path)
        if not path.exists():
            part = path.with_suffix(".part")
            try:
                part.write_bytes(picture.data)
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        self._files.append(path)
        while len(self._files) > KEPT:
            self._files.pop(0).unlink(missing_ok=True)
        return path.as_uri()

    def clear(self) -> None:
        """Removes all of it that is there."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._folder = self._lock = None
        self._files = []

    def sweep(self) -> None:
        """Removes the folders of bridges that run no more."""
        try:
            with locked(self._parent):
                for folder in self._parent.glob(PREFIX + "*"):
                    with contextlib.suppress(OSError), locked(folder, wait=False):
                        shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # there is none, or it is not ours

    def _make(self) -> pathlib.Path:
        self._parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Nobody sweeps between both.
        with locked(self._parent):
            folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._parent))
            self._lock = lock(folder)
        return folder


def lock(folder: pathlib.Path, *, wait: bool = True) -> int:
    """Locks a folder, until what is given is closed, or this process ends. BlockingIOError when somebody else has, and `wait` is False."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def locked(folder: pathlib.Path, *, wait: bool = True) -> Iterator[None]:
    """A folder that nobody else has locked meanwhile."""
    descriptor = lock(folder, wait=wait)
    try:
        yield
    finally:
        os.close(descriptor)


def default_folder() -> pathlib.Path:
    """`playhead-mpris` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (pathlib.Path(cache) if cache.startswith("/") else pathlib.Path.home() / ".cache") / "playhead-mpris"
