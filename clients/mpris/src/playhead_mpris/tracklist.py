"""The list of tracks: what the queue has from the current entry on, and what is told when it changes. Pure, without bus and socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbus_fast import Variant
from playhead import Entry, MetadataItem

from .objects import text
from .state import NO_TRACK, Snapshot, microseconds, name_of, url_of, xesam

SHOWN = 200
"""How many tracks are shown at most: a list may be a part of what will be played, and a queue may have 100,000 entries."""

SINGLY = 20
"""How many tracks that come or go are told of one by one; beyond them the list is another one."""


class TrackList:
    """Tracks in their order, each with what is known of it."""

    def __init__(self, tracks: Mapping[str, Mapping[str, Variant]]) -> None:
        self.tracks = tracks

    @classmethod
    def of(cls, entries: Sequence[Entry], snapshot: Snapshot, tags: Mapping[int, Sequence[MetadataItem]]) -> TrackList:
        """The first entries of the queue, each with its known tags; the current one with all its metadata."""
        more = {snapshot.track_id(): snapshot.metadata()}
        tracks = {snapshot.track_id(entry.item): metadata(entry, snapshot, tags.get(entry.item, ())) for entry in entries}
        return cls({track: {**known, **more.get(track, {})} for track, known in tracks.items()})

    def signals_to(self, other: TrackList, current: str) -> list[tuple[str, tuple[Any, ...]]]:
        """The signals that make this list the other one."""
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
    """The metadata of an entry that is not the current one. Its tags come before a title from a list."""
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
