"""Grounding: what the source does not say is turned down, with a reason that can be counted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from resin_es.extract.folding import fold, locate
from resin_es.extract.grounding import check, verbatim
from resin_es.extract.sentences import split_sentences
from resin_es.model import (
    CausalEdge,
    Claim,
    EntityFact,
    Rule,
    Sentence,
    UnitDraft,
    number_sentences,
)

TEXT = (
    "Harbour Line (HL) costs $4.50 and carries 1,000 riders per day. "
    "Congestion on the A-12 raises its “ride time” by 0,5 to 2.0 %. "
    "CKL-12 took 2\u00a0500 days and affects plants’ growth in Vila Marenta. "
    "公共汽车每天\n运行。"
)
SENTENCES = number_sentences("k", split_sentences(TEXT), TEXT)


def fact(subject: str = "Harbour Line", value: str = "riders", **fields: object) -> Claim:
    return EntityFact.model_validate(
        {"subject": subject, "surface_predicate": "has", "object": value, **fields}
    )


def reason(claim: Claim, quote: str = "carries", *cited: int) -> str | None:
    ids = tuple(SENTENCES[index].id for index in (cited or (0,)))
    return check(UnitDraft(claim=claim, quote=quote, sentence_ids=ids), SENTENCES, TEXT)


@pytest.mark.parametrize(
    ("quote", "cited", "expected"),
    [
        ("costs $4.50", (0,), None),
        ("COSTS  $4.50\n", (0,), None),
        ("costs $4", (0,), "quote-not-found"),
        ("costs $4.5", (0,), "quote-not-found"),
        ("50 and carries", (0,), "quote-not-found"),
        ("000 riders", (0,), "quote-not-found"),
        ("arries", (0,), "quote-not-found"),
        ("carrie", (0,), "quote-not-found"),
        ("costs … carries", (0,), "quote-not-found"),
        ("costs ... carries", (0,), "quote-not-found"),
        ("carries", (1,), "quote-not-found"),
        ("per day. Congestion", (0, 1), None),
        ("per day. Congestion", (1, 0), None),
        ("per day. Congestion", (0,), "quote-not-found"),
        ("per day. CKL-12", (0, 2), None),
        ('A‑12 raises its "ride time"', (1,), None),
        ("plants' growth", (2,), None),
        ("公共汽车每天运行", (3,), None),
        ("汽车", (3,), None),
        ("\u200b", (0,), "empty-quote"),
    ],
)
def test_quotes(quote: str, cited: tuple[int, ...], expected: str | None) -> None:
    assert reason(fact(), quote, *cited) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$4.50", None),
        ("4.5 dollars", None),
        ("$4", "foreign-number"),
        ("1000 riders", None),
        ("1,000", None),
        ("100", "foreign-number"),
        ("2500", None),
        ("0.5 to 2", None),
        ("0.5-2.0%", None),
        ("0.5–3 %", "foreign-number"),
        ("route 7", "foreign-number"),
        ("CKL12", None),
        ("CKL 12", None),
        ("CKL1", "foreign-name"),
        ("CKL13", "foreign-name"),
        ("the A12", None),
        ("A-12", None),
        ("the HL", None),
        ("HLs", None),
        ("the HM", "foreign-name"),
        ("growth in Vila Marenta", None),
        ("growth in Vila Novo", "foreign-name"),
        ("Vila Marenta's growth", None),
        ("growing plants", None),
        ("公共汽车", None),
    ],
)
def test_numbers_and_names_of_the_object(value: str, expected: str | None) -> None:
    assert reason(fact(value=value)) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Harbour Line", None),
        ("harbour line", None),
        ("Harbour Lines", None),
        ("The Harbour Line", None),
        ("Berlin Line", "foreign-name"),
        ("The Berlin line", "foreign-name"),
        ("Ridership", None),
        ("  ", "empty-field"),
    ],
)
def test_subjects(subject: str, expected: str | None) -> None:
    assert reason(fact(subject)) == expected


def test_states_conditions_and_conclusions_are_checked() -> None:
    edge = {"subject": "congestion", "source_state": "congestion", "target_state": "ride time up"}
    assert reason(CausalEdge.model_validate(edge)) is None
    assert reason(CausalEdge.model_validate({**edge, "target_state": "up by 9"})) == (
        "foreign-number"
    )
    assert reason(CausalEdge.model_validate({**edge, "source_state": "jams in Porto"})) == (
        "foreign-name"
    )
    assert reason(CausalEdge.model_validate({**edge, "object": "B-9"})) is not None
    rule = {"subject": "riders", "conditions": ("congestion",), "conclusion": "ride time is up"}
    assert reason(Rule.model_validate(rule)) is None
    assert reason(Rule.model_validate({**rule, "conclusion": "wait 9 min"})) == "foreign-number"
    assert reason(Rule.model_validate({**rule, "conditions": ("in Porto",)})) == "foreign-name"
    assert reason(fact(conditions=("on 9 days",))) == "foreign-number"


def test_an_unknown_sentence() -> None:
    draft = UnitDraft(claim=fact(), quote="carries", sentence_ids=(SENTENCES[0].id, "other"))
    assert check(draft, SENTENCES, TEXT) == "unknown-sentence"


WORDS = st.text(st.characters(categories=("Ll", "Lo", "Nd", "Po", "Pd")), min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_every_run_of_whole_words_is_found(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = "\n ".join(words[first : last + 1])
    assume(fold(quote))
    sentence = Sentence(id="a", text=text, start=0, end=len(text))
    draft = UnitDraft(
        claim=fact("it", "it"), quote=unicodedata.normalize("NFKD", quote), sentence_ids=("a",)
    )
    assert check(draft, [sentence], text) is None


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS)
def test_what_is_not_in_the_text_is_not_found(words: list[str], foreign: str) -> None:
    text = " ".join(words)
    assume(fold(foreign) and fold(foreign) not in fold(text))
    sentence = Sentence(id="a", text=text, start=0, end=len(text))
    draft = UnitDraft(claim=fact("it", "it"), quote=foreign, sentence_ids=("a",))
    assert check(draft, [sentence], text) == "quote-not-found"


@given(st.text(st.characters(), max_size=40))
def test_folding_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ﬁsh", "fish"),
        ("non\u00adlinear", "nonlinear"),
        ("5−7", "5-7"),
        ("“it’s”", '"it\'s"'),
        ("a\u00a0 b\n", "a b"),
        ("Ｅ１２", "e12"),
        ("公共\n汽车", "公共汽车"),
    ],
)
def test_folding(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("costs $4.50", "costs $4.50"),
        ("COSTS   $4.50 ", "costs $4.50"),
        ('its "ride time" by', "its “ride time” by"),
        ("per day. Congestion", "per day. Congestion"),
    ],
)
def test_a_quote_is_kept_in_the_words_of_the_source(quote: str, expected: str) -> None:
    draft = UnitDraft(claim=fact(), quote=quote, sentence_ids=(SENTENCES[1].id, SENTENCES[0].id))
    assert check(draft, SENTENCES, TEXT) is None
    assert verbatim(draft, SENTENCES, TEXT) == expected


@given(st.text(st.characters(), max_size=30), st.data())
def test_what_is_located_folds_to_what_was_sought(text: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text)))
    part = text[first : data.draw(st.integers(first, len(text)))]
    span = locate(part, text)
    if span is not None:
        assert fold(part) in fold(text[span[0] : span[1]])
