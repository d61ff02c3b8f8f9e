"""The default socket of the daemon."""

from __future__ import annotations

import os
import stat

from .errors import Disconnected


def default_socket() -> str:
    """`$PLAYHEAD_SOCKET`, else playhead/control.sock in `$XDG_RUNTIME_DIR` or /run/user/UID, else
    /tmp/playhead-UID/control.sock.

    Relative paths in the environment are ignored. Other users could create the folder in /tmp: it must belong to this
    user, and only this user may write to it.
    """
    named = os.environ.get("PLAYHEAD_SOCKET", "")
    if named.startswith("/"):
        return named
    user = os.getuid()
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if folder.startswith("/"):
        return f"{folder}/playhead/control.sock"
    if os.path.isdir(f"/run/user/{user}"):
        return f"/run/user/{user}/playhead/control.sock"
    folder = f"/tmp/playhead-{user}"
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return f"{folder}/control.sock"
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o022:
        raise Disconnected(f"{folder} must be a folder that only your user can write")
    return f"{folder}/control.sock"
