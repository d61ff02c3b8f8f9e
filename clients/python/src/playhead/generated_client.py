"""Commands that are no player's.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from .decoding import decode, read_int, read_text, read_time
from .generated_replies import (
    ArtworkReply,
    AssetStatus,
    Chapters,
    ConfigReloadReply,
    ExportReply,
    Hello,
    Help,
    ImageReply,
    OutputStatus,
    Outputs,
    PlayAtReply,
    Players,
    QueueSavedReply,
    RateTogetherReply,
    SavedState,
    Selection,
    Stats,
    Tags,
    Tracks,
    WaveformReply,
)
from .sending import Sends
from .values import Number, Place, Time, lines, listed, moment, number, place


class ClientCommands(Sends):
    """Commands that are no player's."""

    async def config_reload(self) -> ConfigReloadReply:
        """Has the daemon read its configuration again."""
        reply = await self._send("config.reload", {})
        return decode(ConfigReloadReply, reply)

    async def hello(self, *, protocol: int | None = None) -> Hello:
        """Says which version of the protocol the client speaks."""
        reply = await self._send("hello", {"protocol": protocol})
        return decode(Hello, reply)

    async def help(self, command: str | None = None) -> Help:
        """Lists the commands, or explains one."""
        reply = await self._send("help", {"command": command})
        return decode(Help, reply)

    async def ping(self) -> None:
        """Answers ok."""
        await self._send("ping", {})

    async def stats(self) -> Stats:
        """Gives the daemon's counters."""
        reply = await self._send("stats", {})
        return decode(Stats, reply)

    async def play_at(self, time: Time, *players: str) -> PlayAtReply:
        """Starts players together, on the same sample."""
        reply = await self._send("play-at", {"time": moment(time), "players": list(players)})
        return decode(PlayAtReply, reply)

    async def rate_together(self, rate: Number, *players: str) -> RateTogetherReply:
        """Sets one rate for several players, which go over to it on the same sample."""
        reply = await self._send("rate-together", {"rate": number(rate), "players": list(players)})
        return decode(RateTogetherReply, reply)

    async def asset_artwork(
        self, id: int, *, from_: int | None = None, index: int | None = None, file: Place | None = None,
        replace: bool | None = None, offset: int | None = None, limit: int | None = None,
    ) -> ArtworkReply:
        """Lists the pictures in an asset's tags, or gives one."""
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
        """Gives up what is being loaded of an asset."""
        reply = await self._send("asset.cancel", {"id": id, "keys": list(keys)})
        return read_int(reply, "asset")

    async def asset_chapters(
        self, id: int, *, language: str | Sequence[str] | None = None, offset: int | None = None,
    ) -> Chapters:
        """Lists the chapters of an asset that is loaded."""
        reply = await self._send("asset.chapters", {"id": id, "language": listed(language), "offset": offset})
        return decode(Chapters, reply)

    async def asset_close(self, id: int) -> None:
        """Gives up an asset."""
        await self._send("asset.close", {"id": id})

    async def asset_load(
        self, id: int,
        *keys: Literal["tracks", "duration", "playable", "readable", "composable", "hasProtectedContent", "chapters", "preferredRate", "preferredVolume", "providesPreciseDuration", "metadata", "commonMetadata", "availableMetadataFormats"]
    ) -> AssetStatus:
        """Loads values of an asset, and gives them."""
        reply = await self._send("asset.load", {"id": id, "keys": list(keys)})
        return decode(AssetStatus, reply)

    async def asset_metadata(
        self, id: int, *, space: str | None = None, identifier: str | None = None,
        language: str | Sequence[str] | None = None, common: bool | None = None, offset: int | None = None,
    ) -> Tags:
        """Lists what the tags of an asset say."""
        reply = await self._send("asset.metadata", {
            "id": id,
            "space": space,
            "identifier": identifier,
            "language": listed(language),
            "common": common,
            "offset": offset,
        })
        return decode(Tags, reply)

    async def asset_open(
        self, path: Place, *, precise: bool | None = None, header: str | Sequence[str] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> int:
        """Gives a number to a file, to look at it without playing it."""
        reply = await self._send("asset.open", {
            "path": place(path),
            "precise": precise,
            "header": lines(header),
            "user-agent": user_agent,
            "network": network,
            "interface": listed(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return read_int(reply, "asset")

    async def asset_selection(self, id: int) -> Selection:
        """Lists the groups of tracks to choose from of an asset that is loaded."""
        reply = await self._send("asset.selection", {"id": id})
        return decode(Selection, reply)

    async def asset_status(self, id: int) -> AssetStatus:
        """Gives how far an asset's values are, without loading any."""
        reply = await self._send("asset.status", {"id": id})
        return decode(AssetStatus, reply)

    async def asset_tracks(self, id: int) -> Tracks:
        """Lists the tracks of an asset that is loaded."""
        reply = await self._send("asset.tracks", {"id": id})
        return decode(Tracks, reply)

    async def export(
        self, *paths: Place, file: Place | None = None,
        format: Literal["wav", "caf", "flac", "m4a", "mp4", "mov", "matroska", "webm", "ogg", "mp3"] | None = None,
        replace: bool | None = None, start: Time | None = None, end: Time | None = None, mix: bool | None = None,
        track: int | None = None,
        codec: Literal["copy", "none", "pcm", "float", "flac", "alac", "aac", "opus", "mp3", "ima4"] | None = None,
        sample_rate: int | None = None, channels: int | None = None, bits: Literal["16", "24", "32", "64"] | None = None,
        bit_rate: int | None = None, video: Literal["copy", "none", "h264"] | None = None, height: int | None = None,
        quality: int | None = None, metadata: Literal["all", "sharing", "none"] | None = None,
        header: str | Sequence[str] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> ExportReply:
        """Makes a file of others: of another kind, coded anew, a part of it, or several joined."""
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
            "header": lines(header),
            "user-agent": user_agent,
            "network": network,
            "interface": listed(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(ExportReply, reply)

    async def image(
        self, path: Place, *times: Time, file: Place | None = None, format: Literal["png", "jpeg"] | None = None,
        quality: int | None = None, replace: bool | None = None, width: int | None = None, height: int | None = None,
        before: Time | None = None, after: Time | None = None, fast: bool | None = None, upright: bool | None = None,
        sheet: str | None = None, gap: int | None = None, header: str | Sequence[str] | None = None,
        user_agent: str | None = None, network: bool | None = None, interface: str | Sequence[str] | None = None,
        timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> ImageReply:
        """Writes images of a file's video."""
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
            "header": lines(header),
            "user-agent": user_agent,
            "network": network,
            "interface": listed(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(ImageReply, reply)

    async def scan_cancel(self, scan: int | None = None) -> int:
        """Ends a scan of this connection, or all of them."""
        reply = await self._send("scan.cancel", {"scan": scan})
        return read_int(reply, "cancelled")

    async def waveform(
        self, path: Place, *, start: Time | None = None, end: Time | None = None, bins: int | None = None,
        samples_per_bin: int | None = None, mono: bool | None = None, file: Place | None = None,
        format: Literal["json", "dat", "png", "svg"] | None = None, replace: bool | None = None, width: int | None = None,
        height: int | None = None, color: str | None = None, background: str | None = None, axis: bool | None = None,
        bits: Literal["8", "16"] | None = None, header: str | Sequence[str] | None = None, user_agent: str | None = None,
        network: bool | None = None, interface: str | Sequence[str] | None = None, timeout: Time | None = None,
        peak_bit_rate: int | None = None,
    ) -> WaveformReply:
        """Finds out what a file looks like: its waveform."""
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
            "header": lines(header),
            "user-agent": user_agent,
            "network": network,
            "interface": listed(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        })
        return decode(WaveformReply, reply)

    async def clock_advance(self, duration: Time) -> Fraction:
        """Lets time pass on the virtual clock."""
        reply = await self._send("clock.advance", {"duration": moment(duration)})
        return read_time(reply, "now")

    async def output_list(self) -> Outputs:
        """Lists the devices of the sound server, a row for each and for each of its ports."""
        reply = await self._send("output.list", {})
        return decode(Outputs, reply)

    async def output_set(
        self, device: str | None = None, *, preferred: str | None = None,
        lost: Literal["pause", "hold", "move", "null"] | None = None,
    ) -> OutputStatus:
        """Chooses the device that the players are heard on, and what happens when it goes away."""
        reply = await self._send("output.set", {"device": device, "preferred": preferred, "lost": lost})
        return decode(OutputStatus, reply)

    async def player_close(self, name: str) -> None:
        """Ends a player, with its queue and its subscriptions."""
        await self._send("player.close", {"name": name})

    async def player_create(self, name: str) -> str:
        """Makes a player."""
        reply = await self._send("player.create", {"name": name})
        return read_text(reply, "player")

    async def player_list(self) -> Players:
        """Lists the players, a row for each."""
        reply = await self._send("player.list", {})
        return decode(Players, reply)

    async def bookmark_remove(self, bookmark: int) -> None:
        """Removes a bookmark."""
        await self._send("bookmark.remove", {"bookmark": bookmark})

    async def queue_forget(self, name: str) -> None:
        """Forgets a queue that was saved."""
        await self._send("queue.forget", {"name": name})

    async def queue_saved(self) -> QueueSavedReply:
        """Lists the queues that were saved, a row for each."""
        reply = await self._send("queue.saved", {})
        return decode(QueueSavedReply, reply)

    async def state(self) -> SavedState:
        """Tells whether players and queues are being saved."""
        reply = await self._send("state", {})
        return decode(SavedState, reply)

    async def state_save(self) -> int:
        """Saves what has changed at once, and answers when that is done."""
        reply = await self._send("state.save", {})
        return read_int(reply, "writes")

__all__ = [
    "ClientCommands",
]
