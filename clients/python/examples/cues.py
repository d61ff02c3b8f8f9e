#!/usr/bin/python3
"""Prints when times of a recording are heard, to synchronize lights, slides or machines.

usage: cues.py [--socket PATH] FILE TIME...

Plays FILE in a separate player, and prints each TIME (83.5, 1:23.5, ...) when its sample is heard.
"""

import argparse
import asyncio

import playhead

PLAYER = "cues"


async def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket")
    parser.add_argument("file")
    parser.add_argument("times", nargs="+")
    arguments = parser.parse_args()
    async with await playhead.connect(arguments.socket) as client:
        await client.player_create(PLAYER)
        try:
            player = client.player(PLAYER)
            loaded = await player.load(arguments.file, wait="ready")
            # For this entry only, so that the subscription ends with the entry.
            async with player.at(*arguments.times, item=loaded.items[0]) as cues:
                await player.play()
                print("playing", flush=True)
                async for cue in cues:
                    if isinstance(cue, playhead.At):
                        print(f"{float(cue.time):.3f}  ({float(cue.late) * 1000:.1f} ms late)", flush=True)
        finally:
            await client.player_close(PLAYER)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (playhead.PlayheadError, playhead.Disconnected) as error:
        raise SystemExit(f"cues.py: {error}") from None
