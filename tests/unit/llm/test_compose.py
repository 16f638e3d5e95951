from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.llm.compose import answer_from, compose_call
from resin_es.llm.composer import ModelComposer
from resin_es.model import UNCITED, Answer, EvidenceBuffer
from resin_es.ports import ModelCall, ModelReply
from resin_es.prompts import prompt
from resin_es.query.values import StreamingComposer
from resin_es.testing.scripted_language import ScriptedLanguageModel, text_reply
from tests.unit.llm.online import BUS, METRO, QUESTION, evidence

BUFFER = evidence(BUS, METRO, titles=("Bus 14", "Metro"))
GIVEN = {s.id: s.text for p in BUFFER.passages for s in p.sentences}
GOOD = "Bus 14 is cheaper [1.1] [2.1]. It costs 3 crowns [1.1]."


def answer(text: str, buffer: EvidenceBuffer = BUFFER, **fields: Any) -> Answer:
    return answer_from(text_reply(text, **fields), QUESTION, buffer)


# ---------------------------------------------------------------- the request


def test_the_request_holds_the_question_and_the_passages_and_nothing_else() -> None:
    told = prompt("compose")
    assert compose_call(QUESTION, BUFFER, "m") == ModelCall(
        stage="compose",
        model="m",
        prompt_version=told.version,
        system=told.text,
        user=f"QUESTION: <<<\n{QUESTION}\n>>>\n\n"
        "PASSAGE 1\nTITLE: <<<\nBus 14\n>>>\nTEXT: <<<\n"
        "[1.1] The fare of Bus 14 is 3 crowns.\n[1.2] Dogs ride free on Bus 14.\n>>>\n\n"
        "PASSAGE 2\nTITLE: <<<\nMetro\n>>>\nTEXT: <<<\n"
        "[2.1] The fare of Metro Line B is 5 crowns.\n>>>",
        output=None,
        max_tokens=8192,
    )


def test_a_passage_without_title_has_no_title_line() -> None:
    assert "TITLE" not in compose_call(QUESTION, evidence(BUS), "m").user


# ---------------------------------------------------------------- what comes back


def test_citations_are_numbered_by_first_use_and_quote_the_source() -> None:
    found = answer("Metro costs 5 [2.1]. Bus 14 costs 3 [1.1]. So the bus is cheaper [1.1] [2.1].")
    assert found.found
    assert found.text.split("\n") == [
        "Metro costs 5. [1]",
        "Bus 14 costs 3. [2]",
        "So the bus is cheaper. [2] [1]",
    ]
    assert [s.citations for s in found.statements] == [(1,), (2,), (2, 1)]
    first = found.citations[0]
    assert (first.number, first.passage_id, first.sentence_ids) == (1, "passage-2", ("s2.1",))
    assert (first.document_key, first.document_id, first.source) == (
        "key-2", "document-2", "files",
    )  # fmt: skip
    assert (first.title, first.url) == ("Metro", "https://docs.example/2")
    assert [c.quote for c in found.citations] == [METRO[0], BUS[0]]
    assert found.missing == found.notes == ()


def test_a_citation_to_a_passage_that_was_not_given_is_taken_out_named_and_counted() -> None:
    found = answer("Bus 14 costs 3 [1.1]. The tram costs 9 [7.1] [3].")
    assert [c.sentence_ids for c in found.citations] == [("s1.1",)]
    tram = found.statements[1]
    assert tram.text == f"The tram costs 9. {UNCITED}"
    assert tram.citations == ()
    assert tram.rejected == ("[7.1]", "[3]")
    assert found.notes == (
        "1 of 2 sentences carry no valid citation.",
        "Citations that name no sentence given, taken out (2): [7.1] [3]",
    )


def test_an_answer_without_any_valid_citation_is_not_found() -> None:
    found = answer("Surely the bus. I know it [9.9].")
    assert not found.found
    assert found.missing == (QUESTION,)
    assert all(s.text.endswith(UNCITED) for s in found.statements)


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("NOT IN THE EVIDENCE: the night fare; who sets it", ("the night fare", "who sets it")),
        ("**Not in the evidence:** the night fare [1.1]; ;", ("the night fare",)),
        ("- not in the evidence - the night fare", ("the night fare",)),
        ("NOT IN THE EVIDENCE", (QUESTION,)),
    ],
)
def test_missing_needs_are_named(line: str, needs: tuple[str, ...]) -> None:
    part = answer(f"Bus 14 costs 3 [1.1].\n\n{line}")
    assert part.found
    assert part.missing == needs
    assert len(part.statements) == 1
    assert part.text.endswith("Not in the evidence: " + "; ".join(needs))
    nothing = answer(line)
    assert not nothing.found
    assert nothing.missing == needs
    assert nothing.statements == nothing.citations == ()


