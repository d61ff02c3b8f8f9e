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
        """Lists the pictures in the tags of an entry's file, or gives one."""
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
        """Sets how far ahead an entry is decoded while it is the current one, or gives it."""
        reply = await self._send("item.buffer", {"id": id, "duration": moment(duration)})
        return decode(ItemBuffer, reply)

    async def item_chapters(self, id: int, *, language: str | Sequence[str] | None = None, offset: int | None = None) -> Chapters:
        """Lists an entry's chapters."""
        reply = await self._send("item.chapters", {"id": id, "language": texts(language), "offset": offset})
        return decode(Chapters, reply)

    async def item_copy(
        self, id: int, *, after: int | None = None, before: int | None = None, if_version: int | None = None,
    ) -> AddReply:
        """Puts a copy of an entry into the queue."""
        reply = await self._send("item.copy", {"id": id, "after": after, "before": before, "if-version": if_version})
        return decode(AddReply, reply)

    async def item_end_time(self, id: int, *, forward: Time | None = None, reverse: Time | None = None) -> ItemEndTimes:
        """Sets where forward and backward playback of an entry end, or gives it."""
        reply = await self._send("item.end-time", {"id": id, "forward": moment(forward), "reverse": moment(reverse)})
        return decode(ItemEndTimes, reply)

    async def item_log(self, id: int) -> ItemLog:
        """Gives what the network did for an entry, and what went wrong."""
        reply = await self._send("item.log", {"id": id})
        return decode(ItemLog, reply)

    async def item_metadata(
        self, id: int, *, space: str | None = None, identifier: str | None = None,
        language: str | Sequence[str] | None = None, common: bool | None = None, offset: int | None = None,
        charset: Literal["automatic", "latin-1", "gbk", "big5", "euc-kr", "euc-jp", "shift-jis", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "koi8-r", "koi8-u", "iso-8859-2"] | None = None,
    ) -> Tags:
        """Lists the tags of an entry's file."""
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
        """Sets what becomes of an entry's pitch at other rates than 1, or gives it."""
        reply = await self._send("item.pitch", {"id": id, "algorithm": algorithm})
        return decode(ItemPitch, reply)

    async def item_select(self, id: int, *, audio: int | str | None = None, subtitles: int | str | None = None) -> ItemSelection:
        """Presents other tracks of an entry, or gives the present ones."""
        reply = await self._send("item.select", {"id": id, "audio": audio, "subtitles": subtitles})
        return decode(ItemSelection, reply)

    async def item_selection(self, id: int) -> Selection:
        """Lists an entry's groups of tracks to choose from, and what is chosen."""
        reply = await self._send("item.selection", {"id": id})
        return decode(Selection, reply)

    async def item_status(self, id: int) -> ItemStatus:
        """Gives what is known of one entry."""
        reply = await self._send("item.status", {"id": id})
        return decode(ItemStatus, reply)

    async def item_tracks(self, id: int) -> Tracks:
        """Lists an entry's tracks, and which of them are presented."""
        reply = await self._send("item.tracks", {"id": id})
        return decode(Tracks, reply)

    async def item_volume(
        self, id: int, volume: Number | None = None, *, at: Time | None = None, to: Number | None = None,
        over: Time | None = None, clear: bool | None = None,
    ) -> ItemVolume:
        """Sets how loud an entry is at which of its times, and lists it."""
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
