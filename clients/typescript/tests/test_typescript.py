"""A client in TypeScript whose types follow from the specification that the daemon prints.

`generate` writes the client, and `tsc --strict` compiles it with the example of README.md, session.ts and mistakes.ts.
The session must succeed with a daemon. The compiler must reject each line of mistakes.ts that is a mistake, and nothing
else.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python/tests"))

from support import DAEMON, LIMIT, Case  # noqa: E402

GENERATE = HERE.parent / "generate"
# Newer compilers have separate codes for expressions that are names.
CODES = {"TS18047": "TS2531", "TS18048": "TS2532", "TS18046": "TS2571"}


class Compilation:
    """The compiled client, session and mistakes, in a temporary folder, and what the compiler printed."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="playhead-"))
        printed = subprocess.run([DAEMON, "--protocol"], capture_output=True, check=True, timeout=LIMIT)
        self.specification: dict[str, Any] = json.loads(printed.stdout)
        client = subprocess.run([str(GENERATE)], input=printed.stdout, capture_output=True, check=True, timeout=LIMIT)
        self.client = client.stdout.decode()
        (self.folder / "playhead.ts").write_bytes(client.stdout)
        for name in ("node.d.ts", "session.ts", "mistakes.ts"):
            shutil.copy(HERE / name, self.folder)
        examples = re.findall(r"^```ts\n(.*?)^```$", (HERE.parent / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        assert len(examples) == 1
        (self.folder / "example.ts").write_text(examples[0], encoding="utf-8")
        done = subprocess.run(
            ["tsc", "--strict", "--target", "es2021", "--lib", "es2021", "--module", "commonjs", "--pretty", "false",
             "node.d.ts", "example.ts", "session.ts", "mistakes.ts"],
            cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT)
        # An error in a line, or a message without a location. Further lines explain the error.
        self.errors = [line for line in done.stdout.splitlines() if not line.startswith(" ")]


class TypeScriptTests(Case):
    compilation: Compilation

    @classmethod
    def setUpClass(cls) -> None:
        cls.compilation = Compilation()
        cls.addClassCleanup(shutil.rmtree, cls.compilation.folder)

    def test_the_compiler_accepts_the_client_the_example_and_the_session(self) -> None:
        self.assertEqual([error for error in self.compilation.errors if not error.startswith("mistakes.ts(")], [])

    def test_the_compiler_rejects_each_mistake(self) -> None:
        lines = (HERE / "mistakes.ts").read_text(encoding="utf-8").splitlines()
        expected = {number: found[1] for number, line in enumerate(lines, 1) if (found := re.search(r"; // (TS\d+): ", line))}
        self.assertGreater(len(expected), 60)
        reported: dict[int, set[str]] = {}
        for error in self.compilation.errors:
            if found := re.match(r"mistakes\.ts\((\d+),\d+\): error (TS\d+): ", error):
                reported.setdefault(int(found[1]), set()).add(CODES.get(found[2], found[2]))
        for number in sorted(expected.keys() | reported.keys()):
            with self.subTest(line=lines[number - 1]):
                self.assertEqual(reported.get(number), {expected[number]} if number in expected else None)

    def test_the_client_has_all_methods_events_errors_and_shared_types(self) -> None:
        def members(name: str) -> list[str]:
            found = re.search(rf"^export interface {name} {{\n(.*?)^}}$", self.compilation.client, re.MULTILINE | re.DOTALL)
            assert found, f"no interface {name}"
            return [quoted or plain for quoted, plain in re.findall(r'^  (?:"([^"]+)"|([\w$]+)): ', found[1], re.MULTILINE)]

        document = self.compilation.specification
        self.assertEqual(members("Methods"), [method["name"] for method in document["methods"]])
        self.assertEqual(members("Events"), list(document["x-asyncapi"]["components"]["messages"]))
        self.assertEqual(members("Errors"), list(document["components"]["errors"]))
        types_of_client = set(re.findall(r"^export type (\w+) = ", self.compilation.client, re.MULTILINE))
        self.assertEqual(document["components"]["schemas"].keys() - types_of_client, set())

    async def test_a_session_with_a_daemon(self) -> None:
        daemon = await self.daemon()
        files = [self.tone("one.flac"), self.tone("two.flac", seconds=5)]
        done = subprocess.run(["node", "session.js", daemon.socket, *files], cwd=self.compilation.folder, env={"PATH": os.environ["PATH"]},
                              capture_output=True, text=True, check=False, timeout=LIMIT / 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(json.loads(done.stdout), {
            "protocol": 1,
            "skipped": 0,
            "play": "no item",
            "event": {"isOfSubscription": True, "player": "main", "key": "player.timeControlStatus", "initial": "absent"},
            "firstEvent": {"new": "paused", "cause": "initial", "initial": True},
            "seek": {"finished": True, "time": 2.5, "exact": True},
            "status": {"timeControlStatus": "playing", "reason": None, "count": 2, "isFirst": True, "duration": 10, "title": "ONE"},
            "waits": True,
            "waited": True,
            "rows": [[True, 0, "readyToPlay", True, 10], [True, 1, "readyToPlay", False, 5]],
            "error": {"code": 2004, "number": 2004, "operation": "item.status"},
            "thrown": "no-such-player",
            "afterClose": ["the client was closed", "the client was closed"],
        })


class GeneratorTests(unittest.TestCase):
    generator: types.ModuleType

    @classmethod
    def setUpClass(cls) -> None:
        # The generator has no suffix, and must not leave a compiled file next to itself.
        loader = importlib.machinery.SourceFileLoader("generate_typescript", str(GENERATE))
        spec = importlib.util.spec_from_loader("generate_typescript", loader)
        assert spec
        cls.generator = importlib.util.module_from_spec(spec)
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            loader.exec_module(cls.generator)
        finally:
            sys.dont_write_bytecode = written

    def test_each_keyword_has_its_type(self) -> None:
        cases: list[tuple[Any, str]] = [
            (True, "unknown"),
            (False, "never"),
            ({}, "unknown"),
            ({"description": "any value"}, "unknown"),
            ({"type": "integer", "minimum": 1}, "number"),
            ({"type": ["string", "number", "integer", "null"]}, "string | number | null"),
            ({"type": "string", "nullable": True}, "string | null"),
            ({"const": "2.0"}, '"2.0"'),
            ({"enum": ["a", 1, True, None]}, '"a" | 1 | true | null'),
            ({"enum": ["a"], "type": "string"}, '"a"'),
            ({"$ref": "#/components/schemas/Play-Time"}, "Play_Time"),
            ({"anyOf": [{"$ref": "#/components/schemas/Time"}, {"type": "null"}]}, "Time | null"),
            ({"oneOf": [{"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "boolean"}]}]}, "string | string | boolean"),
            ({"allOf": [{"$ref": "#/A"}, {"anyOf": [{"$ref": "#/B"}, {"$ref": "#/C"}]}]}, "(A) & (B | C)"),
            ({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "Array<string | null>"),
            ({"type": "array"}, "Array<unknown>"),
            ({"items": {"type": "string"}}, "Array<string>"),
            ({"type": "array", "items": [{"type": "string"}, {"type": "number"}]}, "[string, number]"),
            ({"type": "object"}, "{ [name: string]: unknown; }"),
            ({"type": "object", "additionalProperties": {"type": "number"}}, "{ [name: string]: number; }"),
            ({"type": "object", "properties": {}, "additionalProperties": False}, "Empty"),
            ({"type": "object", "properties": {"a": {"type": "string"}, "b-c": {"type": "number"}}, "required": ["b-c"]}, '{ a?: string; "b-c": number; }'),
            ({"properties": {"a": {"type": "string", "description": "*/ x"}}}, "{ /** * / x */ a?: string; }"),
            ({"properties": {"a": True}, "additionalProperties": {"type": "string"}}, "{ a?: unknown; [name: string]: unknown; }"),
            ({"required": ["a"]}, "{ a: unknown; }"),
            ({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"const": 1}}}}}, "{ a?: { b?: 1; }; }"),
        ]
        for schema, expected in cases:
            with self.subTest(schema=schema):
                self.assertEqual(re.sub(r"\s+", " ", self.generator.type_of(schema)), expected)

    def test_a_schema_of_an_unknown_form_is_an_error(self) -> None:
        for schema, message in [
            ({"if": {}}, "generate: unknown keywords ['if'] in {\"if\": {}}"),
            ({"type": "file"}, "generate: unknown type file"),
            ({"const": {"a": 1}}, "generate: a constant that is an object or array: {'a': 1}"),
        ]:
            with self.subTest(schema=schema), self.assertRaises(SystemExit) as caught:
                self.generator.type_of(schema)
            self.assertEqual(caught.exception.code, message)


if __name__ == "__main__":
    unittest.main()
