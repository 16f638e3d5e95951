from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import PlanError
from resin_es.model import Plan, ReasoningMode, ReasoningType
from resin_es.query.planner import RulePlanner, parse_plan, parse_plans, plan_schema


def plan(question: str, max_hops: int = 4) -> Plan:
    return RulePlanner().plan(question, max_hops)


def texts(question: str) -> list[str]:
    return [hop.retrieval_text for hop in plan(question).hops]


@given(st.text(min_size=1, max_size=300), st.integers(min_value=1, max_value=5))
def test_any_text_gives_an_ordered_plan_within_the_limit(text: str, limit: int) -> None:
    found = plan(text, limit)
    assert 1 <= len(found.hops) <= limit
    assert found.question == text
    ids = [hop.id for hop in found.hops]
    for index, hop in enumerate(found.hops):
        assert set(hop.depends_on) <= set(ids[:index])
        assert hop.retrieval_text
    assert plan(text, limit) == found


WORDS = st.sampled_from(
    "what how which and or the bus metro that of between both compared to Elm Tunnel Line is are "
    "built who company , ? versus cheaper A".split()
)


@given(st.lists(WORDS, min_size=1, max_size=30).map(" ".join))
def test_any_words_give_a_plan(text: str) -> None:
    assert 1 <= len(plan(text).hops) <= 4


def test_a_plain_question_is_one_hop() -> None:
    found = plan("When did Metro Line B open to the public?")
    assert found.mode is ReasoningMode.SINGLE
    assert [hop.subquestion for hop in found.hops] == ["When did Metro Line B open to the public?"]
    assert found.hops[0].reasoning_type is ReasoningType.ATTRIBUTE
    assert found.answer_type == "time"
    assert found.entities == ("Metro Line B",)


def test_a_why_looks_one_step_further_back() -> None:
    found = plan("Why did Metro Line B stop in March 2024?")
    first, further = found.hops
    assert first.subquestion == "Why did Metro Line B stop in March 2024?"
    assert first.reasoning_type is ReasoningType.CAUSE
    assert further.depends_on == (first.id,)
    assert found.entities == ("Metro Line B", "March 2024")
    assert len(plan("Why did it stop?", 1).hops) == 1


def test_a_comparison_has_one_hop_a_side_with_all_that_is_shared() -> None:
    question = (
        "Should I take the bus or the metro to reach work within 40 minutes and spend at most $10?"
    )
    found = plan(question)
    assert found.mode is ReasoningMode.COMPARISON
    assert [hop.subquestion for hop in found.hops] == [
        "Should I take the bus to reach work within 40 minutes and spend at most $10?",
        "Should I take the metro to reach work within 40 minutes and spend at most $10?",
    ]
    assert found.constraints == ("within 40 minutes", "at most $10")


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Which is cheaper, Express X1 or Metro Line A?", ("Express X1", "Metro Line A")),
        ("Which band was formed first, The Owls or Blue Kiln?", ("The Owls", "Blue Kiln")),
        ("Are King Orm and Géza von Holt both American directors?", ("King Orm", "Géza von Holt")),
        ("What is the difference between Bus 14 and Bus 15?", ("Bus 14", "Bus 15")),
        ("How does Tram 3 compare to Tram 7?", ("Tram 3", "Tram 7")),
        ("Halden Works versus Lumen Dairy: who employs more people?",
         ("Halden Works", "Lumen Dairy")),
    ],
)  # fmt: skip
def test_sides_are_told_apart(question: str, sides: tuple[str, str]) -> None:
    found = texts(question)
    assert len(found) == 2
    for own, other, text in zip(sides, reversed(sides), found, strict=True):
        assert own in text
        assert other not in text


@pytest.mark.parametrize(
    "question",
    [
        "What happens if a passenger or a guest is late?",
        "Which fares apply in or around Leland?",
        "How do signalling and staffing affect delays?",
        "What is the link between fog and delays?",
    ],
)
def test_no_comparison_where_none_is_asked(question: str) -> None:
    assert plan(question).mode is not ReasoningMode.COMPARISON


