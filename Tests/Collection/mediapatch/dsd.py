"""Files of DSD, which FFmpeg reads but does not write."""

import struct

from .base import require

# Bits of DSD per sample of PCM.
_RATIO = 64


def _bits(samples: tuple[int, ...]) -> bytearray:
    """A channel of PCM as bits, by a modulator of first order; the first bit is the highest of its byte."""
    packed, error = bytearray(), 0
    for sample in samples:
        for _ in range(_RATIO // 8):
            byte = 0
            for _ in range(8):
                is_high = error >= 0
                error += sample - (32_768 if is_high else -32_768)
                byte = byte << 1 | is_high
            packed.append(byte)
    return packed


def dsdiff(data: bytes, tag: bytes = b"") -> bytes:
    """Converts a WAV file with 16 bits to DSDIFF (version 1.5), with the bytes of an ID3v2 tag after the audio."""
    require(data[:4] == b"RIFF" and data[8:16] == b"WAVEfmt ", "no WAV file")
    channels, rate, _, _, bits = struct.unpack_from("<HIIHH", data, 22)
    require(channels in (1, 2) and bits == 16, "one or two channels with 16 bits are required")
    start = data.index(b"data") + 8
    size = struct.unpack_from("<I", data, start - 4)[0] // (2 * channels) * 2 * channels
    samples = struct.unpack(f"<{size // 2}h", data[start : start + size])
    streams = [_bits(samples[channel::channels]) for channel in range(channels)]
    audio = bytes(byte for group in zip(*streams) for byte in group)

    def chunk(name: bytes, content: bytes) -> bytes:
        return name + struct.pack(">Q", len(content)) + content + bytes(len(content) % 2)

    names = (b"SLFT", b"SRGT") if channels == 2 else (b"C000",)
    properties = b"SND " + chunk(b"FS  ", struct.pack(">I", rate * _RATIO))
    properties += chunk(b"CHNL", struct.pack(">H", channels) + b"".join(names))
    properties += chunk(b"CMPR", b"DSD \x0enot compressed")
    body = b"DSD " + chunk(b"FVER", b"\x01\x05\0\0") + chunk(b"PROP", properties) + chunk(b"DSD ", audio)
    return chunk(b"FRM8", body + (chunk(b"ID3 ", tag) if tag else b""))
