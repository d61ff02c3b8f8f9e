"""The interfaces of MPRIS 2.2 as tables, and the implementations of their methods."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from playhead import Disconnected, ErrorCode, PlayheadError, Player

from .objects import Interface, Method, Property, Refused, text
from .state import FASTEST, LOOPS, NO_TRACK, SLOWEST, microseconds, playback_status

if TYPE_CHECKING:
    from .bridge import Bridge

T = TypeVar("T")

PATH = "/org/mpris/MediaPlayer2"
ROOT = "org.mpris.MediaPlayer2"
PLAYER = "org.mpris.MediaPlayer2.Player"
TRACK_LIST = "org.mpris.MediaPlayer2.TrackList"
SCHEMES = ["file", "http", "https"]
TYPES = [
    "audio/aac", "audio/ac3", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/opus", "audio/vorbis", "audio/wav", "audio/webm",
    "audio/x-aiff", "audio/x-ape", "audio/x-flac", "audio/x-matroska", "audio/x-mpegurl", "audio/x-scpls", "audio/x-wav", "audio/x-wavpack",
    "application/ogg", "application/vnd.apple.mpegurl", "application/xspf+xml",
]


def interfaces(bridge: Bridge) -> dict[str, Interface]:
    """The interfaces of one player."""
    calls = Calls(bridge)
    name = "Playhead" if bridge.player_name == "main" else f"Playhead ({bridge.player_name})"
    root = Interface(
        methods={"Raise": Method((), nothing), "Quit": Method((), nothing)},
        properties={
            "CanQuit": fixed("b", False), "CanRaise": fixed("b", False), "HasTrackList": fixed("b", True), "Identity": fixed("s", text(name)),
            "SupportedUriSchemes": fixed("as", SCHEMES), "SupportedMimeTypes": fixed("as", TYPES),
        })
    told = {
        "PlaybackStatus": "s", "LoopStatus": "s", "Rate": "d", "Shuffle": "b", "Metadata": "a{sv}", "Volume": "d", "MinimumRate": "d",
        "MaximumRate": "d", "CanGoNext": "b", "CanGoPrevious": "b", "CanPlay": "b", "CanPause": "b", "CanSeek": "b", "CanControl": "b",
    }
    assigned: dict[str, Callable[[Any], Awaitable[None]]] = {
        "LoopStatus": calls.set_loop, "Rate": calls.set_rate, "Shuffle": calls.set_shuffle, "Volume": calls.set_volume,
    }
    properties = {
        each: Property(signature, functools.partial(calls.read, each), refusing(assigned[each]) if each in assigned else None)
        for each, signature in told.items()
    }
    properties["Position"] = Property("x", refusing(calls.position), emits="false")
    simple = ("Next", calls.next), ("Previous", calls.previous), ("Pause", calls.pause), ("PlayPause", calls.play_pause), ("Stop", calls.stop), ("Play", calls.play)
    methods = {each: Method((), refusing(call)) for each, call in simple}
    methods["Seek"] = Method((("Offset", "x"),), refusing(calls.seek))
    methods["SetPosition"] = Method((("TrackId", "o"), ("Position", "x")), refusing(calls.set_position))
    methods["OpenUri"] = Method((("Uri", "s"),), refusing(calls.open_uri))
    return {ROOT: root, PLAYER: Interface(methods, properties, {"Seeked": (("Position", "x"),)}), TRACK_LIST: track_list(calls)}


def track_list(calls: Calls) -> Interface:
    """The TrackList interface."""
    add = (("Uri", "s"), ("AfterTrack", "o"), ("SetAsCurrent", "b"))
    return Interface(
        methods={
            "GetTracksMetadata": Method((("TrackIds", "ao"),), calls.tracks_metadata, (("Metadata", "aa{sv}"),)),
            "AddTrack": Method(add, refusing(calls.add_track)),
            "RemoveTrack": Method((("TrackId", "o"),), refusing(calls.remove_track)),
            "GoTo": Method((("TrackId", "o"),), refusing(calls.go_to)),
        },
        properties={
            "Tracks": Property("ao", calls.tracks, emits="invalidates"), "CanEditTracks": Property("b", calls.can_edit_tracks),
        },
        signals={
            "TrackListReplaced": (("Tracks", "ao"), ("CurrentTrack", "o")), "TrackAdded": (("Metadata", "a{sv}"), ("AfterTrack", "o")),
            "TrackRemoved": (("TrackId", "o"),), "TrackMetadataChanged": (("TrackId", "o"), ("Metadata", "a{sv}")),
        })


def fixed(signature: str, value: Any) -> Property:
    """A constant property."""
    async def read() -> Any:
        return value

    return Property(signature, read)


async def nothing() -> None:
    """Does nothing, as CanRaise and CanQuit declare."""


def sending(request: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Sends a request at once, before all later requests. Its reply can be awaited later."""
    return asyncio.create_task(request)


