"""What contract tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from resin_es.testing.model_server import ModelServer, Reply, Script
from tests.contract.claude_calls import KEY

if TYPE_CHECKING:
    from resin_es.adapters.anthropic.client import AnthropicModel


@contextmanager
def _model_on(
    *replies: Reply, script: Script | None = None, **fields: Any
) -> Iterator[tuple[AnthropicModel, ModelServer]]:
    from resin_es.adapters.anthropic.client import AnthropicModel
    from resin_es.adapters.anthropic.options import AnthropicOptions

    with ModelServer(script or replies) as server:
        given = {"timeout": 5.0, "retries": 2, "prices": {"m-1": (1.0, 100.0)}, **fields}
        model = AnthropicModel(AnthropicOptions(key=SecretStr(KEY), **{"url": server.url, **given}))
        yield model, server
        model.close()


@pytest.fixture
def model_on() -> Any:
    """Claude on a scripted server that gives ``replies``: ``with model_on(...) as (model,
    server)``. Model "m-1" costs 1 dollar per million tokens in and 100 out."""
    return _model_on
