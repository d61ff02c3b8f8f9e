"""The daemon agrees with its specification (OpenRPC and AsyncAPI): requests, replies and events validate."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections import Counter
from typing import Any

from specification import Examples, JSONConnection, Specification
from support import Case, Daemon, make, make_with_artwork
from test_conformance import CASES, NEEDS_TIME, filled

REQUESTS = int(os.environ.get("SPECIFICATION_REQUESTS", "3000"))
"""The number of generated requests."""

SEED = int(os.environ.get("SPECIFICATION_SEED", "1"))

WINDOW = 100
"""The number of generated requests without a reply."""

PATIENCE = 0.3
"""The time in seconds until requests that wait are cancelled."""


OPENING = r"(append|insert|load|asset\.open|replace|export|image|scan|waveform)"

KNOWN = [re.compile(each, re.S) for each in (
    # While record.prepare is in progress, these have its error.
    r"record\.(stop|delete): [a-z-]+ is not an error",
)]
"""Known differences between the daemon and its specification. Remove an entry together with the defect."""


def unknown(name: str, faults: list[str]) -> list[str]:
    """The faults of a method that are not known. Prints the others."""
    found = []
    for fault in faults:
        if any(each.match(f"{name}: {fault}") for each in KNOWN):
            print(f"known: {name}: {fault}"[:200])
        else:
            found.append(fault)
    return found


class SpecificationTests(Case):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.specification = Specification()

    async def connection(self, daemon: Daemon) -> JSONConnection:
        """A connection that ends with the test."""
        connection = JSONConnection()
        await connection.open(daemon.socket)
        self.addAsyncCleanup(connection.close)
        return connection

    async def test_every_reply_and_event_of_the_cases_validates(self) -> None:
        specification = self.specification
        self.assertEqual(set(specification.methods) - {line.split()[0] for line, _, _ in CASES}, set(), "methods without a case")
        out = self.folder / "out"
        out.mkdir()
        names = {"one": self.tone(), "two": make_with_artwork(self.folder / "two.mp3", self.folder / "cover.png"), "out": str(out),
                 "film": make(self.folder / "film.mp4", "-filter_complex", "testsrc=s=64x48:r=10:d=10[v]", "-map", "[v]", "-map", "0", "-c:v", "mpeg4")}
        daemon = await self.daemon(state=True, pulse_server=await self.sound_server())
        connection, watcher = await self.connection(daemon), await self.connection(daemon)
        for line, given, expected in CASES:
            name, parameters = line.split()[0], filled(given, names)
            with self.subTest(line=line):
                self.assertEqual(specification.request_faults(name, parameters), [])
                _, future = connection.send(name, parameters)
                if name in NEEDS_TIME:
                    await connection.request("ping", {})
                    await watcher.request("clock.advance", {"duration": 1})
                reply = await future
                self.assertEqual(reply.get("error", {}).get("data", {}).get("name", ""), expected)
                self.assertEqual(unknown(name, specification.reply_faults(name, reply)), [])
            if line == "record.start":
                for _ in range(300):  # The source delivers audio in real time.
                    if any(event["method"] == "record-meter" for event in connection.events):
                        break
                    await asyncio.sleep(0.01)
        await self.cause_events(watcher, names)
        await daemon.stop()
        await watcher.ended.wait()
        seen: Counter[str] = Counter()
        for event in connection.events + watcher.events:
            seen[event["method"]] += 1
            with self.subTest(event=event):
                self.assertEqual(specification.event_faults(event), [])
        print("events:", dict(seen), "without an event:", ", ".join(sorted(set(specification.messages) - set(seen))))
        self.assertGreaterEqual(set(seen), {
            "at", "changed", "chapter-changed", "closing", "item-skipped", "meter", "played-to-end", "record-meter", "recording", "removed",
            "scan-progress", "tick", "time-jumped", "transition"})

    async def test_json_accepts_what_json_returns(self) -> None:
        """Every range and selection that a reply contains is accepted by each parameter for it."""
        sheet = self.folder / "disc.cue"
        self.tone(seconds=3)
        sheet.write_text('FILE "one.flac" WAVE\n TRACK 01 AUDIO\n  INDEX 01 00:00:00\n TRACK 02 AUDIO\n  INDEX 01 00:01:00\n')
        connection = await self.connection(await self.daemon(state=True))
        self.assertEqual(self.specification.greeting_faults(connection.greeting), [])
        self.assertNotEqual(self.specification.greeting_faults("* hello"), [])

        async def result(name: str, /, **parameters: Any) -> dict[str, Any]:
            reply = await connection.request(name, parameters)
            self.assertEqual(self.specification.reply_faults(name, reply), [], (name, parameters))
            self.assertIn("result", reply, (name, parameters, reply))
            self.assertEqual(self.specification.request_faults(name, parameters), [])
            return dict(reply["result"])

        await result("load", paths=[str(sheet)], wait="ready")
        await result("loop", start=0.25, end=0.75)
        status, item = await result("status"), await result("item.status", id=1)
        await result("bookmark.add", name="here")
        found = {
            "loop": status["loop"], "range": item["range"], "seekable": item["seekableTimeRanges"][0],
            "first of list": (await result("list"))["rows"][0]["range"], "last of list": (await result("list"))["rows"][1]["range"],
            "part": (await result("bookmark.list"))["rows"][0]["part"],
        }
        self.assertEqual(found["loop"], {"start": 0.25, "end": 0.75})
        self.assertEqual((found["range"], found["last of list"]), ({"start": 0, "end": 1}, {"start": 1, "end": None}))
        path = str(self.folder / "one.flac")
        for index, (name, value) in enumerate(found.items()):
            print(name, value)
            with self.subTest(name=name):
                self.assertEqual((await result("waveform", path=path, bins=2, range=value))["start"], value["start"])
                self.assertEqual((await result("waveform", path=path, bins=2, **value))["start"], value["start"])
                await result("export", paths=path, file=str(self.folder / f"{index}.wav"), range=value)
                if value["end"] is not None and value["end"] <= 1:
                    await result("loop", off=True)
                    looped = await result("loop", range=value)
                    self.assertEqual({"start": looped["start"], "end": looped["end"]}, value)
                    self.assertEqual((await result("status"))["loop"], value)
        presented = await result("item.tracks", id=1)
        chosen = {"audible": presented["audio"], "legible": presented["subtitles"]}
        self.assertEqual(chosen, {"audible": 0, "legible": None})
        self.assertEqual((await result("item.select", id=1, selection=chosen))["audio"], chosen["audible"])
        again = await result("item.select", id=1, audio=presented["audio"], subtitles=presented["subtitles"])
        self.assertEqual((again["audio"], again["subtitles"]), (0, None))

    async def cause_events(self, watcher: JSONConnection, names: dict[str, str]) -> None:
        """Plays three entries in a player that has all subscriptions."""
        chapters = self.folder / "chapters.txt"
        chapters.write_text(";FFMETADATA1\n" + "".join(f"[CHAPTER]\nTIMEBASE=1/1\nSTART={start}\nEND={start + 5}\ntitle=From {start}\n" for start in (0, 5)))
        book = make(self.folder / "book.mka", f"-i {chapters}", "-map", "0", "-map_chapters", "1")
        requests: list[tuple[str, dict[str, Any]]] = [
            ("player.create", {"name": "watched"}), ("observe", {"keys": "*"}), ("tick", {"interval": 0.5}), ("meter", {"rate": 10}),
            ("on-failure", {"policy": "skip"}), ("load", {"paths": [book, names["out"] + "/missing.flac", names["one"]]}),
            ("wait", {"conditions": "ready"}), ("at", {"times": [1, 8], "seeks": True}), ("at-chapters", {"seeks": True}),
            ("play", {}), ("clock.advance", {"duration": 6}), ("seek", {"time": 2}), ("next-chapter", {}), ("rate", {"rate": 2}),
            ("clock.advance", {"duration": 20}), ("player.close", {"name": "watched"}), ("ping", {}),
        ]
        for name, parameters in requests:
            documented = {each["name"] for each in self.specification.methods[name]["params"]}
            reply = await watcher.request(name, {**parameters, **({"player": "watched"} if "player" in documented else {})})
            self.assertEqual((name, self.specification.reply_faults(name, reply), "result" in reply), (name, [], True), reply)

    async def test_generated_requests_get_one_reply_that_validates(self) -> None:
        specification, chance = self.specification, random.Random(SEED)
        examples = Examples(chance, str(self.folder), self.tone(seconds=1))
        kinds = [*Examples.KINDS, "valid value"]
        wanted = [(name, parameter, kind) for name, method in specification.methods.items() if name != "bye"
                  for parameter in method["params"] for kind in kinds]
        chance.shuffle(wanted)
        daemon = await self.daemon()
        connection = await self.connection(daemon)
        prepared: list[tuple[str, dict[str, Any]]] = [
            ("player.create", {"name": "second"}), ("load", {"paths": [str(self.folder / "one.flac")] * 4, "wait": "ready"})]
        for name, parameters in prepared:
            self.assertIn("result", await connection.request(name, parameters))

        started = time.monotonic()
        sent: dict[int, tuple[str, str, dict[str, Any], asyncio.Future[dict[str, Any]]]] = {}
        pending: set[asyncio.Future[dict[str, Any]]] = set()

        async def settle(room: int) -> None:
            """Waits until at most `room` requests have no reply. Cancels those that wait."""
            nonlocal pending
            while len(pending) > room:
                done, pending = await asyncio.wait(pending, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    waiting = [number for number, (_, _, _, future) in sent.items() if not future.done()]
                    cancelled = [connection.send("cancel", {"id": number})[1] for number in waiting]
                    await asyncio.wait_for(asyncio.gather(*cancelled), 10)

        for name, parameter, kind in wanted[:REQUESTS]:
            documented = specification.methods[name]["params"]
            # Half of the requests have more parameters, because many parameters need another one, such as `file`.
            more = chance.sample(documented, min(len(documented), 3)) if chance.random() < 0.5 else []
            more += [each for each in documented if more and each["name"] in ("file", "format")]
            parameters = {each["name"]: examples.valid(each["schema"]) for each in documented if each["required"] or each in more}
            parameters[parameter["name"]] = examples.valid(parameter["schema"]) if kind == "valid value" else examples.of_kind(kind)
            number, future = connection.send(name, parameters)
            sent[number] = (name, parameter["name"], parameters, future)
            pending.add(future)
            await settle(WINDOW)
        await settle(0)
        self.assertIn("result", await connection.request("ping", {}))
        print(f"{len(sent)} requests with the seed {SEED} in {time.monotonic() - started:.1f} s, {len(connection.events)} events")

        outcomes: Counter[str] = Counter()
        found: dict[tuple[str, str, str], str] = {}
        for number, (name, fuzzed, parameters, future) in sent.items():
            reply = future.result()
            outcomes[reply.get("error", {}).get("data", {}).get("name", "ok")] += 1
            self.assertEqual(connection.reply_counts[number], 1, (name, parameters))
            for fault in self.faults(name, fuzzed, parameters, reply):
                found.setdefault((name, fuzzed, fault), f"{json.dumps({'method': name, 'params': parameters})[:300]} -> {json.dumps(reply)[:500]}")
        print("outcomes:", dict(outcomes.most_common()))
        self.assertEqual(connection.unexpected, [])
        for (name, fuzzed, fault), example in found.items():
            with self.subTest(method=name, parameter=fuzzed):
                self.assertEqual(unknown(name, [fault]), [], example)
        for event in connection.events:
            with self.subTest(event=event):
                self.assertEqual(specification.event_faults(event), [])

    def faults(self, name: str, fuzzed: str, parameters: dict[str, Any], reply: dict[str, Any]) -> list[str]:
        """The differences between the specification and the reply to a generated request."""
        specification = self.specification
        documented = specification.methods[name]["params"]
        found = specification.reply_faults(name, reply)
        invalid = specification.request_faults(name, parameters)
        if invalid and "result" in reply:
            found.append(f"the daemon accepts values that the schema does not: {invalid}")
        if reply.get("error", {}).get("data", {}).get("name") == "bad-arguments":
            # The message can end with the synopsis, which has the names of all parameters.
            message = reply["error"]["message"].split(f" ({name}")[0]
            alone = all(each["required"] or each["name"] == fuzzed or each["name"] not in parameters for each in documented)
            alone = alone and "is missing" not in message
            names = [fuzzed] if invalid and alone else [each["name"] for each in documented]
            if not any(re.search(rf"(?<![\w-]){re.escape(each)}(?![\w-])", message) for each in names):
                found.append(f"the message names no parameter: {message[:60]}")
        return found