def address(uri: str) -> str:
    """Converts a URL to the daemon's form. RFC 8089 also allows `file:/x` for `file:///x`."""
    scheme, colon, rest = uri.partition(":")
    scheme = scheme.lower()
    if not colon or scheme not in SCHEMES:
        raise Refused("NotSupported", f"the URL must begin with one of {', '.join(SCHEMES)} (got {uri!r})")
    if scheme == "file" and rest.startswith("/") and not rest.startswith("//"):
        rest = "//" + rest
    if not rest.startswith("//"):
        raise Refused("InvalidArgs", f"the URL must be absolute (got {uri!r})")
    return f"{scheme}:{rest}"


def refusing(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Runs the call and the awaitable that it returns. Converts error replies of the daemon to D-Bus errors."""
    async def wrapped(*arguments: Any) -> Any:
        try:
            given = await call(*arguments)
        except PlayheadError as error:
            raise Refused("Failed", str(error)) from error
        except Disconnected as error:
            raise Refused("Failed", str(error)) from error
        if not isinstance(given, Awaitable):
            return given

        async def answer() -> Any:
            return await given

        return refusing(answer)()

    return wrapped


class Calls:
    """The action of a method. Calls without effect by the specification, such as Next without a next track, are not
    errors.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def read(self, name: str) -> Any:
        """A property with a signal on change."""
        return self._bridge.snapshot().properties()[name]

    async def position(self) -> int:
        """The position: requested on each access, without signals."""
        return microseconds((await self._bridge.player().status()).time)

    async def next(self) -> None:
        """Skips to the next entry. A paused player stays paused."""
        if await self._can("CanGoNext"):
            await self._bridge.player().next()

    async def previous(self) -> None:
        """Returns to the previously played entry, or to the beginning of a repeated entry."""
        if await self._can("CanGoPrevious"):
            await self._bridge.player().previous()

    async def _can(self, name: str) -> bool:
        """The current value of a property, not the last published one: calls can be faster than events."""
        bridge = self._bridge
        player, last = bridge.player(), bridge.snapshot()
        status = await player.status()
        played = (await player.history(limit=0)).count
        now = type(last)(status, last.session, played, last.track, last.seekable, last.control)
        return bool(now.properties()[name])

    async def pause(self) -> None:
        """Pauses."""
        await self._bridge.player().pause()

    async def play(self) -> None:
        """Plays if the queue is not empty."""
        player = self._bridge.player()
        if (await player.status()).item is not None:
            await player.play()

    async def play_pause(self) -> None:
        """Pauses a playing player, and plays a paused one."""
        player = self._bridge.player()
        status = await player.status()
        if status.item is None:
            raise Refused("Failed", "the queue is empty")
        await player.toggle()

    async def stop(self) -> None:
        """Pauses at the beginning of the entry."""
        await self._bridge.player().stop()

    async def seek(self, offset: int) -> Awaitable[None] | None:
        """Seeks by microseconds. After the end it skips to the next entry; before the beginning it seeks to the
        beginning.
        """
        player = self._bridge.player()
        status = await player.status()
        if status.item is None or not self._bridge.snapshot().seekable:
            return None
        way = Fraction(offset, 1_000_000)
        if status.duration is not None and status.time + way > status.duration:
            await self.next()
            return None
        # Relative, so that a second seek before the completion of this one starts from its target.
        return self._seek(player, f"{'-' if way < 0 else '+'}{abs(offset)}/1000000", status.item)

    async def set_position(self, track: str, position: int) -> Awaitable[None] | None:
        """Seeks to a time of the current entry. Calls for another entry, or outside the duration, are outdated and
        ignored.
        """
        player, snapshot = self._bridge.player(), self._bridge.snapshot()
        status = await player.status()
        if track != snapshot.track_id() or status.item != snapshot.status.item or status.item is None or not snapshot.seekable:
            return None
        time = Fraction(position, 1_000_000)
        if time < 0 or status.duration is not None and time > status.duration:
            return None
        return self._seek(player, time, status.item)

    def _seek(self, player: Player, time: Fraction | str, item: int) -> Awaitable[None]:
        sought = sending(player.seek(time, item=item))

        async def answer() -> None:
            try:
                await sought
            except PlayheadError as error:
                # The current entry has changed in the meantime.
                if error.code not in (ErrorCode.NO_SUCH_ITEM, ErrorCode.NO_CURRENT_ITEM):
                    raise

        return answer()

    async def tracks(self) -> list[str]:
        """The tracks from the current entry on, up to the limit."""
        self._bridge.snapshot()
        return list(self._bridge.track_list.tracks)

    async def can_edit_tracks(self) -> bool:
        """Whether this bridge has the right."""
        return self._bridge.snapshot().control

    async def tracks_metadata(self, wanted: list[str]) -> list[Any]:
        """The metadata of these tracks, without those that are no longer in the list."""
        known = self._bridge.track_list.tracks
        return [[known[track] for track in wanted if track in known]]

    def _entry(self, track: str) -> int | None:
        """The entry of a track; None if the track is not in the list."""
        return int(track.rpartition("/")[2]) if track in self._bridge.track_list.tracks else None

    async def add_track(self, uri: str, after: str, current: bool) -> Awaitable[None] | None:
        """Inserts a URL after a track or at the beginning, and optionally plays it."""
        player = self._bridge.player()
        if not self._bridge.snapshot().control:
            return None
        entry, place = self._entry(after), address(uri)
        if entry is None and after != NO_TRACK:
            raise Refused("InvalidArgs", f"unknown track {after}")
        first = (await player.status()).item
        if first is None:
            added = sending(player.append(place))
        elif entry is None and current:
            added = sending(player.insert(place, before=first))
        else:
            # Before the current entry it would be played at once, so the first possible position is after it.
            added = sending(player.insert(place, after=first if entry is None else entry))

        async def answer() -> None:
            items = (await added).items
            if not items:
                return
            if current:
                await player.jump(items[0])
                await player.play()

        return answer()

    async def remove_track(self, track: str) -> None:
        """Removes a track from the list. An unknown track is ignored."""
        entry = self._entry(track)
        if entry is not None and self._bridge.snapshot().control:
            await self._unless_gone(self._bridge.player().remove(entry))

    async def go_to(self, track: str) -> None:
        """Skips to a track of the list. An unknown track is ignored. A paused player stays paused."""
        entry = self._entry(track)
        if entry is not None and self._bridge.snapshot().control:
            await self._unless_gone(self._bridge.player().jump(entry))

    async def _unless_gone(self, request: Awaitable[object]) -> None:
        """Runs a request for an entry that may have left the queue. That error is ignored."""
        try:
            await request
        except PlayheadError as error:
            if error.code is not ErrorCode.NO_SUCH_ITEM:
                raise

    async def open_uri(self, uri: str) -> Awaitable[None] | None:
        """Inserts a URL after the current entry, and plays it."""
        player = self._bridge.player()
        inserted = sending(player.insert(address(uri)))

        async def answer() -> None:
            # The entries of a playlist are known only after it was read.
            added = await inserted
            if added.items:
                await player.jump(added.items[0])
                await player.play()

        return answer()

    async def set_loop(self, value: str) -> None:
        """None, Track or Playlist."""
        modes = {theirs: ours for ours, theirs in LOOPS.items()}
        if value not in modes:
            raise Refused("InvalidArgs", f"LoopStatus must be one of {', '.join(modes)} (got {value!r})")
        mode = modes[value]
        await self._bridge.player().repeat("one" if mode == "one" else "all" if mode == "all" else "off")

    async def set_shuffle(self, value: bool) -> None:
        """Sets shuffle mode, if it differs."""
        player = self._bridge.player()
        if ((await player.status()).shuffle is not None) != value:
            await player.shuffle(value)

    async def set_volume(self, value: float) -> None:
        """Sets the volume, clamped to 0…1, and unmutes the player for a volume above 0."""
        if value != value:
            raise Refused("InvalidArgs", "Volume must be a number")
        player = self._bridge.player()
        await player.volume(min(max(value, 0.0), 1.0))
        if value > 0:
            await player.mute(False)

    async def set_rate(self, value: float) -> None:
        """Pauses at 0. Another value is the rate of current and later playback."""
        player = self._bridge.player()
        if value == 0:
            await player.pause()
            return
        if not SLOWEST <= value <= FASTEST:
            raise Refused("InvalidArgs", f"Rate must be between {SLOWEST} and {FASTEST} (got {value})")
        exact = Decimal(repr(value))
        await player.default_rate(exact)
        if playback_status(await player.status()) == "Playing":
            await player.rate(exact)
