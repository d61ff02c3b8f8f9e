"""Commands of a player: playback.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .decoding import decode, read_bool, read_float, read_text
from .generated_replies import (
    LoopReply,
    MediaSelection,
    ReplayGain,
    SeekReply,
    Status,
)
from .sending import Sends
from .values import Number, Time, moment, number, texts


class PlaybackCommands(Sends):
    """Commands of a player: playback."""

    async def auto_wait(self, state: bool | Literal["toggle"] | None = None) -> bool:
        """Set whether a stall ends automatically, or show it."""
        reply = await self._send("auto-wait", {"state": state})
        return read_bool(reply, "automaticallyWaitsToMinimizeStalling")

    async def default_rate(self, rate: Number | None = None) -> float:
        """Set the rate that `play` uses, or show it."""
        reply = await self._send("default-rate", {"rate": number(rate)})
        return read_float(reply, "defaultRate")

    async def end_action(self, action: Literal["advance", "pause", "none"] | None = None) -> str:
        """Set the action at the end of an item, or show it."""
        reply = await self._send("end-action", {"action": action})
        return read_text(reply, "actionAtItemEnd")

    async def fade(self, volume: Number, duration: Time, curve: Literal["linear", "equal-power"] | None = None) -> None:
        """Fade the volume to another one."""
        await self._send("fade", {"volume": number(volume), "duration": moment(duration), "curve": curve})

    async def loop(
        self, start: Time | None = None, end: Time | None = None, *, off: bool | None = None, last: bool | None = None,
        count: int | None = None, item: int | None = None,
    ) -> LoopReply:
        """Loop a part of the current item, end the loop, or show it."""
        reply = await self._send("loop", {
            "start": moment(start),
            "end": moment(end),
            "off": off,
            "last": last,
            "count": count,
            "item": item,
        })
        return decode(LoopReply, reply)

    async def media_selection(
        self, group: Literal["audible", "legible"] | None = None, *, language: str | Sequence[str] | None = None,
        characteristics: str | Sequence[str] | None = None, principal: str | Sequence[str] | None = None,
        clear: bool | None = None, automatic: bool | Literal["toggle"] | None = None,
    ) -> MediaSelection:
        """Set the preferred tracks of all entries, or show them."""
        reply = await self._send("media-selection", {
            "group": group,
            "language": texts(language),
            "characteristics": texts(characteristics),
            "principal": texts(principal),
            "clear": clear,
            "automatic": automatic,
        })
        return decode(MediaSelection, reply)

    async def mute(self, state: bool | Literal["toggle"] | None = None) -> bool:
        """Mute or unmute the player, or show whether it is muted."""
        reply = await self._send("mute", {"state": state})
        return read_bool(reply, "muted")

    async def next_chapter(self) -> SeekReply:
        """Seek to the start of the next chapter of the current item."""
        reply = await self._send("next-chapter", {})
        return decode(SeekReply, reply)

    async def pan(self, pan: Number | None = None) -> float:
        """Set the pan, or show it."""
        reply = await self._send("pan", {"pan": number(pan)})
        return read_float(reply, "pan")

    async def pause(self) -> None:
        """Pauses."""
        await self._send("pause", {})

    async def pitch(self, algorithm: Literal["timeDomain", "spectral", "varispeed"] | None = None) -> str:
        """Set how the pitch follows the rate, or show it."""
        reply = await self._send("pitch", {"algorithm": algorithm})
        return read_text(reply, "pitch")

    async def play(self) -> None:
        """Play at the rate that `rate` set, or else at `default-rate`."""
        await self._send("play", {})

    async def play_immediately(self, rate: Number | None = None) -> None:
        """Play at once with the decoded audio, however little there is."""
        await self._send("play-immediately", {"rate": number(rate)})

    async def preroll(self, rate: Number | None = None) -> bool:
        """Prepare to play without delay."""
        reply = await self._send("preroll", {"rate": number(rate)})
        return read_bool(reply, "ready")

    async def preroll_cancel(self) -> None:
        """End every pending `preroll` with `ready=false`."""
        await self._send("preroll.cancel", {})

    async def previous_chapter(self) -> SeekReply:
        """Seek to the start of this chapter, or of the previous one."""
        reply = await self._send("previous-chapter", {})
        return decode(SeekReply, reply)

    async def rate(self, rate: Number | None = None) -> float:
        """Set the rate, or show it."""
        reply = await self._send("rate", {"rate": number(rate)})
        return read_float(reply, "rate")

    async def rate_at(self, rate: Number, time: Time, *, from_: Time | None = None) -> float:
        """Set the rate so that an item's time is heard at an instant."""
        reply = await self._send("rate-at", {"rate": number(rate), "time": moment(time), "from": moment(from_)})
        return read_float(reply, "rate")

    async def repeat(self, mode: Literal["off", "one", "all"] | None = None) -> str:
        """Set what repeats, or show it."""
        reply = await self._send("repeat", {"mode": mode})
        return read_text(reply, "repeat")

    async def replay_gain(
        self, mode: Literal["off", "track", "album", "auto"] | None = None, *, pre_amp: Number | None = None,
        fallback: Number | None = None, protect: bool | None = None,
    ) -> ReplayGain:
        """Adjust the gain of entries by their tags, or show how."""
        reply = await self._send("replay-gain", {
            "mode": mode,
            "pre-amp": number(pre_amp),
            "fallback": number(fallback),
            "protect": protect,
        })
        return decode(ReplayGain, reply)

    async def seek(
        self, time: Time | None = None, *, date: str | None = None, fast: bool | None = None, chase: bool | None = None,
        before: Time | None = None, after: Time | None = None, item: int | None = None,
    ) -> SeekReply:
        """Seek to a time of the current item."""
        reply = await self._send("seek", {
            "time": moment(time),
            "date": date,
            "fast": fast,
            "chase": chase,
            "before": moment(before),
            "after": moment(after),
            "item": item,
        })
        return decode(SeekReply, reply)

    async def seek_cancel(self) -> None:
        """End every pending `seek` and `step`, unfinished (`reason=cancelled`)."""
        await self._send("seek.cancel", {})

    async def status(self) -> Status:
        """Show the state of the player."""
        reply = await self._send("status", {})
        return decode(Status, reply)

    async def step(self, count: int) -> SeekReply:
        """Step forward or back while paused."""
        reply = await self._send("step", {"count": count})
        return decode(SeekReply, reply)

    async def stop(self) -> None:
        """Pause, and return to the start of the current item."""
        await self._send("stop", {})

    async def toggle(self) -> None:
        """Pause if playing or waiting to play; otherwise play."""
        await self._send("toggle", {})

    async def volume(self, volume: Number | None = None) -> float:
        """Set the volume, or show it."""
        reply = await self._send("volume", {"volume": number(volume)})
        return read_float(reply, "volume")

__all__ = [
    "PlaybackCommands",
]
