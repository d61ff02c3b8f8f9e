"""The specification of the protocol: validation of requests, replies and events, and examples of parameters."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import jsonschema  # type: ignore[import]

from test_protocol import REFERENCE

# JSON-RPC has its own code for some errors of the protocol.
JSON_RPC_CODES = {-32700, -32600, -32601, -32602, -32603}


class Specification:
    """openrpc.json and asyncapi.json."""

    def __init__(self) -> None:
        self.openrpc: dict[str, Any] = json.loads((REFERENCE / "openrpc.json").read_text(encoding="utf-8"))
        self.asyncapi: dict[str, Any] = json.loads((REFERENCE / "asyncapi.json").read_text(encoding="utf-8"))
        self.methods: dict[str, dict[str, Any]] = {method["name"]: method for method in self.openrpc["methods"]}
        self.messages: dict[str, dict[str, Any]] = self.asyncapi["components"]["messages"]
        self.errors: dict[str, dict[str, Any]] = self.openrpc["components"]["errors"]
        self._validators: dict[int, Any] = {}

    def validator(self, schema: dict[str, Any], document: dict[str, Any]) -> Any:
        """The validator of a schema, which refers to components of its document."""
        if id(schema) not in self._validators:
            self._validators[id(schema)] = jsonschema.Draft7Validator({**schema, "components": document["components"]})
        return self._validators[id(schema)]

    def request_faults(self, name: str, parameters: dict[str, Any]) -> list[str]:
        """The differences between the parameters of a request and their schemas."""
        if name not in self.methods:
            return [f"unknown method {name}"]
        documented = {each["name"]: each for each in self.methods[name]["params"]}
        faults = [f"unknown parameter {each}" for each in parameters.keys() - documented.keys()]
        faults += [f"{each} is missing" for each, found in documented.items() if found["required"] and each not in parameters]
        for each, value in parameters.items():
            if each in documented:
                faults += [f"{each}: {error}" for error in self._errors(documented[each]["schema"], self.openrpc, value)]
        return faults

    def reply_faults(self, name: str, reply: dict[str, Any]) -> list[str]:
        """The differences between a reply and the result schema, or the errors, of a method."""
        if reply.get("jsonrpc") != "2.0" or len(reply) != 3 or ("result" in reply) == ("error" in reply):
            return [f"not a reply of JSON-RPC 2.0: {reply}"]
        if "result" in reply:
            return self._errors(self.methods[name]["result"]["schema"], self.openrpc, reply["result"])
        error = reply["error"]
        data = error.get("data", {})
        found = self.errors.get(data.get("name"))
        faults = []
        if set(error) != {"code", "message", "data"} or not isinstance(error["message"], str) or not error["message"]:
            faults.append(f"not an error of JSON-RPC 2.0: {error}")
        faults += self._errors(self.openrpc["components"]["schemas"]["ErrorData"], self.openrpc, data)
        if data.get("operation") != name:
            faults.append(f"unexpected operation of an error: {data}")
        if found is None or found["code"] != data.get("number"):
            return faults + [f"unknown error {data}"]
        if error["code"] != found["code"] and error["code"] not in JSON_RPC_CODES:
            faults.append(f"unknown code {error['code']}")
        if {"$ref": f"#/components/errors/{data['name']}"} not in self.methods[name]["errors"]:
            faults.append(f"{data['name']} is not an error of {name}")
        return faults

    def greeting_faults(self, line: str) -> list[str]:
        """The differences between the first line of a connection and its schema."""
        return self._errors(self.openrpc["components"]["schemas"]["Greeting"], self.openrpc, line)

    def event_faults(self, event: dict[str, Any]) -> list[str]:
        """The differences between a notification and the schema of its message."""
        message = self.messages.get(event.get("method", ""))
        if message is None:
            return [f"unknown event {event}"]
        faults = self._errors(message["payload"], self.asyncapi, event)
        return [f"{event['method']}: {fault}" for fault in faults]

    def _errors(self, schema: dict[str, Any], document: dict[str, Any], value: Any) -> list[str]:
        # The index in an array does not distinguish faults.
        return [f"{'.'.join('*' if isinstance(each, int) else each for each in error.absolute_path)} {error.message}".strip()[:300] for error in self.validator(schema, document).iter_errors(value)]


class JSONConnection:
    """A plain connection in the JSON form. Keeps all events, and counts the replies to each request."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.reply_counts: Counter[Any] = Counter()
        self.unexpected: list[str] = []
        self.ended = asyncio.Event()
        self._futures: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0

    async def open(self, path: str) -> None:
        self._reader, self._writer = await asyncio.open_unix_connection(path, limit=1 << 23)
        self.greeting = (await self._reader.readline()).decode().removesuffix("\n")
        self._task = asyncio.create_task(self._read())

    def send(self, name: str, parameters: dict[str, Any]) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        """Sends a request. Returns its id, and its reply in the future."""
        self._number += 1
        future = self._futures[self._number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": self._number, "method": name, "params": parameters}
        self._writer.write(json.dumps(message).encode() + b"\n")
        return self._number, future

    async def request(self, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns its reply."""
        return await self.send(name, parameters)[1]

    async def close(self) -> None:
        self._writer.close()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        while line := await self._reader.readline():
            found = json.loads(line)
            if "id" not in found:
                self.events.append(found)
                continue
            self.reply_counts[found["id"]] += 1
            future = self._futures.get(found["id"])
            if future is None:
                self.unexpected.append(line.decode())
            elif not future.done():
                future.set_result(found)
        self.ended.set()
        for future in self._futures.values():
            if not future.done():
                future.set_exception(ConnectionError("the daemon closed the connection"))


class Examples:
    """Values of parameters: of each kind of JSON, and those that a schema accepts."""

    KINDS: dict[str, list[Any]] = {
        "null": [None],
        "boolean": [True, False],
        "number": [0, 1, 2, 2.5, 60],
        "negative number": [-1, -0.5, -30],
        "huge number": [1 << 31, 1 << 53, (1 << 63) - 1, 1 << 64, 10**40, 1e300, -1e300],
        "string": ["text", "1", "-1", "true", "on", "now", "+1", "50%", "1/0", "inf", "none", "main", "ready", "*", "a,b", "x" * 5000, "ä\n\0", "fd:0", "http:"],
        "empty string": [""],
        "array": [[], [1], ["text"], [None], [[]], ["", ""], [1, "a"], [True], [{}]],
        "object": [{}, {"a": 1}, {"method": "play"}, {"method": "clear", "params": {}}, {"": None}],
    }

    def __init__(self, chance: random.Random, folder: str, file: str) -> None:
        self._chance = chance
        self._count = 0
        self._folder = folder
        self._shared: dict[str, list[Any]] = {
            "Time": [0, 0.25, "250ms", "0:00.5", "12000/48000"], "TimeExpression": [0.5, "+0.1", "-0.1", "50%", "end"], "Entry": [1, 2, 3, "current", "next", "+1", "#2"],
            "Volume": [0, 0.5, "50%", "+5%", "-0.1", "-6dB"],
            "Location": [file], "PlayerName": ["main", "second"], "PlayerNameOrAll": ["main", "second", "*"], "WaitCondition": ["ready", "status=paused", "time>=0", "item=1", "ended"],
            "RangeParameter": [{"start": 0, "end": 0.5}, {"start": "250ms"}, {"start": 0.25, "end": None}, "0-0.5", "0.25-inf"],
            "TrackSelectionParameter": [{"audible": 0}, {"audible": "auto", "legible": None}, "legible=none"],
            "QueueEdit": ["remove 2", {"method": "move", "params": {"id": 3, "to": 0}}],
        }

    def of_kind(self, kind: str) -> Any:
        """A value of a kind of JSON."""
        return self._chance.choice(self.KINDS[kind])

    def valid(self, schema: dict[str, Any]) -> Any:
        """A value that a schema accepts."""
        chance = self._chance
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name in ("Path", "OutputPath"):
                self._count += 1
                return f"{self._folder}/file-{self._count}"
            return chance.choice(self._shared[name])
        if "anyOf" in schema:
            return self.valid(chance.choice([each for each in schema["anyOf"] if each != {"type": "null"}]))
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema["type"]
        if isinstance(kind, list):
            kind = chance.choice([each for each in kind if each != "null"])
        if kind == "array":
            return [self.valid(schema["items"]) for _ in range(chance.randint(1, 2))]
        if kind == "integer":
            return min(max(schema.get("minimum", 0), 0) + chance.randint(0, 3), schema.get("maximum", 1 << 31))
        if kind == "number":
            return round(chance.uniform(schema.get("minimum", 0), schema.get("maximum", 1)), 3)
        return chance.random() < 0.5 if kind == "boolean" else "text"
