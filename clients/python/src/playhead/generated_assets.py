"""Commands of a player: assets.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .decoding import decode
from .generated_replies import (
    LoudnessReply,
)
from .sending import Sends
from .values import Place, Time, moment, place, texts


class AssetsCommands(Sends):
    """Commands of a player: assets."""

    async def scan(
        self, *paths: Place, album: bool | None = None, apply: bool | None = None, header: str | Sequence[str] | None = None,
        header_for: Literal["origin", "any"] | None = None, user_agent: str | None = None, network: bool | None = None,
        interface: str | Sequence[str] | None = None, timeout: Time | None = None, peak_bit_rate: int | None = None,
    ) -> LoudnessReply:
        """Measure the loudness of files (EBU R128)."""
        reply = await self._send("scan", {
            "paths": [place(path) for path in paths],
            "album": album,
            "apply": apply,
            "header": texts(header),
            "header-for": header_for,
            "user-agent": user_agent,
            "network": network,
            "interface": texts(interface),
            "timeout": moment(timeout),
            "peak-bit-rate": peak_bit_rate,
        }, named=bool(apply))
        return decode(LoudnessReply, reply)

__all__ = [
    "AssetsCommands",
]
