"""Commands that are no player's.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from .decoding import decode, read_bool, read_int, read_text, read_time
from .generated_replies import (
    ArtworkReply,
    AssetStatus,
    Chapters,
    ConfigReloadReply,
    DeletedRecording,
    ExportReply,
    Hello,
    Help,
    ImageReply,
    OutputStatus,
    Outputs,
    PlayAtReply,
    Players,
    PreparedRecording,
    QueueSavedReply,
    RateTogetherReply,
    RecorderStatus,
    Recorders,
    RecordingOutcome,
    SavedState,
    Selection,
    SessionPolicy,
    SessionSetting,
    SessionStatus,
    Stats,
    Tags,
    Tracks,
    WaveformReply,
)
from .sending import Sends
from .values import Number, Place, Time, moment, number, place, texts


class ClientCommands(Sends):
    """Commands that are no player's."""

    async def config_reload(self) -> ConfigReloadReply:
        """Read the configuration again."""
        reply = await self._send("config.reload", {})
        return decode(ConfigReloadReply, reply)

    async def hello(self, *, protocol: int | None = None) -> Hello:
        """Request a version of the protocol."""
        reply = await self._send("hello", {"protocol": protocol})
        return decode(Hello, reply)

    async def help(self, command: str | None = None) -> Help:
        """List the commands, or explain one."""
        reply = await self._send("help", {"command": command})
        return decode(Help, reply)

    async def ping(self) -> None:
        """Check that the daemon replies."""
        await self._send("ping", {})

    async def stats(self) -> Stats:
        """Show the daemon's counters, sandbox and workers."""
        reply = await self._send("stats", {})
        return decode(Stats, reply)

    async def play_at(self, time: Time, *players: str) -> PlayAtReply:
        """Start players together, on the same sample."""
        reply = await self._send("play-at", {"time": moment(time), "players": list(players)})
        return decode(PlayAtReply, reply)

    async def rate_together(self, rate: Number, *players: str) -> RateTogetherReply:
        """Set the rate of several players on the same sample."""
        reply = await self._send("rate-together", {"rate": number(rate), "players": list(players)})
        return decode(RateTogetherReply, reply)

    async def asset_artwork(
        self, id: int, *, from_: int | None = None, index: int | None = None, file: Place | None = None,
        replace: bool | None = None, offset: int | None = None, limit: int | None = None,
    ) -> ArtworkReply:
        """List the images in an asset's tags, or return one."""
        reply = await self._send("asset.artwork", {
            "id": id,
            "from": from_,
            "index": index,
            "file": None if file is None else place(file),
            "replace": replace,
            "offset": offset,
            "limit": limit,
        })
        return decode(ArtworkReply, reply)

    async def asset_cancel(
        self, id: int,
        *keys: Literal["tracks", "duration", "playable", "readable", "composable", "hasProtectedContent", "chapters", "preferredRate", "preferredVolume", "providesPreciseDuration", "metadata", "commonMetadata", "availableMetadataFormats"]
    ) -> int:
        """Cancel loading of an asset."""
        reply = await self._send("asset.cancel", {"id": id, "keys": list(keys)})
        return read_int(reply, "asset")

    async def asset_chapters(
        self, id: int, *, language: str | Sequence[str] | None = None, offset: int | None = None,
    ) -> Chapters:
        """List the chapters of a loaded asset."""
        reply = await self._send("asset.chapters", {"id": id, "language": texts(language), "offset": offset})
        return decode(Chapters, reply)

    async def asset_close(self, id: int) -> None:
        """Close an asset."""
        await self._send("asset.close", {"id": id})

    async def asset_load(
        self, id: int,
        *keys: Literal["tracks", "duration", "playable", "readable", "composable", "hasProtectedContent", "chapters", "preferredRate", "preferredVolume", "providesPreciseDuration", "metadata", "commonMetadata", "availableMetadataFormats"]
    ) -> AssetStatus:
        """Load values of an asset, and list them."""
        reply = await self._send("asset.load", {"id": id, "keys": list(keys)})
        return decode(AssetStatus, reply)

    async def asset_metadata(
        self, id: int, *, space: str | None = None, identifier: str | None = None,
        language: str | Sequence[str] | None = None, common: bool | None = None, offset: int | None = None,
        charset: Literal["automatic", "latin-1", "gbk", "big5", "euc-kr", "euc-jp", "shift-jis", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "koi8-r", "koi8-u", "iso-8859-2"] | None = None,
    ) -> Tags:
        """List the tags of an asset."""
        reply = await self._send("asset.metadata", {
            "id": id,
            "space": space,
            "identifier": identifier,
            "language": texts(language),
            "common": common,
            "offset": offset,
            "charset": charset,
        })
        return decode(Tags, reply)

    async def asset_open(
        self, path: Place, *, precise: bool | None = None,
        charset: Literal["automatic", "latin-1", "gbk", "big5", "euc-kr", "euc-jp", "shift-jis", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "koi8-r", "koi8-u", "iso-8859-2"] | None = None,
        header: str | Sequence[str] | None = None, header_for: Literal["origin", "any"] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> int:
        """Give a number to a file, to inspect it without playing it."""
        reply = await self._send("asset.open", {
            "path": place(path),
            "precise": precise,
            "charset": charset,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return read_int(reply, "asset")

    async def asset_selection(self, id: int) -> Selection:
        """List the groups of tracks of a loaded asset."""
        reply = await self._send("asset.selection", {"id": id})
        return decode(Selection, reply)

    async def asset_status(self, id: int) -> AssetStatus:
        """Show the loading status of an asset's values, without loading any."""
        reply = await self._send("asset.status", {"id": id})
        return decode(AssetStatus, reply)

    async def asset_tracks(self, id: int) -> Tracks:
        """List the tracks of a loaded asset."""
        reply = await self._send("asset.tracks", {"id": id})
        return decode(Tracks, reply)

    async def export(
        self, *paths: Place, file: Place | None = None,
        format: Literal["wav", "caf", "flac", "m4a", "mp4", "mov", "matroska", "webm", "ogg", "mp3"] | None = None,
        replace: bool | None = None, start: Time | None = None, end: Time | None = None, mix: bool | None = None,
        track: int | None = None,
        codec: Literal["copy", "none", "pcm", "float", "flac", "alac", "aac", "opus", "mp3", "ima4"] | None = None,
        sample_rate: int | None = None, channels: int | None = None, bits: Literal[16, 24, 32, 64] | None = None,
        bit_rate: int | None = None, video: Literal["copy", "none", "h264"] | None = None, height: int | None = None,
        quality: int | None = None, metadata: Literal["all", "sharing", "none"] | None = None,
        header: str | Sequence[str] | None = None, header_for: Literal["origin", "any"] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> ExportReply:
        """Export files: convert, cut or join them."""
        reply = await self._send("export", {
            "paths": [place(path) for path in paths],
            "file": None if file is None else place(file),
            "format": format,
            "replace": replace,
            "start": moment(start),
            "end": moment(end),
            "mix": mix,
            "track": track,
            "codec": codec,
            "sample-rate": sample_rate,
            "channels": channels,
            "bits": bits,
            "bit-rate": bit_rate,
            "video": video,
            "height": height,
            "quality": quality,
            "metadata": metadata,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(ExportReply, reply)

    async def image(
        self, path: Place, *times: Time, file: Place | None = None, format: Literal["png", "jpeg"] | None = None,
        quality: int | None = None, replace: bool | None = None, width: int | None = None, height: int | None = None,
        before: Time | None = None, after: Time | None = None, fast: bool | None = None, upright: bool | None = None,
        sheet: str | None = None, gap: int | None = None, header: str | Sequence[str] | None = None,
        header_for: Literal["origin", "any"] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> ImageReply:
        """Write images of a file's video."""
        reply = await self._send("image", {
            "path": place(path),
            "times": [moment(time) for time in times],
            "file": None if file is None else place(file),
            "format": format,
            "quality": quality,
            "replace": replace,
            "width": width,
            "height": height,
            "before": moment(before),
            "after": moment(after),
            "fast": fast,
            "upright": upright,
            "sheet": sheet,
            "gap": gap,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(ImageReply, reply)

    async def scan_cancel(self, scan: int | None = None) -> int:
        """Cancel a `scan`, `waveform`, `export` or `image`, or all."""
        reply = await self._send("scan.cancel", {"scan": scan})
        return read_int(reply, "cancelled")

    async def waveform(
        self, path: Place, *, start: Time | None = None, end: Time | None = None, bins: int | None = None,
        samples_per_bin: int | None = None, mono: bool | None = None, file: Place | None = None,
        format: Literal["json", "dat", "png", "svg"] | None = None, replace: bool | None = None, width: int | None = None,
        height: int | None = None, color: str | None = None, background: str | None = None, axis: bool | None = None,
        bits: Literal[8, 16] | None = None, header: str | Sequence[str] | None = None,
        header_for: Literal["origin", "any"] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> WaveformReply:
        """Compute the waveform of a file."""
        reply = await self._send("waveform", {
            "path": place(path),
            "start": moment(start),
            "end": moment(end),
            "bins": bins,
            "samples-per-bin": samples_per_bin,
            "mono": mono,
            "file": None if file is None else place(file),
            "format": format,
            "replace": replace,
            "width": width,
            "height": height,
            "color": color,
            "background": background,
            "axis": axis,
            "bits": bits,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(WaveformReply, reply)

    async def clock_advance(self, duration: Time) -> Fraction:
        """Advance the virtual clock."""
        reply = await self._send("clock.advance", {"duration": moment(duration)})
        return read_time(reply, "now")

    async def output_list(self) -> Outputs:
        """List the devices of the sound server and their ports."""
        reply = await self._send("output.list", {})
        return decode(Outputs, reply)

    async def output_set(
        self, device: str | None = None, *, preferred: str | Sequence[str] | None = None,
        lost: Literal["pause", "hold", "move", "null"] | None = None,
    ) -> OutputStatus:
        """Set the output device, and what happens when it goes away."""
        reply = await self._send("output.set", {"device": device, "preferred": texts(preferred), "lost": lost})
        return decode(OutputStatus, reply)

    async def player_close(self, name: str) -> None:
        """Close a player, its queue and its subscriptions."""
        await self._send("player.close", {"name": name})

    async def player_create(self, name: str) -> str:
        """Create a player."""
        reply = await self._send("player.create", {"name": name})
        return read_text(reply, "player")

    async def player_list(self) -> Players:
        """List the players."""
        reply = await self._send("player.list", {})
        return decode(Players, reply)

    async def record_delete(self, recorder: int | None = None) -> DeletedRecording:
        """Delete the file of a stopped recording, and its recorder."""
        reply = await self._send("record.delete", {"recorder": recorder})
        return decode(DeletedRecording, reply)

    async def record_list(self) -> Recorders:
        """List the recorders by their numbers."""
        reply = await self._send("record.list", {})
        return decode(Recorders, reply)

    async def record_pause(self, recorder: int | None = None) -> None:
        """Pause a recording; `record.start` resumes it."""
        await self._send("record.pause", {"recorder": recorder})

    async def record_prepare(
        self, file: Place, *, source: str | None = None,
        format: Literal["pcm", "flac", "alac", "aac", "opus", "ima4", "ulaw", "alaw", "ilbc", "amr"] | None = None,
        replace: bool | None = None, sample_rate: int | None = None, channels: int | None = None,
        bits: Literal[8, 16, 24, 32, 64] | None = None, float: bool | None = None, big_endian: bool | None = None,
        quality: Literal["min", "low", "medium", "high", "max"] | None = None, bit_rate: int | None = None,
        start_level: Number | None = None, silence_level: Number | None = None, longest_silence: Time | None = None,
    ) -> PreparedRecording:
        """Open a source and a file, so that `record.start` is immediate."""
        reply = await self._send("record.prepare", {
            "file": place(file),
            "source": source,
            "format": format,
            "replace": replace,
            "sample-rate": sample_rate,
            "channels": channels,
            "bits": bits,
            "float": float,
            "big-endian": big_endian,
            "quality": quality,
            "bit-rate": bit_rate,
            "start-level": number(start_level),
            "silence-level": number(silence_level),
            "longest-silence": moment(longest_silence),
        })
        return decode(PreparedRecording, reply)

    async def record_start(self, recorder: int | None = None, *, at: Time | None = None, duration: Time | None = None) -> None:
        """Record, or resume a paused recording in the same file."""
        await self._send("record.start", {"recorder": recorder, "at": moment(at), "duration": moment(duration)})

    async def record_status(self, recorder: int | None = None) -> RecorderStatus:
        """Show the state of a recorder."""
        reply = await self._send("record.status", {"recorder": recorder})
        return decode(RecorderStatus, reply)

    async def record_stop(self, recorder: int | None = None) -> RecordingOutcome:
        """Stop a recording."""
        reply = await self._send("record.stop", {"recorder": recorder})
        return decode(RecordingOutcome, reply)

    async def session_active(self, state: bool | None = None) -> bool:
        """Activate or deactivate the session, or show it."""
        reply = await self._send("session.active", {"state": state})
        return read_bool(reply, "active")

    async def session_category(
        self,
        category: Literal["ambient", "soloAmbient", "playback", "record", "playAndRecord", "multiRoute", "audioProcessing"] | None = None,
        *,
        mode: Literal["default", "voiceChat", "videoChat", "gameChat", "videoRecording", "measurement", "moviePlayback", "spokenAudio", "voicePrompt"] | None = None,
        options: str | Sequence[str] | None = None,
    ) -> SessionSetting:
        """Set the category of the session, or show it."""
        reply = await self._send("session.category", {"category": category, "mode": mode, "options": texts(options)})
        return decode(SessionSetting, reply)

    async def session_policy(
        self, *, at_end: Literal["resume", "pause"] | None = None, timeout: Time | None = None,
        at_timeout: Literal["resume", "pause"] | None = None, fade: Time | None = None,
    ) -> SessionPolicy:
        """Set how interruptions end, or show it."""
        reply = await self._send("session.policy", {
            "at-end": at_end,
            "timeout": moment(timeout),
            "at-timeout": at_timeout,
            "fade": moment(fade),
        })
        return decode(SessionPolicy, reply)

    async def session_resume(self, action: Literal["resume", "pause"] | None = None) -> None:
        """End an interruption before the sound server does."""
        await self._send("session.resume", {"action": action})

    async def session_status(self) -> SessionStatus:
        """Show the audio session and its interruption."""
        reply = await self._send("session.status", {})
        return decode(SessionStatus, reply)

    async def bookmark_remove(self, bookmark: int) -> None:
        """Remove a bookmark."""
        await self._send("bookmark.remove", {"bookmark": bookmark})

    async def queue_forget(self, name: str) -> None:
        """Delete a saved queue."""
        await self._send("queue.forget", {"name": name})

    async def queue_saved(self) -> QueueSavedReply:
        """List the saved queues by name."""
        reply = await self._send("queue.saved", {})
        return decode(QueueSavedReply, reply)

    async def state(self) -> SavedState:
        """Show whether players and queues are saved."""
        reply = await self._send("state", {})
        return decode(SavedState, reply)

    async def state_save(self) -> int:
        """Save all changes now."""
        reply = await self._send("state.save", {})
        return read_int(reply, "writes")

__all__ = [
    "ClientCommands",
]
