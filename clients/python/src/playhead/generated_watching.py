"""Commands of a player: watching.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations


from .decoding import decode
from .generated_replies import (
    EventsReply,
    Explanation,
    WaitReply,
)
from .sending import Sends
from .values import Time, moment


class WatchingCommands(Sends):
    """Commands of a player: watching."""

    async def logged_events(
        self, *keys: str, since: int | None = None, instance: str | None = None, limit: int | None = None,
        wait: bool | None = None, timeout: Time | None = None,
    ) -> EventsReply:
        """List the events since a known number."""
        reply = await self._send("events", {
            "keys": list(keys),
            "since": since,
            "instance": instance,
            "limit": limit,
            "wait": wait,
            "timeout": moment(timeout),
        })
        return decode(EventsReply, reply)

    async def explain(self) -> Explanation:
        """Show the timings of the last start or seek."""
        reply = await self._send("explain", {})
        return decode(Explanation, reply)

    async def wait(self, *conditions: str, timeout: Time | None = None) -> WaitReply:
        """Wait until all conditions hold."""
        reply = await self._send("wait", {"conditions": list(conditions), "timeout": moment(timeout)})
        return decode(WaitReply, reply)

__all__ = [
    "WatchingCommands",
]
