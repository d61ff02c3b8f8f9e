"""A typed asyncio client of playheadd, a headless media player.

    import asyncio, playhead

    async def main() -> None:
        async with await playhead.connect() as client:
            await client.main.load("one.flac", wait="ready")
            await client.main.play()
            async with client.main.at("1:23.5") as cues:
                async for cue in cues:
                    print(cue)

    asyncio.run(main())
"""

from . import generated_events, generated_replies, generated_rows, generated_values
from .artwork import ArtworkImage
from .client import Client, connect
from .connection import Connection
from .edits import Edit
from .errors import Disconnected, PlayheadError, ProtocolError, RequestTooLong, TooManyWaits
from .generated_errors import ErrorCode
from .generated_events import *  # noqa: F403
from .generated_events import CHANGES, EVENTS, KEYS
from .generated_replies import *  # noqa: F403
from .generated_rows import *  # noqa: F403
from .generated_values import *  # noqa: F403
from .handover import hand_over
from .player import Player
from .reconnecting import Connected, Lost, clients, watch
from .sockets import default_socket
from .values import Event, Location, Number, Time, TimeRange, Value
from .watching import Events, Listening, Notice, Subscription

__version__ = "0.1.0"

__all__ = [
    "ArtworkImage",
    "CHANGES",
    "Client",
    "Connected",
    "Connection",
    "Disconnected",
    "EVENTS",
    "Edit",
    "ErrorCode",
    "Event",
    "Events",
    "KEYS",
    "Listening",
    "Location",
    "Lost",
    "Notice",
    "Number",
    "Player",
    "PlayheadError",
    "ProtocolError",
    "RequestTooLong",
    "TooManyWaits",
    "Subscription",
    "Time",
    "TimeRange",
    "Value",
    "clients",
    "connect",
    "default_socket",
    "hand_over",
    "watch",
]
__all__ += generated_events.__all__
__all__ += generated_replies.__all__
__all__ += generated_rows.__all__
__all__ += generated_values.__all__
