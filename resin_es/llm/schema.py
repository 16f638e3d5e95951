"""Pydantic models → JSON schemas as endpoints with structured outputs take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_DROPPED = frozenset({"title", "default", "description"})


def closed_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of ``model``, closed (no further properties), without titles, defaults and
    references, since every keyword less is one that no endpoint can refuse."""
    schema = model.model_json_schema()
    closed: dict[str, Any] = _closed(schema, schema.get("$defs", {}))
    return closed


def _closed(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_closed(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _closed(definitions[node["$ref"].rpartition("/")[2]], definitions)
    shut: dict[str, Any] = {}
    for key, value in node.items():
        if key in _DROPPED or key == "$defs":
            continue
        if key == "properties":  # its keys are names of fields, a title among them
            shut[key] = {name: _closed(one, definitions) for name, one in value.items()}
        else:
            shut[key] = _closed(value, definitions)
    if shut.get("type") == "object":
        shut["additionalProperties"] = False
    return shut
