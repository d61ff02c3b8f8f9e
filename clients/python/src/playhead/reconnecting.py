"""Going on when the daemon comes back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

from .client import Client, connect
from .decoding import decode, read_bool, read_int, read_text
from .errors import Disconnected, PlayheadError
from .generated_events import EVENTS, Overflow
from .values import Event, Time
from .watching import Subscription

FIRST_DELAY = 0.1
LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Connected(Event):
    """There is a connection (again): what follows begins with the present values. `client` is good until Lost."""

    client: Client


@dataclass(frozen=True, slots=True)
class Lost(Event):
    """The connection is gone; what happens until Connected is not told, but what it has led to is."""

    error: Disconnected


async def clients(path: str | None = None, *, first_delay: float = FIRST_DELAY, longest_delay: float = LONGEST_DELAY) -> AsyncIterator[Client]:
    """Clients, one after another: each as soon as the daemon can be reached. A block that leaves by Disconnected is what asks for the next:

        async for client in playhead.clients():
            try:
                await serve(client)
            except playhead.Disconnected:
                continue

    The delay between attempts doubles from `first_delay` up to `longest_delay` seconds; a connection that lasts as long begins the count anew.
    """
    delay = first_delay
    while True:
        try:
            client = await connect(path)
        except Disconnected:
            # Not all clients of a daemon that restarts come at once.
            await asyncio.sleep(delay * random.uniform(0.75, 1.0))
            delay = min(delay * 2, longest_delay)
            continue
        began = asyncio.get_running_loop().time()
        async with client:
            yield client
        # A daemon that takes connections and drops them at once is not asked again and again.
        if asyncio.get_running_loop().time() - began >= longest_delay:
            delay = first_delay
        else:
            await asyncio.sleep(delay * random.uniform(0.75, 1.0))
            delay = min(delay * 2, longest_delay)


async def watch(
    *keys: str, player: str = "main", path: str | None = None, tick: Time | None = None, first_delay: float = FIRST_DELAY,
    longest_delay: float = LONGEST_DELAY,
) -> AsyncIterator[Event]:
    """What happens to a player, for ever: Connected, the keys' present values, each change, ticks if asked for; Lost, and all over again.

    When the daemon is the same one as before, what happened meanwhile comes first, in order (an Overflow says what its log has forgotten). Of another
    one there is nothing to be told but the present values.

    What the daemon refuses, such as a key that there is not, is raised.
    """
    place = _Place()
    async for client in clients(path, first_delay=first_delay, longest_delay=longest_delay):
        try:
            yield Connected(client)
            async for event in _both(client, keys, player, tick, place):
                yield event
        except Disconnected as error:
            yield Lost(error)


@dataclass(slots=True)
class _Place:
    """The newest event that was told."""

    instance: str | None = None
    seq: int | None = None


async def _observed(client: Client, keys: tuple[str, ...], player: str, place: _Place) -> AsyncIterator[Event]:
    """What was missed, and then what is observed."""
    async with client.player(player).observe(*keys) as changes:
        if changes.seq is not None:
            if place.seq is not None and place.instance == client.instance:
                async for event in _missed(client, keys, player, place.seq, changes):
                    yield event
            place.instance, place.seq = client.instance, changes.seq
        async for event in changes:
            seq = getattr(event, "seq", None)
            if isinstance(seq, int):
                place.seq = seq
            yield event


async def _missed(client: Client, keys: tuple[str, ...], player: str, since: int, changes: Subscription[Event]) -> AsyncIterator[Event]:
    """The events of the log up to that with which the observation began."""
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
            kind = EVENTS.get(read_text(row, "event"))
            if kind is not None:
                yield decode(kind, {**row, "id": changes.id})
        since = read_int(reply, "seq")
        if not read_bool(reply, "more"):
            return


async def _both(client: Client, keys: tuple[str, ...], player: str, tick: Time | None, place: _Place) -> AsyncIterator[Event]:
    watched = client.player(player)
    sources: list[AsyncIterator[Event]] = []
    if keys:
        sources.append(_observed(client, keys, player, place))
    if tick is not None:
        sources.append(watched.tick(tick))
    if not sources:
        raise ValueError("nothing to watch: neither keys nor ticks")
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
            # In the order of the sources, whichever the set has them in.
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
