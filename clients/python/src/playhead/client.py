"""The client: a connection, the daemon's players, and the commands without a player."""

from __future__ import annotations

from collections.abc import Mapping

from .artwork import ArtworkImage, read_artwork
from .connection import Connection
from .generated_client import ClientCommands
from .generated_events import Overflow, Recording, RecordMeter
from .handover import HasDescriptor, hand_over
from .player import Player
from .values import Number
from .watching import BUFFER, Listening, Subscription, watch_recorder


class Client(ClientCommands):
    """A client of the daemon.

        async with await playhead.connect() as client:
            await client.main.load("one.flac")
            await client.main.play()

    Several tasks of the event loop can call methods at the same time. Each call is a separate request, and no request
    blocks another.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.main = Player(connection)
        """The default player, which always exists."""

    @property
    def path(self) -> str:
        """The daemon's socket."""
        return self._connection.path

    @property
    def daemon_version(self) -> str:
        """The daemon's version, from its greeting."""
        return self._connection.daemon_version

    @property
    def instance(self) -> str | None:
        """Identifies the run of the daemon. Event numbers are valid within one run."""
        return self._connection.instance

    @property
    def closed(self) -> Exception | None:
        """The reason why the connection has ended; None while it is open."""
        return self._connection.closed

    def player(self, name: str) -> Player:
        """The player with this name."""
        return Player(self._connection, name)

    async def request(self, command: str, parameters: Mapping[str, object]) -> Mapping[str, object]:
        """Sends any request and returns the unprocessed reply. For commands that are newer than this package."""
        return await self._connection.request(command, parameters)

    def listen(self, *, buffer: int = BUFFER) -> Listening:
        """Events that belong to no subscription: ScanProgress, Overflow, Closing."""
        return Listening(self._connection, buffer)

    def record_watch(
        self, recorder: int | None = None, *, rate: Number | None = None, buffer: int = BUFFER
    ) -> Subscription[Recording | RecordMeter | Overflow]:
        """A Recording for each state of a recorder (default: the newest), first the current state. With `rate`, also a
        RecordMeter this many times per second while the recorder records."""
        return watch_recorder(self._connection, recorder, rate, buffer)

    async def hand_over(self, file: int | HasDescriptor) -> str:
        """Passes an open file, pipe or socket to the daemon. Returns `fd:TOKEN`, which can replace a path."""
        return await hand_over(self.path, file)

    async def asset_artwork_image(self, asset: int, index: int | None = None) -> ArtworkImage:
        """The complete artwork of an asset's tags (default: the front cover, else the first artwork)."""
        return await read_artwork(lambda offset: self.asset_artwork(asset, index=index, offset=offset))

    async def bye(self) -> None:
        """Requests the end of the connection: the daemon ends waiting requests with `cancelled`, then closes it."""
        await self._connection.request("bye", {})
        await self.close()

    async def close(self) -> None:
        """Ends the connection and its subscriptions."""
        await self._connection.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def connect(path: str | None = None) -> Client:
    """Connects to the daemon at `path` (default: `default_socket()`). Raises Disconnected without a daemon."""
    return Client(await Connection.open(path))
