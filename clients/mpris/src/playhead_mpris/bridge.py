"""The bridge: observes a player, maintains its MPRIS properties, and executes calls.

The bridge does not poll. Events of the daemon wake it; then it requests the state once, and signals the differences.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import time
from collections.abc import Mapping
from typing import Any

import playhead
from dbus_fast import NameFlag, RequestNameReply
from dbus_fast.aio.message_bus import MessageBus
from playhead import Client, Disconnected, Entry, ErrorCode, MetadataItem, PlayheadError, Player, Status

from .artwork import Artwork
from .interfaces import PATH, PLAYER, TRACK_LIST, interfaces
from .objects import BusObject, Refused
from .state import Assumed, Snapshot, Track, microseconds
from .tracklist import SHOWN, TrackList

log = logging.getLogger("playhead.mpris")

KEYS = (
    "player.timeControlStatus", "player.rate", "player.timebaseRate", "player.defaultRate", "player.currentItem", "player.volume",
    "player.isMuted", "player.repeat", "player.shuffle", "item.status", "item.duration", "queue.version", "item.events",
)

TAG_SECONDS = 0.25
"""How long, in seconds, a change of track waits for the tags of an opened entry, so that one signal has all
metadata. Tags from the network may take longer.
"""


class PlayerClosed(Exception):
    """The player was closed."""


class Bridge:
    """Connects one player to one bus."""

    def __init__(self, bus: MessageBus, player: str = "main", path: str | None = None, artwork: Artwork | None = None) -> None:
        self.player_name = player
        self._bus = bus
        self._path = path
        self._artwork = artwork or Artwork()
        self._object = BusObject(bus, PATH, interfaces(self))
        self.track_list = TrackList({})
        """The last published state."""
        self._entries: tuple[Entry, ...] = ()
        self._listed: Status | None = None
        self._player: Player | None = None
        self._snapshot: Snapshot | None = None
        self._told: dict[str, Any] = {}
        self._sessions = itertools.count(1)
        self._session = 0
        self._track: Track | None = None
        self._loading: asyncio.Task[None] | None = None
        self._loaded = asyncio.Event()
        """Set when tags have arrived."""
        self._tags: dict[int, tuple[MetadataItem, ...]] = {}
        """The tags of opened entries, by id."""
        self._listed_tags: Mapping[int, tuple[MetadataItem, ...]] = {}
        """The tags in `track_list`."""
        self._reading: asyncio.Task[None] | None = None
        self._version: int | None = None
        self._played = 0
        self._seekable = False
        self._name: str | None = None
        self._control = False
        self._assumed = Assumed()

    # MARK: - Following

    async def run(self) -> None:
        """Observes the player indefinitely, over restarts of the daemon. Without a daemon, the bus does not have the
        name.
        """
        self._artwork.sweep()
        try:
            async for client in playhead.clients(self._path):
                try:
                    await self._follow(client)
                except Disconnected as error:
                    log.info("%s", error)
                except PlayheadError as error:
                    # The player was closed between the event and the next request.
                    if error.code is ErrorCode.NO_SUCH_PLAYER:
                        raise PlayerClosed from error
                    raise
                finally:
                    await self._leave()
        finally:
            self._artwork.clear()

    async def _follow(self, client: Client) -> None:
        player = client.player(self.player_name)
        self._control = "control" in (await client.hello()).rights
        try:
            await player.status()
        except PlayheadError as error:
            if error.code is not ErrorCode.NO_SUCH_PLAYER:
                raise
            await client.player_create(self.player_name)
        self._player, self._session = player, next(self._sessions)
        async with player.observe(*KEYS) as events:
            await self._refresh(player, [])
            await self._take_name()
            waiting = asyncio.ensure_future(events.__anext__())
            loaded = asyncio.ensure_future(self._loaded.wait())
            try:
                while True:
                    await asyncio.wait((waiting, loaded), return_when=asyncio.FIRST_COMPLETED)
                    batch: list[playhead.Event] = []
                    if waiting.done():
                        try:
                            batch.append(waiting.result())
                        except StopAsyncIteration:
                            raise PlayerClosed from None
                        while events.waiting:
                            batch.append(await events.__anext__())
                        waiting = asyncio.ensure_future(events.__anext__())
                    if loaded.done():
                        self._loaded.clear()
                        loaded = asyncio.ensure_future(self._loaded.wait())
                    if any(isinstance(event, playhead.Removed) for event in batch):
                        raise PlayerClosed
                    await self._refresh(player, batch)
            finally:
                waiting.cancel()
                loaded.cancel()

    async def _leave(self) -> None:
        """Removes the player from the bus, because the daemon disconnected."""
        self._player = self._snapshot = self._track = self._version = None
        self._told, self.track_list = {}, TrackList({})
        self._entries, self._listed = (), None
        self._played, self._seekable = 0, False
        for task in (self._loading, self._reading):
            if task:
                task.cancel()
        self._loading = self._reading = None
        self._tags, self._listed_tags = {}, {}
        if self._name and self._bus.connected:
            await self._bus.release_name(self._name)
        self._name = None

    async def _take_name(self) -> None:
        """Requests the bus name: `playhead`, followed by the player's name unless it is `main`. If the name is in
        use, a suffix with the number of the instance follows.
        """
        base = "org.mpris.MediaPlayer2.playhead"
        if self.player_name != "main":
            base += "._" + re.sub(r"[^A-Za-z0-9_]", "_", self.player_name) if not re.match(r"[A-Za-z_][A-Za-z0-9_]*$", self.player_name) \
                else "." + self.player_name
        for number in itertools.count():
            name = base if number == 0 else f"{base}.instance{number + 1}"
            reply = await self._bus.request_name(name, NameFlag.DO_NOT_QUEUE)
            if reply in (RequestNameReply.PRIMARY_OWNER, RequestNameReply.ALREADY_OWNER):
                self._name = name
                log.info("on the bus as %s", name)
                return

    async def _refresh(self, player: Player, events: list[playhead.Event]) -> None:
        """Requests the state, and signals the changes."""
        status = await player.status()
        if status.version != self._version:
            self._version = status.version
            self._played = (await player.history(limit=0)).count
        self._follow_track(player, status)
        if self._loading and self._track is None and status.item_status == "readyToPlay":
            await asyncio.wait((self._loading,), timeout=TAG_SECONDS)
        self._seekable = status.item is not None and status.item_status == "readyToPlay" and await self._can_seek(player, status)
        snapshot = Snapshot(status, self._session, self._played, self._track, self._seekable, self._control)
        self._snapshot = snapshot
        values = snapshot.properties()
        changed = {name: value for name, value in values.items() if name not in self._told or self._told[name] != value}
        first = not self._told
        self._told = values
        if changed and not first:
            self._object.changed(PLAYER, changed)
        opened = any(isinstance(event, playhead.Changed) and event.key in ("item.status", "item.duration") for event in events)
        await self._follow_tracks(player, snapshot, first or "Metadata" in changed, opened, tells=not first)
        self._tell_position(status, events)

    async def _follow_tracks(self, player: Player, snapshot: Snapshot, is_other: bool, opened: bool, *, tells: bool) -> None:
        """Requests the tracks if they may have changed, and signals the changes.

        `is_other`: the current track changed. `opened`: a track was opened.
        """
        before, now = self._listed, snapshot.status
        if opened or before is None or (before.version, before.item, before.item_status, before.duration) != (now.version, now.item, now.item_status, now.duration):
            self._entries, self._listed = (await player.list(limit=SHOWN)).rows, now
            self._read_tags(player)
        elif not is_other and self._listed_tags == self._tags:
            return
        self._listed_tags = dict(self._tags)
        old, self.track_list = self.track_list, TrackList.of(self._entries, snapshot, self._listed_tags)
        if not tells:
            return
        if list(old.tracks) != list(self.track_list.tracks):
            self._object.changed(TRACK_LIST, {}, "Tracks")
        for name, values in old.signals_to(self.track_list, snapshot.track_id()):
            self._object.signal(TRACK_LIST, name, *values)

    def _read_tags(self, player: Player) -> None:
        """Starts reading the tags of opened entries. Only local files, because tags of a URL may cause another
        request.
        """
        listed = {entry.item for entry in self._entries}
        self._tags = {item: tags for item, tags in self._tags.items() if item in listed}
        wanted = [entry.item for entry in self._entries
                  if entry.status == "readyToPlay" and entry.item not in self._tags and entry.path and entry.path.startswith("/")]
        if self._reading:
            self._reading.cancel()
        self._reading = asyncio.create_task(self._read(player, wanted)) if wanted else None

    async def _read(self, player: Player, items: list[int]) -> None:
        """Reads the tags of entries."""
        for item in items:
            try:
                self._tags[item] = tuple(await player.metadata(item))
            except PlayheadError as error:
                log.info("no tags of entry %d: %s", item, error)
                self._tags[item] = ()
            except (Disconnected, playhead.ProtocolError):
                return
        self._loaded.set()

    async def _can_seek(self, player: Player, status: Status) -> bool:
        if self._snapshot and self._snapshot.status.item == status.item and self._snapshot.status.item_status == status.item_status:
            return self._seekable
        try:
            return bool((await player.item_status(status.item or 0)).seekable_time_ranges)
        except PlayheadError:
            return False  # it has left the queue; an event follows

    def _tell_position(self, status: Status, events: list[playhead.Event]) -> None:
        """Signals the position if it differs from the position that clients expect."""
        jumped = any(
            isinstance(event, playhead.TimeJumped) or isinstance(event, playhead.Transition) and event.from_ == event.to for event in events)
        if self._assumed.follow(status, time.monotonic(), jumped):
            self._object.signal(PLAYER, "Seeked", microseconds(status.time))

    def _follow_track(self, player: Player, status: Status) -> None:
        """Starts reading the tags of an entry that is new or has become ready."""
        known = self._track
        before = self._snapshot.status if self._snapshot else None
        if known and before and known.item == status.item and before.item_status == status.item_status:
            return
        if self._loading:
            self._loading.cancel()
            self._loading = None
        if status.item is None:
            self._track = None
            return
        if known is None or known.item != status.item:
            self._track = None
        self._loading = asyncio.create_task(self._load(player, status.item))

    async def _load(self, player: Player, item: int) -> None:
        """Reads the tags of an entry in a separate task, because this may take long."""
        try:
            found = await player.item_status(item)
            track = Track(item, found.path)
            if found.status == "readyToPlay":
                tags = self._tags.get(item) or tuple(await player.metadata(item))
                art = None
                if any(tag.artwork is not None for tag in tags):
                    try:
                        art = self._artwork.store(await player.artwork_image(item))
                    except (PlayheadError, OSError) as error:
                        log.warning("no artwork of %s: %s", found.path, error)
                track = Track(item, found.path, tags, art)
        except PlayheadError as error:
            log.info("no metadata of entry %d: %s", item, error)
            return
        except (Disconnected, playhead.ProtocolError):
            return  # the connection has ended; `run` gets the same error
        self._track = track
        self._loaded.set()

    # MARK: - Calls

    def snapshot(self) -> Snapshot:
        """The last published state."""
        if self._snapshot is None:
            raise Refused("Failed", "playheadd is not reachable")
        return self._snapshot

    def player(self) -> Player:
        """The player, for requests."""
        if self._player is None:
            raise Refused("Failed", "playheadd is not reachable")
        return self._player
