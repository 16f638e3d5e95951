"""The bodies that go to the Messages API, word for word."""

from __future__ import annotations

import copy
import json
import os
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.adapters.anthropic.requests import request_of, structured_routes
from resin_es.ports.language import ModelCall

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 9},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}, "minItems": 2},
    },
    "required": ["name"],
    "$defs": {
        "Part": {
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a", "type": "string"}}},
                {"type": "object", "properties": {"kind": {"const": "b", "type": "string"}}},
            ]
        }
    },
}
CALL = ModelCall(
    stage="units",
    model="m-1",
    prompt_version="1-x",
    system="be exact",
    user="DATA: <<<text>>>",
    output=SCHEMA,
    max_tokens=7,
)
FREE = CALL.model_copy(update={"output": None})
COMMON = {
    "model": "m-1",
    "max_tokens": 7,
    "messages": [{"role": "user", "content": "DATA: <<<text>>>"}],
}


def system(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def test_effort_is_asked_for_where_the_endpoint_takes_schemas_and_nowhere_else() -> None:
    assert request_of(FREE, "text", "low")["output_config"] == {"effort": "low"}
    config = request_of(CALL, "schema", "low")["output_config"]
    assert config == {"effort": "low", **request_of(CALL, "schema")["output_config"]}
    for route in ("tool", "plain"):
        assert request_of(CALL, route, "low") == request_of(CALL, route)


def test_free_text() -> None:
    assert request_of(FREE, "text") == {**COMMON, "system": system("be exact")}


def test_no_system_prompt_is_no_empty_block() -> None:
    assert request_of(FREE.model_copy(update={"system": ""}), "text") == COMMON


def test_schema_in_the_subset_that_the_endpoint_takes() -> None:
    variants = [
        {
            "type": "object",
            "properties": {"kind": {"const": letter}},
            "additionalProperties": False,
        }
        for letter in "ab"
    ]
    before = copy.deepcopy(SCHEMA)
    body = request_of(CALL, "schema")
    parts = {
        "type": "array",
        "items": {"$ref": "#/$defs/Part"},
        "description": "{minItems: 2}",
    }
    assert body == {
        **COMMON,
        "system": system("be exact"),
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {
                    "$defs": {"Part": {"anyOf": variants}},
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "{maxLength: 9}"},
                        "parts": parts,
                    },
                    "additionalProperties": False,
                    "required": ["name"],
                },
            }
        },
    }
    assert before == SCHEMA


def test_forced_tool_with_the_schema_as_it_is() -> None:
    body = request_of(CALL, "tool")
    (tool,) = body.pop("tools")
    assert tool.pop("description")
    assert tool == {"name": "answer", "input_schema": SCHEMA}
    assert body == {
        **COMMON,
        "system": system("be exact"),
        "tool_choice": {"type": "tool", "name": "answer", "disable_parallel_tool_use": True},
    }


def test_in_words() -> None:
    body = request_of(CALL, "plain")
    (block,) = body.pop("system")
    assert body == COMMON
    assert block["cache_control"] == {"type": "ephemeral"}
    assert block["text"].startswith("be exact\n\n")
    assert json.loads(block["text"].split("schema:\n")[1]) == SCHEMA


def test_data_stands_in_the_user_message_alone() -> None:
    for route in ("schema", "tool", "plain"):
        body = request_of(CALL, route)
        body.pop("messages")
        assert "<<<text>>>" not in json.dumps(body)


@pytest.mark.parametrize("route", ["schema", "tool", "plain"])
def test_a_route_that_does_not_fit_the_call(route: Any) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        request_of(FREE, route)
    with pytest.raises(ValueError, match="does not fit"):
        request_of(CALL, "text")


def test_only_an_object_can_be_a_tools_input() -> None:
    assert structured_routes(CALL) == ("schema", "tool", "plain")
    array = CALL.model_copy(update={"output": {"type": "array", "items": {"type": "string"}}})
    assert structured_routes(array) == ("schema", "plain")
