"""MP4 (ISO/IEC 14496-12)."""

import random
import struct
from collections.abc import Callable, Iterator

from .base import require
from .damage import set_bytes


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
