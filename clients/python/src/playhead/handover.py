"""Passes open files to the daemon: it receives a descriptor and returns the path `fd:TOKEN`."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Protocol

from .connection import words
from .errors import Disconnected, PlayheadError, ProtocolError


class HasDescriptor(Protocol):
    """An open file, pipe or socket."""

    def fileno(self) -> int:
        """The file descriptor."""


def handoff_socket(path: str) -> str:
    """The socket for descriptors next to a control socket: `handoff.sock`, or `NAME-handoff.sock` for `NAME.sock`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(".sock")
    return os.path.join(folder, "handoff.sock" if name == "control.sock" else f"{stem}-handoff.sock")


async def hand_over(path: str, file: int | HasDescriptor) -> str:
    """Passes an open file, pipe or socket to the daemon with the control socket `path`. Returns `fd:TOKEN`.

    `fd:TOKEN` can replace a path, once. The caller can close its descriptor after the return.
    """
    descriptor = file if isinstance(file, int) else file.fileno()
    where = handoff_socket(path)
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.setblocking(False)
        try:
            await loop.sock_connect(connection, where)
            # The first packet of a connection always fits into the buffer.
            socket.send_fds(connection, [b"\n"], [descriptor])
            answer = await loop.sock_recv(connection, 65536)
        except OSError as error:
            raise Disconnected(f"no daemon accepts descriptors at {where}: {error.strerror or error}") from error
    kind, fields = words("* " + answer.decode("utf-8", "replace"))
    if kind == "error":
        raise PlayheadError.of(fields)
    taken = fields.get("path")
    if kind != "ok" or not isinstance(taken, str):
        raise ProtocolError(f"unexpected reply of {where}: {answer[:80]!r}")
    return taken
