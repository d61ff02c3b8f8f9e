"""MPEG transport streams (ISO/IEC 13818-1)."""

import random
from collections.abc import Callable

from .base import require


def _clock(field: bytes) -> int:
    """A timestamp of a PES header (33 bits in 5 bytes)."""
    return (field[0] >> 1 & 7) << 30 | (field[1] << 7 | field[2] >> 1) << 15 | field[3] << 7 | field[4] >> 1


def _clock_field(prefix: int, value: int) -> bytes:
    return bytes(
        [
            prefix & 0xF0 | value >> 30 << 1 | 1,
            value >> 22 & 255,
            value >> 14 & 254 | 1,
            value >> 7 & 255,
            value << 1 & 254 | 1,
        ]
    )


def ts_clock(data: bytes, edit: Callable[[int, int], int], is_pcr_edited: bool = True) -> bytes:
    """Replaces each timestamp of PES headers by `edit(number of the PES, timestamp)`, and clock references likewise."""
    require(len(data) % 188 == 0 and data[0] == 0x47, "not a transport stream")
    edited, number = bytearray(data), 0
    for packet in range(0, len(data), 188):
        control, body = edited[packet + 3] >> 4 & 3, packet + 4
        if control & 2:
            length = edited[body]
            if length >= 7 and edited[body + 1] & 0x10 and is_pcr_edited:
                field = int.from_bytes(edited[body + 2 : body + 8], "big")
                base = edit(number, field >> 15) & (1 << 33) - 1
                edited[body + 2 : body + 8] = (base << 15 | field & 0x7FFF).to_bytes(6, "big")
            body += 1 + length
        if not (edited[packet + 1] & 0x40 and control & 1 and edited[body : body + 3] == b"\0\0\1"):
            continue
        if edited[body + 3] & 0xE0 not in (0xC0, 0xE0) and edited[body + 3] != 0xBD:
            continue
        flags = edited[body + 7] >> 6
        for field in range(body + 9, body + 9 + 5 * (flags & 1) + 5 * (flags >> 1), 5):
            value = edit(number, _clock(edited[field : field + 5])) & (1 << 33) - 1
            edited[field : field + 5] = _clock_field(edited[field], value)
        number += 1
    return bytes(edited)


def ts_wrap(data: bytes, seconds: float) -> bytes:
    """Moves the clock so that it wraps after `seconds` of the stream, which FFmpeg begins at 1.4 s."""
    shift = (1 << 33) - int((1.4 + seconds) * 90_000)
    return ts_clock(data, lambda _, value: value + shift)


def ts_jitter(data: bytes, reach: int, seed: int) -> bytes:
    """Moves the timestamp of each PES but the first by up to `reach` ticks of 90 kHz."""
    numbers = random.Random(seed)
    return ts_clock(data, lambda number, value: value + (numbers.randint(-reach, reach) if number else 0), False)


def ts_step(data: bytes, number: int, ticks: int) -> bytes:
    """Moves the timestamps from one PES on: a jump of the clock without an announcement."""
    return ts_clock(data, lambda current, value: value + (ticks if current >= number else 0))


def ts_irregular(data: bytes, number: int, ticks: int) -> bytes:
    """Moves the timestamp of one PES."""
    return ts_clock(data, lambda current, value: value + (ticks if current == number else 0), False)
