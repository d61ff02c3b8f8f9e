"""What the daemon answers, a class for each kind of answer.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from .generated_rows import (
    AssetValue,
    Bookmark,
    Chapter,
    Entry,
    EventsRow,
    HelpRow,
    HistoryEntry,
    LeftOut,
    LogEntry,
    LoudnessResult,
    MetadataItem,
    OutputDevice,
    PictureRow,
    PlayerSummary,
    PlaylistLine,
    QueueChangesRow,
    QueueSavedRow,
    Recorder,
    SelectionCriteria,
    SelectionOption,
    Track,
    VolumePoint,
    WaveformBin,
    WrittenImage,
)
from .values import TimeRange, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReloadReply:
    """What `config.reload` answers."""

    changed: tuple[str, ...]
    restart: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What `hello` answers."""

    protocol: int
    version: str
    instance: str
    rights: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """What `help` answers."""

    rows: tuple[HelpRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What `stats` answers."""

    version: str
    uptime: Fraction
    connections: int
    requests: int
    errors: int
    events: int
    dropped: int
    instance: str
    seq: int
    isolation: str
    workers: int
    worker_crashes: int
    no_new_privileges: bool
    landlock: str
    landlock_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopReply:
    """What `loop` answers."""

    item: int | None
    start: Fraction | None
    end: Fraction | None
    count: int | None
    passes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSelection:
    """What `media-selection` answers."""

    automatic: bool
    rows: tuple[SelectionCriteria, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekReply:
    """What `next-chapter`, `previous-chapter`, `seek`, `step` or `bookmark.go` answers."""

    finished: bool
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    requested: Fraction
    before: Fraction | None
    after: Fraction | None
    exact: bool
    clamped: bool
    us: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayAtReply:
    """What `play-at` answers."""

    frame: int
    host_time: Fraction | None
    late: int
    spread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTogetherReply:
    """What `rate-together` answers."""

    frame: int | None
    host_time: Fraction | None
    spread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayGain:
    """What `replay-gain` answers."""

    mode: str
    pre_amp: float = field(metadata={"wire": "pre-amp"})
    fallback: float
    protect: bool
    item: int | None
    gain: float | None
    source: str | None
    limited: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What `status` answers."""

    player: str
    time_control_status: str
    reason_for_waiting_to_play: str | None
    rate: float
    item: int | None
    index: int | None
    count: int
    time: Fraction = field(metadata={"wire": "pts"})
    duration: Fraction | None
    provides_precise_duration: bool
    volume: float
    muted: bool
    pan: float
    action_at_item_end: str
    repeat: str
    loop: TimeRange | None
    passes: int | None
    passes_left: int | None
    item_status: str
    version: int
    timebase_rate: float
    default_rate: float
    shuffle: int | None
    on_failure: str
    automatically_waits_to_minimize_stalling: bool
    pitch: str
    chapter: int | None
    chapter_title: str | None
    replay_gain: str
    title: str | None = None
    artist: str | None = None
    stream_title: str | None = None
    stream_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReply:
    """What `append`, `insert`, `load`, `queue.commit`, `queue.edit`, `replace` or `item.copy` answers."""

    items: tuple[int, ...] = ()
    version: int | None = None
    pending: int | None = None
    skipped: int | None = None
    rows: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EditReply:
    """What `clear`, `move` or `remove` answers."""

    version: int | None = None
    pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What `history` answers."""

    count: int
    version: int
    rows: tuple[HistoryEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentReply:
    """What `jump`, `next` or `previous` answers."""

    item: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePart:
    """What `list` answers."""

    count: int
    version: int
    next: int | None
    rows: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaylistPart:
    """What `playlist.export` answers."""

    count: int
    version: int
    next: int | None
    skipped: int | None = None
    rows: tuple[PlaylistLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueChangesReply:
    """What `queue.changes` answers."""

    version: int
    count: int
    whole: bool
    rows: tuple[QueueChangesRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleReply:
    """What `shuffle` answers."""

    shuffle: str
    seed: int | None = None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtworkReply:
    """What `item.artwork` or `asset.artwork` answers."""

    item: int | None = None
    count: int | None = None
    picture: int | None = None
    type: str | None = None
    media_type: str | None = None
    bytes: int | None = None
    file: str | None = None
    offset: int | None = None
    next: int | None = None
    data: str | None = None
    asset: int | None = None
    rows: tuple[PictureRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBuffer:
    """What `item.buffer` answers."""

    item: int
    preferred_forward_buffer_duration: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapters:
    """What `item.chapters` or `asset.chapters` answers."""

    item: int | None = None
    count: int
    next: int | None
    fault: str | None = None
    message: str | None = None
    asset: int | None = None
    rows: tuple[Chapter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEndTimes:
    """What `item.end-time` answers."""

    item: int
    forward_playback_end_time: Fraction | None
    reverse_playback_end_time: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLog:
    """What `item.log` answers."""

    item: int
    count: int
    station_name: str | None = None
    station_genre: str | None = None
    station_description: str | None = None
    station_url: str | None = None
    station_bitrate: float | None = None
    rows: tuple[LogEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """What `item.metadata` or `asset.metadata` answers."""

    item: int | None = None
    count: int
    next: int | None
    formats: tuple[str, ...]
    pictures: int
    track_gain: float | None = None
    track_peak: float | None = None
    album_gain: float | None = None
    album_peak: float | None = None
    r128_track_gain: float | None = None
    r128_album_gain: float | None = None
    asset: int | None = None
    rows: tuple[MetadataItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPitch:
    """What `item.pitch` answers."""

    item: int
    pitch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSelection:
    """What `item.select` answers."""

    item: int
    audio: int | None
    subtitles: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What `item.selection` or `asset.selection` answers."""

    item: int | None = None
    audio: int | None = None
    subtitles: int | None = None
    asset: int | None = None
    count: int | None = None
    rows: tuple[SelectionOption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStatus:
    """What `item.status` answers."""

    item: int
    path: str | None
    status: str
    duration: Fraction | None
    provides_precise_duration: bool
    current: bool
    forward_playback_end_time: Fraction | None
    reverse_playback_end_time: Fraction | None
    preferred_forward_buffer_duration: Fraction
    can_play_fast_forward: bool
    can_play_slow_forward: bool
    can_play_reverse: bool
    can_play_slow_reverse: bool
    can_play_fast_reverse: bool
    can_step_forward: bool
    can_step_backward: bool
    seekable_time_ranges: tuple[TimeRange, ...]
    loaded_time_ranges: tuple[TimeRange, ...]
    is_playback_likely_to_keep_up: bool
    is_playback_buffer_full: bool
    is_playback_buffer_empty: bool
    live: bool
    live_edge: Fraction | None = None
    date: str | None = None
    pitch: str
    own_pitch: str | None
    gain: float | None
    gain_source: str | None
    gain_limited: bool | None
    title: str | None = None
    artist: str | None = None
    range: TimeRange | None = None
    stream_title: str | None = None
    stream_url: str | None = None
    error: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracks:
    """What `item.tracks` or `asset.tracks` answers."""

    item: int | None = None
    count: int
    audio: int | None = None
    subtitles: int | None = None
    asset: int | None = None
    rows: tuple[Track, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemVolume:
    """What `item.volume` answers."""

    item: int
    count: int
    rows: tuple[VolumePoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetStatus:
    """What `asset.load` or `asset.status` answers."""

    asset: int
    status: str
    path: str | None = None
    error: str | None = None
    message: str | None = None
    rows: tuple[AssetValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReply:
    """What `export` answers."""

    scan: int
    file: str
    format: str
    duration: Fraction
    size: int
    fault: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReply:
    """What `image` answers."""

    scan: int
    path: str
    count: int
    width: int
    height: int
    file: str | None = None
    fault: str | None = None
    message: str | None = None
    rows: tuple[WrittenImage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoudnessReply:
    """What `scan` answers."""

    scan: int
    count: int
    failed: int
    album_loudness: float | None = None
    album_gain: float | None = None
    album_true_peak: float | None = None
    album_sample_peak: float | None = None
    album_peak: float | None = None
    applied: int | None = None
    rows: tuple[LoudnessResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveformReply:
    """What `waveform` answers."""

    scan: int
    path: str
    sample_rate: int
    channels: int
    bins: int
    start: Fraction
    duration: Fraction
    cached: bool
    file: str | None = None
    fault: str | None = None
    message: str | None = None
    rows: tuple[WaveformBin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsReply:
    """What `events` answers."""

    instance: str
    seq: int
    count: int
    missed: int
    more: bool
    rows: tuple[EventsRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `explain` answers."""

    player: str
    kind: str
    item: int
    requested: Fraction
    reached: Fraction
    wait: int
    open: int
    index: int
    demux: int
    decode: int
    resample: int
    commit: int
    device: int | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitReply:
    """What `wait` answers."""

    item: int | None
    time: Fraction = field(metadata={"wire": "pts"})
    time_control_status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What `output.list` answers."""

    count: int
    server: str | None
    rows: tuple[OutputDevice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStatus:
    """What `output.set` or `output.status` answers."""

    output: str | None
    state: str
    sample_rate: int | None
    channels: int | None
    clipped: int
    selected: str
    preferred: tuple[str, ...]
    lost: str
    route: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Players:
    """What `player.list` answers."""

    count: int
    rows: tuple[PlayerSummary, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedRecording:
    """What `record.delete` answers."""

    recorder: int
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorders:
    """What `record.list` answers."""

    count: int
    rows: tuple[Recorder, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRecording:
    """What `record.prepare` answers."""

    recorder: int
    file: str
    source: str
    format: str
    sample_rate: int
    channels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderStatus:
    """What `record.status` answers."""

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
class RecordingOutcome:
    """What `record.stop` answers."""

    recorder: int
    file: str | None = None
    duration: Fraction | None = None
    size: int
    lost: int
    skipped: int
    fault: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSetting:
    """What `session.category` answers."""

    category: str
    mode: str
    options: tuple[str, ...]
    role: str
    others: str
    playback: bool
    recording: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """What `session.policy` answers."""

    at_end: str = field(metadata={"wire": "at-end"})
    timeout: Fraction | None
    at_timeout: str = field(metadata={"wire": "at-timeout"})
    fade: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatus:
    """What `session.status` answers."""

    category: str
    mode: str
    options: tuple[str, ...]
    role: str
    others: str
    playback: bool
    recording: bool
    active: bool
    interrupted: bool
    hint: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkReply:
    """What `bookmark.add` answers."""

    bookmark: int
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmarks:
    """What `bookmark.list` answers."""

    count: int
    next: int | None
    rows: tuple[Bookmark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoadReply:
    """What `queue.load` answers."""

    name: str
    count: int
    first: int | None = None
    last: int | None = None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSaveReply:
    """What `queue.save` answers."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSavedReply:
    """What `queue.saved` answers."""

    count: int
    rows: tuple[QueueSavedRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What `state` answers."""

    saving: bool
    folder: str | None
    writes: int
    crashed: tuple[int, ...] = ()
    code: int | None = None
    error: str | None = None
    message: str | None = None

__all__ = [
    "AddReply",
    "ArtworkReply",
    "AssetStatus",
    "BookmarkReply",
    "Bookmarks",
    "Chapters",
    "ConfigReloadReply",
    "CurrentReply",
    "DeletedRecording",
    "EditReply",
    "EventsReply",
    "Explanation",
    "ExportReply",
    "Hello",
    "Help",
    "History",
    "ImageReply",
    "ItemBuffer",
    "ItemEndTimes",
    "ItemLog",
    "ItemPitch",
    "ItemSelection",
    "ItemStatus",
    "ItemVolume",
    "LoopReply",
    "LoudnessReply",
    "MediaSelection",
    "OutputStatus",
    "Outputs",
    "PlayAtReply",
    "Players",
    "PlaylistPart",
    "PreparedRecording",
    "QueueChangesReply",
    "QueueLoadReply",
    "QueuePart",
    "QueueSaveReply",
    "QueueSavedReply",
    "RateTogetherReply",
    "RecorderStatus",
    "Recorders",
    "RecordingOutcome",
    "ReplayGain",
    "SavedState",
    "SeekReply",
    "Selection",
    "SessionPolicy",
    "SessionSetting",
    "SessionStatus",
    "ShuffleReply",
    "Stats",
    "Status",
    "Tags",
    "Tracks",
    "WaitReply",
    "WaveformReply",
]
