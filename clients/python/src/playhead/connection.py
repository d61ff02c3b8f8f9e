"""One connection to the daemon: requests in flight, their replies, and the dispatch of events.

Only the reader task reads the socket. It never waits for a consumer: replies go to futures, events to the bounded
buffers of subscriptions. A consumer of events that is slow, or waits for a reply, thus neither delays replies nor grows
memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from .decoding import decode
from .errors import Disconnected, PlayheadError, ProtocolError, RequestTooLong, TooManyWaits, fresh
from .generated_errors import ErrorCode
from .generated_events import CHANGES, EVENTS, Changed, Closing, Overflow, Removed
from .sockets import default_socket
from .values import Event

LINE_BYTES = 65536
"""The maximum length of a request, without its LF (the daemon's default for `line-bytes`)."""

REPLY_BYTES = 8 << 20
"""The maximum length of a line from the daemon, which buffers at most `output-bytes` per connection."""

REQUESTS = 200
"""The maximum number of requests in flight; others wait here. The daemon stops reading at 256 (`waiting-requests`)."""

WAITS = 150
"""The maximum number of waiting requests without a timeout. The rest of the requests can always proceed."""

FILE_WORK = {"scan", "waveform", "export", "image"}
"""Commands whose background work ends when their request is cancelled."""

NUMBERS = {"protocol", "code", "dropped"}
"""The numeric fields of lines in text form. Others can look numeric, such as the name of an instance."""

log = logging.getLogger("playhead")


class Listener(Protocol):
    """A receiver of events."""

    def deliver(self, event: Event) -> None:
        """Receives an event. The reader task calls it, so it must not block."""

    def end(self, error: Exception | None) -> None:
        """The connection has ended, with this error unless this client closed it. No event follows."""


@dataclass(slots=True)
class _Pending:
    reply: asyncio.Future[Mapping[str, object]]
    accepted: Callable[[Mapping[str, object]], None] | None
    abandoned: Callable[[Mapping[str, object]], None] | None
    number: int = 0
    """The request id."""
    size: int = 0
    """The length of the line, in bytes."""
    cancellable: bool = False
    """Whether the daemon cancels the request when the waiting task is cancelled."""
    endless: bool = False
    """Whether the request waits without a timeout."""


class Connection:
    """A connection. `Connection.open` creates it; `close`, which `async with` calls, ends it."""

    def __init__(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeting: Mapping[str, object]) -> None:
        self.path = path
        self.daemon_version = str(greeting.get("version", ""))
        instance = greeting.get("instance")
        self.instance: str | None = None if instance is None else str(instance)
        """Identifies the run of the daemon. Event numbers are valid within one run."""
        self.closed: Exception | None = None
        """The reason why the connection has ended; None while it is open."""
        self._reader = reader
        self._writer = writer
        self._next_id = 1
        self._pending: dict[int, _Pending] = {}
        self._slots = asyncio.Semaphore(REQUESTS)
        self._waits = 0
        self._subscribers: dict[int, Listener] = {}
        self._listeners: set[Listener] = set()
        self._reason: PlayheadError | None = None
        self._task = asyncio.create_task(self._read(), name="playhead reader")

    @classmethod
    async def open(cls, path: str | None = None) -> Connection:
        """Connects to the daemon and reads its greeting. Raises Disconnected without a daemon, or if it refuses."""
        where = path or default_socket()
        try:
            reader, writer = await asyncio.open_unix_connection(where, limit=REPLY_BYTES)
        except OSError as error:
            raise Disconnected(f"no daemon at {where}: {error.strerror or error}") from error
        try:
            try:
                greeting = (await reader.readline()).decode("utf-8", "replace")
            except (OSError, ValueError) as error:
                raise Disconnected(f"no daemon at {where}: {error}") from error
            kind, fields = words(greeting)
            if kind == "closing":
                raise Disconnected(f"the daemon at {where} refused the connection", PlayheadError.of(fields))
            if not greeting.endswith("\n"):
                raise Disconnected(f"the daemon at {where} closed the connection")
            if kind != "hello" or fields.get("protocol") != 1:
                raise ProtocolError(f"the peer at {where} does not support protocol 1 of playhead: {greeting[:80]!r}")
        except BaseException:
            writer.transport.abort()
            raise
        return cls(where, reader, writer, fields)

    # MARK: - Requests

    async def request(
        self, command: str, parameters: Mapping[str, object], *, accepted: Callable[[Mapping[str, object]], None] | None = None,
        abandoned: Callable[[Mapping[str, object]], None] | None = None,
    ) -> Mapping[str, object]:
        """Sends a request and waits for its reply; raises PlayheadError for an error reply.

        `accepted` is called with the reply before the next line is read. When the waiting task is cancelled, the daemon
        cancels a request that only waits or works on files in the background. It executes any other request;
        `abandoned` is called with the reply. Raises TooManyWaits when WAITS requests already wait without a timeout.
        """
        # Check first: a request that cannot be encoded must not acquire a slot.
        encode_request(0, command, parameters)
        await self._slots.acquire()
        if self.closed:
            self._slots.release()
            raise fresh(self.closed)
        pending = _Pending(asyncio.get_running_loop().create_future(), accepted, abandoned)
        waits = only_waits(command, parameters)
        pending.cancellable = waits or command in FILE_WORK
        pending.endless = waits and parameters.get("timeout") is None
        try:
            self._write(command, parameters, pending)
        except BaseException:
            self._slots.release()
            raise
        try:
            await self._writer.drain()
        except OSError:
            # The reader task gets the same error, and reports it to all waiting tasks.
            pass
        except BaseException:
            # Cancelled before the request was completely sent.
            pending.reply.cancel()
            self._give_up(pending)
            raise
        try:
            return await pending.reply
        except asyncio.CancelledError:
            self._give_up(pending)
            raise

    def _give_up(self, pending: _Pending) -> None:
        """Sends a cancel request for a request whose task was cancelled."""
        if not pending.cancellable or pending.number not in self._pending:
            return
        # The daemon replies to a cancelled request at once, so another request can wait.
        self._waits -= pending.endless
        pending.endless = False
        self.post("cancel", {"id": pending.number})

    def post(self, command: str, parameters: Mapping[str, object]) -> None:
        """Sends a request without waiting for a reply."""
        if self.closed is None:
            line = json.dumps({"jsonrpc": "2.0", "method": command, "params": parameters}, ensure_ascii=False, allow_nan=False)
            self._writer.write(line.encode() + b"\n")

    def _write(self, command: str, parameters: Mapping[str, object], pending: _Pending) -> None:
        line = encode_request(self._next_id, command, parameters)
        if pending.endless:
            if self._waits >= WAITS:
                raise TooManyWaits(f"{command}: {self._waits} requests wait without a timeout: set timeouts or cancel requests")
            self._waits += 1
        pending.number, pending.size = self._next_id, len(line)
        self._pending[self._next_id] = pending
        self._next_id += 1
        self._writer.write(line)

    # MARK: - Events

    def subscribe(self, number: int, listener: Listener) -> None:
        """Registers the listener for the events of a subscription."""
        self._subscribers[number] = listener

    def unsubscribe(self, number: int) -> None:
        """Removes the listener of a subscription."""
        self._subscribers.pop(number, None)

    def listen(self, listener: Listener) -> None:
        """Adds a listener for events without a subscription."""
        if self.closed:
            raise fresh(self.closed)
        self._listeners.add(listener)

    def unlisten(self, listener: Listener) -> None:
        """Removes such a listener."""
        self._listeners.discard(listener)

    # MARK: - Reading

    async def _read(self) -> None:
        failure: Exception
        try:
            # Ignore an incomplete last line of a daemon that crashed.
            while (line := await self._reader.readline()).endswith(b"\n"):
                self._take(line)
            failure = Disconnected("the daemon closed the connection", self._reason)
        except OSError as error:
            failure = Disconnected(f"the connection broke: {error.strerror or error}", self._reason)
        except ProtocolError as error:
            failure = error
        except ValueError as error:
            failure = ProtocolError(f"a line of more than {REPLY_BYTES} bytes: {error}")
        except Exception as error:
            # After any error, no task may wait indefinitely.
            failure = ProtocolError(f"invalid data from the daemon: {error!r}")
        self._finish(failure)

    def _take(self, line: bytes) -> None:
        """Processes one line from the daemon."""
        if line.startswith(b"*"):
            kind, fields = words(line.decode("utf-8", "replace"))
            return self._event(kind, fields)
        try:
            message = json.loads(line, parse_float=Fraction)
        except ValueError as error:
            raise ProtocolError(f"a line that is not JSON: {line[:80]!r}") from error
        if not isinstance(message, dict):
            raise ProtocolError(f"a line that is not a JSON object: {line[:80]!r}")
        if "method" in message:
            parameters = message.get("params")
            return self._event(str(message["method"]), parameters if isinstance(parameters, dict) else {})
        number = message.get("id")
        if number is None and isinstance(message.get("error"), dict):
            return self._refused(message)
        if not isinstance(number, int) or number not in self._pending:
            raise ProtocolError(f"a reply with an unknown id: {line[:200]!r}")
        self._complete(number, message)

    def _complete(self, number: int, message: Mapping[str, object]) -> None:
        pending = self._pending[number]
        # Remove it after `_answer`: if the reply is invalid, its task gets the same error as all others.
        self._answer(pending, message)
        del self._pending[number]
        self._waits -= pending.endless
        self._slots.release()

    def _refused(self, message: Mapping[str, object]) -> None:
        """Processes an error reply without an id, for a line that the daemon could not parse."""
        error = refusal(message)
        number: int | None = None
        if error.code is ErrorCode.LINE_TOO_LONG:
            # The longest request exceeded the limit. If several did, each gets its own error reply.
            number = max(((pending.size, each) for each, pending in self._pending.items()), default=(0, None))[1]
        elif len(self._pending) == 1:
            number = next(iter(self._pending))
        if number is None:
            log.error("the daemon refused an unidentified line: %s", error)
        else:
            self._complete(number, message)

    def _answer(self, pending: _Pending, message: Mapping[str, object]) -> None:
        result = message.get("result")
        if isinstance(message.get("error"), dict):
            error = refusal(message)
            # A daemon that stops counts as disconnected.
            ending = error.code is ErrorCode.SHUTTING_DOWN
            if ending:
                self._reason = self._reason or error
            if not pending.reply.done():
                pending.reply.set_exception(Disconnected("the daemon is stopping", error) if ending else error)
            return
        if not isinstance(result, dict):
            raise ProtocolError(f"a reply with neither result nor error: {message!r}")
        if pending.reply.done():
            if pending.abandoned:
                pending.abandoned(result)
            return
        if pending.accepted:
            pending.accepted(result)
        pending.reply.set_result(result)

    def _event(self, name: str, fields: Mapping[str, object]) -> None:
        kind = event_class(name, fields)
        if kind is None:
            log.debug("unknown event %s", name)
            return
        event = decode(kind, fields)
        if isinstance(event, Closing):
            self._reason = PlayheadError.of(fields)
        number = fields.get("id")
        if isinstance(number, int):
            listener = self._subscribers.get(number)
            if listener:
                listener.deliver(event)
            if isinstance(event, Removed):
                self.unsubscribe(number)
            return
        for listener in list(self._listeners):
            listener.deliver(event)
        if isinstance(event, Overflow):
            for listener in list(self._subscribers.values()):
                listener.deliver(event)

    # MARK: - The end

    async def close(self) -> None:
        """Ends the connection and its subscriptions. Requests in flight raise Disconnected."""
        self._finish(None)
        self._task.cancel()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass

    def _finish(self, failure: Exception | None) -> None:
        if self.closed:
            return
        self.closed = failure or Disconnected("the connection was closed")
        # `close` would wait until the daemon has read the unsent data.
        self._writer.transport.abort()
        pending, self._pending = self._pending, {}
        for request in pending.values():
            self._slots.release()
            if not request.reply.done():
                request.reply.set_exception(fresh(self.closed))
                request.reply.exception()  # retrieve it: a future without a waiting task must not log it
        subscribers, self._subscribers = self._subscribers, {}
        listeners, self._listeners = self._listeners, set()
        for listener in [*subscribers.values(), *listeners]:
            listener.end(failure)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def only_waits(command: str, parameters: Mapping[str, object]) -> bool:
    """Whether a request only waits for an event."""
    return command == "wait" or command == "events" and bool(parameters.get("wait"))


def event_class(name: str, fields: Mapping[str, object]) -> type[Event] | None:
    """The class of an event with these fields. None for an event of a newer daemon."""
    kind = EVENTS.get(name)
    return CHANGES.get(str(fields.get("key")), kind) if kind is Changed else kind


def refusal(message: Mapping[str, object]) -> PlayheadError:
    """The error of a reply."""
    error = message.get("error")
    assert isinstance(error, dict)
    data = error.get("data")
    return PlayheadError.of({**(data if isinstance(data, dict) else error), "message": error.get("message")})


def encode_request(number: int, command: str, parameters: Mapping[str, object]) -> bytes:
    """The line of a request."""
    message = {"jsonrpc": "2.0", "id": number, "method": command, "params": parameters}
    try:
        line = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{command}: the text is not UTF-8: {error.object[error.start:error.end]!r}") from error
    # Reserve space for the longest request id, so that the limit does not depend on the id.
    if len(line) + 19 > LINE_BYTES:
        raise RequestTooLong(f"{command}: a request line must have at most {LINE_BYTES} bytes (got {len(line)})")
    return line + b"\n"


def words(line: str) -> tuple[str, dict[str, object]]:
    """Parses a line `* NAME KEY=VALUE ...`, which the daemon sends before the connection uses JSON."""
    found: list[str] = []
    word, quoted, characters = "", False, iter(line.rstrip("\n"))
    for character in characters:
        if character == "\\" and quoted:
            escape = next(characters, "")
            word += {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)
        elif character == '"':
            quoted = not quoted
        elif character == " " and not quoted:
            found.append(word)
            word = ""
        else:
            word += character
    found.append(word)
    if len(found) < 2 or found[0] != "*":
        return "", {}
    pairs = (pair.partition("=") for pair in found[2:])
    return found[1], {key: int(text) if key in NUMBERS and text.isdecimal() else text for key, _, text in pairs}
