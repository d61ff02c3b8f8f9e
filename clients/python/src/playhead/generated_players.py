"""Commands of a player: players and outputs.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations


from .decoding import decode
from .generated_replies import (
    OutputStatus,
)
from .sending import Sends


class PlayersCommands(Sends):
    """Commands of a player: players and outputs."""

    async def output_status(self) -> OutputStatus:
        """Show the output of a player."""
        reply = await self._send("output.status", {})
        return decode(OutputStatus, reply)

__all__ = [
    "PlayersCommands",
]
