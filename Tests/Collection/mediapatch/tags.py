"""Tags: ID3v2 and APEv2, also as some programs write them against the rules."""

import struct

from .base import require


def _sync_safe(number: int) -> bytes:
    return bytes(number >> shift & 0x7F for shift in (21, 14, 7, 0))


def id3v2(*frames: tuple[str, bytes]) -> bytes:
    """An ID3v2.3 tag of these frames, whose bodies begin with the byte of their encoding."""
    body = b"".join(name.encode() + struct.pack(">IH", len(data), 0) + data for name, data in frames)
    return b"ID3\x03\0\0" + _sync_safe(len(body)) + body


def prepend_id3v2(data: bytes, *frames: tuple[str, bytes]) -> bytes:
    """Puts an ID3v2.3 tag in front of the file."""
    return id3v2(*frames) + data


def append_ape_items(data: bytes, *items: tuple[str, str]) -> bytes:
    """Appends an APEv2 tag with only a footer."""
    body = b"".join(
        struct.pack("<II", len(value.encode()), 0) + key.encode() + b"\0" + value.encode() for key, value in items
    )
    return data + body + b"APETAGEX" + struct.pack("<IIII", 2_000, len(body) + 32, len(items), 0) + bytes(8)


def append_chunk(data: bytes, name: bytes, content: bytes) -> bytes:
    """Appends a chunk to a RIFF or AIFF file, and corrects the length of the file."""
    order = {b"RIFF": "<", b"FORM": ">"}.get(data[:4], "")
    require(order, "neither RIFF nor AIFF")
    data += bytes(len(data) % 2) + name + struct.pack(order + "I", len(content)) + content + bytes(len(content) % 2)
    return data[:4] + struct.pack(order + "I", len(data) - 8) + data[8:]
