"""An encoder of Monkey's Audio (version 3.99, compression level "fast", 16 bits), because Debian has none."""

import struct
import zlib

from .base import require

# The cumulative frequencies of the quotients below 21, in 1/65536; every larger one has the frequency 1.
_CUMULATIVE = (0, 19578, 36160, 48417, 56323, 60899, 63265, 64435, 64971, 65232, 65351)
_CUMULATIVE += (65416, 65447, 65466, 65476, 65482, 65485, 65488, 65490, 65491, 65492, 65493)
_ESCAPE = 63


class _RangeEncoder:
    """A range coder with 31 bits (G. N. N. Martin, 1979; M. Schindler, 1998)."""

    def __init__(self) -> None:
        self._low, self._range = 0, 1 << 31
        self._last, self._pending = 0, 0
        self._bytes = bytearray()

    def put(self, divisor: int, start: int, frequency: int) -> None:
        """Appends a symbol with its part of `divisor`."""
        while self._range <= 1 << 23:
            self._shift()
        step = self._range // divisor
        self._low += step * start
        self._range = step * frequency

    def finished(self) -> bytes:
        """The coded bytes. The first one has no meaning."""
        for _ in range(6):
            self._shift()
        return bytes(self._bytes)

    def _shift(self) -> None:
        high = self._low >> 23
        if high == 0xFF:
            # A later carry can change this byte.
            self._pending += 1
        else:
            carry = high >> 8
            self._bytes.append(self._last + carry & 0xFF)
            self._bytes += bytes([0 if carry else 0xFF]) * self._pending
            self._last, self._pending = high & 0xFF, 0
        self._low = self._low << 8 & 0x7FFFFFFF
        self._range <<= 8


class _Residuals:
    """The entropy coder of a channel: a quotient and a remainder by the recent mean."""

    def __init__(self, coder: _RangeEncoder) -> None:
        self._coder, self._sum = coder, 1 << 14

    def put(self, residual: int) -> None:
        """Appends a residual."""
        value = 2 * residual - 1 if residual > 0 else -2 * residual
        pivot = max(1, self._sum >> 5)
        require(pivot < 1 << 16, "the audio is too loud for this encoder")
        quotient, remainder = divmod(value, pivot)
        put = self._coder.put
        if quotient < 21:
            put(1 << 16, _CUMULATIVE[quotient], _CUMULATIVE[quotient + 1] - _CUMULATIVE[quotient])
        elif quotient < _ESCAPE:
            put(1 << 16, 65472 + quotient, 1)
        else:
            put(1 << 16, 65472 + _ESCAPE, 1)
            put(1 << 16, quotient >> 16, 1)
            put(1 << 16, quotient & 0xFFFF, 1)
        put(pivot, remainder, 1)
        self._sum += (value + 1) // 2 - (self._sum + 16 >> 5)


def _inverse_sign(value: int) -> int:
    return (value < 0) - (value > 0)


class _Predictor:
    """The adaptive predictor of a channel. Mono has no `other`, the sample of the other channel."""

    def __init__(self) -> None:
        self._a, self._b = [0] * 4, [0] * 5
        self._weights_a, self._weights_b = [360, 317, -109, 98], [0] * 5
        self._last, self._sample, self._other = 0, 0, 0

    def residual(self, sample: int, other: int = 0) -> int:
        """The difference between a sample and its prediction."""
        a, b, weights_a, weights_b = self._a, self._b, self._weights_a, self._weights_b
        # The newest value, its difference from the one before, and the two earlier differences.
        a[1:] = [self._last - a[0], a[1], a[2]]
        a[0] = self._last
        newest = other - (self._other * 31 >> 5)
        b[1:] = [newest - b[0], b[1], b[2], b[3]]
        b[0] = newest
        self._other = other
        prediction = a[0] * weights_a[0] + a[1] * weights_a[1] + a[2] * weights_a[2] + a[3] * weights_a[3]
        prediction += sum(value * weight for value, weight in zip(b, weights_b)) >> 1
        self._last = sample - (self._sample * 31 >> 5)
        self._sample = sample
        result = self._last - (prediction >> 10)
        if result:
            direction = _inverse_sign(result)
            for index, value in enumerate(a):
                weights_a[index] += _inverse_sign(value) * direction
            for index, value in enumerate(b):
                weights_b[index] += _inverse_sign(value) * direction
        return result


def _frame(pcm: bytes, channels: int) -> bytes:
    """A frame, before its bytes are swapped. Decoding needs no other frame."""
    coder = _RangeEncoder()
    samples = struct.unpack(f"<{len(pcm) // 2}h", pcm)
    if channels == 1:
        predictor, residuals = _Predictor(), _Residuals(coder)
        for sample in samples:
            residuals.put(predictor.residual(sample))
    else:
        side, mid = _Predictor(), _Predictor()
        side_residuals, mid_residuals = _Residuals(coder), _Residuals(coder)
        before = 0
        for left, right in zip(samples[::2], samples[1::2]):
            difference = right - left
            # The half is rounded towards zero.
            middle = left + (difference + (difference < 0) >> 1)
            side_residuals.put(side.residual(difference, before))
            mid_residuals.put(mid.residual(middle, difference))
            before = middle
    return struct.pack(">I", zlib.crc32(pcm) >> 1) + coder.finished()


def monkeys_audio(data: bytes, frame_count: int = 73_728) -> bytes:
    """Encodes a WAV file with 16 bits and one or two channels, with this number of samples in a frame."""
    require(data[:4] == b"RIFF" and data[8:16] == b"WAVEfmt ", "no WAV file")
    channels, rate, _, _, bits = struct.unpack_from("<HIIHH", data, 22)
    require(channels in (1, 2) and bits == 16, "this encoder has 16 bits and at most two channels")
    start = data.index(b"data") + 8
    pcm = data[start : start + struct.unpack_from("<I", data, start - 4)[0]]
    width = frame_count * 2 * channels
    parts = [pcm[offset : offset + width] for offset in range(0, len(pcm), width)]
    frames = [_frame(part, channels) for part in parts]
    stream = b"".join(frames)
    stream += bytes(-len(stream) % 4)
    # The bytes of every 32-bit word are stored in reverse, also where frames begin within a word.
    audio = b"".join(stream[offset : offset + 4][::-1] for offset in range(0, len(stream), 4))
    position, seek_table = 52 + 24 + 4 * len(frames), b""
    for frame in frames:
        seek_table += struct.pack("<I", position)
        position += len(frame)
    # Flag 32: a decoder makes the WAV header.
    header = struct.pack(
        "<HHIIIHHI", 1_000, 32, frame_count, len(parts[-1]) // (2 * channels), len(frames), bits, channels, rate
    )
    descriptor = struct.pack("<4sHHIIIIIII16s", b"MAC ", 3_990, 0, 52, 24, len(seek_table), 0, len(audio), 0, 0, b"")
    return descriptor + header + seek_table + audio
