"""Concurrent requests, cancelled requests, daemons that disconnect or send invalid data."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Coroutine

from support import Case, playhead


async def read_request(reader: asyncio.StreamReader) -> Any:
    """The next request of a client."""
    return json.loads(await reader.readline())


def send_reply(writer: asyncio.StreamWriter, number: object, **result: object) -> None:
    writer.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n")


class ConnectionTests(Case):
    async def test_concurrent_requests_get_their_own_replies(self) -> None:
        client = await self.client(await self.daemon())
        for name in range(40):
            await client.player_create(f"p{name}")
        replies = await asyncio.gather(*[client.player(f"p{name % 40}").status() for name in range(1000)])
        self.assertEqual([status.player for status in replies], [f"p{name % 40}" for name in range(1000)])

    async def test_replies_may_arrive_in_any_order(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            received = [await read_request(reader) for _ in range(3)]
            for request in reversed(received):
                send_reply(writer, request["id"], player=request["params"]["name"])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            self.assertEqual(await asyncio.gather(*[client.player_create(name) for name in "abc"]), list("abc"))

    async def test_a_waiting_request_does_not_delay_other_tasks(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        waiting = asyncio.create_task(client.main.wait_until(5))
        await client.ping()
        self.assertFalse(waiting.done())
        await client.main.play()
        await client.clock_advance(6)
        self.assertGreaterEqual((await waiting).time, 5)

    async def test_a_cancelled_request_leaves_the_connection_usable(self) -> None:
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

    async def test_a_subscription_cancelled_during_its_start_is_ended(self) -> None:
        received_requests: list[Any] = []
        begun, cancelled, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            received_requests.append(await read_request(reader))
            begun.set()
            await cancelled.wait()
            send_reply(writer, received_requests[0]["id"], id=7)
            received_requests.append(await read_request(reader))
            ended.set()
            received_requests.append(await read_request(reader))
            send_reply(writer, received_requests[2]["id"], now=0)

        async with self.server(serve) as path, await playhead.connect(path) as client:
            starting = asyncio.create_task(client.main.tick(1).start())
            await begun.wait()
            starting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await starting
            cancelled.set()
            await ended.wait()
            await client.ping()
        self.assertEqual([each["method"] for each in received_requests], ["tick", "untick", "ping"])
        self.assertEqual(received_requests[1]["params"], {"id": 7})

    async def test_a_subscription_cancelled_before_it_was_sent_is_ended(self) -> None:
        cancelled, ended = asyncio.Event(), asyncio.Event()
        received_requests: list[Any] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await cancelled.wait()
            while not received_requests or received_requests[-1]["method"] != "untick":
                received_requests.append(await read_request(reader))
                if "id" in received_requests[-1]:
                    send_reply(writer, received_requests[-1]["id"], id=7)
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
        self.assertEqual(received_requests[-1]["params"], {"id": 7})

    async def test_endless_waits_leave_capacity_for_other_requests(self) -> None:
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
        waiting_again = [asyncio.create_task(client.main.wait("time>=1")) for _ in range(200)]
        await asyncio.gather(*[client.ping() for _ in range(300)])
        kinds = [type(each.exception()) for each in waiting_again if each.done()]
        self.assertEqual((kinds, len(waiting_again) - len(kinds)), ([playhead.TooManyWaits] * 50, 150))
        await client.main.play()
        await client.main.wait("status=playing", timeout=0)
        # After their replies, others can wait again.
        await client.clock_advance(2)
        await asyncio.gather(*waiting_again, return_exceptions=True)
        await client.main.wait("time>=1")

    async def cancel(self, client: playhead.Client, *work: Coroutine[Any, Any, Any]) -> None:
        """Sends requests, and cancels their tasks."""
        tasks = [asyncio.create_task(each) for each in work]
        await client.ping()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def test_a_cancelled_wait_ends_at_the_daemon(self) -> None:
        client = await self.client(await self.daemon())
        await client.main.load(self.tone(), wait="ready")
        errors = (await client.stats()).errors
        waits = [client.main.wait("ended"), client.main.wait("ended", timeout=1000), client.main.logged_events("player.volume", wait=True)]
        await self.cancel(client, *waits)
        # The daemon replied to each with `cancelled` before this request.
        self.assertEqual((await client.stats()).errors - errors, len(waits))
        self.assertEqual(client._connection._pending, {})

    async def test_cancelled_work_on_files_ends_at_the_daemon(self) -> None:
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

    async def test_only_the_too_long_line_is_rejected_by_the_daemon(self) -> None:
        client = await self.client(await self.daemon(limits="line-bytes = 1024"))
        await client.main.load(self.tone(), wait="ready")
        waiting = asyncio.create_task(client.main.wait_until(5))
        replies = await asyncio.gather(
            client.ping(), client.request("ping", {"note": "x" * 2000}), client.request("ping", {"note": "x" * 3000}), client.ping(),
            return_exceptions=True)
        self.assertEqual([getattr(each, "code", None) for each in replies],
                         [None, playhead.ErrorCode.LINE_TOO_LONG, playhead.ErrorCode.LINE_TOO_LONG, None])
        await client.main.play()
        await client.clock_advance(6)
        await waiting

    async def test_requests_beyond_the_limit_in_flight_wait_in_the_client(self) -> None:
        seen = asyncio.Semaphore(0)
        may_reply = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            received = []
            for _ in range(200):
                received.append(await read_request(reader))
                seen.release()
            await may_reply.wait()
            for request in received:
                send_reply(writer, request["id"], now=0)
            for _ in range(50):
                send_reply(writer, (await read_request(reader))["id"], now=0)

        async with self.server(serve) as path, await playhead.connect(path) as client:
            tasks = [asyncio.create_task(client.ping()) for _ in range(250)]
            for _ in range(200):
                await seen.acquire()
            self.assertEqual(len(client._connection._pending), 200)
            may_reply.set()
            await asyncio.gather(*tasks)

    async def test_losing_the_daemon_ends_waits_and_subscriptions(self) -> None:
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

    async def test_every_caller_gets_its_own_error_object(self) -> None:
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

    async def test_an_incomplete_line_is_reported_as_a_disconnect(self) -> None:
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

    async def test_a_stopping_daemon_reports_shutting_down(self) -> None:
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

    async def test_a_refused_connection_reports_the_reason(self) -> None:
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

    async def test_a_foreign_greeting_is_a_protocol_error(self) -> None:
        async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"OK MPD 0.23.5\n")
            writer.close()

        path = str(self.folder / "other.sock")
        async with await asyncio.start_unix_server(other, path):
            with self.assertRaises(playhead.ProtocolError):
                await playhead.connect(path)

    async def test_invalid_lines_end_the_connection_and_all_waits(self) -> None:
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

    async def test_unknown_events_and_fields_are_ignored(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await read_request(reader)
            writer.write(b'{"jsonrpc":"2.0","method":"something-new","params":{"id":1}}\n')
            send_reply(writer, request["id"], protocol=1, version="9", rights=[], instance="0", more=[1, 2])

        async with self.server(serve) as path, await playhead.connect(path) as client:
            self.assertEqual(await client.hello(), playhead.Hello(protocol=1, version="9", rights=(), instance="0"))
