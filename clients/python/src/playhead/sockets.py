"""Where the daemon listens when nobody says otherwise."""

from __future__ import annotations

import os
import stat

from .errors import Disconnected


def default_socket() -> str:
    """`$PLAYHEAD_SOCKET`, else playhead/control.sock in `$XDG_RUNTIME_DIR` or /run/user/UID, else /tmp/playhead-UID/control.sock.

    Relative paths in the environment do not count. The folder in /tmp must be the user's alone: anybody could have made it.
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
        raise Disconnected(f"{folder} is not a folder that only you can write to")
    return f"{folder}/control.sock"
