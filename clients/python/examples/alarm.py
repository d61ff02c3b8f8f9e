#!/usr/bin/python3
"""An alarm clock: starts music at a time of day with a fade-in.

usage: alarm.py [--socket PATH] [--fade SECONDS] HH:MM FILE...

The files are loaded at once, and the first is prepared, so that a missing file is reported in the evening and not in
the morning. `now` instead of a time starts immediately.
"""

import argparse
import asyncio
import datetime
import time

import playhead


def begin_at(text: str) -> datetime.datetime:
    """The next occurrence of a time of day."""
    now = datetime.datetime.now()
    if text == "now":
        return now
    try:
        hour = datetime.time.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"the time must have the form HH:MM, such as 06:30 (got {text!r})") from None
    today = datetime.datetime.combine(now.date(), hour)
    return today if today > now else today + datetime.timedelta(days=1)


async def main() -> None:
    """Waits, then plays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket")
    parser.add_argument("--fade", default="30", help="duration of the fade-in in seconds (default: 30)")
    parser.add_argument("begin", type=begin_at, metavar="HH:MM")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    async with await playhead.connect(arguments.socket) as client:
        player = client.main
        await player.pause()
        await player.load(*arguments.files, wait="ready")
        await player.preroll()
        print(f"begins at {arguments.begin:%H:%M:%S}", flush=True)
        await asyncio.sleep(max(0.0, arguments.begin.timestamp() - time.time()))
        await player.volume(0)
        await player.fade(1, arguments.fade)
        await player.play()
        await player.wait("ended")
        print("over", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (playhead.PlayheadError, playhead.Disconnected) as error:
        raise SystemExit(f"alarm.py: {error}") from None
