"""Tests the bridge against the MPRIS specification, and without daemon or bus."""

from __future__ import annotations

import asyncio
import pathlib
import signal
import subprocess
from typing import Any
from xml.etree import ElementTree

from bridging import NAME, PATH, PLAYER, ROOT, TRACK_LIST, BridgeCase, CallFailed


class BridgeTests(BridgeCase):
    async def test_every_property_of_the_specification_exists(self) -> None:
        await self.start_bridged(self.tone())
        expected = {
            ROOT: {"CanQuit": "b", "CanRaise": "b", "HasTrackList": "b", "Identity": "s", "SupportedUriSchemes": "as", "SupportedMimeTypes": "as"},
            PLAYER: {
                "PlaybackStatus": "s", "LoopStatus": "s", "Rate": "d", "Shuffle": "b", "Metadata": "a{sv}", "Volume": "d", "Position": "x",
                "MinimumRate": "d", "MaximumRate": "d", "CanGoNext": "b", "CanGoPrevious": "b", "CanPlay": "b", "CanPause": "b", "CanSeek": "b",
                "CanControl": "b",
            },
            TRACK_LIST: {"Tracks": "ao", "CanEditTracks": "b"},
        }
        text = await self.listener.call(NAME, PATH, "org.freedesktop.DBus.Introspectable", "Introspect")
        node = ElementTree.fromstring(text)
        for interface, properties in expected.items():
            found = {each.attrib["name"]: each.attrib["type"] for each in node.findall(f"interface[@name='{interface}']/property")}
            self.assertEqual(found, properties)
            values = await self.listener.call(NAME, PATH, "org.freedesktop.DBus.Properties", "GetAll", "s", interface)
            self.assertEqual(set(values), set(properties))
        self.assertEqual({each.attrib["name"] for each in node.findall(f"interface[@name='{PLAYER}']/method")},
                         {"Next", "Previous", "Pause", "PlayPause", "Stop", "Play", "Seek", "SetPosition", "OpenUri"})
        self.assertEqual({each.attrib["name"] for each in node.findall(f"interface[@name='{TRACK_LIST}']/method")},
                         {"GetTracksMetadata", "AddTrack", "RemoveTrack", "GoTo"})
        self.assertEqual({each.attrib["name"] for each in node.findall(f"interface[@name='{TRACK_LIST}']/signal")},
                         {"TrackListReplaced", "TrackAdded", "TrackRemoved", "TrackMetadataChanged"})
        self.assertTrue(await self.listener.get("HasTrackList", ROOT))
        self.assertEqual((await self.listener.get("CanQuit", ROOT), await self.listener.get("Identity", ROOT)), (False, "Playhead"))

    async def test_seeks_by_any_client_are_signalled(self) -> None:
        _, client = await self.start_bridged(self.tone())
        await client.main.seek("5.25")
        self.assertEqual((await self.listener.until(lambda member, _: member == "Seeked"))[1], [5_250_000])
        await self.listener.player("Seek", "x", -250_000)
        self.assertEqual((await self.listener.until(lambda member, _: member == "Seeked"))[1], [5_000_000])
        await client.main.stop()
        self.assertEqual((await self.listener.until(lambda member, _: member == "Seeked"))[1], [0])

    async def test_only_changed_properties_are_signalled_and_never_the_position(self) -> None:
        _, client = await self.start_bridged(self.tone())
        self.listener.signals.clear()
        await client.main.seek(1)
        await client.main.pause()
        await client.main.volume(1)
        await client.main.pan(0.5)
        await client.main.volume(0.5)
        signalled: list[Any] = []
        while not any("Volume" in each for each in signalled):
            _, body = await self.listener.until(lambda member, _: member == "PropertiesChanged")
            signalled.append(body[1])
        # Paused after the beginning: the status is Paused, not Stopped.
        self.assertEqual({key: value for each in signalled for key, value in each.items()}, {"PlaybackStatus": "Paused", "Volume": 0.5})

    async def test_a_track_change_is_one_signal_with_all_metadata(self) -> None:
        files = [self.tone(f"{number}.flac", "-metadata", f"title={number}", seconds=1) for number in range(3)]
        _, client = await self.start_bridged(*files, virtual=True)
        await client.main.play()

        async def published(number: int) -> list[dict[str, Any]]:
            """The metadata of all signals until the volume changes."""
            await client.main.volume(number / 10)
            found: list[dict[str, Any]] = []
            while True:
                _, body = await self.listener.until(lambda member, _: member == "PropertiesChanged")
                found += [body[1]["Metadata"]] if "Metadata" in body[1] else []
                if body[1].get("Volume") == number / 10:
                    return found

        await published(1)
        await client.main.next()
        self.assertEqual([(each.get("xesam:title"), each.get("xesam:album")) for each in await published(2)], [("1", "An Album")])
        # Playback advances to the third file.
        await client.clock_advance("1.5")
        self.assertEqual([(each.get("xesam:title"), each.get("xesam:album")) for each in await published(3)], [("2", "An Album")])

    async def test_the_bridge_sends_no_requests_while_nothing_changes(self) -> None:
        _, client = await self.start_bridged(self.tone(seconds=60))
        await client.main.play()
        await client.main.wait_until("1/10")
        # When a later change is signalled, all work from the start is complete.
        await client.main.volume(0.5)
        await self.listener.property("Volume", 0.5)
        await self.wait_until_idle()
        before = (await client.stats()).requests, self.switches()
        # Three real seconds of playback without calls: the time limit of a call without reply.
        with self.assertRaises(CallFailed) as call_without_reply:
            await self.listener.call_without_reply(3000)
        self.assertEqual(call_without_reply.exception.name, "NoReply")
        requests, switches = (await client.stats()).requests, self.switches()
        self.assertEqual((await client.main.status()).time_control_status, "playing")
        # One of them is the test's request. Not even a timer has woken the bridge.
        self.assertEqual((requests - before[0], switches - before[1]), (1, 0))

    def switches(self) -> int:
        """The number of wakeups of all threads of the bridge."""
        found = 0
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            lines = dict(line.split(":", 1) for line in (thread / "status").read_text().splitlines())
            found += int(lines["voluntary_ctxt_switches"])
        return found

    async def wait_until_idle(self) -> None:
        """Waits until the bridge is idle."""
        while "S (sleeping)" not in pathlib.Path(f"/proc/{self.process.pid}/status").read_text():
            await self.listener.get("CanQuit", ROOT)

    async def test_calls_do_not_wait_for_pending_calls(self) -> None:
        _, client = await self.start_bridged(self.tone())
        await client.main.play()
        is_opening, may_close = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            is_opening.set()
            await may_close.wait()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.addCleanup(server.close)
        port = server.sockets[0].getsockname()[1]
        opening = asyncio.create_task(self.listener.player("OpenUri", "s", f"http://127.0.0.1:{port}/list.m3u"))
        await is_opening.wait()
        await self.listener.player("Pause")
        await self.listener.set("Volume", "d", 0.5)
        await self.listener.player("Stop")
        self.assertEqual(((await client.main.status()).time_control_status, await client.main.volume(), opening.done()), ("paused", 0.5, False))
        may_close.set()
        with self.assertRaises(CallFailed) as failed:
            await opening
        self.assertEqual(failed.exception.name, "Failed")

    async def test_calls_are_sent_in_order(self) -> None:
        _, client = await self.start_bridged(self.tone())
        track = (await self.listener.get("Metadata"))["mpris:trackid"]
        for _ in range(10):
            await asyncio.gather(
                self.listener.player("SetPosition", "ox", track, 7_000_000), self.listener.player("Seek", "x", -6_000_000),
                self.listener.set("Volume", "d", 0.25), self.listener.player("SetPosition", "ox", track, 2_000_000),
                self.listener.player("Seek", "x", 1_000_000), self.listener.set("Volume", "d", 0.5))
            self.assertEqual((await client.main.position(), await client.main.volume()), (3, 0.5))

    async def test_characters_that_the_bus_cannot_carry_are_replaced_in_titles(self) -> None:
        _, client = await self.start_bridged()
        bare = self.folder / "bare.flac"
        subprocess.run(["ffmpeg", "-v", "error", "-i", self.tone(), "-map_metadata", "-1", "-c", "copy", str(bare)], check=True, stdin=subprocess.DEVNULL)
        (self.folder / "list.m3u8").write_bytes(b"#EXTM3U\n#EXTINF:10,One\0Tw\xc3\xb6\nbare.flac\n")
        await client.main.load(self.folder / "list.m3u8")
        await client.main.wait("ready")
        self.assertEqual((await client.main.status()).title, "One\ufffdTwö")
        await self.listener.until(
            lambda member, body: member == "PropertiesChanged" and body[1].get("Metadata", {}).get("xesam:title") == "One\ufffdTwö")
        # The bridge still runs.
        self.assertEqual((await self.listener.get("Metadata"))["xesam:title"], "One\ufffdTwö")
        # Refused calls return errors.
        with self.assertRaises(CallFailed) as failed:
            await self.listener.player("OpenUri", "s", "ftp://h/x")
        self.assertEqual(failed.exception.name, "NotSupported")
        self.assertIsNone(self.process.returncode)

    async def test_watch_only_bridge_reports_no_control(self) -> None:
        _, client = await self.start_bridged(self.tone(), self.tone("two.flac"))
        self.assertTrue(await self.listener.get("CanControl"))

        class Watched:
            socket = str(self.folder / "watch.sock")

        await self.bridge(Watched())
        name = NAME + ".instance2"
        await self.listener.owner(name)
        values = await self.listener.call(name, PATH, "org.freedesktop.DBus.Properties", "GetAll", "s", PLAYER)
        self.assertEqual({key: value for key, value in values.items() if key.startswith("Can")}, dict.fromkeys(
            ("CanGoNext", "CanGoPrevious", "CanPlay", "CanPause", "CanSeek", "CanControl"), False))
        with self.assertRaises(CallFailed) as failed:
            await self.listener.call(name, PATH, PLAYER, "Play")
        self.assertEqual((failed.exception.name, (await client.main.status()).time_control_status), ("Failed", "paused"))

    async def test_positions_for_another_track_or_out_of_range_are_ignored(self) -> None:
        _, client = await self.start_bridged(self.tone())
        await client.main.seek(3)
        track = (await self.listener.get("Metadata"))["mpris:trackid"]
        for path, position in [("/org/playhead/session1/track/99", 1_000_000), ("/org/mpris/MediaPlayer2/TrackList/NoTrack", 1_000_000),
                               (track, -1), (track, 10_000_001)]:
            with self.subTest(path=path, position=position):
                await self.listener.player("SetPosition", "ox", path, position)
                self.assertEqual(await self.listener.get("Position"), 3_000_000)
        await self.listener.player("SetPosition", "ox", track, 1_000_001)
        self.assertEqual(await self.listener.get("Position"), 1_000_000)  # the heard sample begins slightly earlier

    async def test_wrong_arguments_are_errors_and_change_nothing(self) -> None:
        _, client = await self.start_bridged(self.tone())
        calls: list[tuple[str, str, tuple[Any, ...]]] = [
            ("InvalidArgs", "Seek", ("s", "abc")), ("InvalidArgs", "Seek", ()), ("InvalidArgs", "SetPosition", ("xx", 1, 1)),
            ("UnknownMethod", "Rewind", ()), ("NotSupported", "OpenUri", ("s", "smb://host/x.flac")), ("NotSupported", "OpenUri", ("s", ""))]
        for error, member, arguments in calls:
            with self.subTest(member=member, arguments=arguments), self.assertRaises(CallFailed) as failed:
                await self.listener.player(member, *arguments)
            self.assertEqual(failed.exception.name, error)
        values: list[tuple[str, str, str, Any]] = [
            ("InvalidArgs", "LoopStatus", "s", "Sometimes"), ("InvalidArgs", "LoopStatus", "i", 1), ("InvalidArgs", "Rate", "d", 33.0),
            ("InvalidArgs", "Rate", "d", -1.0), ("InvalidArgs", "Rate", "d", float("nan")), ("InvalidArgs", "Volume", "d", float("nan")),
            ("PropertyReadOnly", "PlaybackStatus", "s", "Playing"), ("UnknownProperty", "Colour", "s", "red")]
        for error, name, signature, value in values:
            with self.subTest(name=name, value=value), self.assertRaises(CallFailed) as failed:
                await self.listener.set(name, signature, value)
            self.assertEqual(failed.exception.name, error)
        status = await client.main.status()
        self.assertEqual((status.volume, status.repeat, status.default_rate, status.time, status.count), (1, "off", 1, 0, 1))

    async def test_rates_and_volumes_follow_the_specification(self) -> None:
        _, client = await self.start_bridged(self.tone())
        await self.listener.set("Rate", "d", 1.5)
        await self.listener.property("Rate", 1.5)
        self.assertEqual((await client.main.default_rate(), (await client.main.status()).time_control_status), (1.5, "paused"))
        await self.listener.player("Play")
        await client.main.wait("status=playing")
        await self.listener.set("Rate", "d", 2.0)
        self.assertEqual(await client.main.rate(), 2.0)
        await self.listener.set("Rate", "d", 0.0)
        self.assertEqual((await client.main.status()).time_control_status, "paused")
        await self.listener.set("Volume", "d", -3.0)
        self.assertEqual(await client.main.volume(), 0)
        await self.listener.set("Volume", "d", 7.0)
        self.assertEqual(await client.main.volume(), 1)

    async def test_a_player_with_an_empty_queue_does_nothing(self) -> None:
        await self.start_bridged()
        self.assertEqual((await self.listener.get("PlaybackStatus"), await self.listener.get("CanPlay"), await self.listener.get("CanSeek")),
                         ("Stopped", False, False))
        self.assertEqual(await self.listener.get("Metadata"), {"mpris:trackid": "/org/mpris/MediaPlayer2/TrackList/NoTrack"})
        for member in ("Play", "Pause", "Stop", "Next", "Previous"):
            await self.listener.player(member)
        await self.listener.player("Seek", "x", 1)
        with self.assertRaises(CallFailed):
            await self.listener.player("PlayPause")

    async def test_the_bridge_continues_when_the_daemon_restarts(self) -> None:
        one = self.tone()
        daemon, client = await self.start_bridged(one, state=True)
        first = (await self.listener.get("Metadata"))["mpris:trackid"]
        await client.state_save()
        await daemon.stop(kill=True)
        await self.listener.owner(present=False)
        await daemon.start()
        await self.listener.owner()
        second = (await self.wait_for_metadata(one))["mpris:trackid"]
        # A track of the earlier connection is unknown, whatever its number is.
        self.assertNotEqual(first, second)
        await self.listener.player("SetPosition", "ox", first, 5_000_000)
        self.assertEqual(await self.listener.get("Position"), 0)
        self.assertEqual(await self.playerctl("metadata", "title"), "One")

    async def test_the_bridge_waits_for_a_daemon_to_start(self) -> None:
        daemon = await self.daemon()
        await daemon.stop()
        await self.bridge(daemon)
        await daemon.start()
        await self.listener.owner()

    async def test_the_bridge_ends_without_its_bus(self) -> None:
        await self.start_bridged(self.tone())
        self.listener.close()
        self.bus_process.terminate()
        self.assertEqual(await self.process.wait(), 3)
        without_daemon = await self.bridge(await self.missing_daemon())
        self.assertEqual(await without_daemon.wait(), 3)

    async def missing_daemon(self) -> Any:
        """Sockets without a working daemon."""
        class MissingDaemon:
            socket = str(self.folder / "nobody.sock")

        return MissingDaemon()

    async def test_the_bridge_ends_on_sigterm(self) -> None:
        await self.start_bridged()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(await self.process.wait(), 0)

    async def test_a_second_bridge_gets_a_numbered_name(self) -> None:
        daemon, _ = await self.start_bridged()
        await self.bridge(daemon)
        await self.listener.owner(NAME + ".instance2")

    async def test_another_player_has_its_own_name_and_ends_its_bridge(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        bridge = await self.bridge(daemon, "--player", "jingles")
        await self.listener.owner(NAME + ".jingles")
        self.assertEqual([row.player for row in (await client.player_list()).rows], ["main", "jingles"])
        other = await self.bridge(daemon, "--player", "9.a-b")
        await self.listener.owner(NAME + "._9_a_b")
        await client.player_close("jingles")
        await client.player_close("9.a-b")
        self.assertEqual((await bridge.wait(), await other.wait()), (4, 4))

    async def test_unknown_options_exit_with_status_2(self) -> None:
        bridge = await self.bridge(await self.missing_daemon(), "--nonsense")
        self.assertEqual(await bridge.wait(), 2)
