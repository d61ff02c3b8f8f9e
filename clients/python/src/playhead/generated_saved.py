"""Commands of a player: saved state.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations


from .decoding import decode
from .generated_replies import (
    BookmarkReply,
    Bookmarks,
    QueueLoadReply,
    QueueSaveReply,
    SeekReply,
)
from .sending import Sends
from .values import Time, moment


class SavedCommands(Sends):
    """Commands of a player: saved state."""

    async def bookmark_add(self, time: Time | None = None, *, name: str | None = None) -> BookmarkReply:
        """Set a bookmark in the current entry."""
        reply = await self._send("bookmark.add", {"time": moment(time), "name": name})
        return decode(BookmarkReply, reply)

    async def bookmark_go(self, bookmark: int | None = None, *, name: str | None = None) -> SeekReply:
        """Seek to a bookmark of the current entry."""
        reply = await self._send("bookmark.go", {"bookmark": bookmark, "name": name})
        return decode(SeekReply, reply)

    async def bookmark_list(self, *, item: int | None = None, offset: int | None = None, limit: int | None = None) -> Bookmarks:
        """List bookmarks."""
        reply = await self._send("bookmark.list", {"item": item, "offset": offset, "limit": limit})
        return decode(Bookmarks, reply)

    async def queue_load(self, name: str, *, if_version: int | None = None) -> QueueLoadReply:
        """Replace the queue by a saved one."""
        reply = await self._send("queue.load", {"name": name, "if-version": if_version})
        return decode(QueueLoadReply, reply)

    async def queue_save(self, name: str) -> QueueSaveReply:
        """Save the queue under a name."""
        reply = await self._send("queue.save", {"name": name})
        return decode(QueueSaveReply, reply)

__all__ = [
    "SavedCommands",
]
