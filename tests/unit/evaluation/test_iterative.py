"""Iterative retrieval: what the model sees, what is searched, what is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import ModelError
from resin_es.evaluation.packing import Piece
from resin_es.evaluation.systems.iterative import (
    SYSTEM,
    IterativeSettings,
    IterativeSystem,
    first_sentence,
    merged,
    says_the_answer,
    step_prompt,
)
from resin_es.evaluation.values import EvalDocument, SourceSentence, Span
from resin_es.testing.model_server import ScriptedTextModel


def piece(name: str, text: str = "", title: str = "") -> Piece:
    text = text or f"All about {name}."
    span = Span(document_id=name, start=0, end=len(text))
    sentence = SourceSentence(id=f"{name}-0", span=span, text=text)
    document = EvalDocument(id=name, title=title, text=text, sentences=(sentence,))
    return Piece(name, document, (0,))


class Index:
    """Names of pieces by what is searched; ``asked`` holds every search."""

    def __init__(self, **found: str) -> None:
        self.found = {query.replace("_", " "): names.split() for query, names in found.items()}
        self.asked: list[str] = []

    def __call__(self, text: str) -> Sequence[Piece]:
        self.asked.append(text)
        return [piece(name) for name in self.found.get(text.rstrip(".?"), [])]


def names(pieces: Sequence[Piece]) -> str:
    return " ".join(one.id for one in pieces)


def test_each_sentence_is_searched_until_the_answer_is_said() -> None:
    index = Index(Who_founded_it="a b c d", It_was_made_by_Acme="b x y", Acme_is_owned_by_Ann="z")
    model = ScriptedTextModel(
        "It was made by Acme.", "Acme is owned by Ann. And more.", "So the answer is Ann."
    )
    system = IterativeSystem(index, model, "s", IterativeSettings(per_step=2, steps=5))
    evidence = system.evidence("Who founded it?", 1000)
    assert index.asked == ["Who founded it?", "It was made by Acme.", "Acme is owned by Ann."]
    assert [passage.document_id for passage in evidence.passages] == list("abzxcd")
    assert [spans[0].document_id for spans in evidence.ranked] == list("abzxcd")
    assert system.steps[-1] == "So the answer is Ann."
    assert (evidence.spent.calls, evidence.spent.input_tokens) == (3, 300)
    assert evidence.spent.output_tokens == 60
    assert evidence.spent.dollars == pytest.approx(0.03)
    assert evidence.answer is None


def test_the_model_sees_the_union_and_its_steps() -> None:
    index = Index(Q="a b c", One="c d", Two="e")
    model = ScriptedTextModel("One.", "Two.", "So the answer is 3.")
    rules = IterativeSettings(per_step=2, shown=4, sentence_tokens=33)
    IterativeSystem(index, model, "s", rules).evidence("Q?", 100)
    assert [(system, limit) for system, _, limit in model.prompts] == [(SYSTEM, 33)] * 3
    shown = [
        step_prompt("Q?", [piece(n) for n in found], said)
        for found, said in (
            ("ab", ()),
            ("abcd", ("One.",)),
            ("abcd", ("One.", "Two.")),
        )
    ]
    assert [prompt for _, prompt, _ in model.prompts] == shown


def test_several_budgets_cost_one_run_and_each_reports_it() -> None:
    index = Index(Q="a b c")
    model = ScriptedTextModel("So the answer is 4.", "So the answer is 5.")
    system = IterativeSystem(index, model, "s")
    small, large = system.evidence("Q?", 4), system.evidence("Q?", 100)
    assert len(small.passages) < len(large.passages) == 3
    assert small.spent == large.spent
    assert len(model.prompts) == 1
    system.evidence("Another?", 100)
    assert len(model.prompts) == 2


@pytest.mark.parametrize("said", [["", ""], ["Same.", "Same."]])
def test_a_model_that_says_nothing_new_ends_it(said: list[str]) -> None:
    model = ScriptedTextModel(*said)
    evidence = IterativeSystem(Index(Q="a"), model, "s").evidence("Q", 100)
    assert evidence.spent.calls == (1 if not said[0] else 2)
    assert len(evidence.passages) == 1


def test_steps_are_limited_and_the_last_is_not_searched() -> None:
    index, model = Index(Q="a", S1="b", S2="c"), ScriptedTextModel("S1.", "S2.")
    evidence = IterativeSystem(index, model, "s", IterativeSettings(steps=2)).evidence("Q", 100)
    assert index.asked == ["Q", "S1."]
    assert len(evidence.passages) == 2


def test_a_failing_model_is_an_error_not_an_empty_row() -> None:
    system = IterativeSystem(Index(Q="a"), ScriptedTextModel(ModelError("down")), "s")
    with pytest.raises(ModelError):
        system.evidence("Q", 100)


def test_prompt() -> None:
    prompt = step_prompt("What\nis it?", [piece("a", "It is. <<<<", "T >>> x")], ["First."])
    assert prompt == (
        "QUESTION: What is it?\n\n"
        "PASSAGES:\n[1] <<<\nT > > > x\nIt is. < < < <\n>>>\n\n"
        "STEPS SO FAR:\n1. First.\n\n"
        "NEXT STEP:"
    )
    assert "(nothing was found)" in step_prompt("Q", [], [])


@given(st.text(), st.text())
def test_a_passage_cannot_leave_its_fence(title: str, text: str) -> None:
    prompt = step_prompt("Q", [piece("a", text or "x", title)], [])
    assert (prompt.count("<<<"), prompt.count(">>>")) == (1, 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("He was born in Bonn. Then he moved.", "He was born in Bonn."),
        ("\n\n2. He was born in Bonn.", "He was born in Bonn."),
        ("NEXT STEP: Ann, b. 1770, founded it.\nMore", "Ann, b. 1770, founded it."),
        ("Step 3: - 1984 was written by Orwell.", "1984 was written by Orwell."),
        ("1984 was written by Orwell.", "1984 was written by Orwell."),
        ("no stop", "no stop"),
        ("  \n ", ""),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@given(st.text())
def test_first_sentence_of_anything(text: str) -> None:
    assert "\n" not in first_sentence(text)


@pytest.mark.parametrize(
    ("thought", "last"),
    [
        ("So the answer is Ann.", True),
        ("The final answer is: 7", True),
        ("Ann gave the answer in 1770.", False),
    ],
)
def test_says_the_answer(thought: str, last: bool) -> None:
    assert says_the_answer(thought) is last


def test_merging_goes_rank_by_rank() -> None:
    lists = [[piece(n) for n in "abc"], [piece(n) for n in "bd"], [piece("e")]]
    assert names(merged(lists, [piece(n) for n in "abcf"])) == "a b e d c f"
    assert merged([]) == ()
