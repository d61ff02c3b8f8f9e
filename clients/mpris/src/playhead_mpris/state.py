"""Converts the daemon's state of a player to MPRIS properties. Pure functions, without bus and socket."""

from __future__ import annotations

import pathlib
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dbus_fast import Variant
from playhead import MetadataItem, Status

from .objects import text

NO_TRACK = "/org/mpris/MediaPlayer2/TrackList/NoTrack"
SLOWEST, FASTEST = 1 / 32, 32.0
ELSEWHERE = Fraction(1, 4)
"""The maximum difference between the position and the position that clients expect, before `Seeked` is sent."""
LOOPS = {"off": "None", "one": "Track", "all": "Playlist"}

# Common keys of the daemon and their MPRIS names: (name, signature).
TAGS = {
    "title": ("xesam:title", "s"),
    "albumName": ("xesam:album", "s"),
    "artist": ("xesam:artist", "as"),
    "albumArtist": ("xesam:albumArtist", "as"),
    "type": ("xesam:genre", "as"),
    "composer": ("xesam:composer", "as"),
    "lyricist": ("xesam:lyricist", "as"),
    "comment": ("xesam:comment", "as"),
    "description": ("xesam:comment", "as"),
    "lyrics": ("xesam:asText", "s"),
    "creationDate": ("xesam:contentCreated", "s"),
    "trackNumber": ("xesam:trackNumber", "i"),
    "discNumber": ("xesam:discNumber", "i"),
    "beatsPerMinute": ("xesam:audioBPM", "i"),
}


@dataclass(frozen=True, slots=True)
class Track:
    """The metadata of an entry."""

    item: int
    path: str | None
    tags: tuple[MetadataItem, ...] = ()
    art: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a player at one time."""

    status: Status
    session: int
    played: int
    """The number of previously played entries, for `Previous`."""
    track: Track | None
    seekable: bool
    control: bool = True
    """Whether this bridge can control the player."""

    def properties(self) -> dict[str, Any]:
        """The properties of org.mpris.MediaPlayer2.Player, except Position."""
        status = self.status
        # Without control, all of these are false.
        current = self.control and status.item is not None
        again = status.repeat == "all" and status.count > 1
        return {
            "PlaybackStatus": playback_status(status),
            "LoopStatus": LOOPS.get(status.repeat, "None"),
            "Rate": rate(status),
            "Shuffle": status.shuffle is not None,
            "Metadata": self.metadata(),
            "Volume": 0.0 if status.is_muted else status.volume,
            "MinimumRate": SLOWEST,
            "MaximumRate": FASTEST,
            "CanGoNext": current and ((status.index or 0) + 1 < status.count or again),
            "CanGoPrevious": self.control and (self.played > 0 or (again and status.shuffle is None)),
            "CanPlay": current,
            "CanPause": current,
            "CanSeek": current and self.seekable,
            "CanControl": self.control,
        }

    def track_id(self, item: int | None = None) -> str:
        """The object path of an entry (default: the current entry). `session` differs for each connection, because a
        restarted daemon reuses the ids of entries."""
        item = self.status.item if item is None else item
        return NO_TRACK if item is None else f"/org/playhead/session{self.session}/track/{item}"

    def metadata(self) -> dict[str, Variant]:
        """The metadata of the current entry."""
        found: dict[str, Variant] = {"mpris:trackid": Variant("o", self.track_id())}
        status, track = self.status, self.track
        if status.item is None or track is None:
            return found
        if status.duration is not None:
            found["mpris:length"] = Variant("x", microseconds(status.duration))
        found.update(xesam(track.tags))
        if status.stream_title:
            found["xesam:title"] = Variant("s", text(status.stream_title))
        elif status.title or "xesam:title" not in found:
            # A title that the user gave replaces that of the tags.
            found["xesam:title"] = Variant("s", text(status.title or name_of(track.path)))
        if status.artist and "xesam:artist" not in found:
            found["xesam:artist"] = Variant("as", [text(status.artist)])
        url = url_of(track.path)
        if url:
            found["xesam:url"] = Variant("s", text(url))
        if track.art:
            found["mpris:artUrl"] = Variant("s", track.art)
        return found


def playback_status(status: Status) -> str:
    """The playback status. A player that waits for samples is playing; a player that is paused at the beginning is
    stopped.
    """
    if status.item is None:
        return "Stopped"
    if status.time_control_status != "paused":
        return "Playing"
    return "Stopped" if status.time == 0 else "Paused"


def rate(status: Status) -> float:
    """The rate of playback, or of the next playback."""
    return abs(status.rate or status.default_rate)


@dataclass(slots=True)
class Assumed:
    """The position that clients expect, from the last published position and the rate.

    Only a published position updates it. Otherwise many small differences, each below the limit, could add up without a
    signal.
    """

    since: float = 0
    start: Fraction = Fraction(0)
    speed: float = 0
    item: int | None = None

    def follow(self, status: Status, now: float, jumped: bool) -> bool:
        """Processes the state at the time `now`, in seconds. Returns whether `Seeked` is necessary."""
        expected = self.start + Fraction((now - self.since) * self.speed) if self.item == status.item else Fraction(0)
        told = status.item is not None and (jumped or abs(status.time - expected) > ELSEWHERE)
        self.since, self.start, self.item = now, status.time if told else expected, status.item
        self.speed = status.rate if playback_status(status) == "Playing" else 0.0
        return told


def microseconds(time: Fraction) -> int:
    """Converts a time to microseconds."""
    return int(time * 1_000_000)


def xesam(tags: Sequence[MetadataItem]) -> dict[str, Variant]:
    """Tags with their Xesam names: all values of a list, otherwise the first value."""
    texts: dict[str, list[str]] = {}
    found: dict[str, Variant] = {}
    for tag in tags:
        name, kind = TAGS.get(tag.common_key or "", ("", ""))
        if not name or tag.value is None:
            continue
        if kind == "as":
            texts.setdefault(name, []).append(text(str(tag.value)))
        elif name in found:
            continue
        elif kind == "i":
            if isinstance(tag.value, (int, Fraction)) and not isinstance(tag.value, bool) and 0 <= tag.value <= 0x7FFFFFFF:
                found[name] = Variant("i", int(tag.value))
        else:
            found[name] = Variant("s", text(str(tag.value)))
    found.update({name: Variant("as", values) for name, values in texts.items()})
    return found


def url_of(path: str | None) -> str | None:
    """The URL of a path or address; None for a descriptor and for an entry without a path."""
    if path is None or path.startswith("fd:"):
        return None
    return path if "://" in path else "file://" + urllib.parse.quote(path, errors="replace")


def name_of(path: str | None) -> str:
    """The title of an entry whose tags have none."""
    if path is None or path.startswith("fd:"):
        return "Stream"
    try:
        return pathlib.PurePosixPath(urllib.parse.unquote(urllib.parse.urlsplit(path).path) if "://" in path else path).name or path
    except ValueError:
        return path  # not a valid URL
