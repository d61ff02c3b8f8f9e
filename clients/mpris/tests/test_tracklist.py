"""Tests the list of tracks against the MPRIS specification."""

from __future__ import annotations

import asyncio
from typing import Any

from bridging import NAME, NO_TRACK, PATH, TRACK_LIST, BridgeCase, CallFailed
from dbus_fast import Variant
from playhead_mpris.state import NO_TRACK as THEIRS
from playhead_mpris.tracklist import SHOWN, SINGLY, TrackList


class SignalTests(BridgeCase):
    """Tests of the signals without a bus."""

    async def asyncSetUp(self) -> None:
        pass

    def signals(self, old: str, new: str) -> list[Any]:
        def listed(names: str) -> TrackList:
            return TrackList({f"/{name}": {"xesam:title": Variant("s", name)} for name in names})

        return listed(old).signals_to(listed(new), "/c")

    async def test_added_and_removed_tracks_are_signalled_singly_moves_as_a_whole(self) -> None:
        def added(name: str, after: str) -> tuple[str, tuple[Any, ...]]:
            return "TrackAdded", ({"xesam:title": Variant("s", name)}, after)

        self.assertEqual(THEIRS, NO_TRACK)
        self.assertEqual(self.signals("abc", "abc"), [])
        self.assertEqual(self.signals("", "a"), [added("a", NO_TRACK)])
        self.assertEqual(self.signals("ab", "xaybz"), [added("x", NO_TRACK), added("y", "/a"), added("z", "/b")])
        self.assertEqual(self.signals("abc", "bcde"), [("TrackRemoved", ("/a",)), added("d", "/c"), added("e", "/d")])
        self.assertEqual(self.signals("abc", "bac"), [("TrackListReplaced", (["/b", "/a", "/c"], "/c"))])
        many = "".join(chr(0x100 + index) for index in range(SINGLY))
        self.assertEqual(len(self.signals("a", "a" + many)), SINGLY)
        self.assertEqual(self.signals("a", "b" + many)[0][0], "TrackListReplaced")

    async def test_changed_metadata_of_a_track_is_signalled(self) -> None:
        old, new = TrackList({"/a": {}, "/b": {}}), TrackList({"/a": {}, "/b": {"xesam:title": Variant("s", "B")}})
        self.assertEqual(old.signals_to(new, "/a"), [("TrackMetadataChanged", ("/b", {"xesam:title": Variant("s", "B")}))])


