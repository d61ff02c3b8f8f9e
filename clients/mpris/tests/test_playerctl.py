"""Tests the bridge with playerctl on a separate bus and a real daemon."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import urllib.parse
from fractions import Fraction

from bridging import BridgeCase, make_with_artwork


class PlayerctlTests(BridgeCase):
    async def test_play_pause_and_stop_change_the_status(self) -> None:
        _, client = await self.start_bridged(self.tone())
        self.assertEqual(await self.playerctl("status"), "Stopped")
        for command, mpris_status, daemon_status in [("play", "Playing", "playing"), ("pause", "Paused", "paused"), ("play-pause", "Playing", "playing"),
                                     ("play-pause", "Paused", "paused"), ("stop", "Stopped", "paused")]:
            print(f"{command}: {mpris_status}")
            await self.playerctl(command)
            await client.main.wait(f"status={daemon_status}")
            await self.listener.property("PlaybackStatus", mpris_status)
            self.assertEqual(await self.playerctl("status"), mpris_status)
            if mpris_status == "Playing":
                # A player that is paused at the beginning counts as stopped.
                await client.main.wait_until("1/10")

    async def test_next_and_previous_are_available_within_the_queue(self) -> None:
        one, two = self.tone("one.flac"), self.tone("two.flac")
        _, client = await self.start_bridged(one, two)
        self.assertEqual((await self.listener.get("CanGoNext"), await self.listener.get("CanGoPrevious")), (True, False))
        await self.playerctl("next")
        await self.wait_for_metadata(two)
        self.assertEqual((await self.listener.get("CanGoNext"), await self.listener.get("CanGoPrevious")), (False, True))
        # No next or previous track: that is not an error on the bus.
        await self.listener.player("Next")
        self.assertEqual((await client.main.entries())[0].path, two)
        await self.playerctl("previous")
        await self.wait_for_metadata(one)
        await self.listener.player("Previous")
        self.assertEqual([entry.path for entry in await client.main.entries()], [one, two])
        # A repeated queue has no end.
        await client.main.repeat("all")
        await self.listener.property("CanGoPrevious", True)

    async def test_positions_are_set_and_moved_relatively(self) -> None:
        _, client = await self.start_bridged(self.tone())
        await self.playerctl("position", "4")
        self.assertEqual(await client.main.position(), 4)
        await self.playerctl("position", "2.5+")
        self.assertEqual(await client.main.position(), Fraction(13, 2))
        await self.playerctl("position", "1-")
        self.assertEqual((await client.main.position(), await self.playerctl("position")), (Fraction(11, 2), "5.500000"))
        await self.playerctl("position", "100-")
        self.assertEqual(await client.main.position(), 0)

    async def test_seeks_beyond_the_end_advance_to_the_next_entry(self) -> None:
        two = self.tone("two.flac")
        _, client = await self.start_bridged(self.tone(), two)
        await self.playerctl("position", "100+")
        await self.wait_for_metadata(two)
        self.assertEqual((await client.main.entries())[0].path, two)

    async def test_metadata_and_artwork_are_published(self) -> None:
        cover = self.folder / "cover.png"
        song = make_with_artwork(self.folder / "a song & more.mp3", cover)
        # Its URL is percent-encoded.
        daemon, client = await self.start_bridged()
        (item,) = (await client.main.load(song, wait="ready")).items
        metadata = await self.wait_for_metadata(urllib.parse.quote(song))
        self.assertEqual(await self.playerctl("metadata", "--format", "{{title}}|{{artist}}|{{album}}"), "One|An Artist|An Album")
        self.assertEqual({key: value for key, value in metadata.items() if key.startswith("xesam:") and key != "xesam:url"}, {
            "xesam:title": "One", "xesam:artist": ["An Artist"], "xesam:album": "An Album", "xesam:genre": ["Rock"],
            "xesam:trackNumber": 3, "xesam:contentCreated": "2020-05-01",
        })
        self.assertEqual((metadata["mpris:length"], metadata["mpris:trackid"]), (10_000_000, f"/org/playhead/session1/track/{item}"))
        art = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(await self.playerctl("metadata", "mpris:artUrl")).path))
        self.assertEqual(art.read_bytes(), cover.read_bytes())
        self.assertEqual((art.suffix, art.parent.stat().st_mode & 0o777), (".png", 0o700))
        # When the bridge ends, its artwork is removed.
        self.process.terminate()
        self.assertEqual((await self.process.wait(), art.parent.exists()), (0, False))

    async def test_an_entry_without_tags_has_the_name_of_its_file(self) -> None:
        _, client = await self.start_bridged()
        bare = self.folder / "bare name.flac"
        subprocess.run(["ffmpeg", "-v", "error", "-i", self.tone(), "-map_metadata", "-1", "-c", "copy", str(bare)], check=True, stdin=subprocess.DEVNULL)
        await client.main.load(bare, wait="ready")
        await self.listener.until(
            lambda member, body: member == "PropertiesChanged" and body[1].get("Metadata", {}).get("xesam:title") == "bare name.flac")
        self.assertEqual(await self.playerctl("metadata", "title"), "bare name.flac")
        self.assertEqual(await self.playerctl("metadata", "xesam:url"), f"file://{self.folder}/bare%20name.flac")

    async def test_volume_loop_and_shuffle_are_set_and_signalled(self) -> None:
        _, client = await self.start_bridged(self.tone(), self.tone("two.flac"))
        await self.playerctl("volume", "0.25")
        self.assertEqual((await client.main.status()).volume, 0.25)
        await self.listener.property("Volume", 0.25)
        await client.main.mute(True)
        await self.listener.property("Volume", 0.0)
        await self.playerctl("volume", "0.5")
        self.assertEqual((await client.main.mute(), await client.main.volume()), (False, 0.5))
        for mpris_mode, daemon_mode in [("Track", "one"), ("Playlist", "all"), ("None", "off")]:
            await self.playerctl("loop", mpris_mode)
            self.assertEqual(await client.main.repeat(), daemon_mode)
            await self.listener.property("LoopStatus", mpris_mode)
            self.assertEqual(await self.playerctl("loop"), mpris_mode)
        await self.playerctl("shuffle", "On")
        self.assertIsNotNone((await client.main.status()).shuffle)
        await self.listener.property("Shuffle", True)
        await self.playerctl("shuffle", "Toggle")
        self.assertIsNone((await client.main.status()).shuffle)

    async def test_the_status_can_be_followed(self) -> None:
        _, client = await self.start_bridged(self.tone())
        follower = await asyncio.create_subprocess_exec(
            "playerctl", "--player=playhead", "status", "--follow", env=self.environment, stdout=asyncio.subprocess.PIPE)
        self.addAsyncCleanup(self.end, follower)
        assert follower.stdout
        lines = [await follower.stdout.readline()]
        await client.main.play()
        lines.append(await follower.stdout.readline())
        await client.main.wait_until("1/10")
        await client.main.pause()
        lines.append(await follower.stdout.readline())
        self.assertEqual(lines, [b"Stopped\n", b"Playing\n", b"Paused\n"])

    async def test_addresses_are_opened_after_the_current_entry(self) -> None:
        one, two, three = (self.tone(f"{name}.flac") for name in ("one", "two", "three"))
        _, client = await self.start_bridged(one, two)
        await self.playerctl("open", "file://" + three)
        await client.main.wait("status=playing")
        self.assertEqual([entry.path for entry in await client.main.entries()], [three, two])
        await self.listener.property("PlaybackStatus", "Playing")
