"""The daemon's events, a class for each.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from .values import Event, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class At(Event):
    """One of the times was passed, by playing (`kind=crossed`) or by a seek (`kind=skipped`, with `direction=forward` or
    `backward`)."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    kind: str
    direction: str | None = None
    chapter: int | None = None
    title: str | None = None
    late: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Event):
    """The present value of a key (`initial=true`, without `old`), and then each change, with its cause (the table below) and
    its number (*Numbers*)."""

    id: int
    player: str
    key: str
    item: int | None = None
    old: Value = None
    new: Value
    cause: str
    changes: Value = None
    initial: bool | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterChanged(Event):
    """Another chapter of the current item is heard, from its first sample, or its chapters became known."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    chapter: int | None
    title: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing(Event):
    """To every connection that the daemon is about to close, with the reason."""

    code: int
    name: str
    message: str
    operation: str | None = None
    underlying: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedToPlayToEnd(Event):
    """Playback of an item broke off, with the error."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    code: int
    name: str
    message: str
    operation: str | None = None
    underlying: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption(Event):
    """Another program interrupts playback (`phase=began`)."""

    id: int
    player: str
    phase: str
    by: str | None = None
    should_resume: bool | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSkipped(Event):
    """An item failed, and playback continued with the next one (`on-failure skip`)."""

    id: int
    player: str
    item: int
    code: int
    name: str
    message: str
    operation: str | None = None
    underlying: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(Event):
    """The level of the player up to `time`, a value for each channel of the output."""

    id: int
    player: str
    item: int | None
    time: Fraction = field(metadata={"wire": "pts"})
    average: tuple[float, ...]
    peak: tuple[float, ...]
    average_scale: tuple[float, ...]
    peak_scale: tuple[float, ...]
    late: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccessLogEntry(Event):
    """A server replied to a request of an entry."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    uri: str
    address: str
    type: str
    startup: Fraction
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewErrorLogEntry(Event):
    """The file of an item has a fault at this time, but plays."""

    id: int
    player: str
    item: int | None
    time: Fraction = field(metadata={"wire": "pts"})
    code: int
    name: str
    message: str
    operation: str | None = None
    underlying: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow(Event):
    """The client did not read in time."""

    dropped: int
    merged: int
    since: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsSkipped(Event):
    """Packets of an item did not decode, the first of them at this time."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    count: int
    code: int
    name: str
    message: str
    operation: str | None = None
    underlying: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedToEnd(Event):
    """The last sample of an item was heard."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMeter(Event):
    """The level of the recording up to `time`, a value for each channel of the source, as in `meter`."""

    id: int
    recorder: int
    time: Fraction = field(metadata={"wire": "pts"})
    average: tuple[float, ...]
    peak: tuple[float, ...]
    average_scale: tuple[float, ...]
    peak_scale: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(Event):
    """The state of a recorder changed, or frames of its source were lost."""

    id: int
    recorder: int
    state: str
    time: Fraction = field(metadata={"wire": "pts"})
    lost: int
    code: int | None = None
    name: str | None = None
    message: str | None = None
    operation: str | None = None
    underlying: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed(Event):
    """A subscription ended."""

    id: int
    player: str
    item: int | None = None
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteChanged(Event):
    """The output route or the default input changed."""

    id: int
    player: str
    reason: str
    previous: str | None
    current: str | None
    description: str | None
    input: str | None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanProgress(Event):
    """The progress of a request."""

    scan: int
    file: int
    count: int
    path: str
    done: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition(Event):
    """Playback of an item followed another one, or itself (repeated or looped), as heard."""

    id: int
    player: str
    from_: int = field(metadata={"wire": "from"})
    to: int
    time: Fraction = field(metadata={"wire": "pts"})
    trimmed_end: int = field(metadata={"wire": "trimmedEnd"})
    trimmed_end_by: str | None = field(metadata={"wire": "trimmedEndBy"})
    trimmed_start: int = field(metadata={"wire": "trimmedStart"})
    trimmed_start_by: str | None = field(metadata={"wire": "trimmedStartBy"})
    inserted: int
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondaryAudioHint(Event):
    """The sound server lowers the volume of playback because another program plays (`phase=began`), or no longer does
    (`phase=ended`)."""

    id: int
    player: str
    phase: str
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled(Event):
    """An underrun."""

    id: int
    player: str
    item: int | None
    time: Fraction = field(metadata={"wire": "pts"})
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTitle(Event):
    """A station (Icecast, SHOUTcast) announces what it plays from this time on."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    title: str
    url: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Event):
    """A multiple of the interval was heard (`periodic`), the time jumped (`jump`), or audio started or stopped (`start`,
    `stop`)."""

    id: int
    player: str
    item: int | None
    time: Fraction = field(metadata={"wire": "pts"})
    rate: float
    reason: str
    late: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeJumped(Event):
    """The time of an item changed other than by playing, with the cause (the table below)."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    cause: str
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMetadata(Event):
    """Metadata of an HLS stream from this time on, for `duration` if it is known."""

    id: int
    player: str
    item: int
    time: Fraction = field(metadata={"wire": "pts"})
    duration: Fraction | None = None
    held: bool | None = None
    identifier: str
    key: str
    common_key: str | None = None
    type: str
    value: Value = None
    truncated: bool | None = None
    bytes: int | None = None
    media_type: str | None = None
    language: str | None = None
    info: str | None = None
    owner: str | None = None
    picture_type: str | None = None
    data: str | None = None
    seq: int | None = None


EVENTS: dict[str, type[Event]] = {
    "at": At,
    "changed": Changed,
    "chapter-changed": ChapterChanged,
    "closing": Closing,
    "failed-to-play-to-end": FailedToPlayToEnd,
    "interruption": Interruption,
    "item-skipped": ItemSkipped,
    "meter": Meter,
    "new-access-log-entry": NewAccessLogEntry,
    "new-error-log-entry": NewErrorLogEntry,
    "overflow": Overflow,
    "packets-skipped": PacketsSkipped,
    "played-to-end": PlayedToEnd,
    "record-meter": RecordMeter,
    "recording": Recording,
    "removed": Removed,
    "route-changed": RouteChanged,
    "scan-progress": ScanProgress,
    "transition": Transition,
    "secondary-audio-hint": SecondaryAudioHint,
    "stalled": Stalled,
    "stream-title": StreamTitle,
    "tick": Tick,
    "time-jumped": TimeJumped,
    "timed-metadata": TimedMetadata,
}
"""The classes by the events' names on the wire."""

