"""Shared parts of the tests: a separate bus, the bridge as a process, playerctl, and a bus client."""

from __future__ import annotations

import asyncio
import os
import pathlib
import signal
import sys
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python/tests"))
sys.path.insert(0, str(HERE.parent / "src"))

from dbus_fast import Message, MessageType, Variant, unpack_variants  # noqa: E402
from dbus_fast.aio.message_bus import MessageBus  # noqa: E402
from support import Case, Daemon, make_with_artwork, playhead  # noqa: E402

NAME = "org.mpris.MediaPlayer2.playhead"
PATH = "/org/mpris/MediaPlayer2"
ROOT = "org.mpris.MediaPlayer2"
PLAYER = "org.mpris.MediaPlayer2.Player"
TRACK_LIST = "org.mpris.MediaPlayer2.TrackList"
NO_TRACK = "/org/mpris/MediaPlayer2/TrackList/NoTrack"


class Listener:
    """A connection to the bus that calls methods and stores signals."""

    def __init__(self, bus: MessageBus, address: str) -> None:
        self._bus = bus
        self._address = address
        self.signals: list[tuple[str, list[Any]]] = []
        self._signal_received = asyncio.Event()
        bus.add_message_handler(self._handle)

    @classmethod
    async def connect(cls, address: str) -> Listener:
        """Connects, and subscribes to all signals."""
        listener = cls(await MessageBus(bus_address=address).connect(), address)
        await listener.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", "type='signal'")
        return listener

    async def call_without_reply(self, milliseconds: int) -> None:
        """Calls a method that never replies, with a time limit: a CallFailed."""
        environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": self._address}
        caller = await asyncio.create_subprocess_exec(
            "dbus-send", "--session", "--print-reply", f"--reply-timeout={milliseconds}", f"--dest={self._bus.unique_name}", "/silent", "silent.Silent.Call",
            env=environment, stderr=asyncio.subprocess.PIPE)
        _, errors = await caller.communicate()
        if caller.returncode:
            name, _, message = errors.decode().removeprefix("Error ").partition(":")
            raise CallFailed(name, message)

    def close(self) -> None:
        """Disconnects from the bus."""
        if self._bus.connected:
            self._bus.disconnect()

    def _handle(self, message: Message) -> bool:
        if message.message_type is MessageType.METHOD_CALL and message.path == "/silent":
            return True  # and no reply
        if message.message_type is MessageType.SIGNAL and message.member:
            self.signals.append((message.member, unpack_variants(message.body)))
            self._signal_received.set()
        return False

    async def call(self, name: str, path: str, interface: str, member: str, signature: str = "", *arguments: Any) -> Any:
        """Calls a method. An error reply is a CallFailed."""
        reply = await self._bus.call(Message(
            destination=name, path=path, interface=interface, member=member, signature=signature, body=list(arguments)))
        assert reply
        if reply.message_type is MessageType.ERROR:
            raise CallFailed(str(reply.error_name), str(reply.body))
        return unpack_variants(reply.body[0]) if reply.body else None

    async def player(self, member: str, signature: str = "", *arguments: Any) -> Any:
        """Calls a method of the player."""
        return await self.call(NAME, PATH, PLAYER, member, signature, *arguments)

    async def get(self, name: str, interface: str = PLAYER) -> Any:
        """Gets a property."""
        return await self.call(NAME, PATH, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)

    async def set(self, name: str, signature: str, value: Any, interface: str = PLAYER) -> None:
        """Sets a property."""
        await self.call(NAME, PATH, "org.freedesktop.DBus.Properties", "Set", "ssv", interface, name, Variant(signature, value))

    async def until(self, expected: Callable[[str, list[Any]], bool]) -> tuple[str, list[Any]]:
        """Waits for the next matching signal, and discards earlier ones."""
        while True:
            while self.signals:
                member, body = self.signals.pop(0)
                if expected(member, body):
                    return member, body
            self._signal_received.clear()
            await self._signal_received.wait()

    async def property(self, name: str, value: Any) -> dict[str, Any]:
        """Waits until PropertiesChanged reports this value of a property. Returns all its properties."""
        _, body = await self.until(lambda member, body: member == "PropertiesChanged" and name in body[1] and body[1][name] == value)
        return dict(body[1])

    async def owner(self, name: str = NAME, *, present: bool = True) -> None:
        """Waits until a name has an owner, or none. NameOwnerChanged was subscribed earlier, so that no change is
        missed.
        """
        while bool(await self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", "s", name)) != present:
            await self.until(lambda member, body: member == "NameOwnerChanged" and body[0] == name)


class CallFailed(Exception):
    """An error reply. `name` is the last part of the error name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name.rpartition(".")[2]


class BridgeCase(Case):
    """A test with a bus, a daemon and the bridge between them."""

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.bus_process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL", "dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={self.folder}/bus",
            stdout=asyncio.subprocess.PIPE)
        self.addAsyncCleanup(self.end, self.bus_process)
        assert self.bus_process.stdout
        self.address = (await self.bus_process.stdout.readline()).decode().strip()
        self.listener = await Listener.connect(self.address)
        self.addCleanup(self.listener.close)
        self.environment = {
            **os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address, "XDG_CACHE_HOME": str(self.folder / "cache"),
            "PYTHONPATH": f"{HERE.parent / 'src'}:{HERE.parents[1] / 'python/src'}",
        }

    async def end(self, process: asyncio.subprocess.Process) -> None:
        """Stops a process if it runs."""
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def bridge(self, daemon: Any, *arguments: str) -> asyncio.subprocess.Process:
        """Starts the bridge."""
        process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "playhead_mpris", "--socket", daemon.socket, *arguments, env=self.environment,
            stderr=asyncio.subprocess.PIPE)
        self.addAsyncCleanup(self.end, process)
        return process

    async def start_bridged(self, *files: str, virtual: bool = False, state: bool = False) -> tuple[Daemon, playhead.Client]:
        """Starts a paused daemon with these files, and the bridge. Waits until the bridge has the metadata of the
        first file.
        """
        daemon = await self.daemon(virtual=virtual, state=state)
        client = await self.client(daemon)
        if files:
            await client.main.load(*files, wait="ready")
        self.process = await self.bridge(daemon)
        await self.listener.owner()
        if files:
            await self.wait_for_metadata(files[0])
        return daemon, client

    async def wait_for_metadata(self, file: str) -> dict[str, Any]:
        """Waits until the bridge signals the tags of this file. Returns the metadata."""
        def is_known(metadata: dict[str, Any]) -> bool:
            return metadata.get("xesam:url") == "file://" + file and "xesam:album" in metadata

        metadata: dict[str, Any] = await self.listener.get("Metadata")
        if not is_known(metadata):
            _, body = await self.listener.until(
                lambda member, body: member == "PropertiesChanged" and is_known(body[1].get("Metadata", {})))
            metadata = body[1]["Metadata"]
        return metadata

    async def playerctl(self, *arguments: str) -> str:
        """Runs playerctl. Returns its output."""
        process = await asyncio.create_subprocess_exec(
            "playerctl", "--player=playhead", *arguments, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await process.communicate()
        if process.returncode:
            raise AssertionError(f"playerctl {' '.join(arguments)}: status {process.returncode}: {errors.decode()}")
        return output.decode().strip()


__all__ = ["NAME", "NO_TRACK", "PATH", "PLAYER", "ROOT", "TRACK_LIST", "BridgeCase", "CallFailed", "Listener", "make_with_artwork", "playhead", "signal"]
