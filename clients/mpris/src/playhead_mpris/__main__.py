"""The program `playhead-mpris`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys

from dbus_fast import BusType
from dbus_fast.aio.message_bus import MessageBus

from . import __version__
from .bridge import Bridge, PlayerClosed

DESCRIPTION = """Export a player of playheadd on the session's D-Bus with MPRIS, for media keys, panels and playerctl.

The bridge reconnects when the daemon restarts. Without a daemon, the player is not on the bus."""

EPILOG = """exit status: 0 stopped by SIGINT or SIGTERM; 2 invalid arguments; 3 the bus is not reachable or disconnected;
4 the player was closed; 5 the daemon has another protocol or denies access.
example: playhead-mpris --player jingles"""


async def bridge(arguments: argparse.Namespace) -> int:
    """Runs the bridge until it is stopped. Returns the exit status."""
    try:
        bus = await MessageBus(bus_type=BusType.SESSION).connect()
    except Exception as failure:  # dbus-fast passes on all exceptions of its socket and of the address parser
        print(f"playhead-mpris: no session bus: {failure}", file=sys.stderr)
        return 3
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    running = asyncio.create_task(Bridge(bus, arguments.player, arguments.socket).run())
    gone = asyncio.ensure_future(bus.wait_for_disconnect())  # type: ignore[no-untyped-call]
    told = asyncio.create_task(stop.wait())
    await asyncio.wait((running, gone, told), return_when=asyncio.FIRST_COMPLETED)
    status = 0
    if gone.done():
        print("playhead-mpris: the session bus disconnected", file=sys.stderr)
        status = 3
    elif running.done():
        error = running.exception()
        closed = isinstance(error, PlayerClosed)
        print(f"playhead-mpris: {f'the player {arguments.player} was closed' if closed else error}", file=sys.stderr)
        status = 4 if closed else 5
    for task in (running, gone, told):
        task.cancel()
    await asyncio.gather(running, gone, told, return_exceptions=True)
    if bus.connected:
        bus.disconnect()
    return status


def run() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        prog="playhead-mpris", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--player", default="main", metavar="NAME", help="the player (default: main); created if missing")
    parser.add_argument("--socket", metavar="PATH", help="the daemon's socket (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or /run/user/UID, else /tmp/playhead-UID/control.sock)")
    parser.add_argument("--verbose", action="store_true", help="log to standard error")
    parser.add_argument("--version", action="version", version=f"playhead-mpris {__version__}")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO if arguments.verbose else logging.WARNING, format="playhead-mpris: %(message)s")
    sys.exit(asyncio.run(bridge(arguments)))


if __name__ == "__main__":
    run()
