"""The base class of the command classes."""

from __future__ import annotations

from collections.abc import Mapping

from .connection import Connection


class Sends:
    """A sender of requests: a client, or one of its players."""

    def __init__(self, connection: Connection, player: str | None = None) -> None:
        self._connection = connection
        self._player = player

    async def _send(self, command: str, parameters: Mapping[str, object], *, named: bool = True) -> Mapping[str, object]:
        """Sends a request without the parameters that are None. `named`: whether it includes the player's name."""
        given = {name: value for name, value in parameters.items() if value is not None}
        if self._player is not None and named:
            given["player"] = self._player
        return await self._connection.request(command, given)
