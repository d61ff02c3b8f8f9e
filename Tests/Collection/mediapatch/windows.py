"""ASF and AVI."""

import struct

from .base import require
from .damage import set_bytes


def asf_packet_times(data: bytes) -> bytes:
    """Gives every payload the time of its packet, as encoders do whose frames lie across packets: (ASF
    specification, 5.2.3).
    """
    header = struct.unpack("<Q", data[16:24])[0]
    require(data[:4] == b"\x30\x26\xb2\x75", "not an ASF file")
    properties = data.find(bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365"))
    require(properties > 0, "there are no file properties")
    size = struct.unpack("<I", data[properties + 92 : properties + 96])[0]
    packet_count = struct.unpack("<Q", data[properties + 56 : properties + 64])[0]
    edited = bytearray(data)
    # An index may follow the packets.
    for packet in range(header + 50, min(len(data) - size + 1, header + 50 + packet_count * size), size):
        position = packet
        if edited[position] & 0x80:
            position += 1 + (edited[position] & 15)
        flags, kinds = edited[position], edited[position + 1]
        position += 2

        def field(kind: int) -> int:
            nonlocal position
            width = (0, 1, 2, 4)[kind]
            value = int.from_bytes(edited[position : position + width], "little")
            position += width
            return value

        field(flags >> 5 & 3)
        field(flags >> 1 & 3)
        padding = field(flags >> 3 & 3)
        time = struct.unpack("<I", edited[position : position + 4])[0]
        position += 6
        count, length_kind = 1, 0
        if flags & 1:
            count, length_kind = edited[position] & 63, edited[position] >> 6
            position += 1
        preroll = struct.unpack("<Q", data[properties + 80 : properties + 88])[0]
        for _ in range(count):
            position += 1
            field(kinds >> 4 & 3)
            field(kinds >> 2 & 3)
            replicated = field(kinds & 3)
            require(replicated >= 8, "a payload has no times")
            edited[position + 4 : position + 8] = struct.pack("<I", time + preroll)
            position += replicated
            length = field(length_kind) if flags & 1 else size - padding
            position += length
    return bytes(edited)


def avi_stream_header(data: bytes, scale: int, rate: int, sample_size: int) -> bytes:
    """Sets scale, rate and sample size of the first audio stream."""
    position = data.find(b"strhauds") if b"strhauds" in data else data.find(b"strh") + 8
    position = data.find(b"auds", position - 12 if position > 12 else 0)
    require(position > 0, "there is no audio stream")
    edited = set_bytes(data, position + 20, struct.pack("<II", scale, rate))
    return set_bytes(edited, position + 44, struct.pack("<I", sample_size))


def avi_without_index(data: bytes) -> bytes:
    """Renames the index."""
    position = data.rfind(b"idx1")
    require(position > 0, "there is no index")
    return set_bytes(data, position, b"JUNK")
