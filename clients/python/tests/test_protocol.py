"""The package agrees with the reference (docs/protocol/reference) and with the daemon."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.util
import inspect
import json
import re
import subprocess
import types
import typing

from support import HERE, REPOSITORY, Case, playhead

REFERENCE = REPOSITORY / "docs/protocol/reference"
BY_HAND = {"observe": "unobserve", "tick": "untick", "at": "untick", "at-chapters": "untick", "meter": "unmeter", "record.watch": "record.unwatch"}


def generator() -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader("generate", str(HERE.parent / "generate"))
    spec = importlib.util.spec_from_loader("generate", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    import sys
    sys.modules["generate"] = module
    loader.exec_module(module)
    return module


# A generated method that would have the name of a hand-written one.
METHODS = {"events": "logged_events"}


class ProtocolTests(Case):
    def test_generated_modules_match_the_reference(self) -> None:
        done = subprocess.run([str(HERE.parent / "generate"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    async def test_every_command_of_the_daemon_has_a_method(self) -> None:
        client = await self.client(await self.daemon())
        for row in (await client.help()).rows:
            assert row.command
            name = METHODS.get(row.command) or row.command.replace("-", "_").replace(".", "_")
            explained = (await client.help(row.command)).rows
            of_player = any(each.parameter == "player" for each in explained)
            if row.command in BY_HAND.values():
                continue  # `close` of a subscription; see the next test
            if row.command == "cancel":
                continue  # for a cancelled task: test_a_cancelled_wait_ends_at_the_daemon
            method = getattr(playhead.Player if of_player else playhead.Client, name, None)
            with self.subTest(command=row.command):
                assert callable(method), f"no method {name}"
                wanted = {each.parameter.replace("-", "_") for each in explained if each.parameter} - {"player"}
                given = {each.rstrip("_") for each in inspect.signature(method).parameters} - {"self", "buffer"}
                self.assertEqual(given, wanted)

    async def test_every_subscription_ends_with_its_matching_command(self) -> None:
        client = await self.client(await self.daemon())
        for begin, end in BY_HAND.items():
            arguments = {"observe": ("*",), "tick": (1,), "at": (1,)}.get(begin, ())
            owner = client if begin.startswith("record.") else client.main
            subscription = getattr(owner, begin.replace("-", "_").replace(".", "_"))(*arguments)
            self.assertEqual((subscription._begin, subscription._end), (begin, end))

    def test_every_error_is_a_member_of_the_enumeration(self) -> None:
        errors = json.loads((REFERENCE / "openrpc.json").read_text(encoding="utf-8"))["components"]["errors"]
        self.assertGreater(len(errors), 90)
        self.assertEqual({code.wire_name: code.value for code in playhead.ErrorCode}, {name: error["code"] for name, error in errors.items()})

    def test_every_event_and_its_fields_are_a_class(self) -> None:
        messages = json.loads((REFERENCE / "asyncapi.json").read_text(encoding="utf-8"))["components"]["messages"]
        self.assertEqual(set(messages), set(playhead.EVENTS))
        for name, message in messages.items():
            with self.subTest(event=name):
                wanted = set(message["payload"]["properties"]["params"]["properties"])
                self.assertEqual(wire_names(playhead.EVENTS[name]), wanted - ({"time"} if "pts" in wanted else set()))

    def test_every_observed_key_with_a_value_has_a_class(self) -> None:
        self.assertEqual(set(playhead.KEYS) - set(playhead.CHANGES), {"player.events", "item.events", "output.events", "session.events"})
        for key, kind in playhead.CHANGES.items():
            with self.subTest(key=key):
                self.assertEqual(typing.get_args(typing.get_type_hints(kind)["key"]), (key,))

    def test_every_field_of_a_reply_is_in_its_class(self) -> None:
        made = generator()
        for command in made.commands():
            if command.name in made.BY_HAND or not made.has_class(command):
                continue
            for kind, fields in [(made.reply_class(command), command.reply), (made.row_class(command), command.rows or [])]:
                with self.subTest(command=command.name):
                    wanted = {field.wire for field in fields}
                    found = wire_names(getattr(playhead, kind)) if fields else set()
                    self.assertEqual(wanted - ({"time"} if "pts" in wanted else set()) - found, set())

    async def test_every_key_can_be_observed(self) -> None:
        main = (await self.client(await self.daemon())).main
        async with main.observe(*playhead.KEYS) as subscription:
            self.assertIsInstance(await anext(subscription), playhead.Changed)


def wire_names(kind: type) -> set[str]:
    """The wire names of the fields of a class."""
    return {field.metadata.get("wire", camel(field.name)) for field in dataclasses.fields(typing.cast(typing.Any, kind))}


def camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found.group(1).upper(), name.rstrip("_"))
