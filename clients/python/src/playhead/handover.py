"""Handing over open files: a descriptor for the daemon, `fd:TOKEN` for who names it."""

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
        """Its descriptor."""


def handoff_socket(path: str) -> str:
    """Where descriptors are taken beside a control socket: `handoff.sock`, or `NAME-handoff.sock` beside `NAME.sock`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(".sock")
    return os.path.join(folder, "handoff.sock" if name == "control.sock" else f"{stem}-handoff.sock")


async def hand_over(path: str, file: int | HasDescriptor) -> str:
    """Hands an open file, pipe or socket to the daemon whose control socket is at `path`; gives `fd:TOKEN`, which stands where a path does.

    It is taken once. The caller may close its own descriptor as soon as this is done.
    """
    descriptor = file if isinstance(file, int) else file.fileno()
    where = handoff_socket(path)
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.setblocking(False)
        try:
            await loop.sock_connect(connection, where)
            # The first packet of a connection fits always.
            socket.send_fds(connection, [b"\n"], [descriptor])
            answer = await loop.sock_recv(connection, 65536)
        except OSError as error:
            raise Disconnected(f"no daemon takes descriptors at {where}: {error.strerror or error}") from error
    kind, fields = words("* " + answer.decode("utf-8", "replace"))
    if kind == "error":
        raise PlayheadError.of(fields)
    taken = fields.get("path")
    if kind != "ok" or not isinstance(taken, str):
        raise ProtocolError(f"{where} answered {answer[:80]!r}")
    return taken
