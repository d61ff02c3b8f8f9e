"""Runs every command against a real daemon: the daemon accepts the request, and the client can decode the reply."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import AsyncIterator, Awaitable
from fractions import Fraction
from typing import Any

from support import Case, make, make_with_artwork, playhead


async def first_meter(events: AsyncIterator[playhead.Event]) -> AsyncIterator[playhead.RecordMeter]:
    """The first reported levels."""
    async for event in events:
        if isinstance(event, playhead.RecordMeter):
            yield event
            return


class CommandTests(Case):
    async def test_every_command_returns_the_documented_reply(self) -> None:
        daemon = await self.daemon(state=True, pulse_server=await self.sound_server())
        client = await self.client(daemon)
        main, second = client.main, client.player("second")
        one = self.tone()
        two = make_with_artwork(self.folder / "two.mp3", self.folder / "cover.png")
        done: list[str] = []

        async def run(request: Awaitable[Any], command: str, expected: Any = ...) -> Any:
            reply = await request
            done.append(command)
            print(f"{command}: {reply!r}"[:160])
            if expected is not ...:
                self.assertEqual(reply, expected, command)
            return reply

        await run(client.hello(protocol=1), "hello")
        self.assertEqual(await run(client.ping(), "ping"), 0)
        await run(client.stats(), "stats")
        specification = await run(client.rpc_discover(), "rpc.discover")
        self.assertIn("asyncapi", specification.x_asyncapi)
        reloaded = await run(client.config_reload(), "config.reload")
        self.assertEqual((reloaded.changed, reloaded.restart), ((), ()))
        await run(client.help("seek"), "help")
        await run(client.player_create("second"), "player.create", "second")
        self.assertEqual([row.player for row in (await run(client.player_list(), "player.list")).rows], ["main", "second"])
        loaded = await run(main.load(one, two, wait="ready"), "load")
        first, mp3 = loaded.items
        for count, command in enumerate(["append", "insert"]):
            await run(getattr(main, command)(one, if_version=loaded.version + count), command)
        queue = await run(main.list(), "list")
        third, fourth = [entry.item for entry in queue.rows if entry.item not in (first, mp3)]
        self.assertEqual([entry.path for entry in queue.rows], [one, one, two, one])
        await run(main.move(fourth, to=1), "move")
        replaced = await run(main.replace(fourth, two), "replace")
        await run(main.remove(third), "remove")
        await run(main.queue_edit("remove %d" % replaced.items[0], {"method": "append", "params": {"paths": [one]}}), "queue.edit")
        await run(main.queue_begin(), "queue.begin")
        await run(main.queue_abort(), "queue.abort")
        await main.queue_begin()
        self.assertEqual((await main.append(one)).pending, 1)
        await run(main.queue_commit(), "queue.commit")
        await run(main.playlist_export(base=self.folder), "playlist.export")
        await run(main.item_copy(first), "item.copy")
        await run(main.status(), "status")

        # Settings, whose reply is the current value.
        await run(main.auto_wait(False), "auto-wait", False)
        await run(main.auto_wait("toggle"), "auto-wait", True)
        await run(main.default_rate(1.5), "default-rate", 1.5)
        await run(main.default_rate(1), "default-rate", 1.0)
        await run(main.end_action("pause"), "end-action", "pause")
        await run(main.end_action("stop"), "end-action", "stop")
        await run(main.end_action("advance"), "end-action", "advance")
        await run(main.mute(True), "mute", True)
        await run(main.mute("toggle"), "mute", False)
        await run(main.pan(-0.5), "pan", -0.5)
        await run(main.pitch("timeDomain"), "pitch", "timeDomain")
        await run(main.repeat("all"), "repeat", "all")
        await run(main.repeat("off"), "repeat", "off")
        await run(main.on_failure("skip"), "on-failure", "skip")
        await run(main.volume(0.25), "volume", 0.25)
        await run(main.volume(Fraction(1, 2)), "volume", 0.5)
        await run(main.volume("+25%"), "volume", 0.75)
        self.assertEqual((await run(main.replay_gain("auto", pre_amp=3, protect=False), "replay-gain")).pre_amp, 3.0)
        self.assertEqual((await run(main.silence(10, threshold=-50), "silence")).threshold, -50.0)
        self.assertIsNone((await main.silence("none")).duration)
        crossfade = await run(main.crossfade(5, curve="s-curve", fade_in=2), "crossfade")
        self.assertEqual((crossfade.crossfade, crossfade.curve, crossfade.fade_out, crossfade.fade_in), (5, "s-curve", 5, 2))
        self.assertIsNone((await main.crossfade("none")).crossfade)
        await run(main.channel_mix("swap"), "channel-mix", "swap")
        await main.channel_mix("off")
        equalizer = await run(main.equalizer("peak:1000:-3:1.4", pre_amp=-2), "equalizer")
        self.assertEqual((equalizer.bands, equalizer.pre_amp), (("peak:1000:-3:1.4",), -2.0))
        self.assertFalse((await main.equalizer("off")).is_enabled)
        self.assertEqual((await run(main.compressor(ratio=4), "compressor")).ratio, 4.0)
        self.assertFalse((await main.compressor(False)).is_enabled)
        self.assertEqual((await run(main.limiter(ceiling=-1), "limiter")).ceiling, -1.0)
        self.assertFalse((await main.limiter(False)).is_enabled)
        category = await run(client.session_category("playback", mode="moviePlayback", options="duckOthers"), "session.category")
        self.assertEqual((category.role, category.other_audio, category.recording), ("event", "ducked", False))
        self.assertEqual(category.options, ("mixWithOthers", "duckOthers"))
        self.assertEqual((await client.session_category("playAndRecord")).options, ())
        self.assertFalse((await run(client.session_status(), "session.status")).is_interrupted)
        await run(client.session_active(True), "session.active", True)
        policy = await run(client.session_policy(at_end="pause", timeout=60, fade="1/4"), "session.policy")
        self.assertEqual((policy.at_end, policy.timeout, policy.fade), ("pause", Fraction(60), Fraction(1, 4)))
        await client.session_policy(at_end="resume", timeout="none")
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.session_resume()
        self.assertEqual(refused.exception.code, playhead.ErrorCode.INVALID_STATE)
        done.append("session.resume")
        chosen = await run(main.media_selection("audible", language=["de", "en"], automatic=True), "media-selection")
        self.assertEqual(chosen.rows[0].languages, ("de", "en"))
        self.assertEqual((await run(main.shuffle(True, seed=42), "shuffle")).seed, 42)
        await main.shuffle(False)

        # Time.
        self.assertTrue(await run(main.preroll(), "preroll"))
        await run(main.preroll_cancel(), "preroll.cancel", None)
        sought = await run(main.seek(Fraction(100_001, 48_000)), "seek")
        self.assertEqual((sought.time, sought.exact), (Fraction(100_001, 48_000), True))
        self.assertEqual((await run(main.step(-5), "step")).time, Fraction(100_001, 48_000) - Fraction(5, 100))
        await run(main.seek_cancel(), "seek.cancel", None)
        looped = await run(main.loop(2, "5/2", count=1), "loop")
        self.assertEqual((looped.start, looped.end, looped.count), (Fraction(2), Fraction(5, 2), 1))
        self.assertEqual((await main.status()).loop, playhead.TimeRange(Fraction(2), Fraction(5, 2)))
        self.assertIsNone((await main.loop(off=True)).start)
        self.assertEqual((await main.loop(range=playhead.TimeRange(Fraction(1, 4), Fraction(5, 2)))).start, Fraction(1, 4))
        self.assertIsNone((await main.loop(off=True)).start)
        for chapter in ("next_chapter", "previous_chapter"):
            with self.assertRaises(playhead.PlayheadError) as refused:
                await getattr(main, chapter)()
            self.assertEqual(refused.exception.code, playhead.ErrorCode.NO_SUCH_CHAPTER)
            done.append(chapter.replace("_", "-"))
        await run(main.fade(1, "1/2", "equal-power"), "fade")
        faded = await run(main.fade(1, "1/2", then="pause", wait=True), "fade")
        self.assertEqual((faded.finished, faded.reason), (False, "notPlaying"))
        await main.volume(1)  # The fade remains, and would pause the player later.
        await run(main.rate(2), "rate", 2.0)
        await main.auto_wait(False)
        await run(main.rate_at(0, "now", from_=1), "rate-at")
        await run(main.play(), "play")
        await run(main.pause(), "pause", None)
        await run(main.toggle(), "toggle", None)
        await run(client.clock_advance(Fraction(1, 2)), "clock.advance", Fraction(1, 2))
        await run(main.explain(), "explain")
        self.assertEqual((await run(main.wait("status=playing"), "wait")).time_control_status, "playing")
        await run(main.stop(), "stop", None)
        await run(main.play_immediately(), "play-immediately", None)
        await main.pause()
        await second.load(one, wait="ready")
        started = asyncio.create_task(client.play_at("now", "main", "second"))
        await client.ping()
        await client.clock_advance(1)
        self.assertEqual((await run(started, "play-at")).spread, 0)
        changed = asyncio.create_task(client.rate_together(1.5, "main", "second"))
        await client.ping()
        await client.clock_advance(1)
        self.assertEqual((await run(changed, "rate-together")).spread, 0)
        await run(client.player_close("second"), "player.close", None)

        # Entries.
        self.assertEqual((await run(main.item_artwork(mp3), "item.artwork")).rows[0].media_type, "image/png")
        self.assertEqual((await run(main.item_buffer(mp3, 3), "item.buffer")).preferred_forward_buffer_duration, 3)
        self.assertEqual((await run(main.item_chapters(mp3), "item.chapters")).rows, ())
        self.assertEqual((await run(main.item_end_time(mp3, forward="1:30"), "item.end-time")).forward_playback_end_time, 90)
        await run(main.item_log(mp3), "item.log")
        tags = await run(main.item_metadata(mp3, common=True), "item.metadata")
        self.assertEqual(tags.rows[0].value, "One")
        await run(main.item_pitch(mp3, "varispeed"), "item.pitch")
        await run(main.item_select(mp3, audio="auto"), "item.select")
        self.assertEqual((await run(main.item_selection(mp3), "item.selection")).rows[0].options, 1)
        self.assertEqual((await run(main.item_status(mp3), "item.status")).seekable_time_ranges, (playhead.TimeRange(Fraction(0), Fraction(10)),))
        self.assertEqual((await run(main.item_tracks(mp3), "item.tracks")).rows[0].codec, "mp3")
        points = await run(main.item_volume(mp3, 0.5, at=4, to=0.25, over=5), "item.volume")
        self.assertEqual((points.rows[0].at, points.rows[0].over), (4, 5))

        # Files and assets.
        listed = await run(client.folder_list(os.path.dirname(two), limit=1), "folder.list")
        self.assertEqual((len(listed.rows), listed.next), (1, listed.rows[0].path))
        self.assertEqual((await run(client.folder_list(), "folder.list")).rows[0].kind, "folder")
        asset = await run(client.asset_open(two), "asset.open")
        values = await run(client.asset_load(asset, "duration", "tracks", "availableMetadataFormats"), "asset.load")
        self.assertEqual({row.key: row.value for row in values.rows}, {"duration": 10, "tracks": 2, "availableMetadataFormats": ("id3",)})
        for command in ("status", "tracks", "chapters", "metadata", "artwork", "selection", "cancel"):
            await run(getattr(client, f"asset_{command}")(asset), f"asset.{command}")
        self.assertGreater(len((await client.asset_artwork_image(asset)).data), 60)
        await run(client.asset_close(asset), "asset.close", None)
        scanned = await run(main.scan(one), "scan")
        self.assertEqual(scanned.rows[0].duration, 10)
        waveform = await run(client.waveform(one, bins=4), "waveform")
        self.assertEqual((waveform.bins, len(waveform.rows), waveform.rows[2].start, len(waveform.rows[0].max)), (4, 4, 5, waveform.channels))
        made = await run(client.export(one, file=self.folder / "part.flac", start=1, end=3), "export")
        self.assertEqual((made.format, made.duration, made.size), ("flac", 2, (self.folder / "part.flac").stat().st_size))
        film = make(self.folder / "film.mp4", "-filter_complex", "testsrc=s=64x48:r=10:d=10[v]", "-map", "[v]", "-map", "0", "-c:v", "mpeg4")
        image = await run(client.image(film, Fraction(1, 2), file=self.folder / "image.png"), "image")
        self.assertEqual((image.count, image.width, image.height, image.rows[0].time), (1, 64, 48, Fraction(1, 2)))
        await run(client.scan_cancel(), "scan.cancel", 0)
        await run(main.output_status(), "output.status")
        listed = await run(client.output_list(), "output.list")
        self.assertEqual((listed.count, listed.server, listed.rows), (0, None, ()))
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.output_set("default", lost="hold")
        self.assertEqual(refused.exception.code, playhead.ErrorCode.OUTPUT_CONFIGURATION)
        done.append("output.set")

        # A recording, of silence.
        prepared = await run(client.record_prepare(self.folder / "memo.flac"), "record.prepare")
        self.assertEqual((prepared.format, prepared.sample_rate, prepared.channels), ("flac", 48000, 2))
        async with client.record_watch(prepared.recorder, rate=20) as events:
            await run(client.record_start(prepared.recorder), "record.start", None)
            levels = [event async for event in first_meter(events)]
        self.assertEqual(levels[-1].peak, (-160, -160))
        await run(client.record_pause(), "record.pause", None)
        self.assertEqual((await run(client.record_status(), "record.status")).state, "paused")
        (listed,) = (await run(client.record_list(), "record.list")).rows
        self.assertEqual((listed.recorder, listed.file), (prepared.recorder, str(self.folder / "memo.flac")))
        ended = await run(client.record_stop(), "record.stop")
        self.assertEqual((ended.lost, ended.file, ended.message), (0, listed.file, None))
        self.assertGreater(ended.duration or 0, 0)
        await run(client.record_delete(), "record.delete")
        self.assertFalse((self.folder / "memo.flac").exists())

        # The queue again, and the history.
        await run(main.next(), "next")
        self.assertEqual((await run(main.previous(), "previous")).item, (await main.status()).item)
        await run(main.jump(index=1), "jump")
        self.assertEqual((await run(main.history(limit=1), "history")).rows[0].status, "readyToPlay")
        await run(main.clear(), "clear")
        version = (await main.list()).version
        self.assertEqual((await run(main.queue_changes(version), "queue.changes")).whole, False)
        logged = await run(main.logged_events("queue.*", since=0), "events")
        self.assertEqual((logged.instance, logged.missed), ((await client.hello()).instance, 0))
        self.assertEqual({row.key for row in logged.rows}, {"queue.version"})

        # Saved state.
        writes = await run(client.state_save(), "state.save")
        saved = await run(client.state(), "state")
        self.assertEqual((saved.saving, saved.folder, saved.writes), (True, str(self.folder / "state"), writes))

        await main.load(one, two, wait="ready")
        self.assertEqual((await run(main.queue_save("evening"), "queue.save")).count, 2)
        marked = await run(main.bookmark_add(Fraction(1, 4), name="here"), "bookmark.add")
        (mark,) = (await run(main.bookmark_list(), "bookmark.list")).rows
        self.assertEqual((mark.bookmark, mark.path, mark.time, mark.name), (marked.bookmark, one, Fraction(1, 4), "here"))
        self.assertTrue((await run(main.bookmark_go(name="here"), "bookmark.go")).finished)
        await run(client.bookmark_remove(mark.bookmark), "bookmark.remove", None)
        (kept,) = (await run(client.queue_saved(), "queue.saved")).rows
        self.assertEqual((kept.name, kept.count), ("evening", 2))
        await main.clear()
        back = await run(main.queue_load("evening"), "queue.load")
        self.assertEqual([(entry.item, entry.path) for entry in await main.entries()], [(back.first, one), (back.last, two)])
        await run(client.queue_forget("evening"), "queue.forget", None)

        # All commands are covered.
        everything = {row.command for row in (await client.help()).rows}
        by_hand = {"observe", "unobserve", "tick", "untick", "at", "at-chapters", "meter", "unmeter", "record.watch", "record.unwatch", "bye", "cancel"}
        self.assertEqual(everything - set(done) - by_hand, set())
        await client.bye()

    async def test_an_error_has_its_number_name_and_operation(self) -> None:
        client = await self.client(await self.daemon())
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.main.item_status(12)
        error = refused.exception
        self.assertEqual((error.number, error.name, error.code), (2004, "no-such-item", playhead.ErrorCode.NO_SUCH_ITEM))
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.main.seek("abc")
        self.assertEqual((refused.exception.code, refused.exception.operation), (playhead.ErrorCode.INVALID_TIME, "seek"))
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.player("nobody").play()
        self.assertEqual(refused.exception.code, playhead.ErrorCode.NO_SUCH_PLAYER)

    async def test_floating_point_times_are_rejected_before_they_are_sent(self) -> None:
        client = await self.client(await self.daemon())
        before = (await client.stats()).requests
        wrong: list[Any] = [0.1, True, float("nan"), b"1"]
        for time in wrong:
            with self.subTest(time=time), self.assertRaises(TypeError):
                await client.main.seek(time)
        self.assertEqual((await client.stats()).requests - before, 1)

    async def test_exact_times_are_returned_unchanged(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        for sample in (0, 1, 44_101, 479_999):
            reply = await client.main.seek(Fraction(sample, 48_000))
            self.assertEqual((reply.time, reply.requested.limit_denominator(48_000)), (Fraction(sample, 48_000),) * 2)

    async def test_file_names_with_any_characters_are_accepted(self) -> None:
        client = await self.client(await self.daemon())
        one = self.tone()
        names: list[bytes] = [b"with \"quotes\" and \\", b"new\nline", "größe €😀".encode(), b"not utf-8 \xff", b"%41", b"fd:3"]
        for name in names:
            path = os.fsencode(self.folder) + b"/" + name
            os.link(one, path)
            with self.subTest(name=name):
                self.assertEqual(len((await client.main.load(path, wait="ready")).items), 1)
        here = os.getcwd()
        try:
            os.chdir(self.folder)
            self.assertEqual(len((await client.main.load("one.flac", wait="ready")).items), 1)
        finally:
            os.chdir(here)
        with self.assertRaises(ValueError):
            await client.main.load("")

    async def test_edits_of_any_size_are_atomic(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        one = self.tone()
        paths = [f"/music/{number:06}.flac" for number in range(20_000)]
        async with client.main.edit() as edit:
            await edit.append(one)
            await edit.append(*paths[:10_000])
            # Requests of another task are not part of the edit.
            self.assertEqual(len((await client.main.append(one)).items), 1)
            await edit.insert(*paths[10_000:], after=None)
        self.assertEqual((len(edit.items), (await client.main.status()).count), (20_001, 20_002))
        version = (await client.main.status()).version
        self.assertEqual(version, edit.version)
        entries = await client.main.entries()
        self.assertEqual([entry.path for entry in entries if entry.path != one], paths[10_000:] + paths[:10_000])

        with self.assertRaises(ZeroDivisionError):
            async with client.main.edit() as edit:
                await edit.clear()
                raise ZeroDivisionError
        with self.assertRaises(playhead.PlayheadError) as refused:
            async with client.main.edit(if_version=version) as edit:
                await edit.clear()
                await client.main.append(one)
        self.assertEqual(refused.exception.code, playhead.ErrorCode.VERSION_MISMATCH)
        self.assertEqual((await client.main.status()).count, 20_003)

    async def test_too_long_requests_are_rejected_and_change_nothing(self) -> None:
        client = await self.client(await self.daemon())
        with self.assertRaises(playhead.RequestTooLong):
            await client.main.append(*["/" + "x" * 1000] * 70)
        self.assertEqual((await client.main.status()).count, 0)

    async def test_open_files_are_handed_over_once(self) -> None:
        client = await self.client(await self.daemon())
        with open(self.tone(), "rb") as file:
            descriptor = await client.hand_over(file)
        self.assertRegex(descriptor, r"^fd:[0-9a-f]{32}$")
        (item,) = (await client.main.load(descriptor, wait="ready")).items
        self.assertEqual((await client.main.item_status(item)).duration, 10)
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client.main.load(descriptor, wait="ready")
        self.assertEqual(refused.exception.code, playhead.ErrorCode.NO_SUCH_DESCRIPTOR)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            with self.assertRaises(playhead.PlayheadError) as refused:
                await client.hand_over(folder)
        finally:
            os.close(folder)
        self.assertEqual(refused.exception.code, playhead.ErrorCode.NOT_READABLE)
        with self.assertRaises(playhead.Disconnected):
            await playhead.hand_over(str(self.folder / "nothing"), 0)

    def test_replies_are_immutable_values(self) -> None:
        row = playhead.Chapter(chapter=1, start=Fraction(0), end=Fraction(1))
        self.assertEqual(dataclasses.replace(row, title="x").title, "x")
        with self.assertRaises(dataclasses.FrozenInstanceError):
            row.title = "y"  # type: ignore[misc]
