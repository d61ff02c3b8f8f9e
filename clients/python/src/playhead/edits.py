"""Queue edits that are too large for one line: queue.begin, the edits, queue.commit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from .connection import LINE_BYTES, Connection
from .decoding import decode
from .errors import ProtocolError
from .generated_replies import AddReply
from .values import Location, wire_location

ROOM = LINE_BYTES - 4096
"""The maximum size of the paths of one request, in bytes."""


class Edit:
    """Edits that are applied atomically, with one new version of the queue.

    The edits use a separate connection, so they do not include edits of other tasks. If the connection ends before
    `queue.commit`, the queue does not change. After the block, `items` has the ids of the new entries, and `version`
    the version of the queue.
    """

    def __init__(self, path: str, player: str, if_version: int | None) -> None:
        self.items: tuple[int, ...] = ()
        self.version: int | None = None
        self._path = path
        self._player = player
        self._if_version = if_version
        self._connection: Connection | None = None

    async def __aenter__(self) -> Edit:
        self._connection = await Connection.open(self._path)
        try:
            await self._send("queue.begin", {"if-version": self._if_version})
        except BaseException:
            await self._connection.close()
            raise
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        async with connection:
            if kind is None:
                reply = decode(AddReply, await connection.request("queue.commit", {"player": self._player}))
                if reply.version is None:
                    raise ProtocolError("the reply to queue.commit lacks the version")
                self.items, self.version = reply.items, reply.version

    async def append(self, *paths: Location) -> None:
        """Adds entries at the end."""
        for part in _lines(paths):
            await self._send("append", {"paths": part})

    async def load(self, *paths: Location) -> None:
        """Replaces the queue."""
        await self.clear()
        await self.append(*paths)

    async def insert(self, *paths: Location, after: int | None = None, before: int | None = None) -> None:
        """Adds entries after the current entry, or at the specified position."""
        parts = list(_lines(paths))
        # Parts before an entry are sent in order, parts after an entry in reverse order.
        for part in parts if before is not None else reversed(parts):
            await self._send("insert", {"paths": part, "after": after, "before": before})

    async def remove(self, *items: int) -> None:
        """Removes entries."""
        for start in range(0, len(items), 4096):
            await self._send("remove", {"ids": list(items[start : start + 4096])})

    async def move(self, item: int, *, to: int | None = None, after: int | None = None, before: int | None = None) -> None:
        """Moves an entry."""
        await self._send("move", {"id": item, "to": to, "after": after, "before": before})

    async def replace(self, item: int, path: Location) -> None:
        """Replaces an entry's file."""
        await self._send("replace", {"id": item, "path": wire_location(path)})

    async def clear(self) -> None:
        """Empties the queue."""
        await self._send("clear", {})

    async def _send(self, command: str, parameters: Mapping[str, object]) -> None:
        if self._connection is None:
            raise RuntimeError("edits are only possible within `async with player.edit()`")
        given = {name: value for name, value in parameters.items() if value is not None}
        await self._connection.request(command, {**given, "player": self._player})


def _lines(paths: Sequence[Location]) -> Iterator[list[str]]:
    """The paths, in parts that each fit into one line."""
    part: list[str] = []
    used = 0
    for path in paths:
        text = wire_location(path)
        size = len(json.dumps(text, ensure_ascii=False).encode()) + 1
        if part and used + size > ROOM:
            yield part
            part, used = [], 0
        part.append(text)
        used += size
    if part:
        yield part
