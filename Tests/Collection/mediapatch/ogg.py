"""Ogg (RFC 3533)."""

import struct

from .base import crc_table, require


_OGG_CRC = crc_table(0x04C11DB7, 32)


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


def ogg_granule(data: bytes, index: int, granule: int) -> bytes:
    """Sets the granule position of a page; a negative `index` counts from the end."""
    pages = ogg_pages(data)
    require(-len(pages) <= index < len(pages), "there are too few pages")
    pages[index].granule = granule
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
