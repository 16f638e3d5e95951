"""The calls that the tests of the Anthropic adapter share, and the key they go out with."""

from __future__ import annotations

from resin_es.ports.language import ModelCall
from resin_es.testing.model_server import claude_says

KEY = "sk-a-secret-key"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CALL = ModelCall(
    stage="units", model="m-1", prompt_version="1", system="be exact", user="data", output=SCHEMA
)
FREE = CALL.model_copy(update={"output": None, "stage": "compose"})
GOOD = claude_says('{"a": 1}')
