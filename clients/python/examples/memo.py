#!/usr/bin/python3
"""Voice memos: records memos with a live level meter, renames, lists and plays them.

usage: memo.py [--socket PATH] [--folder DIR] record [--source NAME] [NAME]
       memo.py [--socket PATH] [--folder DIR] name OLD NEW | list | play NAME

Memos are FLAC files in DIR (default: ~/Memos), which must be below a folder of `playheadd --write-root`. During a
recording, Space pauses and resumes, and Enter or q stops. Without a terminal, use p or q, then Enter.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import pathlib
import sys
import termios
import time
from collections.abc import Iterator
from fractions import Fraction

import playhead

WIDTH = 30
PLAYER = "memo"


@contextlib.contextmanager
def typed() -> Iterator[None]:
    """A context in which keys are read without waiting for Enter."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    mode = termios.tcgetattr(sys.stdin)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def draw(meter: playhead.RecordMeter) -> None:
    """Prints a level line. On a terminal it replaces the previous line."""
    bar = "=" * round(max(meter.peak_scale) * WIDTH)
    line = f"{float(meter.time):7.1f} s  [{bar:{WIDTH}}] {max(meter.peak):6.1f} dB"
    print(f"\r{line}" if sys.stdout.isatty() else line, end="" if sys.stdout.isatty() else "\n", flush=True)


async def watch(client: playhead.Client, recorder: int) -> str:
    """Shows the levels until the end of the recording. Returns the error that ended it, if any."""
    async with client.record_watch(recorder, rate=10) as events:
        async for event in events:
            if isinstance(event, playhead.RecordMeter):
                draw(event)
            elif isinstance(event, playhead.Recording):
                print(f"\n{event.state}", flush=True)
                if event.state == "stopped":
                    return event.message or ""
    return "the recorder was removed"


async def keys(client: playhead.Client, recorder: int) -> None:
    """Processes keys until the recording is stopped."""
    loop = asyncio.get_running_loop()
    pressed: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        data = os.read(sys.stdin.fileno(), 64)
        if not data:
            loop.remove_reader(sys.stdin)
        pressed.put_nowait(data)

    loop.add_reader(sys.stdin, read)
    try:
        after_key = False
        while data := await pressed.get():
            for key in data.decode(errors="replace"):
                if key in " p":
                    paused = (await client.record_status(recorder)).state == "paused"
                    await (client.record_start(recorder) if paused else client.record_pause(recorder))
                    after_key = not sys.stdin.isatty()
                elif key == "q" or (key == "\n" and not after_key):
                    return
                else:
                    after_key = False
    finally:
        loop.remove_reader(sys.stdin)


async def record(client: playhead.Client, file: pathlib.Path, source: str | None) -> None:
    """Records a memo."""
    recorder = (await client.record_prepare(str(file), source=source)).recorder
    with typed():
        watching = asyncio.create_task(watch(client, recorder))
        typing = asyncio.create_task(keys(client, recorder))
        await client.record_start(recorder)
        await asyncio.wait({watching, typing}, return_when=asyncio.FIRST_COMPLETED)
        typing.cancel()
        made = await client.record_stop(recorder)
        await watching
    if made.file is not None and made.duration is not None:
        print(f"{file.stem}: {float(made.duration):.1f} s", flush=True)
    if made.message:
        raise SystemExit(f"memo.py: {made.message}")


async def show(client: playhead.Client, folder: pathlib.Path) -> None:
    """Lists the memos, newest first."""
    for file in sorted(folder.glob("*.flac"), key=lambda file: file.stat().st_mtime, reverse=True):
        asset = await client.asset_open(str(file))
        values = {row.key: row.value for row in (await client.asset_load(asset, "duration")).rows}
        await client.asset_close(asset)
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
        duration = values["duration"]
        seconds = float(duration) if isinstance(duration, (int, Fraction)) else 0
        print(f"{when}  {seconds:7.1f} s  {file.stem}", flush=True)


async def play(client: playhead.Client, file: pathlib.Path) -> None:
    """Plays a memo to its end, in a separate player."""
    await client.player_create(PLAYER)
    try:
        player = client.player(PLAYER)
        await player.load(str(file), wait="ready")
        await player.play()
        print(f"playing {file.stem}", flush=True)
        await player.wait("ended")
    finally:
        await client.player_close(PLAYER)


def rename(old: pathlib.Path, new: pathlib.Path) -> None:
    """Renames a memo. The new name must be unused."""
    os.link(old, new)
    old.unlink()


async def main() -> None:
    """Executes the specified action."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path.home() / "Memos")
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record")
    recording.add_argument("--source")
    recording.add_argument("name", nargs="?", default=time.strftime("Memo %Y-%m-%d %H.%M.%S"))
    naming = actions.add_parser("name")
    naming.add_argument("old")
    naming.add_argument("new")
    actions.add_parser("list")
    actions.add_parser("play").add_argument("name")
    arguments = parser.parse_args()
    folder: pathlib.Path = arguments.folder.absolute()
    if arguments.action == "name":
        return rename(folder / f"{arguments.old}.flac", folder / f"{arguments.new}.flac")
    async with await playhead.connect(arguments.socket) as client:
        match arguments.action:
            case "record":
                folder.mkdir(parents=True, exist_ok=True)
                await record(client, folder / f"{arguments.name}.flac", arguments.source)
            case "list":
                await show(client, folder)
            case _:
                await play(client, folder / f"{arguments.name}.flac")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (playhead.PlayheadError, playhead.Disconnected, OSError) as error:
        raise SystemExit(f"memo.py: {error}") from None
