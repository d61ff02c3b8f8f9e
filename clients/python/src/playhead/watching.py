"""Subscriptions: observed keys, ticks, cues and meters, as asynchronous iterators."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Generic, TypeAlias, TypeVar, cast

from .connection import Connection
from .decoding import read_int
from .errors import fresh
from .generated_events import (
    At,
    Changed,
    Closing,
    Meter,
    Overflow,
    Recording,
    RecordMeter,
    Removed,
    ScanProgress,
    Tick,
)
from .sending import Sends
from .values import Event, Number, Time, wire_number, wire_time

E = TypeVar("E", bound=Event)

BUFFER = 1024
"""The default size of an event buffer."""

Notice: TypeAlias = Overflow | Removed
"""Events that any subscription can contain: some events were dropped, or the subscription has ended."""


class Events(AsyncIterator[E]):
    """A bounded buffer of events, and its reader.

    The buffer has only the newest value of each observed key, with the `old` of the first. Such a merged event has no
    `changes`, like the merged events of the daemon. When the buffer is full, the oldest events are dropped, and an
    Overflow in their position has their number.
    """

    def __init__(self, buffer: int = BUFFER) -> None:
        if buffer < 1:
            raise ValueError(f"a buffer must have room for at least 1 event (got {buffer})")
        self._room = buffer
        self._events: deque[Event] = deque()
        self._keys: dict[tuple[str, str, int | None], Changed] = {}
        self._dropped = 0
        self._over = False
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def deliver(self, event: Event) -> None:
        """Receives an event from the connection's reader task."""
        if self._over:
            return
        if isinstance(event, Changed):
            state = (event.player, event.key, event.item)
            older = self._keys.get(state)
            if older is not None:
                self._events.remove(older)
                event = dataclasses.replace(event, old=older.old, initial=older.initial, changes=None)
            self._keys[state] = event
        self._events.append(event)
        if len(self._events) > self._room:
            self._forget(self._events.popleft())
            self._dropped += 1
        if isinstance(event, Removed):
            self._over = True
        self._wake()

    def end(self, error: Exception | None) -> None:
        """No event follows. The buffered events are still returned, then the error is raised, if any."""
        self._over = True
        self._failure = self._failure or error
        self._wake()

    @property
    def waiting(self) -> int:
        """The number of buffered events."""
        return len(self._events) + (1 if self._dropped else 0)

    async def __anext__(self) -> E:
        while True:
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                return cast(E, Overflow(dropped=dropped, merged=0))
            if self._events:
                event = self._events.popleft()
                self._forget(event)
                return cast(E, event)
            if self._failure:
                raise fresh(self._failure)
            if self._over:
                raise StopAsyncIteration
            if self._waiter is not None:
                raise RuntimeError("only one task can read a subscription")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    def _forget(self, event: Event) -> None:
        if isinstance(event, Changed):
            state = (event.player, event.key, event.item)
            if self._keys.get(state) is event:
                del self._keys[state]

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Subscription(Events[E]):
    """A subscription. Use `async for event in subscription`; `close`, which `async with` calls, ends it.

    When the connection ends, Disconnected is raised after the last received event.
    """

    def __init__(self, connection: Connection, begin: str, end: str, parameters: Mapping[str, object], buffer: int) -> None:
        super().__init__(buffer)
        self.id: int | None = None
        """The id of the subscription, which its events have; None before it starts."""
        self.seq: int | None = None
        """The number of the newest event at the start of the subscription. The first values are those after it. None
        without event numbers.
        """
        self._connection = connection
        self._begin = begin
        self._end = end
        self._parameters = parameters

    async def start(self) -> Subscription[E]:
        """Subscribes; `async with` calls this method."""
        if self.id is None:
            if self._over:
                raise RuntimeError("the subscription was closed before its start")
            try:
                await self._connection.request(self._begin, self._parameters, accepted=self._accepted, abandoned=self._abandoned)
            except BaseException:
                # The task was cancelled after the reply had arrived.
                await self.close()
                raise
        return self

    def _accepted(self, reply: Mapping[str, object]) -> None:
        if self._over:
            # Another task closed the subscription in the meantime.
            return self._abandoned(reply)
        self.id = read_int(reply, "id")
        self.seq = read_int(reply, "seq") if "seq" in reply else None
        self._connection.subscribe(self.id, self)

    def _abandoned(self, reply: Mapping[str, object]) -> None:
        self._connection.post(self._end, {"id": read_int(reply, "id")})

    async def close(self) -> None:
        """Ends the subscription. Buffered events can still be read."""
        if self.id is not None and not self._over:
            self._connection.unsubscribe(self.id)
            # The reply is irrelevant: no more events can reach this subscription.
            self._connection.post(self._end, {"id": self.id})
        self.end(None)

    async def __anext__(self) -> E:
        if not self._over:
            await self.start()
        return await super().__anext__()

    async def __aenter__(self) -> Subscription[E]:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Listening(Events[Closing | Overflow | ScanProgress]):
    """Events that belong to no subscription."""

    def __init__(self, connection: Connection, buffer: int) -> None:
        super().__init__(buffer)
        self._connection = connection
        connection.listen(self)

    async def close(self) -> None:
        """Stops listening."""
        self._connection.unlisten(self)
        self.end(None)

    async def __aenter__(self) -> Listening:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def watch_recorder(
    connection: Connection, recorder: int | None, rate: Number | None, buffer: int
) -> Subscription[Recording | RecordMeter | Overflow]:
    """The states of a recorder, and the levels of its source."""
    parameters = {"recorder": recorder, "rate": wire_number(rate)}
    given = {name: value for name, value in parameters.items() if value is not None}
    return Subscription(connection, "record.watch", "record.unwatch", given, buffer)