KEYS: tuple[str, ...] = (
    "player.timeControlStatus",
    "player.reasonForWaitingToPlay",
    "player.rate",
    "player.timebaseRate",
    "player.defaultRate",
    "player.currentItem",
    "player.volume",
    "player.isMuted",
    "player.pan",
    "player.actionAtItemEnd",
    "player.automaticallyWaitsToMinimizeStalling",
    "player.audioTimePitchAlgorithm",
    "player.mediaSelectionCriteria.audible",
    "player.mediaSelectionCriteria.legible",
    "player.appliesMediaSelectionCriteriaAutomatically",
    "player.replayGain",
    "player.repeat",
    "player.loop",
    "player.shuffle",
    "player.onFailure",
    "player.error",
    "item.status",
    "item.duration",
    "item.providesPreciseDuration",
    "item.error",
    "item.currentMediaSelection",
    "item.isPlaybackLikelyToKeepUp",
    "item.isPlaybackBufferFull",
    "item.isPlaybackBufferEmpty",
    "item.events",
    "queue.version",
    "output.state",
    "output.route",
    "output.devices",
    "output.selection",
    "output.events",
    "session.category",
    "session.mode",
    "session.options",
    "session.isActive",
    "session.isInterrupted",
    "session.secondaryAudioShouldBeSilencedHint",
    "session.events",
)
"""What `observe` takes."""

__all__ = [
    "At",
    "Changed",
    "ChapterChanged",
    "Closing",
    "EVENTS",
    "FailedToPlayToEnd",
    "Interruption",
    "ItemSkipped",
    "KEYS",
    "Meter",
    "NewAccessLogEntry",
    "NewErrorLogEntry",
    "Overflow",
    "PacketsSkipped",
    "PlayedToEnd",
    "RecordMeter",
    "Recording",
    "Removed",
    "RouteChanged",
    "ScanProgress",
    "Transition",
    "SecondaryAudioHint",
    "Stalled",
    "StreamTitle",
    "Tick",
    "TimeJumped",
    "TimedMetadata",
]
