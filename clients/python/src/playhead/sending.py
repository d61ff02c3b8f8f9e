"""What the classes of commands stand on."""

from __future__ import annotations

from collections.abc import Mapping

from .connection import Connection


class Sends:
    """Something that sends requests: a client, or one of its players."""

    def __init__(self, connection: Connection, player: str | None = None) -> None:
        self._connection = connection
        self._player = player

    async def _send(self, command: str, parameters: Mapping[str, object], *, named: bool = True) -> Mapping[str, object]:
        """Sends a request; parameters that are None are left out. `named`: it says which player is meant."""
        given = {name: value for name, value in parameters.items() if value is not None}
        if self._player is not None and named:
            given["player"] = self._player
        return await self._connection.request(command, given)
