"""Commands of a player: queue.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .decoding import decode, read_int, read_text
from .generated_replies import (
    AddReply,
    CurrentReply,
    EditReply,
    History,
    PlaylistPart,
    QueueChangesReply,
    QueuePart,
    ShuffleReply,
)
from .sending import Sends
from .values import Place, Time, moment, place, texts


class QueueCommands(Sends):
    """Commands of a player: queue."""

    async def append(
        self, *paths: Place, wait: Literal["ready"] | None = None, precise: bool | None = None, resume: bool | None = None,
        list: bool | None = None, if_version: int | None = None, header: str | Sequence[str] | None = None,
        header_for: Literal["origin", "any"] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> AddReply:
        """Append entries to the queue."""
        reply = await self._send("append", {
            "paths": [place(path) for path in paths],
            "wait": wait,
            "precise": precise,
            "resume": resume,
            "list": list,
            "if-version": if_version,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(AddReply, reply)

    async def clear(self, *, if_version: int | None = None) -> EditReply:
        """Clear the queue."""
        reply = await self._send("clear", {"if-version": if_version})
        return decode(EditReply, reply)

    async def history(self, *, limit: int | None = None) -> History:
        """List the history of the queue, newest first."""
        reply = await self._send("history", {"limit": limit})
        return decode(History, reply)

    async def insert(
        self, *paths: Place, after: int | None = None, before: int | None = None, wait: Literal["ready"] | None = None,
        precise: bool | None = None, resume: bool | None = None, list: bool | None = None, if_version: int | None = None,
        header: str | Sequence[str] | None = None, header_for: Literal["origin", "any"] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> AddReply:
        """Insert entries after the current one, or elsewhere."""
        reply = await self._send("insert", {
            "paths": [place(path) for path in paths],
            "after": after,
            "before": before,
            "wait": wait,
            "precise": precise,
            "resume": resume,
            "list": list,
            "if-version": if_version,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(AddReply, reply)

    async def jump(self, id: int | None = None, *, index: int | None = None, if_version: int | None = None) -> CurrentReply:
        """Play another entry from its start."""
        reply = await self._send("jump", {"id": id, "index": index, "if-version": if_version})
        return decode(CurrentReply, reply)

    async def list(self, *, offset: int | None = None, limit: int | None = None) -> QueuePart:
        """List the queue."""
        reply = await self._send("list", {"offset": offset, "limit": limit})
        return decode(QueuePart, reply)

    async def load(
        self, *paths: Place, wait: Literal["ready"] | None = None, precise: bool | None = None, resume: bool | None = None,
        list: bool | None = None, if_version: int | None = None, header: str | Sequence[str] | None = None,
        header_for: Literal["origin", "any"] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> AddReply:
        """Replace the queue."""
        reply = await self._send("load", {
            "paths": [place(path) for path in paths],
            "wait": wait,
            "precise": precise,
            "resume": resume,
            "list": list,
            "if-version": if_version,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(AddReply, reply)

    async def move(
        self, id: int, *, to: int | None = None, after: int | None = None, before: int | None = None,
        if_version: int | None = None,
    ) -> EditReply:
        """Move an entry."""
        reply = await self._send("move", {"id": id, "to": to, "after": after, "before": before, "if-version": if_version})
        return decode(EditReply, reply)

    async def next(self, *, if_version: int | None = None) -> CurrentReply:
        """Play the next entry."""
        reply = await self._send("next", {"if-version": if_version})
        return decode(CurrentReply, reply)

    async def on_failure(self, policy: Literal["skip", "stop"] | None = None) -> str:
        """Set what happens when an entry fails, or show it."""
        reply = await self._send("on-failure", {"policy": policy})
        return read_text(reply, "onFailure")

    async def playlist_export(
        self, *, format: Literal["m3u8", "pls", "xspf", "cue"] | None = None, base: Place | None = None,
        offset: int | None = None, limit: int | None = None,
    ) -> PlaylistPart:
        """Show the queue as the lines of a playlist."""
        reply = await self._send("playlist.export", {
            "format": format,
            "base": None if base is None else place(base),
            "offset": offset,
            "limit": limit,
        })
        return decode(PlaylistPart, reply)

    async def previous(self, *, restart_after: Time | None = None, if_version: int | None = None) -> CurrentReply:
        """Play the previous entry."""
        reply = await self._send("previous", {"restart-after": moment(restart_after), "if-version": if_version})
        return decode(CurrentReply, reply)

    async def queue_abort(self) -> int:
        """Discard the collected edits."""
        reply = await self._send("queue.abort", {})
        return read_int(reply, "version")

    async def queue_begin(self, *, if_version: int | None = None) -> int:
        """Begin an edit that is too large for a line."""
        reply = await self._send("queue.begin", {"if-version": if_version})
        return read_int(reply, "version")

    async def queue_changes(self, since: int, *, instance: str | None = None) -> QueueChangesReply:
        """List the changes of the queue since a version."""
        reply = await self._send("queue.changes", {"since": since, "instance": instance})
        return decode(QueueChangesReply, reply)

    async def queue_commit(self) -> AddReply:
        """Make all collected edits, or none of them."""
        reply = await self._send("queue.commit", {})
        return decode(AddReply, reply)

    async def queue_edit(self, *ops: str | Mapping[str, object], if_version: int | None = None) -> AddReply:
        """Make several edits, or none of them."""
        reply = await self._send("queue.edit", {"ops": list(ops), "if-version": if_version})
        return decode(AddReply, reply)

    async def remove(self, *ids: int, if_version: int | None = None) -> EditReply:
        """Remove entries from the queue."""
        reply = await self._send("remove", {"ids": list(ids), "if-version": if_version})
        return decode(EditReply, reply)

    async def replace(
        self, id: int, path: Place, *, precise: bool | None = None, if_version: int | None = None,
        header: str | Sequence[str] | None = None, header_for: Literal["origin", "any"] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> AddReply:
        """Replace an entry by another file."""
        reply = await self._send("replace", {
            "id": id,
            "path": place(path),
            "precise": precise,
            "if-version": if_version,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(AddReply, reply)

    async def shuffle(
        self, state: bool | Literal["toggle"] | None = None, *, seed: int | None = None, if_version: int | None = None,
    ) -> ShuffleReply:
        """Shuffle the entries after the current one, or restore their order."""
        reply = await self._send("shuffle", {"state": state, "seed": seed, "if-version": if_version})
        return decode(ShuffleReply, reply)

__all__ = [
    "QueueCommands",
]
