"""Reconnects when the daemon returns."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

from .client import Client, connect
from .connection import event_class
from .decoding import decode, read_bool, read_int, read_text
from .errors import Disconnected, PlayheadError
from .generated_events import Overflow
from .values import Event, Time
from .watching import Subscription

FIRST_DELAY = 0.1
LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Connected(Event):
    """The connection was (re)established. The current values follow. `client` is valid until Lost."""

    client: Client


@dataclass(frozen=True, slots=True)
class Lost(Event):
    """The connection was lost. Events until Connected are not reported; the current values after it are."""

    error: Disconnected


async def clients(path: str | None = None, *, first_delay: float = FIRST_DELAY, longest_delay: float = LONGEST_DELAY) -> AsyncIterator[Client]:
    """Yields a new client whenever the daemon is reachable. A block that ends with Disconnected continues with the
    next:

        async for client in playhead.clients():
            try:
                await serve(client)
            except playhead.Disconnected:
                continue

    The delay between attempts doubles from `first_delay` up to `longest_delay` seconds. A connection that lasts
    `longest_delay` resets it.
    """
    delay = first_delay
    while True:
        try:
            client = await connect(path)
        except Disconnected:
            # Random delay: the clients of a restarted daemon must not reconnect all at the same time.
            await asyncio.sleep(delay * random.uniform(0.75, 1.0))
            delay = min(delay * 2, longest_delay)
            continue
        began = asyncio.get_running_loop().time()
        async with client:
            yield client
        # Also wait before reconnecting to a daemon that closes connections at once.
        if asyncio.get_running_loop().time() - began >= longest_delay:
            delay = first_delay
        else:
            await asyncio.sleep(delay * random.uniform(0.75, 1.0))
            delay = min(delay * 2, longest_delay)


async def watch(
    *keys: str, player: str = "main", path: str | None = None, tick: Time | None = None, first_delay: float = FIRST_DELAY,
    longest_delay: float = LONGEST_DELAY,
) -> AsyncIterator[Event]:
    """Watches a player indefinitely: Connected, the current values of the keys, each change, optional ticks, Lost, and
    again.

    If the same run of the daemon is reconnected, the missed events come first, in order. An Overflow reports events
    that its log no longer contains. After a restart of the daemon, only the current values are available.

    Error replies of the daemon, for example for an unknown key, are raised.
    """
    position = _Position()
    async for client in clients(path, first_delay=first_delay, longest_delay=longest_delay):
        try:
            yield Connected(client)
            async for event in _both(client, keys, player, tick, position):
                yield event
        except Disconnected as error:
            yield Lost(error)


@dataclass(slots=True)
class _Position:
    """The newest reported event."""

    instance: str | None = None
    seq: int | None = None


async def _observed(client: Client, keys: tuple[str, ...], player: str, position: _Position) -> AsyncIterator[Event]:
    """The missed events, then the observed events."""
    async with client.player(player).observe(*keys) as changes:
        if changes.seq is not None:
            if position.seq is not None and position.instance == client.instance:
                async for event in _missed(client, keys, player, position.seq, changes):
                    yield event
            position.instance, position.seq = client.instance, changes.seq
        async for event in changes:
            seq = getattr(event, "seq", None)
            if isinstance(seq, int):
                position.seq = seq
            yield event


async def _missed(client: Client, keys: tuple[str, ...], player: str, since: int, changes: Subscription[Event]) -> AsyncIterator[Event]:
    """The logged events up to the start of the observation."""
    newest = changes.seq or 0
    while since < newest:
        try:
            reply = await client.request(
                "events", {"keys": list(keys), "since": since, "instance": client.instance, "player": player})
        except PlayheadError as error:
            if error.name in ("other-instance", "no-such-event"):
                return
            raise
        missed, rows = reply.get("missed"), reply.get("rows")
        if isinstance(missed, int) and missed:
            yield decode(Overflow, {"dropped": missed, "merged": 0})
        for row in rows if isinstance(rows, list) else []:
            if read_int(row, "seq") > newest:
                return
            kind = event_class(read_text(row, "event"), row)
            if kind is not None:
                yield decode(kind, {**row, "id": changes.id})
        since = read_int(reply, "seq")
        if not read_bool(reply, "more"):
            return


async def _both(client: Client, keys: tuple[str, ...], player: str, tick: Time | None, position: _Position) -> AsyncIterator[Event]:
    watched = client.player(player)
    sources: list[AsyncIterator[Event]] = []
    if keys:
        sources.append(_observed(client, keys, player, position))
    if tick is not None:
        sources.append(watched.tick(tick))
    if not sources:
        raise ValueError("nothing to watch: specify keys or a tick")
    if len(sources) == 1:
        async for event in sources[0]:
            yield event
        return
    waiting: dict[asyncio.Task[Event], AsyncIterator[Event]] = {}
    try:
        for source in sources:
            waiting[asyncio.create_task(_next(source))] = source
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            # Iterate in the order of the sources, because a set has no order.
            for task in [task for task in waiting if task in done]:
                source = waiting.pop(task)
                try:
                    event = task.result()
                except StopAsyncIteration:
                    continue
                yield event
                waiting[asyncio.create_task(_next(source))] = source
    finally:
        for task in waiting:
            task.cancel()


async def _next(source: AsyncIterator[Event]) -> Event:
    return await source.__anext__()
