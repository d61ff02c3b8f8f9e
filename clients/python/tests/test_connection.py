"""Concurrent requests, cancelled requests, daemons that disconnect or send invalid data."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Coroutine

from support import Case, playhead


async def requests(reader: asyncio.StreamReader) -> Any:
    """The next request of a client."""
    return json.loads(await reader.readline())


def answer(writer: asyncio.StreamWriter, number: object, **result: object) -> None:
    writer.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n")


class ConnectionTests(Case):
    async def test_requests_at_once_get_each_their_own_reply(self) -> None:
        client = await self.client(await self.daemon())
        for name in range(40):
            await client.player_create(f"p{name}")
        answers = await asyncio.gather(*[client.player(f"p{name % 40}").status() for name in range(1000)])
        self.assertEqual([status.player for status in answers], [f"p{name % 40}" for name in range(1000)])

    async def test_replies_may_come_in_any_order(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked = [await requests(reader) for _ in range(3)]
            for request in reversed(asked):
                answer(writer, request["id"], player=request["params"]["name"])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            self.assertEqual(await asyncio.gather(*[client.player_create(name) for name in "abc"]), list("abc"))

    async def test_a_waiting_request_holds_up_no_other_task(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        waiting = asyncio.create_task(client.main.wait_until(5))
        await client.ping()
        self.assertFalse(waiting.done())
        await client.main.play()
        await client.clock_advance(6)
        self.assertGreaterEqual((await waiting).time, 5)

    async def test_a_request_that_is_cancelled_leaves_the_connection_as_it_was(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        # Three times the maximum number of requests in flight.
        for _ in range(3):
            waiting = [asyncio.create_task(client.main.wait("time>=1", timeout=0)) for _ in range(200)]
            await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
            self.assertEqual({type(each) for each in await asyncio.gather(*waiting, return_exceptions=True)}, {asyncio.CancelledError})
            await client.ping()
        self.assertEqual((await client.main.status()).player, "main")

    async def test_a_subscription_whose_beginning_is_cancelled_is_ended(self) -> None:
        said: list[Any] = []
        begun, cancelled, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            said.append(await requests(reader))
            begun.set()
            await cancelled.wait()
            answer(writer, said[0]["id"], id=7)
            said.append(await requests(reader))
            ended.set()
            said.append(await requests(reader))
            answer(writer, said[2]["id"])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            starting = asyncio.create_task(client.main.tick(1).start())
            await begun.wait()
            starting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await starting
            cancelled.set()
            await ended.wait()
            await client.ping()
        self.assertEqual([each["method"] for each in said], ["tick", "untick", "ping"])
        self.assertEqual(said[1]["params"], {"id": 7})

    async def test_a_subscription_that_is_cancelled_before_it_is_all_sent_is_ended(self) -> None:
        cancelled, ended = asyncio.Event(), asyncio.Event()
        said: list[Any] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await cancelled.wait()
            while not said or said[-1]["method"] != "untick":
                said.append(await requests(reader))
                if "id" in said[-1]:
                    answer(writer, said[-1]["id"], id=7)
            ended.set()

        async with self.server(serve) as path, await playhead.connect(path) as client:
            # More than the socket buffer, so that the following request cannot be sent yet.
            large = [asyncio.create_task(client.request("ping", {"note": "x" * 60_000})) for _ in range(20)]
            starting = asyncio.create_task(client.main.tick(1).start())
            await asyncio.sleep(0)
            self.assertGreater(client._connection._writer.transport.get_write_buffer_size(), 60_000)
            starting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await starting
            cancelled.set()
            await ended.wait()
            await asyncio.gather(*large)
            self.assertEqual(client._connection._subscribers, {})
        self.assertEqual(said[-1]["params"], {"id": 7})

    async def test_waits_without_end_leave_room_for_everything_else(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        waiting = [asyncio.create_task(client.main.wait("time>=1")) for _ in range(200)]
        await client.ping()
        for task in waiting:
            task.cancel()
        kinds = [type(each) for each in await asyncio.gather(*waiting, return_exceptions=True)]
        self.assertEqual((kinds.count(asyncio.CancelledError), kinds.count(playhead.TooManyWaits)), (150, 50))
        # The daemon ended the cancelled requests, so that the same number of requests can wait again, and others
        # proceed.
        again = [asyncio.create_task(client.main.wait("time>=1")) for _ in range(200)]
        await asyncio.gather(*[client.ping() for _ in range(300)])
        kinds = [type(each.exception()) for each in again if each.done()]
        self.assertEqual((kinds, len(again) - len(kinds)), ([playhead.TooManyWaits] * 50, 150))
        await client.main.play()
        await client.main.wait("status=playing", timeout=0)
        # After their replies, others can wait again.
        await client.clock_advance(2)
        await asyncio.gather(*again, return_exceptions=True)
        await client.main.wait("time>=1")

    async def cancel(self, client: playhead.Client, *work: Coroutine[Any, Any, Any]) -> None:
        """Sends requests, and cancels their tasks."""
        tasks = [asyncio.create_task(each) for each in work]
        await client.ping()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def test_a_wait_that_is_cancelled_ends_at_the_daemon(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        errors = (await client.stats()).errors
        waits = [client.main.wait("ended"), client.main.wait("ended", timeout=1000), client.main.logged_events("player.volume", wait=True)]
        await self.cancel(client, *waits)
        # The daemon replied to each with `cancelled` before this request.
        self.assertEqual((await client.stats()).errors - errors, len(waits))
        self.assertEqual(client._connection._pending, {})

    async def test_work_on_files_that_is_cancelled_ends_at_the_daemon(self) -> None:
        client = await self.client(await self.daemon())
        one = self.tone(seconds=60)
        errors = (await client.stats()).errors
        work = [client.main.scan(*[one] * 200), client.waveform(one), client.export(one, file=self.folder / "out.flac"),
                client.image(one, 0, file=self.folder / "out.png")]
        await self.cancel(client, *work)
        # The daemon replied to each with an error before this request; `image` may have failed because the file has no
        # video.
        self.assertEqual((await client.stats()).errors - errors, len(work))
        self.assertEqual(client._connection._pending, {})

    async def test_a_line_that_is_too_long_for_the_daemon_is_refused_alone(self) -> None:
        client = await self.client(await self.daemon(limits="line-bytes = 1024"))
        await client.main.load(self.tone(), wait="ready")
        waiting = asyncio.create_task(client.main.wait_until(5))
        answers = await asyncio.gather(
            client.ping(), client.request("ping", {"note": "x" * 2000}), client.request("ping", {"note": "x" * 3000}), client.ping(),
            return_exceptions=True)
        self.assertEqual([getattr(each, "code", None) for each in answers],
                         [None, playhead.ErrorCode.LINE_TOO_LONG, playhead.ErrorCode.LINE_TOO_LONG, None])
        await client.main.play()
        await client.clock_advance(6)
        await waiting

    async def test_requests_beyond_those_in_flight_wait_here(self) -> None:
        seen = asyncio.Semaphore(0)
        go = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked = []
            for _ in range(200):
                asked.append(await requests(reader))
                seen.release()
            await go.wait()
            for request in asked:
                answer(writer, request["id"])
            for _ in range(50):
                answer(writer, (await requests(reader))["id"])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            tasks = [asyncio.create_task(client.ping()) for _ in range(250)]
            for _ in range(200):
                await seen.acquire()
            self.assertEqual(len(client._connection._pending), 200)
            go.set()
            await asyncio.gather(*tasks)

    async def test_a_daemon_that_goes_away_ends_what_waits_and_what_watches(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        await client.main.load(self.tone(), wait="ready")
        async with client.main.observe("player.volume") as volumes:
            await anext(volumes)
            waiting = asyncio.create_task(client.main.wait_until(5))
            await client.ping()
            await daemon.stop(kill=True)
            with self.assertRaises(playhead.Disconnected):
                await waiting
            with self.assertRaises(playhead.Disconnected):
                await anext(volumes)
            with self.assertRaises(playhead.Disconnected):
                await client.ping()
        self.assertIsInstance(client.closed, playhead.Disconnected)
        with self.assertRaises(playhead.Disconnected):
            await playhead.connect(daemon.socket)

    async def test_everybody_gets_an_error_of_their_own(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        await client.main.load(self.tone(), wait="ready")
        waiting = [asyncio.create_task(client.main.wait_until(5)) for _ in range(2)]
        ticks = client.main.tick(1)
        await ticks.start()
        await daemon.stop(kill=True)
        errors = list(await asyncio.gather(*waiting, return_exceptions=True))
        for _ in range(2):
            for call in (client.ping, ticks.__anext__):
                try:
                    await call()
                except playhead.Disconnected as error:
                    errors.append(error)
        # The connection ended by FIN or reset, which depends on the kernel. All errors are the same.
        self.assertEqual([(type(each), str(each)) for each in errors], [(playhead.Disconnected, str(client.closed))] * 6)
        self.assertEqual(len({id(each) for each in [*errors, client.closed]}), 7)
        assert client.closed
        self.assertIsNone(client.closed.__traceback__)

    async def test_a_line_that_ends_in_its_middle_is_a_daemon_that_went_away(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b'{"jsonrpc":"2.0","id":1,"resu')

        async with self.server(serve) as path, await playhead.connect(path) as client:
            with self.assertRaises(playhead.Disconnected):
                await client.ping()

        for greeting in (b"", b"* hel", b"* hello playhead protocol=1"):
            async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeting: bytes = greeting) -> None:
                writer.write(greeting)
                writer.close()

            path = str(self.folder / "cut.sock")
            with self.subTest(greeting=greeting):
                async with await asyncio.start_unix_server(greet, path):
                    with self.assertRaises(playhead.Disconnected):
                        await playhead.connect(path)

    async def test_a_daemon_that_stops_says_so(self) -> None:
        daemon = await self.daemon()
        client = await self.client(daemon)
        async with client.listen() as events:
            await client.main.load(self.tone(), wait="ready")
            waiting = asyncio.create_task(client.main.wait_until(5))
            await client.ping()
            await daemon.stop()
            with self.assertRaises(playhead.Disconnected) as ended:
                await waiting
            assert ended.exception.reason
            self.assertEqual(ended.exception.reason.code, playhead.ErrorCode.SHUTTING_DOWN)
            closing = await anext(events)
            assert isinstance(closing, playhead.Closing)
            self.assertEqual(closing.name, "shutting-down")
            with self.assertRaises(playhead.Disconnected) as gone:
                await anext(events)
        assert gone.exception.reason
        self.assertEqual(gone.exception.reason.code, playhead.ErrorCode.SHUTTING_DOWN)

    async def test_a_connection_that_the_daemon_does_not_take_says_why(self) -> None:
        async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b'* closing code=6007 name=too-many-connections message="there are \\"256\\""\n')
            writer.close()

        path = str(self.folder / "refusing.sock")
        async with await asyncio.start_unix_server(refuse, path):
            with self.assertRaises(playhead.Disconnected) as refused:
                await playhead.connect(path)
        assert refused.exception.reason
        self.assertEqual((refused.exception.reason.code, refused.exception.reason.message),
                         (playhead.ErrorCode.TOO_MANY_CONNECTIONS, 'there are "256"'))

    async def test_what_is_no_daemon_is_refused(self) -> None:
        async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"OK MPD 0.23.5\n")
            writer.close()

        path = str(self.folder / "other.sock")
        async with await asyncio.start_unix_server(other, path):
            with self.assertRaises(playhead.ProtocolError):
                await playhead.connect(path)

    async def test_nonsense_ends_the_connection_and_nobody_waits_for_ever(self) -> None:
        lines = [
            b"nonsense\n", b"[]\n", b'{"jsonrpc":"2.0","id":99,"result":{}}\n', b'{"jsonrpc":"2.0","id":1}\n', b'{"jsonrpc":"2.0","id":1,"result":7}\n',
            b'{"jsonrpc":"2.0","id":1,"error":{}}\n', b'{"method":"tick","params":{"id":1}}\n', b'{"method":"overflow","params":{"dropped":"x"}}\n',
            b"\xff\xfe\n", b"{" * 100_000 + b"\n", b"x" * (9 << 20),
        ]
        for line in lines:
            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes = line) -> None:
                await reader.readline()
                writer.write(line)
                await writer.drain()
                await reader.read()

            with self.subTest(line=line[:60]):
                async with self.server(serve) as path, await playhead.connect(path) as client:
                    with self.assertRaises((playhead.ProtocolError, playhead.Disconnected)):
                        await client.ping()
                    self.assertIsNotNone(client.closed)

    async def test_events_and_fields_that_are_new_are_passed_over(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await requests(reader)
            writer.write(b'{"jsonrpc":"2.0","method":"something-new","params":{"id":1}}\n')
            answer(writer, request["id"], protocol=1, version="9", rights=[], instance="0", more=[1, 2])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            self.assertEqual(await client.hello(), playhead.Hello(protocol=1, version="9", rights=(), instance="0"))
