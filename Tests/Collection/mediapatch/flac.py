"""FLAC (RFC 9639)."""

import struct

from .base import crc_table, require
from .damage import set_bytes


def crc8(data: bytes) -> int:
    """The CRC of a FLAC frame header (RFC 9639, section 9.1.8)."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


_CRC16 = crc_table(0x8005, 16)


def crc16(data: bytes) -> int:
    """The CRC of a FLAC frame (RFC 9639, section 9.3)."""
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ _CRC16[crc >> 8 ^ byte]
    return crc


def _coded_number(value: int) -> bytes:
    """A number in the extended UTF-8 of FLAC."""
    if value < 0x80:
        return bytes([value])
    tail: list[int] = []
    limit = 0x40
    while True:
        tail.insert(0, 0x80 | value & 0x3F)
        value >>= 6
        limit >>= 1
        if value < limit:
            return bytes([(0xFF00 >> (len(tail) + 1)) & 0xFF | value, *tail])


def _coded_length(first: int) -> int:
    """The number of bytes of a number, from its first byte."""
    length = 0
    while first & 0x80 >> length:
        length += 1
    return max(1, length)


def flac_parts(data: bytes) -> tuple[bytes, list[bytes]]:
    """Splits a FLAC file with a fixed block size into its metadata and its frames."""
    require(data[:4] == b"fLaC", "not a FLAC file")
    position, is_last = 4, False
    while not is_last:
        is_last = bool(data[position] & 0x80)
        position += 4 + int.from_bytes(data[position + 1 : position + 4], "big")
    start, starts, number = position, [], 0
    while 0 <= position < len(data) - 8:
        position = data.find(b"\xff\xf8", position)
        if position < 0:
            break
        coded = _coded_number(number)
        header = position + 4
        if data[header : header + len(coded)] == coded:
            end = header + len(coded) + {6: 1, 7: 2}.get(data[position + 2] >> 4, 0)
            end += {12: 1, 13: 2, 14: 2}.get(data[position + 2] & 15, 0)
            if end < len(data) and crc8(data[position:end]) == data[end]:
                starts.append(position)
                number += 1
                position = end
                continue
        position += 1
    require(len(starts) > 1 and starts[0] == start, "there are no FLAC frames")
    return data[:start], [data[a:b] for a, b in zip(starts, starts[1:] + [len(data)])]


def _block_size(frame: bytes) -> int:
    """The number of samples of a FLAC frame."""
    code = frame[2] >> 4
    after = 4 + _coded_length(frame[4])
    if code == 6:
        return frame[after] + 1
    if code == 7:
        return int.from_bytes(frame[after : after + 2], "big") + 1
    return 192 if code == 1 else 576 << (code - 2) if code < 6 else 256 << (code - 8)


def flac_without_first_frames(data: bytes, count: int) -> bytes:
    """Removes the first frames: a stream whose recording began in its middle."""
    metadata, frames = flac_parts(data)
    require(count < len(frames), "there are too few frames")
    return metadata + b"".join(frames[count:])


def flac_with_variable_blocks(data: bytes, other: bytes, is_flagged: bool = True) -> bytes:
    """Alternates the frames of two files with different block sizes; `is_flagged`: with sample numbers in the
    headers, as the format requires of variable block sizes, else with frame numbers, as old encoders wrote them."""
    metadata, frames = flac_parts(data)
    _, others = flac_parts(other)
    edited, position = [], 0
    for number, frame in enumerate(frame for pair in zip(frames[:-1], others[:-1]) for frame in pair):
        after = 4 + _coded_length(frame[4])
        end = after + {6: 1, 7: 2}.get(frame[2] >> 4, 0) + {12: 1, 13: 2, 14: 2}.get(frame[2] & 15, 0)
        header = bytes([0xFF, 0xF9 if is_flagged else 0xF8]) + frame[2:4]
        header += _coded_number(position if is_flagged else number) + frame[after:end]
        body = header + bytes([crc8(header)]) + frame[end + 1 : -2]
        edited.append(body + struct.pack(">H", crc16(body)))
        position += _block_size(frame)
    sizes = sorted({_block_size(frame) for frame in frames[:-1] + others[:-1]})
    # STREAMINFO: the block sizes, unknown frame sizes, the number of samples, no MD5.
    info = bytearray(metadata[8:42])
    info[0:4] = struct.pack(">HH", sizes[0], sizes[-1])
    info[4:10] = bytes(6)
    info[13] = info[13] & 0xF0 | position >> 32
    info[14:18] = struct.pack(">I", position & 0xFFFFFFFF)
    info[18:34] = bytes(16)
    return b"fLaC" + bytes([0x80]) + (34).to_bytes(3, "big") + bytes(info) + b"".join(edited)


def flac_sample_count(data: bytes, count: int) -> bytes:
    """Sets the number of samples in STREAMINFO; 0 means unknown."""
    require(data[:4] == b"fLaC", "not a FLAC file")
    return set_bytes(
        set_bytes(data, 21, bytes([data[21] & 0xF0 | count >> 32])), 22, struct.pack(">I", count & 0xFFFFFFFF)
    )
