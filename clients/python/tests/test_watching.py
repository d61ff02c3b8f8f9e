"""Observed keys, ticks, cues, meters; slow readers; daemons that restart."""

from __future__ import annotations

import asyncio
import json
import typing
from fractions import Fraction
from typing import Any

from support import Case, playhead

from playhead.connection import event_class

TICK = {"player": "main", "item": 1, "rate": 1, "reason": "periodic", "late": 0, "hostTime": 12.5}


class WatchingTests(Case):
    async def test_observers_get_the_current_value_and_then_changes(self) -> None:
        client = await self.client(await self.daemon())
        async with client.main.observe("player.volume", "queue.version") as changes:
            first = [await anext(changes), await anext(changes)]
            await client.main.volume(0.25)
            change = await anext(changes)
            assert isinstance(change, playhead.Changed)
            self.assertEqual((change.key, change.old, change.new, change.cause, change.initial),
                             ("player.volume", 1, Fraction(1, 4), "request", None))
        self.assertEqual([(each.key, each.initial) for each in first if isinstance(each, playhead.Changed)],
                         [("player.volume", True), ("queue.version", True)])

    async def test_changes_have_the_types_of_their_key(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(seconds=1), wait="ready")
        async with client.main.observe("player.rate", "player.timeControlStatus", "item.duration", "item.currentMediaSelection", "output.devices") as changes:
            found = {each.key: each for each in [await anext(changes) for _ in range(5)] if isinstance(each, playhead.Changed)}
        rate, duration = found["player.rate"], found["item.duration"]
        status, selection, devices = found["player.timeControlStatus"], found["item.currentMediaSelection"], found["output.devices"]
        # mypy checks the types of `new`.
        assert isinstance(rate, playhead.PlayerRateChanged) and isinstance(duration, playhead.ItemDurationChanged)
        assert isinstance(status, playhead.PlayerTimeControlStatusChanged) and isinstance(devices, playhead.OutputDevicesChanged)
        assert isinstance(selection, playhead.ItemCurrentMediaSelectionChanged) and selection.new and duration.new
        self.assertEqual((type(rate.new), rate.new + 0.5), (float, 0.5))
        self.assertEqual((type(duration.new), duration.new + Fraction(1, 3)), (Fraction, Fraction(4, 3)))
        paused: typing.Literal["paused", "waitingToPlayAtSpecifiedRate", "playing"] = status.new
        self.assertEqual((paused, selection.new.audible, devices.new, rate.old), ("paused", 0, (), None))

    def test_a_key_of_a_newer_daemon_has_no_types(self) -> None:
        self.assertIs(event_class("changed", {"key": "player.mood"}), playhead.Changed)
        self.assertIs(event_class("changed", {"key": "player.rate"}), playhead.PlayerRateChanged)
        self.assertIsNone(event_class("mood", {"key": "player.rate"}))

    async def test_merged_queue_edits_have_no_list_of_changes(self) -> None:
        client = await self.client(await self.daemon())
        one = self.tone(seconds=1)
        async with client.main.observe("queue.version") as changes:
            await anext(changes)
            await client.main.append(one)
            await client.ping()
            single = await anext(changes)
            assert isinstance(single, playhead.Changed)
            self.assertEqual((single.old, single.new, single.changes), (0, 1, (playhead.QueueChange(change="insert", item=1, index=0),)))
            for _ in range(3):
                await client.main.append(one)
            await client.ping()
            merged = await anext(changes)
            assert isinstance(merged, playhead.Changed)
            self.assertEqual((merged.old, merged.new, merged.changes), (1, 4, None))
            self.assertEqual([row.item for row in (await client.main.queue_changes(1)).rows], [2, 3, 4])

    async def test_ticks_cues_and_meters_have_exact_times(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        async with client.main.tick(Fraction(1, 3)) as ticks, client.main.at(1, "1/7") as cues, client.main.meter(10) as meters:
            await client.main.play()
            await client.clock_advance(1)
            self.assertEqual([(await anext(ticks)).time for _ in range(4)],  # type: ignore[union-attr]
                             [Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)])
            self.assertEqual([(await anext(cues)).time for _ in range(2)], [Fraction(1, 7), Fraction(1)])  # type: ignore[union-attr]
            meter = await anext(meters)
            assert isinstance(meter, playhead.Meter)
            self.assertEqual((meter.time, len(meter.average)), (Fraction(1, 10), 2))

    async def test_cues_end_when_their_item_is_removed(self) -> None:
        client = await self.client(await self.daemon())
        (item,) = (await client.main.load(self.tone(), wait="ready")).items
        async with client.main.at(1, item=item) as cues:
            await client.main.clear()
            self.assertEqual([type(each) async for each in cues], [playhead.Removed])
            # An ended subscription is removed, because the daemon sends no more events for it.
            self.assertEqual(client._connection._subscribers, {})

    async def test_a_closed_subscription_does_not_start(self) -> None:
        client = await self.client(await self.daemon())
        ticks = client.main.tick(1)
        await ticks.close()
        self.assertEqual([tick async for tick in ticks], [])
        with self.assertRaises(RuntimeError):
            await ticks.start()
        # Closed during its start.
        ticks = client.main.tick(1)
        starting = asyncio.create_task(ticks.start())
        await asyncio.sleep(0)
        await ticks.close()
        await starting
        self.assertEqual((ticks.id, client._connection._subscribers), (None, {}))
        self.assertEqual((await client.stats()).requests, 3)  # tick, untick, stats

    async def test_item_events_are_received(self) -> None:
        client = await self.client(await self.daemon())
        one = self.tone(seconds=1)
        await client.main.load(one, one, wait="ready")
        async with client.main.events() as events:
            await client.main.play()
            await client.clock_advance(3)
            kinds = [type(await anext(events)) for _ in range(3)]
        self.assertEqual(kinds, [playhead.PlayedToEnd, playhead.Transition, playhead.PlayedToEnd])

    async def test_scans_report_their_progress(self) -> None:
        client = await self.client(await self.daemon())
        async with client.listen() as events:
            await client.main.scan(self.tone())
            progress = await anext(events)
        assert isinstance(progress, playhead.ScanProgress)
        self.assertEqual((progress.file, progress.count), (1, 1))

    async def test_an_ended_subscription_receives_no_more_events(self) -> None:
        client = await self.client(await self.daemon())
        async with client.main.observe("player.volume") as volumes:
            await anext(volumes)
        await client.main.volume(0.5)
        self.assertEqual([event async for event in volumes], [])
        self.assertEqual(client._connection._subscribers, {})
        # The daemon has removed it, too: ending this id fails.
        with self.assertRaises(playhead.PlayheadError) as refused:
            await client._connection.request("unobserve", {"id": volumes.id})
        self.assertEqual(refused.exception.code, playhead.ErrorCode.NO_SUCH_OBSERVER)

    async def test_unknown_keys_are_rejected(self) -> None:
        client = await self.client(await self.daemon())
        with self.assertRaises(playhead.PlayheadError) as refused:
            async with client.main.observe("player.nothing"):
                self.fail("the daemon accepted the id")
        self.assertEqual(refused.exception.code, playhead.ErrorCode.NO_SUCH_PROPERTY)

    async def test_a_slow_reader_gets_the_newest_events_and_an_overflow(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for number in (1, 2):
                request = json.loads(await reader.readline())
                writer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"id":%d}}\n' % (request["id"], number))
            for number in range(10_000):
                send_event(writer, "tick", id=1, time=number, pts=f"{number}/1", **TICK)
                send_event(writer, "changed", id=2, player="main", key="player.volume", old=number, new=number + 1, cause="request")
            request = json.loads(await reader.readline())
            writer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"now":0}}\n' % request["id"])
            await reader.read()

        async with self.server(serve) as path, await playhead.connect(path) as client:
            async with client.main.tick(1, buffer=16) as ticks, client.main.observe("player.volume", buffer=16) as volumes:
                await client.ping()
                self.assertEqual(await anext(ticks), playhead.Overflow(dropped=10_000 - 16, merged=0))
                self.assertEqual((await anext(ticks)).time, 10_000 - 16)  # type: ignore[union-attr]
                self.assertEqual(len(ticks._events), 15)
                change: Any = await anext(volumes)
                self.assertEqual((change.old, change.new), (0, 10_000))
                self.assertEqual(len(volumes._events), 0)

    async def test_events_dropped_by_the_daemon_are_reported_to_every_reader(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = json.loads(await reader.readline())
            writer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"id":1}}\n' % request["id"])
            send_event(writer, "overflow", dropped=5, merged=0)
            await reader.read()

        async with self.server(serve) as path, await playhead.connect(path) as client:
            async with client.main.tick(1) as ticks:
                self.assertEqual(await anext(ticks), playhead.Overflow(dropped=5, merged=0))

    async def test_watching_continues_when_the_daemon_restarts(self) -> None:
        daemon = await self.daemon()
        seen: list[playhead.Event] = []
        async for event in playhead.watch("player.volume", path=daemon.socket, first_delay=0.01, longest_delay=0.05):
            seen.append(event)
            if isinstance(event, playhead.Connected):
                await event.client.main.volume(0.5 if len(seen) == 1 else 0.25)
            elif isinstance(event, playhead.Lost):
                await daemon.start()
            elif isinstance(event, playhead.Changed) and event.new == Fraction(1, 2):
                await daemon.stop(kill=True)
            elif isinstance(event, playhead.Changed) and event.new == Fraction(1, 4):
                break
        self.assertEqual([type(event) for event in seen],
                         [playhead.Connected, playhead.PlayerVolumeChanged, playhead.Lost, playhead.Connected, playhead.PlayerVolumeChanged])

    async def test_events_during_a_lost_connection_are_delivered_in_order(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        cut: list[asyncio.StreamWriter] = []

        async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(65536):
                writer.write(data)
            writer.close()

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_unix_connection(daemon.socket)
            cut.extend([writer, back])
            await asyncio.gather(pipe(reader, back), pipe(there, writer), return_exceptions=True)

        path = str(self.folder / "relay.sock")
        server = await asyncio.start_unix_server(relay, path)
        seen: list[tuple[object, ...]] = []
        numbers: list[int] = []
        async for event in playhead.watch("player.volume", path=path, first_delay=0.01, longest_delay=0.05):
            if isinstance(event, playhead.Changed):
                seen.append((event.new, event.initial))
                if event.seq is not None:
                    numbers.append(event.seq)
                if len(seen) == 1:
                    for writer in cut:
                        writer.close()
                if len(seen) == 4:
                    break
            else:
                seen.append((type(event).__name__,)) if isinstance(event, playhead.Overflow) else None
            if isinstance(event, playhead.Lost):
                await client.main.volume(0.5)
                await client.main.pan(1)
                await client.main.volume(0.25)
        server.close()
        self.assertEqual(seen, [(1, True), (Fraction(1, 2), None), (Fraction(1, 4), None), (Fraction(1, 4), True)])
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(len(numbers), 2)

    async def test_keys_and_ticks_are_watched_together(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        await client.main.load(self.tone(), wait="ready")
        kinds: set[type] = set()
        async for event in playhead.watch("player.timeControlStatus", path=daemon.socket, tick=1):
            kinds.add(type(event))
            if isinstance(event, playhead.Changed) and event.initial:
                await client.main.play()
                await client.clock_advance(2)
            if {playhead.Connected, playhead.PlayerTimeControlStatusChanged, playhead.Tick} <= kinds:
                break
        with self.assertRaises(playhead.PlayheadError):
            async for event in playhead.watch("player.nothing", path=daemon.socket):
                self.assertIsInstance(event, playhead.Connected)


def send_event(writer: asyncio.StreamWriter, name: str, **fields: object) -> None:
    writer.write(json.dumps({"jsonrpc": "2.0", "method": name, "params": fields}).encode() + b"\n")
