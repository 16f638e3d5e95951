"""Drafts to units: identity, aliases, pronouns, doubles, rejects."""

from __future__ import annotations

from resin_es.extract.normalize import normalize
from resin_es.extract.passages import build
from resin_es.extract.sentences import split_sentences
from resin_es.model import (
    Claim,
    EntityFact,
    Passage,
    PassageDraft,
    ReaderIdentity,
    Relation,
    Sentence,
    Unit,
    UnitDraft,
    UnitReject,
    number_sentences,
    unit_id,
)

TEXT = "The Harbour Line (HL) costs $4. It stops at Old Quay. They do not stop at night."
READER = ReaderIdentity(model="m", prompt_version="1")


def passage(main_entity: str = "Harbour Line") -> tuple[Passage, tuple[Sentence, ...]]:
    sentences = number_sentences("k", split_sentences(TEXT), TEXT)
    draft = PassageDraft(first=0, last=2, main_entity=main_entity, entity_type="tram line")
    return build("k", TEXT, sentences, [draft])[0], sentences


def fact(subject: str, predicate: str, value: str, **fields: object) -> Claim:
    return EntityFact.model_validate(
        {"subject": subject, "surface_predicate": predicate, "object": value, **fields}
    )


def run(
    *drafts: tuple[Claim, str, int], main_entity: str = "Harbour Line"
) -> tuple[tuple[Unit, ...], tuple[UnitReject, ...]]:
    held, sentences = passage(main_entity)
    return normalize(
        [
            UnitDraft(claim=claim, quote=quote, sentence_ids=(sentences[index].id,))
            for claim, quote, index in drafts
        ],
        held, sentences, "k", "v", READER, "Title",
    )  # fmt: skip


def test_a_unit_is_canonical_named_and_identified() -> None:
    (unit,), rejects = run((fact("The Harbour Line (HL)", "costs", " $4 "), "costs $4", 0))
    held, sentences = passage()
    assert rejects == ()
    assert unit.claim.subject == "The Harbour Line"
    assert unit.claim.object == "$4"
    assert unit.claim.predicate == "price"
    assert unit.claim.surface_predicate == "costs"
    assert unit.claim.aliases == ("HL",)
    assert unit.id == unit_id("k", held.id, (sentences[0].id,), unit.claim)
    assert (unit.passage_id, unit.document_version, unit.reader) == (held.id, "v", READER)
    assert unit.statement == "The Harbour Line costs $4."


def test_the_main_entity_brings_its_type() -> None:
    (unit,), _ = run((fact("Harbour Line", "costs", "$4"), "costs $4", 0))
    assert unit.claim.entity_type == "tram line"


def test_a_short_subject_gets_its_long_name() -> None:
    (unit,), _ = run((fact("HL", "costs", "$4"), "costs $4", 0))
    assert unit.claim.aliases == ("Harbour Line",)
    assert unit.statement.startswith("Harbour Line (HL) costs")


def test_a_safe_pronoun_becomes_the_main_entity() -> None:
    (unit,), _ = run((fact("It", "stops at", "Old Quay"), "stops at Old Quay", 1))
    assert unit.claim.subject == "Harbour Line"
    assert unit.claim.confidence == 0.8
    assert unit.claim.aliases == ("HL",)


def test_an_unsafe_pronoun_stays_and_counts_less() -> None:
    plural, first, without = (
        run((fact("They", "stop at", "night"), "stop at night", 2)),
        run((fact("It", "costs", "$4"), "costs $4", 0)),
        run((fact("It", "stops at", "Old Quay"), "stops at Old Quay", 1), main_entity=""),
    )
    for (unit,), _ in (plural, first, without):
        assert unit.claim.subject in ("They", "It")
        assert unit.claim.confidence == 0.5


def test_foreign_aliases_are_dropped() -> None:
    (unit,), _ = run(
        (fact("Harbour Line", "costs", "$4", aliases=("Old Quay", "Elsewhere")), "costs $4", 0)
    )
    assert unit.claim.aliases == ("Old Quay", "HL")


def test_of_equal_claims_the_most_confident_stays() -> None:
    units, rejects = run(
        (fact("Harbour Line", "costs", "$4", confidence=0.5), "costs $4", 0),
        (fact("harbour line", "is priced at", "$4", confidence=0.9), "costs $4", 0),
        (fact("Harbour Line", "costs", "$4", polarity="negative"), "costs $4", 0),
    )
    assert [unit.claim.confidence for unit in units] == [0.9, 1.0]
    assert [reject.reason for reject in rejects] == ["duplicate"]
    assert rejects[0].draft["claim"]["confidence"] == 0.5


def test_rejects_carry_their_draft() -> None:
    units, rejects = run((fact("Harbour Line", "costs", "$5"), "costs $4", 0))
    assert units == ()
    assert rejects[0].reason == "foreign-number"
    assert rejects[0].draft["claim"]["object"] == "$5"


def test_the_order_of_cited_sentences_does_not_matter() -> None:
    held, sentences = passage()
    claim = Relation(subject="Harbour Line", surface_predicate="serves", object="Old Quay")
    ids = [
        normalize(
            [UnitDraft(claim=claim, quote="costs", sentence_ids=cited)],
            held, sentences, "k", "v", READER,
        )[0][0].id
        for cited in ((sentences[0].id, sentences[1].id), (sentences[1].id, sentences[0].id))
    ]  # fmt: skip
    assert ids[0] == ids[1]


def test_confidence_is_no_part_of_the_id() -> None:
    ids = {
        run((fact("Harbour Line", "costs", "$4", confidence=value), "costs $4", 0))[0][0].id
        for value in (0.3, 0.9)
    }
    assert len(ids) == 1
