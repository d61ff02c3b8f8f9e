"""The client: a connection, the daemon's players, and what is no player's."""

from __future__ import annotations

from collections.abc import Mapping

from .connection import Connection
from .generated_client import ClientCommands
from .generated_events import Overflow, Recording, RecordMeter
from .handover import HasDescriptor, hand_over
from .pictures import Picture, whole_picture
from .player import Player
from .values import Number
from .watching import BUFFER, Listening, Subscription, watch_recorder


class Client(ClientCommands):
    """A client of the daemon.

        async with await playhead.connect() as client:
            await client.main.load("one.flac")
            await client.main.play()

    All methods may be called from many tasks of the event loop at once; each is a request of its own, and none holds up another.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.main = Player(connection)
        """The player that is always there."""

    @property
    def path(self) -> str:
        """The daemon's socket."""
        return self._connection.path

    @property
    def daemon_version(self) -> str:
        """The daemon's version, as it greeted with."""
        return self._connection.daemon_version

    @property
    def instance(self) -> str | None:
        """Which run of the daemon it is; numbers of events are of one."""
        return self._connection.instance

    @property
    def closed(self) -> Exception | None:
        """Why there is no connection any more; None while there is one."""
        return self._connection.closed

    def player(self, name: str) -> Player:
        """A player by its name."""
        return Player(self._connection, name)

    async def request(self, command: str, parameters: Mapping[str, object]) -> Mapping[str, object]:
        """Sends any request, and gives its reply as it is: for commands that are newer than this package."""
        return await self._connection.request(command, parameters)

    def listen(self, *, buffer: int = BUFFER) -> Listening:
        """Events that belong to no subscription: ScanProgress, Overflow, Closing."""
        return Listening(self._connection, buffer)

    def record_watch(
        self, recorder: int | None = None, *, rate: Number | None = None, buffer: int = BUFFER
    ) -> Subscription[Recording | RecordMeter | Overflow]:
        """A Recording whenever a recorder (the newest unless said) does something else, the present state first; with `rate` a RecordMeter so many
        times a second while it records."""
        return watch_recorder(self._connection, recorder, rate, buffer)

    async def hand_over(self, file: int | HasDescriptor) -> str:
        """Hands an open file, pipe or socket to the daemon; gives `fd:TOKEN`, which stands where a path does."""
        return await hand_over(self.path, file)

    async def asset_picture(self, asset: int, index: int | None = None) -> Picture:
        """A picture of an asset's tags, all of it: the front cover, or else the first, unless said."""
        return await whole_picture(lambda offset: self.asset_artwork(asset, index=index, offset=offset))

    async def bye(self) -> None:
        """Has the daemon end the connection: waiting requests are answered with `cancelled`, and then it closes."""
        await self._connection.request("bye", {})
        await self.close()

    async def close(self) -> None:
        """Ends the connection, and with it what was subscribed to."""
        await self._connection.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def connect(path: str | None = None) -> Client:
    """Connects to the daemon at `path`, or where it listens by itself. Raises Disconnected when there is none."""
    return Client(await Connection.open(path))
