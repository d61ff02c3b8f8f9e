"""The rows of what the daemon answers, a class for each kind.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from .values import TimeRange, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpRow:
    """A row of `help`."""

    command: str | None = None
    parameter: str | None = None
    key: str | None = None
    synopsis: str | None = None
    family: str | None = None
    right: tuple[str, ...] = ()
    takes: str | None = None
    summary: str
    details: str | None = None
    reply: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionCriteria:
    """A row of `media-selection`."""

    group: str
    languages: tuple[str, ...]
    characteristics: tuple[str, ...]
    principal: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A row of `append`, `insert` or `load`."""

    line: int
    code: int
    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A row of `history`."""

    item: int
    path: str | None
    status: str
    duration: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of `list`."""

    item: int
    index: int
    path: str | None
    status: str
    duration: Fraction | None
    current: bool
    title: str | None = None
    artist: str | None = None
    range: TimeRange | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaylistLine:
    """A row of `playlist.export`."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueChangesRow:
    """A row of `queue.changes`."""

    version: int
    op: str
    item: int | None = None
    from_: int | None = field(default=None, metadata={"wire": "from"})
    index: int | None = None
    count: int | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRow:
    """A row of `item.artwork` or `asset.artwork`."""

    picture: int
    type: str
    media_type: str
    description: str | None = None
    bytes: int
    code: int | None = None
    name: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A row of `item.chapters` or `asset.chapters`."""

    chapter: int
    start: Fraction
    end: Fraction
    title: str | None = None
    language: str | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A row of `item.log`."""

    kind: str
    uri: str
    address: str
    type: str | None = None
    startup: Fraction | None = None
    requests: int | None = None
    bytes: int | None = None
    observed_bitrate: float | None = None
    indicated_bitrate: float | None = None
    reconnects: int | None = None
    address_changes: int | None = None
    switches: int | None = None
    stalls: int | None = None
    stall_duration: Fraction | None = None
    status: int | None = None
    retried: bool | None = None
    code: int | None = None
    name: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataItem:
    """A row of `item.metadata` or `asset.metadata`."""

    identifier: str | None = None
    key: str | None = None
    common_key: str | None = None
    type: str | None = None
    value: Value = None
    bytes: int | None = None
    media_type: str | None = None
    language: str | None = None
    info: str | None = None
    owner: str | None = None
    picture_type: str | None = None
    picture: int | None = None
    target_level: int | None = None
    total: int | None = None
    play_count: int | None = None
    truncated: bool | None = None
    warning: str | None = None
    code: int | None = None
    name: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOption:
    """A row of `item.selection` or `asset.selection`."""

    group: str
    allows_empty_selection: bool | None = None
    options: int | None = None
    track: int | None = None
    language: str | None = None
    title: str | None = None
    characteristics: tuple[str, ...] = ()
    playable: bool | None = None
    default: bool | None = None
    selected: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A row of `item.tracks` or `asset.tracks`."""

    track: int
    type: str
    codec: str
    playable: bool
    enabled: bool
    default: bool
    start: Fraction
    duration: Fraction | None
    precise: bool
    protected: bool
    format: str | None = None
    sample_format: str | None = None
    sample_rate: int | None = None
    channels: int | None = None
    layout: str | None = None
    bits_per_sample: int | None = None
    bit_rate: int | None = None
    width: int | None = None
    height: int | None = None
    coded_width: int | None = None
    coded_height: int | None = None
    rotation: int | None = None
    frame_rate: str | None = None
    language: str | None = None
    title: str | None = None
    closed_captions: tuple[str, ...] = ()
    characteristics: tuple[str, ...] = ()
    selected: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumePoint:
    """A row of `item.volume`."""

    at: Fraction
    volume: float
    to: float | None = None
    over: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetValue:
    """A row of `asset.load` or `asset.status`."""

    key: str
    status: str
    value: Value = None
    error: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenImage:
    """A row of `image`."""

    image: int
    requested: Fraction
    time: Fraction
    width: int
    height: int
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoudnessResult:
    """A row of `scan`."""

    file: int
    path: str
    status: str
    loudness: float | None = None
    range: float | None = None
    true_peak: float | None = None
    sample_peak: float | None = None
    gain: float | None = None
    peak: float | None = None
    duration: Fraction | None = None
    fault: str | None = None
    error: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveformBin:
    """A row of `waveform`."""

    bin: int
    start: Fraction
    min: tuple[float, ...]
    max: tuple[float, ...]
    rms: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRow:
    """A row of `events`."""

    seq: int
    event: str
    player: str | None = None
    key: str | None = None
    item: int | None = None
    old: Value = None
    new: Value = None
    cause: str | None = None
    changes: Value = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDevice:
    """A row of `output.list`."""

    kind: str
    device: str
    description: str
    default: bool | None = None
    current: bool | None = None
    preferred: int | None = None
    sample_rate: int | None = None
    channels: int | None = None
    monitor_of: str | None = None
    port: str | None = None
    available: str | None = None
    active: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSummary:
    """A row of `player.list`."""

    player: str
    time_control_status: str
    rate: float
    item: int | None
    count: int
    volume: float
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """A row of `record.list`."""

    recorder: int
    state: str
    file: str
    time: Fraction = field(metadata={"wire": "pts"})
    source: str | None
    format: str | None
    sample_rate: int
    channels: int
    lost: int
    skipped: int
    waiting_for_level: bool
    fault: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """A row of `bookmark.list`."""

    bookmark: int
    path: str
    part: str | None = None
    time: Fraction
    automatic: bool
    saved: int
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSavedRow:
    """A row of `queue.saved`."""

    name: str
    count: int
    saved: int

__all__ = [
    "AssetValue",
    "Bookmark",
    "Chapter",
    "Entry",
    "EventsRow",
    "HelpRow",
    "HistoryEntry",
    "LeftOut",
    "LogEntry",
    "LoudnessResult",
    "MetadataItem",
    "OutputDevice",
    "PictureRow",
    "PlayerSummary",
    "PlaylistLine",
    "QueueChangesRow",
    "QueueSavedRow",
    "Recorder",
    "SelectionCriteria",
    "SelectionOption",
    "Track",
    "VolumePoint",
    "WaveformBin",
    "WrittenImage",
]