class TrackListTests(BridgeCase):
    async def call_list(self, member: str, signature: str = "", *arguments: Any) -> Any:
        """Calls a method of the list."""
        return await self.listener.call(NAME, PATH, TRACK_LIST, member, signature, *arguments)

    async def tracks(self) -> list[str]:
        """The current list."""
        found: list[str] = await self.listener.get("Tracks", TRACK_LIST)
        return found

    async def signal(self, name: str) -> list[Any]:
        """Waits for the next signal of this name."""
        return (await self.listener.until(lambda member, _: member == name))[1]

    async def test_an_entry_without_a_path_is_a_track_without_a_url(self) -> None:
        one = self.tone()
        _, client = await self.start_bridged(one)
        await client.main.append("fd:" + "0" * 32, one)
        while len(tracks := await self.tracks()) != 3:
            await self.signal("TrackAdded")
        (metadata,) = await self.call_list("GetTracksMetadata", "ao", [tracks[1]])
        self.assertEqual(metadata, {"mpris:trackid": tracks[1], "xesam:title": "Stream"})
        self.assertEqual([entry.path for entry in await client.main.entries()], [one, None, one])

    async def test_the_track_list_follows_the_queue(self) -> None:
        one, two = self.tone(), self.tone("two.flac")
        _, client = await self.start_bridged(one, two)
        first, second = await self.tracks()
        self.assertEqual((await self.listener.get("Metadata"))["mpris:trackid"], first)
        found = await self.call_list("GetTracksMetadata", "ao", [second, NO_TRACK, first])
        values = [(each["mpris:trackid"], each["xesam:url"], each["mpris:length"]) for each in found]
        self.assertEqual(values, [(second, f"file://{two}", 10_000_000), (first, f"file://{one}", 10_000_000)])
        # The current track has all tags.
        self.assertIn("xesam:album", found[1])

        self.listener.signals.clear()
        await client.main.append(one)
        metadata, after = await self.signal("TrackAdded")
        self.assertEqual((after, metadata["xesam:url"]), (second, f"file://{one}"))
        third = metadata["mpris:trackid"]
        self.assertEqual(await self.tracks(), [first, second, third])
        # The daemon opens it shortly after.
        while "mpris:length" not in metadata:
            # The tags of the second track may become known, too.
            track, changed = await self.signal("TrackMetadataChanged")
            metadata = changed if track == third else metadata
        self.assertEqual(metadata["mpris:length"], 10_000_000)
        await client.main.remove(int(second.rpartition("/")[2]))
        self.assertEqual(await self.signal("TrackRemoved"), [second])
        await client.main.next()
        self.assertEqual(await self.signal("TrackRemoved"), [first])
        self.assertEqual(await self.tracks(), [third])
        await client.main.load(two, one)
        # The change of the property is signalled, too, without its value.
        await self.listener.until(lambda member, body: member == "PropertiesChanged" and body[0] == TRACK_LIST and body[2] == ["Tracks"])
        self.assertEqual(await self.signal("TrackRemoved"), [third])
        self.assertEqual([(await self.signal("TrackAdded"))[0]["xesam:url"] for _ in range(2)], [f"file://{two}", f"file://{one}"])

    async def test_opened_entries_have_the_titles_of_their_tags(self) -> None:
        one, two = self.tone(), self.tone("two.flac", "-metadata", "title=Two")
        await self.start_bridged(one, two)
        _, second = await self.tracks()
        metadata, = await self.call_list("GetTracksMetadata", "ao", [second])
        while "xesam:album" not in metadata:
            _, (_, metadata) = await self.listener.until(lambda member, body: member == "TrackMetadataChanged" and body[0] == second)
        found = tuple(metadata[key] for key in ("xesam:title", "xesam:album", "xesam:url"))
        self.assertEqual(found, ("Two", "An Album", f"file://{two}"))

    async def test_tracks_are_added_played_and_removed(self) -> None:
        one, two = self.tone(), self.tone("two.flac")
        _, client = await self.start_bridged(one)
        first, = await self.tracks()
        await self.call_list("AddTrack", "sob", f"file://{two}", first, False)
        second = (await self.signal("TrackAdded"))[0]["mpris:trackid"]
        self.assertEqual((await client.main.status()).time_control_status, "paused")
        await self.call_list("GoTo", "o", second)
        self.assertEqual((await self.wait_for_metadata(two))["mpris:trackid"], second)
        await self.call_list("AddTrack", "sob", f"file://{one}", second, True)
        await client.main.wait("status=playing")
        playing = [entry.path for entry in (await client.main.list()).rows]
        self.assertEqual(playing, [one])
        # Unknown tracks, and tracks that have left the list, are ignored.
        for track in (first, second, NO_TRACK, "/org/playhead/session7/track/1"):
            await self.call_list("GoTo", "o", track)
            await self.call_list("RemoveTrack", "o", track)
        self.assertEqual((await client.main.list()).count, 1)
        for uri, after, error in [("ftp://h/x", NO_TRACK, "NotSupported"), (f"file://{one}", "/no/such", "InvalidArgs")]:
            with self.assertRaises(CallFailed) as failed:
                await self.call_list("AddTrack", "sob", uri, after, False)
            self.assertEqual(failed.exception.name, error)

    async def test_adding_at_the_front_inserts_after_the_playing_track(self) -> None:
        one, two = self.tone(), self.tone("two.flac")
        _, client = await self.start_bridged(one, one)
        await client.main.play()
        playing = (await client.main.status()).item
        await self.call_list("AddTrack", "sob", f"file://{two}", NO_TRACK, False)
        await self.signal("TrackAdded")
        status = await client.main.status()
        self.assertEqual((status.item, status.time_control_status), (playing, "playing"))
        self.assertEqual([entry.path for entry in (await client.main.list()).rows], [one, two, one])
        await self.call_list("AddTrack", "sob", f"file://{two}", NO_TRACK, True)
        await self.wait_for_metadata(two)
        self.assertEqual([entry.path for entry in (await client.main.list()).rows][:2], [two, one])

    async def test_a_long_queue_is_published_in_part(self) -> None:
        one = self.tone()
        _, client = await self.start_bridged(one)
        async with client.main.edit() as edit:
            await edit.append(*[one] * 50_000)
        tracks, current = await self.signal("TrackListReplaced")
        self.assertEqual((len(tracks), current), (SHOWN, tracks[0]))
        # One track is removed at the front, one is added at the end.
        await client.main.next()
        self.assertEqual(await self.signal("TrackRemoved"), [tracks[0]])
        metadata, after = await self.signal("TrackAdded")
        self.assertEqual(after, tracks[-1])
        self.assertEqual(await self.tracks(), [*tracks[1:], metadata["mpris:trackid"]])

    async def test_watch_only_bridge_cannot_edit_the_list(self) -> None:
        one = self.tone()
        _, client = await self.start_bridged(one)
        self.assertTrue(await self.listener.get("CanEditTracks", TRACK_LIST))

        class Watched:
            socket = str(self.folder / "watch.sock")

        await self.bridge(Watched())
        name = NAME + ".instance2"
        await self.listener.owner(name)
        get = "org.freedesktop.DBus.Properties", "Get", "ss", TRACK_LIST
        tracks = await self.listener.call(name, PATH, *get, "Tracks")
        self.assertFalse(await self.listener.call(name, PATH, *get, "CanEditTracks"))
        await self.listener.call(name, PATH, TRACK_LIST, "RemoveTrack", "o", tracks[0])
        await self.listener.call(name, PATH, TRACK_LIST, "AddTrack", "sob", f"file://{one}", NO_TRACK, True)
        await asyncio.sleep(0)
        self.assertEqual((await client.main.list()).count, 1)
