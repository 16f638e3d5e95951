"""Log lines: fields of their own, and no secret anywhere."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from resin_es.settings import Settings
from resin_es.workers import logs
from resin_es.workers.logs import MASK, Masking, TextFormatter, secrets


def line(message: str, formatter: logging.Formatter, error: Any = None, **fields: Any) -> str:
    made = logging.makeLogRecord({"msg": message, "levelname": "INFO", "name": "n", **fields})
    made.exc_info = error
    return formatter.format(made)


SECRET = Settings(
    redis_url="redis://:redis%21pass@redis.test:6379/7",
    es_url="https://elastic:cluster-pass@es.test",
    es_api_key=SecretStr("api-key-1"),
    es_basic_auth=SecretStr("user:basic-pass"),
    es_headers={"X-Any": SecretStr("header-value")},
    es_options={"opaque": {"auth_token": "option-token"}},
    anthropic_key=SecretStr("sk-claude"),
    clusters={"b": {"url": "https://b.test", "api_key": "cluster-key"}},
)
HIDDEN = [
    "redis!pass",
    "redis%21pass",
    "cluster-pass",
    "api-key-1",
    "basic-pass",
    "header-value",
    "option-token",
    "sk-claude",
    "cluster-key",
]


@pytest.mark.parametrize("secret", HIDDEN)
def test_secrets_are_known_wherever_settings_keep_them(secret: str) -> None:
    assert secret in secrets(SECRET)


def test_what_is_no_secret_is_not_hidden() -> None:
    assert not {"https://b.test", "resin", "redis.test", "user"} & secrets(SECRET)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_shows_a_secret(form: Any) -> None:
    settings = SECRET.model_copy(update={"log_format": form})
    formatter = Masking(logs._formatter(settings), secrets(settings))
    for secret in HIDDEN:
        try:
            raise ValueError(f"with {secret} in it")
        except ValueError:
            told = line(f"a {secret}", formatter, sys.exc_info(), task=secret, report={"a": secret})
        assert secret not in told
        assert told.count(MASK) >= 4


@given(st.text(min_size=4), st.text(), st.text())
def test_any_secret_is_masked(secret: str, before: str, after: str) -> None:
    told = line(before + secret + after, Masking(logging.Formatter("%(message)s"), [secret]))
    assert told == (before + secret + after).replace(secret, MASK)


def test_a_short_one_would_mask_everything() -> None:
    assert line("a cat", Masking(logging.Formatter("%(message)s"), ["a", ""])) == "a cat"


def test_a_json_line_has_its_fields() -> None:
    formatter = logs._formatter(Settings(log_format="json"))
    told = json.loads(
        line("read ünit", formatter, document="kb/1", attempt=2, source="kb", process=7)
    )
    at = told.pop("at")
    assert at[:2] == "20"
    assert told == {
        "level": "INFO",
        "process": 7,
        "name": "n",
        "message": "read ünit",
        "document": "kb/1",
        "attempt": 2,
        "source": "kb",
    }


def test_a_text_line_has_its_fields_behind_it() -> None:
    told = line("read", TextFormatter("%(message)s"), document="kb/1", attempt=2, source="")
    assert told == "read document=kb/1 attempt=2"