class Watching(Sends):
    """The subscriptions of a player. The first request is sent by `async with`, `start` or the first event."""

    def observe(self, *keys: str, buffer: int = BUFFER) -> Subscription[Event]:
        """The current values of the keys as Changed events, then every change; with `item.events` also events of
        items.
        """
        return self._subscribe("observe", "unobserve", {"keys": list(keys)}, buffer)

    def events(self, *, buffer: int = BUFFER) -> Subscription[Event]:
        """The events of items: PlayedToEnd, TimeJumped, Transition, Stalled, StreamTitle and others."""
        return self._subscribe("observe", "unobserve", {"keys": ["item.events"]}, buffer)

    def tick(self, interval: Time, *, buffer: int = BUFFER) -> Subscription[Tick | Notice]:
        """A Tick each time that playback passes a multiple of the interval."""
        return self._subscribe("tick", "untick", {"interval": wire_time(interval)}, buffer)

    def at(self, *times: Time, item: int | None = None, seeks: bool = False, buffer: int = BUFFER) -> Subscription[At | Notice]:
        """An At each time that playback passes one of the times."""
        return self._subscribe("at", "untick", {"times": [wire_time(time) for time in times], "item": item, "seeks": seeks or None}, buffer)

    def at_chapters(self, *, item: int | None = None, seeks: bool = False, buffer: int = BUFFER) -> Subscription[At | Notice]:
        """An At each time that playback passes the start of a chapter."""
        return self._subscribe("at-chapters", "untick", {"item": item, "seeks": seeks or None}, buffer)

    def meter(self, rate: Number | None = None, *, buffer: int = BUFFER) -> Subscription[Meter | Notice]:
        """A Meter `rate` times per second (default: 20) while the player is audible."""
        return self._subscribe("meter", "unmeter", {"rate": wire_number(rate)}, buffer)

    def _subscribe(self, begin: str, end: str, parameters: Mapping[str, object], buffer: int) -> Subscription[E]:
        given = {name: value for name, value in parameters.items() if value is not None}
        return Subscription(self._connection, begin, end, {**given, "player": self._player}, buffer)
