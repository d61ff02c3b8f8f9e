"""A player of the daemon."""

from __future__ import annotations

from fractions import Fraction

from .artwork import ArtworkImage, read_artwork
from .connection import Connection
from .edits import Edit
from .generated_assets import AssetsCommands
from .generated_items import ItemsCommands
from .generated_playback import PlaybackCommands
from .generated_players import PlayersCommands
from .generated_queue import QueueCommands
from .generated_replies import WaitReply
from .generated_rows import Entry, MetadataItem
from .generated_saved import SavedCommands
from .generated_watching import WatchingCommands
from .watching import Watching


class Player(
    PlaybackCommands, QueueCommands, ItemsCommands, AssetsCommands, WatchingCommands, PlayersCommands, SavedCommands,
    Watching,
):
    """A player, by its name. If it does not exist, its commands fail with `no-such-player`."""

    def __init__(self, connection: Connection, name: str = "main") -> None:
        super().__init__(connection, name)
        self.name = name

    async def position(self) -> Fraction:
        """The heard time, exact."""
        return (await self.status()).time

    async def wait_until(self, time: Fraction | int | str, *, timeout: Fraction | int | str | None = None) -> WaitReply:
        """Waits until this time of the current item is heard."""
        return await self.wait(f"time>={time}", timeout=timeout)

    async def entries(self) -> list[Entry]:
        """The complete queue. The method starts again if the queue changes in between."""
        while True:
            found: list[Entry] = []
            part = await self.list()
            version = part.version
            found.extend(part.rows)
            while part.next is not None and part.version == version:
                part = await self.list(offset=part.next)
                found.extend(part.rows)
            if part.version == version:
                return found

    async def metadata(self, item: int, *, common: bool = True) -> list[MetadataItem]:
        """All tags of an entry's file, or only those with common keys."""
        found: list[MetadataItem] = []
        offset: int | None = None
        while True:
            part = await self.item_metadata(item, common=common or None, offset=offset)
            found.extend(row for row in part.rows if row.identifier is not None)
            offset = part.next
            if offset is None:
                return found

    async def artwork_image(self, item: int, index: int | None = None) -> ArtworkImage:
        """The complete artwork of an entry's tags (default: the front cover, else the first artwork)."""
        return await read_artwork(lambda offset: self.item_artwork(item, index=index, offset=offset))

    def edit(self, *, if_version: int | None = None) -> Edit:
        """Any number of queue edits, applied atomically at the end of the `async with` block; none if it raises."""
        return Edit(self._connection.path, self.name, if_version)
