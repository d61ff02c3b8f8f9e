"""Edits media files: damages bytes, rewrites timestamps, trims pages, patches headers.

Every function takes the bytes of a file and returns those of another one. The same arguments give the same bytes.
Functions for one format check what they edit, and raise `PatchError` for a file of another structure.
"""

import random
import struct
from collections.abc import Callable, Iterator


class PatchError(Exception):
    """The file does not have the structure that the edit needs."""


def require(condition: object, message: str) -> None:
    """Raises PatchError unless the condition is true."""
    if not condition:
        raise PatchError(message)


# MARK: - Damage to any file


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


# MARK: - WAV


def wav_lengths(data: bytes, riff: int, samples: int) -> bytes:
    """Sets the lengths of the RIFF and data chunks."""
    require(data[:4] in (b"RIFF", b"RF64"), "not a WAV file")
    position = data.find(b"data")
    require(position > 0, "there is no data chunk")
    return set_bytes(set_bytes(data, position + 4, struct.pack("<I", samples)), 4, struct.pack("<I", riff))


# MARK: - FLAC


def crc8(data: bytes) -> int:
    """The CRC of a FLAC frame header (RFC 9639, section 9.1.8)."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


def _crc16_table() -> list[int]:
    table = []
    for value in range(256):
        crc = value << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
        table.append(crc)
    return table


_CRC16 = _crc16_table()


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


# MARK: - Ogg


def _ogg_crc_table() -> list[int]:
    table = []
    for value in range(256):
        crc = value << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7) & 0xFFFFFFFF if crc & 0x80000000 else crc << 1
        table.append(crc)
    return table


_OGG_CRC = _ogg_crc_table()


class OggPage:
    """A page of an Ogg file (RFC 3533, section 6)."""

    def __init__(self, data: bytes) -> None:
        self.flags = data[5]
        self.granule, self.serial, self.number = struct.unpack("<qII", data[6:22])
        self.lacing = data[27 : 27 + data[26]]
        self.body = data[27 + data[26] :]

    @property
    def bytes(self) -> bytes:
        """The page with its checksum."""
        head = b"OggS\0" + bytes([self.flags]) + struct.pack("<qII", self.granule, self.serial, self.number)
        tail = bytes([len(self.lacing)]) + self.lacing + self.body
        crc = 0
        for byte in head + bytes(4) + tail:
            crc = (crc << 8 & 0xFFFFFFFF) ^ _OGG_CRC[crc >> 24 ^ byte]
        return head + struct.pack("<I", crc) + tail


def ogg_pages(data: bytes) -> list[OggPage]:
    """Splits an Ogg file into its pages."""
    pages, position = [], 0
    while position < len(data):
        require(data[position : position + 4] == b"OggS", "not an Ogg file")
        count = data[position + 26]
        end = position + 27 + count + sum(data[position + 27 : position + 27 + count])
        pages.append(OggPage(data[position:end]))
        position = end
    require(len(pages) > 2, "there are too few pages")
    return pages


def ogg_end_granule(data: bytes, delta: int) -> bytes:
    """Moves the granule position of the last page, which is the end of the audio."""
    pages = ogg_pages(data)
    pages[-1].granule += delta
    return b"".join(page.bytes for page in pages)


def ogg_granules(data: bytes, delta: int) -> bytes:
    """Moves every granule position but 0 and -1: a stream that does not begin at 0."""
    pages = ogg_pages(data)
    for page in pages:
        page.granule += delta if page.granule > 0 else 0
    return b"".join(page.bytes for page in pages)


def ogg_without_pages(data: bytes, first: int, count: int) -> bytes:
    """Removes pages; a negative `first` counts from the end."""
    pages = ogg_pages(data)
    first = first if first >= 0 else len(pages) + first
    require(0 < first <= len(pages) - count, "there are too few pages")
    return b"".join(page.bytes for page in pages[:first] + pages[first + count :])


def ogg_without_end_flag(data: bytes) -> bytes:
    """Clears the flag of the last page."""
    pages = ogg_pages(data)
    pages[-1].flags &= ~4
    return b"".join(page.bytes for page in pages)


def ogg_serial(data: bytes, serial: int) -> bytes:
    """Sets the serial number of every page."""
    pages = ogg_pages(data)
    for page in pages:
        page.serial = serial
    return b"".join(page.bytes for page in pages)


def chain(data: bytes, other: bytes) -> bytes:
    """Appends another file: a chained Ogg file, or two streams in one file."""
    return data + other


# MARK: - MPEG audio

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


# MARK: - MP4


def _boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yields (type, first byte, end) of each box."""
    while start + 8 <= end:
        size = int.from_bytes(data[start : start + 4], "big")
        size = size if size else end - start
        require(size >= 8 and start + size <= end, "a box is longer than its parent")
        yield data[start + 4 : start + 8], start, start + size
        start += size


