"""Matroska (RFC 9559)."""

import random
import re
import struct

from .base import require


def _number_size(first: int) -> int:
    """Bytes of an EBML number, from its first byte."""
    require(first, "an EBML number is longer than 8 bytes")
    return 9 - first.bit_length()


def matroska_blocks(data: bytes) -> list[int]:
    """The offsets of the relative timestamps of all SimpleBlocks and Blocks (16 bits, signed)."""
    containers = {0x18538067, 0x1F43B675, 0xA0}
    found: list[int] = []

    def walk(start: int, end: int) -> None:
        while start < end:
            size = _number_size(data[start])
            name = int.from_bytes(data[start : start + size], "big")
            start += size
            size = _number_size(data[start])
            length = int.from_bytes(data[start : start + size], "big") & (1 << 7 * size) - 1
            is_unknown = length == (1 << 7 * size) - 1
            start += size
            stop = end if is_unknown else min(end, start + length)
            if name in containers:
                walk(start, stop)
            elif name in (0xA3, 0xA1):
                found.append(start + _number_size(data[start]))
            start = stop

    walk(0, len(data))
    require(found, "there are no blocks")
    return found


def matroska_jitter(data: bytes, reach: int, seed: int) -> bytes:
    """Moves the timestamp of each block but the first by up to `reach` ticks, mostly milliseconds, as recordings of
    browsers have it.
    """
    numbers = random.Random(seed)
    edited = bytearray(data)
    for offset in matroska_blocks(data)[1:]:
        value = struct.unpack(">h", edited[offset : offset + 2])[0]
        edited[offset : offset + 2] = struct.pack(">h", max(0, value + numbers.randint(-reach, reach)))
    return bytes(edited)


def matroska_gap(data: bytes, ticks: int) -> bytes:
    """Moves the timestamps of the second half of the blocks: audio is missing in the middle, or, with negative `ticks`,
    time goes back there.
    """
    edited = bytearray(data)
    blocks = matroska_blocks(data)
    for offset in blocks[len(blocks) // 2 :]:
        value = struct.unpack(">h", edited[offset : offset + 2])[0]
        edited[offset : offset + 2] = struct.pack(">h", min(32_767, value + ticks))
    return bytes(edited)


def matroska_step(data: bytes, share: float, ticks: int) -> bytes:
    """Moves the timestamps of the clusters after a share of all clusters. The cues stay."""
    edited = bytearray(data)
    times = []
    for found in re.finditer(rb"\x1f\x43\xb6\x75", data):
        # The Timestamp element follows the cluster's size, and possibly a checksum.
        time = re.compile(rb"\xe7([\x81-\x88])").search(data, found.end(), found.end() + 20)
        if time:
            times.append((time.end(), time[1][0] & 0x7F))
    require(len(times) > 1, "there are not two clusters")
    for offset, size in times[int(len(times) * share) :]:
        value = int.from_bytes(data[offset : offset + size], "big") + ticks
        edited[offset : offset + size] = value.to_bytes(size, "big")
    return bytes(edited)


def matroska_without_blocks(data: bytes, share: float, count: int) -> bytes:
    """Replaces `count` SimpleBlocks after a share of all blocks by Void elements of the same length (section 11.3.2)."""
    edited = bytearray(data)
    blocks = matroska_blocks(data)
    first = int(len(blocks) * share)
    for offset in blocks[first : first + count]:
        # The track's number has one byte, the length up to 8, and the ID one.
        start = next((offset - 2 - size for size in range(1, 9) if _is_simple_block(data, offset - 2 - size, size)), None)
        require(start is not None, "there is no SimpleBlock")
        edited[start] = 0xEC
    return bytes(edited)


def _is_simple_block(data: bytes, start: int, size: int) -> bool:
    return start >= 0 and data[start] == 0xA3 and data[start + 1] > 0 and _number_size(data[start + 1]) == size
