#!/usr/bin/python3
"""An alarm clock: music that begins at a time of the day, and grows louder.

usage: alarm.py [--socket PATH] [--fade SECONDS] HH:MM FILE...

The files are loaded and the first is got ready at once, so that one which is missing is said in the evening and not in the morning.
`now` in place of a time begins at once.
"""

import argparse
import asyncio
import datetime
import time

import playhead


def begin_at(text: str) -> datetime.datetime:
    """The next moment at which it is so late."""
    now = datetime.datetime.now()
    if text == "now":
        return now
    try:
        hour = datetime.time.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time of the day such as 06:30") from None
    today = datetime.datetime.combine(now.date(), hour)
    return today if today > now else today + datetime.timedelta(days=1)


async def main() -> None:
    """Waits and plays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket")
    parser.add_argument("--fade", default="30", help="how long it takes until it is as loud as it gets")
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
