"""MPEG audio: MP3."""

import struct

from .base import require
from .damage import replace_first


_MP3_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_MP3_KBITS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}


def _mp3_frame_size(header: bytes) -> int:
    """Bytes of a frame of layer III, from its header; 0 for another one."""
    if (
        len(header) < 4
        or header[0] != 0xFF
        or header[1] & 0xE6 != 0xE2
        or header[2] >> 4 in (0, 15)
        or header[2] & 12 == 12
    ):
        return 0
    version = header[1] >> 3 & 3
    if version == 1:
        return 0
    kbits = _MP3_KBITS[3 if version == 3 else 2][header[2] >> 4]
    return (144_000 if version == 3 else 72_000) * kbits // _MP3_RATES[version][header[2] >> 2 & 3] + (
        header[2] >> 1 & 1
    )


def mp3_frames(data: bytes) -> tuple[bytes, list[bytes]]:
    """Splits an MP3 file into an ID3v2 tag and its frames."""
    start = 0
    if data[:3] == b"ID3":
        start = 10 + (data[6] << 21 | data[7] << 14 | data[8] << 7 | data[9])
    frames, position = [], start
    while size := _mp3_frame_size(data[position : position + 4]):
        frames.append(data[position : position + size])
        position += size
    require(len(frames) > 2, "there are no MP3 frames")
    return data[:start], frames


def mp3_without_info_frame(data: bytes) -> bytes:
    """Removes the frame with the Xing, Info or LAME header."""
    tag, frames = mp3_frames(data)
    require(b"Xing" in frames[0][:64] or b"Info" in frames[0][:64], "there is no information frame")
    return tag + b"".join(frames[1:])


def mp3_info_frame_count(data: bytes, count: int) -> bytes:
    """Sets the number of frames in the Xing or Info header."""
    marker = b"Xing" if data.find(b"Xing", 0, 4096) >= 0 else b"Info"
    return replace_first(data, marker, 4, struct.pack(">I", count))


def mp3_with_vbri(data: bytes, count: int | None = None) -> bytes:
    """Replaces the information frame with one that has a VBRI header; `count`: frames that it claims, nil for the
    true number.
    """
    tag, frames = mp3_frames(data)
    require(b"Xing" in frames[0][:64] or b"Info" in frames[0][:64], "there is no information frame")
    rest = frames[1:]
    claimed = len(rest) if count is None else count
    sizes = [sum(map(len, rest[n : n + 10])) for n in range(0, len(rest), 10)]
    # A frame of 320 kbit/s has room for the table.
    first = bytearray(rest[0][:4])
    first[2] = 0xE0 | first[2] & 0x0C
    frame = bytearray(bytes(first).ljust(_mp3_frame_size(bytes(first)), b"\0"))
    header = struct.pack(">4sHHHIIHHHH", b"VBRI", 1, 0, 50, sum(map(len, rest)), claimed, len(sizes), 1, 2, 10)
    header += b"".join(struct.pack(">H", min(size, 0xFFFF)) for size in sizes)
    require(36 + len(header) <= len(frame), "the table is too long")
    frame[36 : 36 + len(header)] = header
    return tag + bytes(frame) + b"".join(rest)