def mp4_boxes(data: bytes) -> list[tuple[bytes, int, int]]:
    """The boxes of a file: (type, first byte, end)."""
    return list(_boxes(data, 0, len(data)))


def _edit_box(data: bytes, path: list[bytes], edit: Callable[[bytes], bytes]) -> bytes:
    """Replaces the body of each box with a path, and corrects the lengths of its parents."""
    edited = b""
    for name, start, end in _boxes(data, 0, len(data)):
        body = data[start + 8 : end]
        if name == path[0]:
            body = edit(body) if len(path) == 1 else _edit_box(body, path[1:], edit)
        edited += struct.pack(">I", len(body) + 8) + name + body
    return edited


_STBL = [b"moov", b"trak", b"mdia", b"minf", b"stbl"]


def _movie_at_end(data: bytes) -> None:
    names = [name for name, _, _ in mp4_boxes(data)]
    require(names and names[-1] == b"moov", "the moov box is not the last one")


def _durations(body: bytes) -> list[int]:
    count = int.from_bytes(body[4:8], "big")
    values: list[int] = []
    for number in range(count):
        repeat, delta = struct.unpack(">II", body[8 + number * 8 : 16 + number * 8])
        values += [delta] * repeat
    return values


def _stts(values: list[int]) -> bytes:
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][1] == value:
            runs[-1][0] += 1
        else:
            runs.append([1, value])
    return bytes(4) + struct.pack(">I", len(runs)) + b"".join(struct.pack(">II", *run) for run in runs)


def mp4_first_delta(data: bytes, delta: int) -> bytes:
    """Sets the duration of the first sample (`stts`), as encoders do that declare their priming so."""
    _movie_at_end(data)
    return _edit_box(data, _STBL + [b"stts"], lambda body: _stts([delta] + _durations(body)[1:]))


def mp4_jitter(data: bytes, reach: int, seed: int) -> bytes:
    """Moves each timestamp by up to `reach` ticks, as a muxer does that takes the times of arrival. The end stays."""
    _movie_at_end(data)
    numbers = random.Random(seed)

    def edit(body: bytes) -> bytes:
        values = _durations(body)
        shifts = [0] + [numbers.randint(-reach, reach) for _ in values[1:]] + [0]
        return _stts([max(1, value + shifts[n + 1] - shifts[n]) for n, value in enumerate(values)])

    return _edit_box(data, _STBL + [b"stts"], edit)


def mp4_gap(data: bytes, index: int, ticks: int) -> bytes:
    """Makes a sample last longer: audio is missing after it."""
    _movie_at_end(data)

    def edit(body: bytes) -> bytes:
        values = _durations(body)
        values[index] += ticks
        return _stts(values)

    return _edit_box(data, _STBL + [b"stts"], edit)


def mp4_without_media(data: bytes) -> bytes:
    """Keeps the movie box, and removes the media that it describes."""
    return b"".join(data[start:end] for name, start, end in mp4_boxes(data) if name != b"mdat")


def mp4_without_edits(data: bytes) -> bytes:
    """Renames the edit lists, so that readers skip them."""
    return data.replace(b"edts", b"skip")


def mp4_box_length(data: bytes, marker: bytes, length: int) -> bytes:
    """Sets the length field of the first box of a type."""
    position = data.find(marker)
    require(position >= 4, f"there is no {marker!r} box")
    return set_bytes(data, position - 4, struct.pack(">I", length))


# MARK: - Matroska


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
    """Moves the timestamps of the second half of the first cluster: audio is missing in its middle."""
    edited = bytearray(data)
    blocks = matroska_blocks(data)
    for offset in blocks[len(blocks) // 2 :]:
        value = struct.unpack(">h", edited[offset : offset + 2])[0]
        edited[offset : offset + 2] = struct.pack(">h", min(32_767, value + ticks))
    return bytes(edited)


# MARK: - MPEG transport streams


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


# MARK: - ASF


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


# MARK: - AVI


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
