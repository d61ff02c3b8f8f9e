"""Shared parts of the tests: a separate daemon, files to play, and a fake server."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "src"))

import playhead  # noqa: E402

DAEMON = os.environ.get("PLAYHEADD", str(REPOSITORY / ".build/debug/playheadd"))
LIMIT = 60
"""The time limit of a test in seconds, far longer than any test needs."""


class Daemon:
    """A daemon on a separate socket. `virtual`: only `clock.advance` moves time. `state`: queues persist over
    restarts.
    """

    def __init__(self, folder: pathlib.Path, *, virtual: bool = True, state: bool = False, limits: str = "", pulse_server: str = "unix:/nonexistent") -> None:
        self.socket = str(folder / "control.sock")
        # The daemon ends with the test process, even if that crashes.
        self._arguments = ["setpriv", "--pdeathsig", "KILL", DAEMON, "--socket", self.socket, "--output", "null", "--clock", "virtual" if virtual else "real",
                           "--log-level", "critical", "--write-root", str(folder), *(["--state", str(folder / "state")] if state else ["--no-state"])]
        if limits:
            config = folder / "playheadd.toml"
            config.write_text(f"[limits]\n{limits}\n")
            self._arguments += ["--config", str(config)]
        # Neither the user's configuration nor a service manager.
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(("NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_"))}
        self._environment["PULSE_SERVER"] = pulse_server
        self._environment["XDG_CONFIG_HOME"] = str(folder / "none")
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts the daemon, and waits until it is ready."""
        self._process = await asyncio.create_subprocess_exec(*self._arguments, stdout=asyncio.subprocess.PIPE, env=self._environment)
        assert self._process.stdout
        line = await self._process.stdout.readline()
        if b"ready" not in line:
            raise AssertionError(f"unexpected first line of playheadd: {line!r}")

    async def stop(self, *, kill: bool = False) -> None:
        """Stops the daemon."""
        process, self._process = self._process, None
        if process:
            process.kill() if kill else process.terminate()
            await process.wait()


class Case(unittest.IsolatedAsyncioTestCase):
    """A test with a folder and an optional daemon. LIMIT is the time limit of each test."""

    async def asyncSetUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="playhead-"))
        self.addCleanup(shutil.rmtree, self.folder)
        # On a timeout, print the tracebacks and exit.
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        # asyncio's warnings about slow steps concern FFmpeg, for which the tests wait.
        logging.getLogger("asyncio").setLevel(logging.ERROR)

    async def sound_server(self) -> str:
        """Starts a PulseAudio that ends with the test. It records silence in real time. Returns the value of
        PULSE_SERVER.
        """
        folder = self.folder / "sound"
        folder.mkdir(mode=0o700)
        path = folder / "pulse.sock"
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
                       "DBUS_SESSION_BUS_ADDRESS": "disabled:", "PULSE_SERVER": "", "LC_ALL": "C"}
        process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL", "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
            "--log-target=stderr", "-L", "module-null-sink rate=48000 channels=2",
            "-L", f"module-native-protocol-unix socket={path} auth-anonymous=1", env=environment,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)

        async def end() -> None:
            process.kill()
            await process.wait()

        self.addAsyncCleanup(end)
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_unix_connection(path)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return f"unix:{path}"
        raise AssertionError("PulseAudio did not start")

    async def daemon(self, *, virtual: bool = True, state: bool = False, limits: str = "", pulse_server: str = "unix:/nonexistent") -> Daemon:
        """A daemon that ends with the test."""
        daemon = Daemon(self.folder, virtual=virtual, state=state, limits=limits, pulse_server=pulse_server)
        await daemon.start()
        self.addAsyncCleanup(daemon.stop)
        return daemon

    async def client(self, daemon: Daemon) -> playhead.Client:
        """A client that ends with the test."""
        client = await playhead.connect(daemon.socket)
        self.addAsyncCleanup(client.close)
        return client

    def tone(self, name: str = "one.flac", *options: str, seconds: int = 10) -> str:
        """Creates a file with a tone and tags; `options` are arguments of FFmpeg."""
        return make(self.folder / name, *options, seconds=seconds)

    @contextlib.asynccontextmanager
    async def server(self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
        """A fake daemon: it sends the greeting, then runs `serve`."""
        path = str(self.folder / "fake.sock")

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"* hello playhead protocol=1 version=0.0.0\n")
            try:
                await serve(reader, writer)
            except OSError:
                pass
            finally:
                writer.close()

        async with await asyncio.start_unix_server(greet, path):
            yield path
        os.unlink(path)


def make(path: pathlib.Path, *options: str, seconds: int = 10) -> str:
    """Creates a file with FFmpeg."""
    inputs = [option for option in options if option.startswith("-i ")]
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"sine=440:r=48000:d={seconds}", *[part for i in inputs for part in i.split(" ", 1)],
         "-metadata", "title=One", "-metadata", "artist=An Artist", "-metadata", "album=An Album", "-metadata", "track=3/12",
         "-metadata", "genre=Rock", "-metadata", "date=2020-05-01",
         *[option for option in options if not option.startswith("-i ")], str(path)],
        check=True, stdin=subprocess.DEVNULL)
    return str(path)


def make_image(path: pathlib.Path) -> str:
    """Creates a small image."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1", str(path)],
                   check=True, stdin=subprocess.DEVNULL)
    return str(path)


def make_with_artwork(path: pathlib.Path, cover: pathlib.Path) -> str:
    """Creates an MP3 with artwork in its tags."""
    return make(path, f"-i {make_image(cover)}", "-map", "0", "-map", "1", "-c:a", "libmp3lame", "-disposition:v", "attached_pic")


__all__ = ["Case", "Daemon", "DAEMON", "LIMIT", "make", "make_image", "make_with_artwork", "playhead", "socket"]
