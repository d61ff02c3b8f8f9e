"""The list of tracks: the queue from the current entry on, and the signals for its changes. Pure functions, without
bus and socket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbus_fast import Variant
from playhead import Entry, MetadataItem

from .objects import text
from .state import NO_TRACK, Snapshot, microseconds, name_of, url_of, xesam

SHOWN = 200
"""The maximum number of tracks. MPRIS allows a partial list, and a queue can have 100,000 entries."""

SINGLY = 20
"""The maximum number of individual signals for added or removed tracks. More changes replace the list."""


class TrackList:
    """Tracks in order, each with its metadata."""

    def __init__(self, tracks: Mapping[str, Mapping[str, Variant]]) -> None:
        self.tracks = tracks

    @classmethod
    def of(cls, entries: Sequence[Entry], snapshot: Snapshot, tags: Mapping[int, Sequence[MetadataItem]]) -> TrackList:
        """The first entries of the queue with their known tags, the current entry with all metadata."""
        more = {snapshot.track_id(): snapshot.metadata()}
        tracks = {snapshot.track_id(entry.item): metadata(entry, snapshot, tags.get(entry.item, ())) for entry in entries}
        return cls({track: {**known, **more.get(track, {})} for track, known in tracks.items()})

    def signals_to(self, other: TrackList, current: str) -> list[tuple[str, tuple[Any, ...]]]:
        """The signals for the change from this list to another."""
        mine, others = list(self.tracks), list(other.tracks)
        gone = [track for track in mine if track not in other.tracks]
        came = [index for index, track in enumerate(others) if track not in self.tracks]
        stayed = [track for track in mine if track in other.tracks]
        if len(gone) + len(came) > SINGLY or stayed != [track for track in others if track in self.tracks]:
            return [("TrackListReplaced", (others, current))]
        signals: list[tuple[str, tuple[Any, ...]]] = [("TrackRemoved", (track,)) for track in gone]
        signals += [("TrackAdded", (other.tracks[others[index]], others[index - 1] if index else NO_TRACK)) for index in came]
        signals += [
            ("TrackMetadataChanged", (track, other.tracks[track])) for track in stayed if self.tracks[track] != other.tracks[track]
        ]
        return signals


def metadata(entry: Entry, snapshot: Snapshot, tags: Sequence[MetadataItem]) -> dict[str, Variant]:
    """The metadata of an entry that is not current. Its tags override a title from a playlist."""
    found = {
        "mpris:trackid": Variant("o", snapshot.track_id(entry.item)),
        "xesam:title": Variant("s", text(entry.title or name_of(entry.path))),
    }
    if entry.duration is not None:
        found["mpris:length"] = Variant("x", microseconds(entry.duration))
    if entry.artist:
        found["xesam:artist"] = Variant("as", [text(entry.artist)])
    found.update(xesam(tags))
    url = url_of(entry.path)
    if url:
        found["xesam:url"] = Variant("s", text(url))
    return found
