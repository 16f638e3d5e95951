"""Which key goes where, and that none switches anything on by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from resin_es.adapters import text_model
from resin_es.bootstrap.models import make_judge, make_text_model
from resin_es.errors import ModelUnavailable, SettingsError
from resin_es.settings import (
    Settings,
    anthropic_key,
    judge_address,
    judge_key,
    load_settings,
    setting_rows,
)
from resin_es.testing.hash_embedder import HashEmbedder


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "RESIN_SETTINGS"):
        monkeypatch.delenv(name, raising=False)


def key_of(settings: Settings) -> str | None:
    key = judge_key(settings)
    return key.get_secret_value() if key else None


def test_own_key_wins_over_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert anthropic_key(load_settings()) is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "usual")
    assert anthropic_key(load_settings()).get_secret_value() == "usual"  # type: ignore[union-attr]
    monkeypatch.setenv("RESIN_ANTHROPIC_KEY", "own")
    assert anthropic_key(load_settings()).get_secret_value() == "own"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({}, "of-openai"),
        ({"judge_provider": "gemini"}, "of-gemini"),
        ({"judge_provider": "anthropic"}, "of-claude"),
        ({"judge_key": "own"}, "own"),
        ({"judge_url": "http://elsewhere"}, None),
        ({"judge_url": "http://elsewhere", "judge_provider": "anthropic"}, None),
        ({"judge_url": "http://elsewhere", "judge_key": "own"}, "own"),
    ],
)
def test_no_key_goes_to_an_address_it_was_not_meant_for(
    settings: dict[str, str], key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider, name in (("OPENAI", "openai"), ("GEMINI", "gemini"), ("ANTHROPIC", "claude")):
        monkeypatch.setenv(f"{provider}_API_KEY", f"of-{name}")
    assert key_of(load_settings(**settings)) == key


def test_a_claude_judge_is_asked_where_claude_is() -> None:
    settings = {"anthropic_url": "http://proxy", "judge_provider": "anthropic"}
    assert judge_address(load_settings(**settings)) == "http://proxy"
    assert judge_address(load_settings(**settings, judge_url="http://judge")) == "http://judge"
    assert judge_address(load_settings(anthropic_url="http://proxy")) is None


def test_a_row_that_needs_a_model_says_what_is_missing() -> None:
    with pytest.raises(SettingsError, match="RESIN_EVAL_MODEL"):
        make_text_model(load_settings(anthropic_key="k"))
    with pytest.raises(SettingsError, match="RESIN_ANTHROPIC_KEY"):
        make_text_model(load_settings(eval_model="m"))


def test_a_missing_sdk_shows_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(eval_model="m", anthropic_key="k")
    monkeypatch.setattr(text_model, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"resin-es\[anthropic\]"):
        make_text_model(settings)
    monkeypatch.setattr(text_model, "find_spec", lambda name: object())
    assert make_text_model(settings).name == "m"


def test_a_judge_says_what_is_missing() -> None:
    with pytest.raises(SettingsError, match="RESIN_JUDGE_MODEL"):
        make_judge(load_settings(judge_key="k"), HashEmbedder())
    with pytest.raises(SettingsError, match="RESIN_JUDGE_KEY"):
        make_judge(load_settings(judge_model="m"), HashEmbedder())


def test_prices_are_read_and_shown_and_keys_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_PRICES", '{"m": [1, 5.5]}')
    settings = load_settings(judge_key="secret", judge_options={"temperature": None})
    assert settings.prices == {"m": (1.0, 5.5)}
    rows = {row.name: row.value for row in setting_rows(settings)}
    assert rows["prices"] == "m=1/5.5"
    assert "secret" not in " ".join(rows.values())
