"""Damage to any file, and to WAV headers."""

import random
import struct

from .base import require


def truncate(data: bytes, share: float) -> bytes:
    """Keeps the first `share` of the bytes."""
    return data[: int(len(data) * share)]


def drop_last(data: bytes, count: int) -> bytes:
    """Removes the last `count` bytes."""
    return data[: max(0, len(data) - count)]


def zero_range(data: bytes, share: float, count: int) -> bytes:
    """Overwrites `count` bytes with zeros, from `share` of the file on."""
    start = int(len(data) * share)
    count = min(count, len(data) - start)
    return data[:start] + bytes(count) + data[start + count :]


def flip_bits(data: bytes, count: int, seed: int, first: int = 0) -> bytes:
    """Inverts `count` random bits, none before byte `first`."""
    numbers = random.Random(seed)
    edited = bytearray(data)
    for _ in range(count):
        edited[numbers.randrange(first, len(edited))] ^= 1 << numbers.randrange(8)
    return bytes(edited)


def remove_range(data: bytes, share: float, count: int) -> bytes:
    """Removes `count` bytes, from `share` of the file on."""
    start = int(len(data) * share)
    return data[:start] + data[start + count :]


def garbage(count: int, seed: int) -> bytes:
    """Returns random bytes."""
    return random.Random(seed).randbytes(count)


def insert_garbage(data: bytes, share: float, count: int, seed: int) -> bytes:
    """Inserts random bytes at `share` of the file."""
    start = int(len(data) * share)
    return data[:start] + garbage(count, seed) + data[start:]


def overwrite_garbage(data: bytes, share: float, count: int, seed: int) -> bytes:
    """Overwrites `count` bytes with random ones, from `share` of the file on."""
    start = int(len(data) * share)
    count = min(count, len(data) - start)
    return data[:start] + garbage(count, seed) + data[start + count :]


def swap_blocks(data: bytes, share: float, other_share: float, count: int) -> bytes:
    """Exchanges two blocks of `count` bytes; the first one begins at `share` of the file."""
    first, second = int(len(data) * share), int(len(data) * other_share)
    require(first + count <= second and second + count <= len(data), "the blocks overlap")
    return (
        data[:first]
        + data[second : second + count]
        + data[first + count : second]
        + data[first : first + count]
        + data[second + count :]
    )


def repeat_block(data: bytes, share: float, count: int) -> bytes:
    """Inserts a copy of `count` bytes after them."""
    start = int(len(data) * share)
    return data[: start + count] + data[start:]


def prepend(data: bytes, count: int, seed: int) -> bytes:
    """Inserts random bytes at the beginning."""
    return garbage(count, seed) + data


def append(data: bytes, text: bytes = b"", zeros: int = 0, random_count: int = 0, seed: int = 1) -> bytes:
    """Appends a text, zeros and random bytes."""
    return data + text + bytes(zeros) + garbage(random_count, seed)


def append_id3v1(data: bytes) -> bytes:
    """Appends an ID3v1 tag."""
    return data + b"TAG" + b"a title".ljust(30, b"\0") + bytes(94) + b"\x0c"


def append_apev2(data: bytes) -> bytes:
    """Appends an APEv2 tag with header and footer, and one item."""
    item = struct.pack("<II", 5, 0) + b"Title\0" + b"hello"
    size = len(item) + 32

    def edge(flags: int) -> bytes:
        return b"APETAGEX" + struct.pack("<IIII", 2000, size, 1, flags) + bytes(8)

    return data + edge(0xA0000000) + item + edge(0x80000000)


def set_bytes(data: bytes, offset: int, value: bytes) -> bytes:
    """Overwrites the bytes at an offset; a negative offset counts from the end."""
    offset = offset if offset >= 0 else len(data) + offset
    require(0 <= offset <= len(data) - len(value), "the offset is outside of the file")
    return data[:offset] + value + data[offset + len(value) :]


def replace_first(data: bytes, marker: bytes, skip: int, value: bytes) -> bytes:
    """Overwrites bytes that begin `skip` bytes after the first occurrence of a marker."""
    position = data.find(marker)
    require(position >= 0, f"there is no {marker!r}")
    return set_bytes(data, position + len(marker) + skip, value)


def wav_lengths(data: bytes, riff: int, samples: int) -> bytes:
    """Sets the lengths of the RIFF and data chunks."""
    require(data[:4] in (b"RIFF", b"RF64"), "not a WAV file")
    position = data.find(b"data")
    require(position > 0, "there is no data chunk")
    return set_bytes(set_bytes(data, position + 4, struct.pack("<I", samples)), 4, struct.pack("<I", riff))
