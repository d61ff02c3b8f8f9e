#!/usr/bin/python3
"""For transcriptions: plays a recording segment by segment, and repeats each until its text is entered.

usage: transcribe.py [--socket PATH] [--length SECONDS] [--rate RATE] FILE

Type the text of a segment: it is printed with the times of the segment, in the SubRip format, and the next segment
follows. An empty line skips the segment, `<` returns to the previous one, and the end of the input quits.
"""

import argparse
import asyncio
import sys
from fractions import Fraction

import playhead

PLAYER = "transcription"


def stamp(time: Fraction) -> str:
    """A time in the SubRip format."""
    milliseconds = round(time * 1000)
    return f"{milliseconds // 3600000:02}:{milliseconds // 60000 % 60:02}:{milliseconds // 1000 % 60:02},{milliseconds % 1000:03}"


async def main() -> None:
    """Loops over the segments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket")
    parser.add_argument("--length", type=Fraction, default=Fraction(5))
    parser.add_argument("--rate", type=Fraction, default=Fraction(1))
    parser.add_argument("file")
    arguments = parser.parse_args()
    if arguments.length < Fraction(1, 100):
        parser.error("the length must be at least 0.01 s")
    async with await playhead.connect(arguments.socket) as client:
        await client.player_create(PLAYER)
        try:
            await transcribe(client.player(PLAYER), arguments.file, arguments.length, arguments.rate)
        finally:
            await client.player_close(PLAYER)


async def transcribe(player: playhead.Player, file: str, length: Fraction, rate: Fraction) -> None:
    """Plays each segment, up to the end of the file or of the input."""
    (item,) = (await player.load(file, wait="ready", precise=True)).items
    duration = (await player.item_status(item)).duration
    if duration is None:
        raise SystemExit(f"transcribe.py: {file} has no duration")
    await player.default_rate(rate)
    start, written = Fraction(0), 0
    while start < duration:
        end = min(start + length, duration)
        await player.seek(start)
        await player.loop(start, end)
        await player.play()
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return
        text = line.strip()
        if text == "<":
            start = max(Fraction(0), start - length)
            continue
        if text:
            written += 1
            print(f"{written}\n{stamp(start)} --> {stamp(end)}\n{text}\n", flush=True)
        start = end


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (playhead.PlayheadError, playhead.Disconnected) as error:
        raise SystemExit(f"transcribe.py: {error}") from None
