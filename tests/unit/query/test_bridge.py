from __future__ import annotations

from resin_es.model import Candidate, Hop
from resin_es.query.bridge import ancestors, bridged, waves
from resin_es.query.links import named_entities
from resin_es.query.plan_rules import FURTHER


def unit(name: str, subject: str = "", object: str = "", statement: str = "") -> Candidate:
    return Candidate(
        address_id=name,
        kind="relation" if subject else "sentence",
        passage_id="p",
        document_key="d",
        document_id="d",
        source="files",
        sentence_ids=("s",),
        score=1.0,
        subject=subject,
        object=object,
        statement=statement,
    )


A = Hop(id="a", subquestion="Which company built the Elm tunnel?")
B = Hop(id="b", subquestion="Who runs the company?", bridge_terms=("company",), depends_on=("a",))
C = Hop(id="c", subquestion="Where did she study?", depends_on=("b",))
QUESTION = "Who runs the company that built the Elm tunnel?"


def test_entities_of_all_candidates_complete_a_hop_and_replace_nothing() -> None:
    found = [unit("1", "Orvane Works", "the Elm tunnel"), unit("2", "Halden Ltd", "Kilnside")]
    bridge = bridged(B, QUESTION, found, 6)
    assert bridge.entities == ("Orvane Works", "Halden Ltd", "Kilnside")
    assert bridge.addresses == ("1", "2")
    assert bridge.hop.retrieval_text == "Who runs the company? Orvane Works Halden Ltd Kilnside"
    assert bridge.hop.subquestion == B.subquestion


def test_what_the_question_names_already_adds_nothing() -> None:
    assert bridged(B, QUESTION, [unit("1", "Elm tunnel", "the company")], 6).entities == ()


def test_the_number_of_entities_is_bounded() -> None:
    found = [unit(str(i), f"Firm {i}") for i in range(9)]
    assert bridged(B, QUESTION, found, 2).entities == ("Firm 0", "Firm 1")


def test_without_entities_the_whole_question_joins() -> None:
    bridge = bridged(B, QUESTION, [unit("1", "rain", "fog")], 6)
    assert bridge.entities == ()
    assert QUESTION in bridge.hop.retrieval_text


def test_a_sentence_names_its_names() -> None:
    only = unit("1", statement="In 2020 the Sill Harbour Authority ran the Gull ferry.")
    assert "Sill Harbour Authority" in named_entities(only)


def test_waves_and_ancestors() -> None:
    assert waves([A, B, C], True) == ([A], [B, C])
    assert waves([A, B, C], False) == ([A, B, C], [])
    assert ancestors(C, [A, B, C]) == ["a"]


def test_a_step_further_back_takes_what_was_found() -> None:
    further = Hop(id="h2", subquestion="What caused this?", need=FURTHER, depends_on=("h1",))
    told = ["The flood stopped the line.", "The pumps failed.", "Never reached."]
    found = [unit(str(i), statement=text) for i, text in enumerate(told)]
    bridge = bridged(further, "Why did the line stop?", found, 6)
    assert bridge.hop.retrieval_text == f"What caused this? {told[0]} {told[1]}"
    assert bridge.addresses == ("0", "1")


def test_entities_that_fit_the_bridge_word_come_first() -> None:
    hop = Hop(id="b", subquestion="Who makes them?", bridge_terms=("trams",), depends_on=("a",))
    found = [unit("1", "Orvane", "Kilnside"), unit("2", "Tram 3", "Saltgate")]
    assert bridged(hop, "Q", found, 2).entities == ("Tram 3", "Orvane")