def test_a_last_line_that_misses_nothing_is_left_out() -> None:
    found = answer("Bus 14 costs 3 [1.1].\nNOT IN THE EVIDENCE: none")
    assert found.found
    assert found.missing == ()
    assert found.text == "Bus 14 costs 3. [1]"


def test_an_answer_that_was_cut_off_keeps_its_complete_sentences() -> None:
    found = answer("Bus 14 costs 3 [1.1]. The metro costs fi", truncated=True)
    assert [s.text for s in found.statements] == ["Bus 14 costs 3. [1]"]
    assert "cut off" in found.notes[-1]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (text_reply("I will not.", refused=True), "declined"),
        (text_reply(" \n "), "empty"),
        (text_reply("[1.1]"), "no words"),
        (text_reply("Secret half a sent", truncated=True), "before its first sentence ended"),
    ],
)
def test_what_is_no_answer_is_an_error_without_the_models_words(
    reply: ModelReply, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        answer_from(reply, QUESTION, BUFFER)
    assert "Secret" not in str(caught.value)


def test_what_could_command_a_terminal_or_hide_is_gone() -> None:
    found = answer("Bus 14 \x1b[31mcosts\x1b[0m 3\u202e\u200b [1.1].\nNOT IN THE EVIDENCE: a\x1bb")
    shown = found.model_dump_json()
    for sign in ("\\u001b", "\u202e", "\u200b"):
        assert sign not in shown


LINES = st.sampled_from(["NOT IN THE EVIDENCE: ", "[1.1]", "[9.9]", ". ", "\r\n", "; ", "none"])


@given(st.lists(LINES | st.text(max_size=10), max_size=20).map("".join), st.booleans())
def test_any_text_is_an_answer_whose_citations_hold_or_an_error(text: str, cut: bool) -> None:
    try:
        found = answer(text, truncated=cut)
    except ModelError:
        return
    assert [c.number for c in found.citations] == list(range(1, len(found.citations) + 1))
    for citation in found.citations:
        assert citation.quote == GIVEN[citation.sentence_ids[0]]
    used = {n for s in found.statements for n in s.citations}
    assert used == {c.number for c in found.citations}
    assert found.found == bool(found.citations)
    assert found.found or found.missing


# ---------------------------------------------------------------- the composer


def test_compose_asks_once_and_tells_what_it_took() -> None:
    model = ScriptedLanguageModel([text_reply(GOOD, dollars=0.5)])
    found = ModelComposer(model, name="m").compose(QUESTION, BUFFER)
    assert model.calls == [compose_call(QUESTION, BUFFER, "m")]
    assert found.use is not None
    assert (found.use.model, found.use.dollars) == ("m", 0.5)
    assert found.use.tokens == 10 + len(GOOD)


def test_without_evidence_no_call_is_made() -> None:
    composer = ModelComposer(ScriptedLanguageModel([]), name="m")
    found = composer.compose(QUESTION, evidence())
    assert not found.found
    assert found.missing == (QUESTION,)
    assert found.use is None
    assert list(composer.stream(QUESTION, evidence())) == [found]


def test_a_stream_shows_the_text_then_the_answer_that_compose_gives() -> None:
    composer = ModelComposer(ScriptedLanguageModel([GOOD, GOOD]), name="m")
    assert isinstance(composer, StreamingComposer)
    *pieces, last = composer.stream(QUESTION, BUFFER)
    assert len(pieces) > 3
    assert "".join(map(str, pieces)) == GOOD
    assert last == composer.compose(QUESTION, BUFFER)


def test_a_stream_that_ends_early_is_an_error() -> None:
    class Broken(ScriptedLanguageModel):
        def stream(self, call: ModelCall) -> Any:
            yield "Bus 14 costs"

    with pytest.raises(ModelError, match="without its end"):
        list(ModelComposer(Broken([]), name="m").stream(QUESTION, BUFFER))


@pytest.mark.parametrize(
    "error",
    [ModelError("500"), ModelUnavailable("no key."), BudgetSpent("spent.", spent=1.0, cap=1.0)],
)
def test_a_call_that_fails_is_the_callers_to_see(error: ModelError) -> None:
    composer = ModelComposer(ScriptedLanguageModel([error, error]), name="m")
    with pytest.raises(type(error)):
        composer.compose(QUESTION, BUFFER)
    with pytest.raises(type(error)):
        list(composer.stream(QUESTION, BUFFER))