def test_coordinated_needs_each_carry_the_whole_question() -> None:
    found = plan("What caused the recall of the Tern brake, and how does the new housing help?")
    assert found.mode is ReasoningMode.PARALLEL
    assert [hop.subquestion for hop in found.hops] == [
        "What caused the recall of the Tern brake?",
        "How does the new housing help?",
    ]
    assert "housing" in found.hops[0].retrieval_text
    assert {"Tern", "brake", "recall"} <= set(found.hops[1].retrieval_text.split())


@pytest.mark.parametrize(
    "question",
    [
        "What is the role of GDF15 in fibrosis, and what are the implications?",
        "How do sex hormones influence fat tissue, and what evidence supports this?",
        "What is known of RNA editing in Kandelia, and which mechanisms are involved?",
    ],
)
def test_a_vague_clause_gets_no_voice_of_its_own(question: str) -> None:
    assert len(plan(question).hops) == 1


def test_several_sentences_are_several_needs() -> None:
    found = plan("When does Tram 3 run? Who drives the Gull ferry?")
    assert [hop.subquestion for hop in found.hops] == [
        "When does Tram 3 run?",
        "Who drives the Gull ferry?",
    ]


def test_a_relative_clause_is_a_chain_with_a_bridge() -> None:
    found = plan("Who runs the company that built the Elm tunnel?")
    assert found.mode is ReasoningMode.CHAIN
    first, second = found.hops
    assert first.subquestion == "Which company built the Elm tunnel?"
    assert second.subquestion == "Who runs the company?"
    assert second.depends_on == (first.id,)
    assert second.bridge_terms == ("company",)


def test_a_nested_of_is_a_chain() -> None:
    first, second = plan("Where did the director of the operator of the Gull ferry study?").hops
    assert "operator of the Gull ferry" in first.subquestion
    assert second.subquestion == "Where did the director study?"
    assert second.depends_on == (first.id,)


def test_a_chain_asked_at_its_end() -> None:
    first, second = plan("The league includes the Adelaide team that was formed in what year?").hops
    assert first.subquestion == "The league includes the Adelaide team?"
    assert second.subquestion == "The Adelaide team was formed in what year?"


def test_needs_beyond_the_limit_are_joined_not_lost() -> None:
    question = "When does Tram 3 run? Who drives the Gull ferry? Where is Kiln Street?"
    found = plan(question, 2)
    assert len(found.hops) == 2
    assert "Gull ferry" in found.hops[1].subquestion
    assert "Kiln Street" in found.hops[1].subquestion


@pytest.mark.parametrize(
    "question", ["公共汽车和地铁哪个更便宜？", "metro", "¿Cuánto cuesta?", "٤٢"]
)
def test_other_scripts_and_single_words_are_one_hop(question: str) -> None:
    assert texts(question) == [question]


def test_a_text_of_20_000_characters_is_one_hop() -> None:
    assert len(plan("Which tram is faster, and who drives it? " * 500).hops) == 1


def test_kinds_follow_the_need() -> None:
    assert "rule" in plan("Is a folded bicycle allowed on Tram 3?").hops[0].kinds
    assert "causal-edge" in plan("Why did the cheese spoil?").hops[0].kinds
    assert "entity-type" in plan("What kind of tram is the Heron?").hops[0].kinds
    assert "entity-fact" in plan("How much is the fare of Bus 14?").hops[0].kinds


# ---------------------------------------------------------------- plans handed in

GIVEN = {
    "question": "Who runs it?",
    "hops": [{"id": "a", "subquestion": "What is it?"},
             {"id": "b", "subquestion": "Who runs it?", "depends_on": ["a"]}],
}  # fmt: skip


