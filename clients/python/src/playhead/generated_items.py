"""Commands of a player: items.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .decoding import decode
from .generated_replies import (
    AddReply,
    ArtworkReply,
    Chapters,
    ItemBuffer,
    ItemEndTimes,
    ItemLog,
    ItemPitch,
    ItemSelection,
    ItemStatus,
    ItemVolume,
    Selection,
    Tags,
    Tracks,
)
from .sending import Sends
from .values import Number, Place, Time, moment, number, place, texts


class ItemsCommands(Sends):
    """Commands of a player: items."""

    async def item_artwork(
        self, id: int, *, from_: int | None = None, index: int | None = None, file: Place | None = None,
        replace: bool | None = None, offset: int | None = None, limit: int | None = None,
    ) -> ArtworkReply:
        """List the images in the tags of an entry's file, or return one."""
        reply = await self._send("item.artwork", {
            "id": id,
            "from": from_,
            "index": index,
            "file": None if file is None else place(file),
            "replace": replace,
            "offset": offset,
            "limit": limit,
        })
        return decode(ArtworkReply, reply)

    async def item_buffer(self, id: int, duration: Time | None = None) -> ItemBuffer:
        """Set how far ahead an entry is decoded, or show it."""
        reply = await self._send("item.buffer", {"id": id, "duration": moment(duration)})
        return decode(ItemBuffer, reply)

    async def item_chapters(self, id: int, *, language: str | Sequence[str] | None = None, offset: int | None = None) -> Chapters:
        """List the chapters of an entry."""
        reply = await self._send("item.chapters", {"id": id, "language": texts(language), "offset": offset})
        return decode(Chapters, reply)

    async def item_copy(
        self, id: int, *, after: int | None = None, before: int | None = None, if_version: int | None = None,
    ) -> AddReply:
        """Insert a copy of an entry into the queue."""
        reply = await self._send("item.copy", {"id": id, "after": after, "before": before, "if-version": if_version})
        return decode(AddReply, reply)

    async def item_end_time(self, id: int, *, forward: Time | None = None, reverse: Time | None = None) -> ItemEndTimes:
        """Set where playback of an entry ends, or show it."""
        reply = await self._send("item.end-time", {"id": id, "forward": moment(forward), "reverse": moment(reverse)})
        return decode(ItemEndTimes, reply)

    async def item_log(self, id: int) -> ItemLog:
        """Show the network log of an entry."""
        reply = await self._send("item.log", {"id": id})
        return decode(ItemLog, reply)

    async def item_metadata(
        self, id: int, *, space: str | None = None, identifier: str | None = None,
        language: str | Sequence[str] | None = None, common: bool | None = None, offset: int | None = None,
        charset: Literal["automatic", "latin-1", "gbk", "big5", "euc-kr", "euc-jp", "shift-jis", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "koi8-r", "koi8-u", "iso-8859-2"] | None = None,
    ) -> Tags:
        """List the tags of an entry's file."""
        reply = await self._send("item.metadata", {
            "id": id,
            "space": space,
            "identifier": identifier,
            "language": texts(language),
            "common": common,
            "offset": offset,
            "charset": charset,
        })
        return decode(Tags, reply)

    async def item_pitch(
        self, id: int, algorithm: Literal["timeDomain", "spectral", "varispeed", "player"] | None = None,
    ) -> ItemPitch:
        """Set how the pitch of an entry follows the rate, or show it."""
        reply = await self._send("item.pitch", {"id": id, "algorithm": algorithm})
        return decode(ItemPitch, reply)

    async def item_select(self, id: int, *, audio: int | str | None = None, subtitles: int | str | None = None) -> ItemSelection:
        """Select tracks of an entry, or show the selection."""
        reply = await self._send("item.select", {"id": id, "audio": audio, "subtitles": subtitles})
        return decode(ItemSelection, reply)

    async def item_selection(self, id: int) -> Selection:
        """List the groups of tracks of an entry, and the selection."""
        reply = await self._send("item.selection", {"id": id})
        return decode(Selection, reply)

    async def item_status(self, id: int) -> ItemStatus:
        """Show the details of an entry."""
        reply = await self._send("item.status", {"id": id})
        return decode(ItemStatus, reply)

    async def item_tracks(self, id: int) -> Tracks:
        """List the tracks of an entry, and which are presented."""
        reply = await self._send("item.tracks", {"id": id})
        return decode(Tracks, reply)

    async def item_volume(
        self, id: int, volume: Number | None = None, *, at: Time | None = None, to: Number | None = None,
        over: Time | None = None, clear: bool | None = None,
    ) -> ItemVolume:
        """Set the volume of an entry over its time, or list it."""
        reply = await self._send("item.volume", {
            "id": id,
            "volume": number(volume),
            "at": moment(at),
            "to": number(to),
            "over": moment(over),
            "clear": clear,
        })
        return decode(ItemVolume, reply)

__all__ = [
    "ItemsCommands",
]
