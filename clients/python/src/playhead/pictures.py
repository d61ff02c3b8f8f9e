"""Pictures of tags, put together from their pieces."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import ProtocolError
from .generated_replies import ArtworkReply


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what it shows (`frontCover`, ...), its media type (`image/jpeg`), and its bytes."""

    type: str
    media_type: str
    data: bytes


async def whole_picture(piece: Callable[[int], Awaitable[ArtworkReply]]) -> Picture:
    """Asks for one piece after another."""
    data = b""
    while True:
        reply = await piece(len(data))
        try:
            data += base64.b64decode(reply.data or "", validate=True)
        except binascii.Error as error:
            raise ProtocolError("a piece of a picture that is no base64") from error
        if reply.next is None:
            return Picture(reply.type or "other", reply.media_type or "application/octet-stream", data)
        if reply.next != len(data):
            raise ProtocolError(f"the next piece of a picture begins at {reply.next}, not at {len(data)}")
