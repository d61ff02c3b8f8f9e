"""Artwork for panels, in files of a private folder."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from playhead import ArtworkImage

ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp"}
PREFIX = "art-"
KEPT = 2
"""The number of retained files: a panel may still be reading the previous artwork."""


class Artwork:
    """The folder. The first `store` creates it with mode 0700; `clear` removes it.

    A running bridge holds a lock on its folder. `sweep` removes the folders that killed bridges left.
    """

    def __init__(self, parent: pathlib.Path | None = None) -> None:
        self._parent = parent or default_folder()
        self._folder: pathlib.Path | None = None
        self._lock: int | None = None
        self._files: list[pathlib.Path] = []

    def store(self, image: ArtworkImage) -> str:
        """Writes the artwork unless the file exists. Returns its URL."""
        folder = self._folder
        if folder is None or not folder.is_dir():
            # Other programs may empty the cache at any time.
            self.clear()
            folder = self._folder = self._make()
        path = folder / (hashlib.sha256(image.data).hexdigest() + ENDINGS.get(image.media_type, ""))
        if path in self._files:
            self._files.remove(path)
        if not path.exists():
            part = path.with_suffix(".part")
            try:
                part.write_bytes(image.data)
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        self._files.append(path)
        while len(self._files) > KEPT:
            self._files.pop(0).unlink(missing_ok=True)
        return path.as_uri()

    def clear(self) -> None:
        """Removes the folder and its files."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._folder = self._lock = None
        self._files = []

    def sweep(self) -> None:
        """Removes the folders of bridges that no longer run."""
        try:
            with locked(self._parent):
                for folder in self._parent.glob(PREFIX + "*"):
                    with contextlib.suppress(OSError), locked(folder, wait=False):
                        shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # it does not exist, or belongs to another user

    def _make(self) -> pathlib.Path:
        self._parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The lock prevents a sweep between creating and locking the folder.
        with locked(self._parent):
            folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._parent))
            self._lock = lock(folder)
        return folder


def lock(folder: pathlib.Path, *, wait: bool = True) -> int:
    """Locks a folder until the returned descriptor is closed or the process ends. With `wait` False, raises
    BlockingIOError if another process has the lock.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def locked(folder: pathlib.Path, *, wait: bool = True) -> Iterator[None]:
    """Creates and locks a folder."""
    descriptor = lock(folder, wait=wait)
    try:
        yield
    finally:
        os.close(descriptor)


def default_folder() -> pathlib.Path:
    """The folder `playhead-mpris` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (pathlib.Path(cache) if cache.startswith("/") else pathlib.Path.home() / ".cache") / "playhead-mpris"
