"""What documents name, and what those names lead to."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.index.filters import Filters, address_filter
from resin_es.model import Candidate, Principal
from resin_es.query.hop import hop_body
from resin_es.query.links import (
    COMMON,
    MAX_WORDS,
    MENTIONED,
    SOURCE_DECAY,
    TITLE,
    Best,
    Name,
    bare_title,
    by_place,
    key_of,
    link_clause,
    linked_chances,
    links,
    named_by,
)
from resin_es.query.settings import QuerySettings

QUESTION = "Who runs the company that built the Elm tunnel?"


def address(
    document: str,
    statement: str = "",
    *,
    title: str = "",
    subject: str = "",
    object: str = "",
    aliases: tuple[str, ...] = (),
    score: float = 0.5,
    name: str = "",
) -> Candidate:
    return Candidate(
        address_id=name or f"{document}:{statement or subject}",
        kind="relation" if subject else "sentence",
        passage_id=f"p-{document}",
        document_key=document,
        document_id=document,
        source="files",
        sentence_ids=(f"s-{document}",),
        score=score,
        statement=statement,
        subject=subject,
        object=object,
        aliases=aliases,
        title=title,
    )


def named(text: str, *sources: tuple[str, float]) -> Name:
    return Name(text, key_of(text), "a", dict(sources or (("d1", 1.0),)))


# ---------------------------------------------------------------- names


def test_titles_units_and_sentences_name_in_that_order() -> None:
    own = [
        address("d1", "In 2020 Sill Works sold it to Gull Ferries.", title="Elm line (2001)"),
        address("d1", subject="Orvane Works", object="the Elm tunnel", aliases=("Orvane & Co",)),
    ]
    found = named_by(QUESTION, ["d1"], own, own, 20)
    assert [name.text for name in found] == [
        "Elm line",
        "Orvane Works",
        "Orvane & Co",
        "Sill Works",
        "Gull Ferries",
    ]
    assert [name.address for name in found][1] == own[1].address_id
    assert all(name.sources == {"d1": 1.0} for name in found)


def test_what_the_question_says_and_what_says_nothing_names_nothing() -> None:
    own = [
        address("d1", subject="The Elm tunnel", object="rain"),
        address("d1", subject="2019", object="Elm Tunnel"),
        address("d1", subject="It", object="The"),
    ]
    assert named_by(QUESTION, ["d1"], own, own, 20) == []


def test_the_second_document_weighs_less_and_a_third_says_nothing() -> None:
    own = [
        address("d1", subject="Orvane"),
        address("d2", subject="Halden"),
        address("d2", subject="Orvane", name="again"),
        address("d3", subject="Kilnside"),
    ]
    found = {name.text: name for name in named_by(QUESTION, ["d1", "d2", "d3"], own, own, 20)}
    assert set(found) == {"Orvane", "Halden"}
    assert found["Orvane"].sources == {"d1": 1.0, "d2": SOURCE_DECAY}
    assert found["Halden"].sources == {"d2": SOURCE_DECAY}


@pytest.mark.parametrize(("elsewhere", "kept"), [(COMMON - 1, True), (COMMON, False)])
def test_a_name_that_many_documents_of_the_pool_share_is_left_out(
    elsewhere: int, kept: bool
) -> None:
    own = [address("d1", "It is in Norland.", subject="Norland")]
    others = [address(f"o{i}", f"Town {i} is in Norland.") for i in range(elsewhere)]
    found = named_by(QUESTION, ["d1"], own, [*own, *others], 20)
    assert bool(found) is kept


def test_names_are_bounded_by_number_and_by_words() -> None:
    own = [address("d1", subject=f"Firm Number {i} Of Five", name=str(i)) for i in range(60)]
    assert len(named_by(QUESTION, ["d1"], own, own, 7)) == 7
    everything = named_by(QUESTION, ["d1"], own, own, 50)
    assert sum(len(name.key.split()) for name in everything) <= MAX_WORDS
    assert len(everything) == MAX_WORDS // 5


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_may_stand_in_a_document(text: str, title: str) -> None:
    own = [address("d1", text, title=title), address("d1", subject=text[:40], object=title)]
    for name in named_by(QUESTION, ["d1"], own, own, 20):
        assert name.text.strip()
        assert name.key not in key_of(QUESTION)
    links(own, [named(text or "x")])


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("Medici (board game)", "Medici"),
        ("Simon &amp; Simon", "Simon & Simon"),
        ("Bus 14", "Bus 14"),
        ("(none)", "(none)"),
    ],
)
def test_a_title_without_what_tells_it_from_its_namesakes(title: str, bare: str) -> None:
    assert bare_title(title) == bare


# ---------------------------------------------------------------- the search


def test_the_whole_body_of_a_follow_up() -> None:
    settings = QuerySettings(dense=20, num_candidates=50, pool=30, k=5, dense_boost=1000.0)
    access = address_filter(Principal(), Filters(sources=("files",)))
    link = link_clause([named("Orvane Works"), named("Gull")])
    assert link == {
        "bool": {
            "should": [
                {
                    "multi_match": {
                        "query": text,
                        "type": "phrase",
                        "fields": ["title^2", "statement", "aliases.text"],
                    }
                }
                for text in ("Orvane Works", "Gull")
            ],
            "minimum_should_match": 1,
        }
    }
    plain = hop_body(QUESTION, [0.5], access, settings)
    body = hop_body(QUESTION, [0.5], access, settings, link=link)
    assert body["knn"] == {**plain["knn"], "filter": [*access, link]}
    assert body["query"] == {
        "bool": {"filter": access, "must": [link], "should": plain["query"]["bool"]["must"]}
    }
    rest = {"knn", "query"}
    assert {k: v for k, v in body.items() if k not in rest} == {
        k: v for k, v in plain.items() if k not in rest
    }


def test_a_plain_hop_has_no_lexical_clause_in_its_knn_filter() -> None:
    body = hop_body("x", [1.0], address_filter(Principal(), Filters()), QuerySettings())
    assert "match" not in json.dumps(body["knn"])


# ---------------------------------------------------------------- what came of it


def test_a_title_links_closer_than_a_mention_and_a_part_of_a_title_is_one() -> None:
    pool = [
        address("title", title="Orvane Works (company)"),
        address("part", title="History of Orvane Works"),
        address("mention", "It was sold to Orvane Works."),
        address("other", "Nothing of it."),
    ]
    found = links(pool, [named("Orvane Works")])
    assert set(found) == {"title", "part", "mention"}
    assert found["part"] / found["title"] == pytest.approx(MENTIONED / TITLE)
    assert found["mention"] / found["title"] == pytest.approx(MENTIONED / TITLE)


def test_a_document_is_not_linked_by_what_it_says_itself() -> None:
    pool = [address("d1", "Orvane built it."), address("d2", "Orvane was founded.")]
    found = links(pool, [named("Orvane", ("d1", 1.0))])
    assert found.get("d1", 0.0) == 0.0
    assert found["d2"] > 0
    both = links(pool, [named("Orvane", ("d1", 1.0), ("d2", 0.7))])
    assert both["d1"] == pytest.approx(0.7 * both["d2"])


def test_a_name_found_everywhere_links_less() -> None:
    few = [address("d2", "Orvane was founded.")]
    many = [*few, *(address(f"o{i}", "Orvane again.") for i in range(30))]
    assert links(many, [named("Orvane")])["d2"] < links(few, [named("Orvane")])["d2"]


BEST = Best("d1", similarity=0.7, chance=0.7)
POOL = [
    address("d2", title="Orvane", score=0.6),
    address("d3", "Orvane is mentioned.", score=0.6),
    address("d1", title="Orvane", score=0.9),
]
ORVANE = [named("Orvane", ("d0", 1.0))]


def test_chances_leave_room_for_nothing_and_the_best_document_out() -> None:
    found = linked_chances(POOL, ORVANE, BEST)
    assert set(found) == {"d2", "d3"}
    assert found["d2"] > found["d3"]
    assert 0.5 < sum(found.values()) < 1.0
    far = [one.model_copy(update={"score": -0.7}) for one in POOL]
    assert sum(linked_chances(far, ORVANE, BEST).values()) < 0.1
    assert linked_chances(POOL, [], BEST) == {}


def test_no_linked_document_is_as_hopeless_as_the_odds_say() -> None:
    told = {"sure": 0.9, "b": 0.0001, "a": 0.0001, "last": 0.0}
    found = by_place(told)
    assert list(found) == ["sure", "a", "b", "last"]
    assert sum(found.values()) == pytest.approx(sum(told.values()))
    assert 0.8 < found["sure"] < 0.9
    assert 0.01 < found["a"] < 0.03
    assert found["a"] > found["b"] > found["last"] > 0
    assert by_place({"only": 0.3}) == {"only": pytest.approx(0.3)}
    assert by_place({}) == {}
    assert by_place({"a": 0.0, "b": 0.0}) == {"a": 0.0, "b": 0.0}


def test_neither_a_wrong_nor_a_certain_document_is_followed() -> None:
    told = [
        sum(linked_chances(POOL, ORVANE, BEST._replace(chance=chance)).values())
        for chance in (0.0, 0.1, 0.6, 0.95, 1.0)
    ]
    assert told[0] == told[-1] == 0.0
    assert told[1] < told[2] > told[3] > 0


def test_what_somebody_writes_small_is_no_name() -> None:
    own = [
        address("d1", subject="Our findings", object="Halden Works"),
        address("d2", "So our findings say."),
    ]
    assert [n.text for n in named_by(QUESTION, ["d1"], own, own, 9)] == ["Halden Works"]