def test_a_plan_is_read_from_json_and_schema_names_its_fields() -> None:
    found = parse_plan(json.dumps(GIVEN))
    assert [hop.id for hop in found.hops] == ["a", "b"]
    assert parse_plan({"hops": GIVEN["hops"]}, question="Q?").question == "Q?"
    assert set(plan_schema()["properties"]) >= {"question", "hops", "mode"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"question": "q"}', "hops"),
        ('{"question": "q", "hops": []}', "hops"),
        ('{"question": "q", "hops": [{"id": "a"}]}', "hops.0.subquestion"),
        ('{"question": "q", "hops": [{"id": "a", "subquestion": "s", "colour": 1}]}', "colour"),
        ('{"question": "q", "hops": [{"id": "a", "subquestion": "s", "depends_on": ["z"]}]}', "z"),
        ('{"question": "q", "hops": [{"id": "a", "subquestion": "s", "kinds": ["x"]}]}', "kinds"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused_by_field(text: str, told: str) -> None:
    with pytest.raises(PlanError, match="plan") as refused:
        parse_plan(text)
    assert told in refused.value.message


def test_plans_of_a_file_are_found_by_id_or_question() -> None:
    lines = [{"id": "7", "plan": GIVEN}, {**GIVEN, "question": "Other?"}]
    book = parse_plans("\n".join(json.dumps(item) for item in lines))
    assert book.get("anything", "7").question == "Who runs it?"
    assert book.get("Other?").question == "Other?"
    with pytest.raises(PlanError, match="no plan"):
        book.get("Third?", "9")


def test_one_plan_serves_any_question_and_an_empty_file_none() -> None:
    assert parse_plans(json.dumps(GIVEN)).get("whatever").hops
    with pytest.raises(PlanError, match="empty"):
        parse_plans("  ")
    with pytest.raises(PlanError, match="plan 2"):
        parse_plans(json.dumps([GIVEN, {"question": "x"}]))


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        (
            "What do Ada Orvane and B. Halden have in common?",
            ["What do Ada Orvane have in common?", "What do B. Halden have in common?"],
        ),
        (
            "The Red Setter, pride of Norland, and Gull Hound, are both dogs of which century?",
            [
                "The Red Setter, are both dogs of which century?",
                "Gull Hound, are both dogs of which century?",
            ],
        ),
        (
            "Which came first the forming of The Reeds or the birth of Ada Orvane?",
            [
                "Which came first the forming of The Reeds?",
                "Which came first the birth of Ada Orvane?",
            ],
        ),
        (
            "The painter Ada Orvane has a medal. Does the painter Bo Halden also have one?",
            [
                "The painter Ada Orvane has a medal?",
                "Does the painter Bo Halden also have one? medal",
            ],
        ),
    ],
)  # fmt: skip
def test_two_names_that_a_question_joins_are_two_sides(question: str, needs: list[str]) -> None:
    plan = RulePlanner().plan(question, 4)
    assert plan.mode is ReasoningMode.COMPARISON
    assert [hop.retrieval_text for hop in plan.hops] == needs
    assert all(not hop.depends_on for hop in plan.hops)


@pytest.mark.parametrize(
    "question",
    [
        "Who performed with Ada Orvane and Bo Halden?",
        "Where did Ada Orvane and her sister live? Did they also travel?",
        "How are growth and yield both affected?",
    ],
)
def test_two_names_alone_are_no_comparison(question: str) -> None:
    assert RulePlanner().plan(question, 4).mode is not ReasoningMode.COMPARISON


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        (
            "How much does the director of the company that operates Gull Ferries earn?",
            "Which company operates Gull Ferries?",
            "How much does the director of the company earn? company",
        ),
        (
            "Which college did the painter who founded the Reed Circle work for?",
            "Which painter founded the Reed Circle?",
            "Which college did the painter work for? painter",
        ),
    ],
)
def test_the_main_verb_at_the_end_is_not_the_relative_clause(
    question: str, first: str, second: str
) -> None:
    hops = RulePlanner().plan(question, 4).hops
    assert hops[0].subquestion == first
    assert f"{hops[1].subquestion} {' '.join(hops[1].bridge_terms)}" == second
    assert hops[1].depends_on == ("h1",)
