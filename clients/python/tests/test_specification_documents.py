"""The documents conform to OpenRPC 1.2.6, AsyncAPI 2.6.0 and JSON Schema draft 7.

The structure is checked by hand-written schemas of the parts of both specifications that the documents use. With the
Python package `openrpc` in a virtual environment, its models check openrpc.json as well:

    python3 -m venv .build/openrpc && .build/openrpc/bin/pip install openrpc
"""

from __future__ import annotations

import re
import subprocess
import unittest
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import]

from specification import Specification
from support import REPOSITORY
from test_protocol import REFERENCE

MODELS = REPOSITORY / ".build/openrpc/bin/python"

TEXT = {"type": "string", "minLength": 1}
FLAG = {"type": "boolean"}
SCHEMA = {"type": ["object", "boolean"]}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """The schema of an object with these members and extensions, whose names begin with `x-`."""
    return {"type": "object", "properties": properties, "patternProperties": {"^x-": {}}, "required": list(required), "additionalProperties": False}


def named(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a map of components."""
    return {"type": "object", "propertyNames": {"pattern": r"^[A-Za-z0-9._-]+$"}, "additionalProperties": schema}


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema, "uniqueItems": True}


def reference(kind: str) -> dict[str, Any]:
    """A reference to a component. It has no other members, which readers would ignore."""
    return {"type": "object", "properties": {"$ref": {"pattern": f"^#/components/{kind}/[A-Za-z0-9._-]+$"}}, "required": ["$ref"], "additionalProperties": False}


INFO = closed({"title": TEXT, "description": TEXT, "version": {"pattern": r"^\d+\.\d+\.\d+$"}}, "title", "version")
DESCRIPTOR = closed({"name": TEXT, "summary": TEXT, "description": TEXT, "required": FLAG, "schema": SCHEMA, "deprecated": FLAG}, "name", "schema")
ERROR = closed({"code": {"type": "integer"}, "message": TEXT, "data": {}}, "code", "message")
METHOD = closed({
    "name": TEXT, "summary": TEXT, "description": {"type": "string"}, "tags": listed(closed({"name": TEXT, "description": TEXT}, "name")),
    "paramStructure": {"enum": ["by-name", "by-position", "either"]}, "params": listed(DESCRIPTOR), "result": DESCRIPTOR,
    "errors": listed(reference("errors")), "deprecated": FLAG,
}, "name", "params", "result")
OPENRPC = closed({
    "openrpc": {"const": "1.2.6"}, "info": INFO, "methods": listed(METHOD),
    "components": closed({"schemas": named(SCHEMA), "errors": named(ERROR)}),
}, "openrpc", "info", "methods")

MESSAGE = closed({"name": TEXT, "title": TEXT, "summary": TEXT, "description": TEXT, "contentType": TEXT, "payload": SCHEMA}, "payload")
OPERATION = closed({
    "operationId": TEXT, "summary": TEXT, "description": TEXT, "message": {"oneOf": [reference("messages"), closed({"oneOf": listed(reference("messages"))}, "oneOf")]},
}, "message")
ASYNCAPI = closed({
    "asyncapi": {"const": "2.6.0"}, "info": INFO, "defaultContentType": {"const": "application/json"},
    "channels": {"type": "object", "additionalProperties": closed({"description": TEXT, "subscribe": OPERATION, "publish": OPERATION})},
    "components": closed({"messages": named(MESSAGE), "schemas": named(SCHEMA)}),
}, "asyncapi", "info", "channels")


def references(value: Any) -> Iterator[str]:
    """All references in a document."""
    if isinstance(value, list):
        for each in value:
            yield from references(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref" and isinstance(each, str):
                yield each
            elif key != "x-asyncapi":
                yield from references(each)


class DocumentTests(unittest.TestCase):
    def setUp(self) -> None:
        self.specification = Specification()
        self.openrpc, self.asyncapi = self.specification.openrpc, self.specification.asyncapi

    def test_both_documents_have_the_structure_of_their_specification(self) -> None:
        for document, structure in [(self.openrpc, OPENRPC), (self.asyncapi, ASYNCAPI)]:
            faults = [f"{list(error.absolute_path)}: {error.message}"[:300] for error in jsonschema.Draft7Validator(structure).iter_errors(document)]
            self.assertEqual(faults, [])

    def test_every_schema_is_valid_and_accepts_only_defined_keywords(self) -> None:
        schemas = [each["schema"] for method in self.openrpc["methods"] for each in [*method["params"], method["result"]]]
        schemas += [message["payload"] for message in self.specification.messages.values()]
        schemas += [*self.openrpc["components"]["schemas"].values(), *self.asyncapi["components"]["schemas"].values()]
        self.assertGreater(len(schemas), 500)
        # An unknown keyword, such as a misspelt one, has no effect.
        known = jsonschema.Draft7Validator.META_SCHEMA["properties"].keys()
        for schema in schemas:
            jsonschema.Draft7Validator.check_schema(schema)
            self.assertEqual(self.keywords(schema) - known, set())

    def keywords(self, schema: Any) -> set[str]:
        """The keywords of a schema and of the schemas in it."""
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *(schema[key] for key in ("items", "not") if key in schema)]
        return set(schema).union(*(self.keywords(each) for each in inner))

    def test_every_reference_has_a_target_and_every_component_a_use(self) -> None:
        for document in (self.openrpc, self.asyncapi):
            used = set(references(document))
            defined = {f"#/components/{kind}/{name}" for kind, found in document["components"].items() for name in found}
            self.assertEqual(used - defined, set())
            # Both documents have all schemas of fields. Some errors occur only in events.
            self.assertEqual({each for each in defined - used if each.startswith("#/components/messages/")}, set())

    def test_names_and_codes_are_unique_and_required_parameters_come_first(self) -> None:
        names = [method["name"] for method in self.openrpc["methods"]]
        self.assertEqual(len(names), len(set(names)))
        codes = [error["code"] for error in self.specification.errors.values()]
        self.assertEqual(len(codes), len(set(codes)))
        self.assertFalse([code for code in codes if -32768 <= code <= -32000], "JSON-RPC reserves these codes")
        for method in self.openrpc["methods"]:
            with self.subTest(method=method["name"]):
                parameters = [each["name"] for each in method["params"]]
                self.assertEqual(len(parameters), len(set(parameters)))
                required = [each.get("required", False) for each in method["params"]]
                self.assertEqual(required, sorted(required, reverse=True))
                self.assertNotRegex(method["name"], r"^rpc\.(?!discover$)")

    def test_messages_and_errors_have_the_name_of_their_component(self) -> None:
        for name, message in self.specification.messages.items():
            self.assertEqual((message["name"], message["payload"]["properties"]["method"]), (name, {"const": name}))
        for name, error in self.specification.errors.items():
            self.assertEqual(error["message"], name)

    def test_required_members_of_an_object_are_defined(self) -> None:
        def check(schema: Any) -> None:
            if isinstance(schema, dict):
                # An alternative requires members of the object that it belongs to.
                for each in [schema, *schema.get("oneOf", [])] if "properties" in schema else []:
                    self.assertEqual(set(each["required"]) - set(schema["properties"]) if isinstance(each.get("required"), list) else set(), set())
                for each in schema.values():
                    check(each)
            elif isinstance(schema, list):
                for each in schema:
                    check(each)

        check(self.openrpc)
        check(self.asyncapi)

    def test_both_documents_have_equal_schemas_of_fields(self) -> None:
        schemas = self.openrpc["components"]["schemas"]
        for name, schema in self.asyncapi["components"]["schemas"].items():
            self.assertEqual(schema, schemas[name])
        self.assertEqual(self.openrpc["x-asyncapi"], self.asyncapi)
        self.assertEqual(re.sub(r"\..*", "", self.openrpc["info"]["version"]), re.sub(r"\..*", "", self.asyncapi["info"]["version"]))

    @unittest.skipUnless(MODELS.exists(), "the package openrpc is not in .build/openrpc")
    def test_the_models_of_the_package_openrpc_accept_the_document(self) -> None:
        # The models do not accept references to errors, which the specification allows.
        program = (
            "import json, sys; from openrpc import OpenRPC; document = json.load(open(sys.argv[1]))\n"
            "for method in document['methods']:\n"
            "    method['errors'] = [document['components']['errors'][each['$ref'].rpartition('/')[2]] for each in method['errors']]\n"
            "print(len(OpenRPC.model_validate(document).methods))")
        done = subprocess.run([MODELS, "-c", program, str(REFERENCE / "openrpc.json")], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"{len(self.specification.methods)}\n"), done.stderr)
