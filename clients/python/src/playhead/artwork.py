"""Artwork of tags, assembled from parts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import ProtocolError
from .generated_replies import ArtworkReply


@dataclass(frozen=True, slots=True)
class ArtworkImage:
    """Artwork: its type (`frontCover`, ...), media type (`image/jpeg`) and data."""

    type: str
    media_type: str
    data: bytes


async def read_artwork(request_part: Callable[[int], Awaitable[ArtworkReply]]) -> ArtworkImage:
    """Requests all parts of an artwork."""
    data = b""
    while True:
        reply = await request_part(len(data))
        try:
            data += base64.b64decode(reply.data or "", validate=True)
        except binascii.Error as error:
            raise ProtocolError("a part of the artwork is not base64") from error
        if reply.next is None:
            return ArtworkImage(reply.type or "other", reply.media_type or "application/octet-stream", data)
        if reply.next != len(data):
            raise ProtocolError(f"the next part of the artwork begins at {reply.next}, not at {len(data)}")
