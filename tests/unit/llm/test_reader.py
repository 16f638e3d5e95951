"""The reader over a model: what it asks, what it keeps, and where a fault ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.extract.read import read_many
from resin_es.llm.outputs import kept_outputs
from resin_es.llm.passages import passages_call
from resin_es.llm.reader import ModelReader
from resin_es.llm.units import units_call
from resin_es.ports import LanguageModel, ModelCall, ModelReply, Usage
from resin_es.prompts import prompt
from resin_es.testing.scripted_language import (
    Answer,
    MemoryCache,
    ScriptedLanguageModel,
    data_reply,
)
from tests.unit.llm.offline import TRAM, document, fact, passage, window

CUT = ModelReply(
    text='{"pas', stop_reason="max_tokens", truncated=True, usage=Usage(input_tokens=5)
)
UNIT = fact("Harbour Line", "costs", "2.40 marens", "costs 2.40 marens", "S2")


def whole(call: ModelCall) -> Answer:
    """A fitting answer to either stage: one passage over everything, one fact per sentence."""
    rows = [row for row in call.user.splitlines() if row.startswith("S")]
    if call.stage == "passages":
        return {"passages": [{"first": "S1", "last": f"S{len(rows)}", "main_entity": "tram"}]}
    texts = [row.partition(": ")[2] for row in rows]
    return {
        "units": [
            fact(text.split()[0], "says", text.split()[-1].strip("."), text, f"S{at}")
            for at, text in enumerate(texts, 1)
        ]
    }


def reader_of(
    script: Callable[[ModelCall], Answer] | Sequence[Answer],
    cache: MemoryCache | None = None,
    lanes: int = 1,
) -> tuple[ModelReader, ScriptedLanguageModel, MemoryCache]:
    model = ScriptedLanguageModel(script)
    kept = cache if cache is not None else MemoryCache()
    return ModelReader(model, kept, name="m", lanes=lanes), model, kept


# ---------------------------------------------------------------- the ordinary way


def test_the_fake_is_a_language_model() -> None:
    model: LanguageModel = ScriptedLanguageModel(["a b"])
    call = passages_call(window(*TRAM), "m")
    assert list(model.stream(call))[:2] == ["a ", "b"]


def test_identity_names_the_model_and_both_prompts() -> None:
    identity = reader_of([])[0].identity
    assert identity.model == "m"
    assert prompt("passages").version in identity.prompt_version
    assert prompt("units").version in identity.prompt_version
    assert reader_of([])[0].languages() is None
    assert reader_of([], lanes=3)[0].lanes == 3


def test_one_call_a_window_and_one_a_passage() -> None:
    reader, model, _ = reader_of(whole)
    reading = reader.passages(window(*TRAM))
    assert [(draft.first, draft.last) for draft in reading.drafts] == [(0, 3)]
    items = [passage(*TRAM[:2]), passage(TRAM[2])]
    readings = reader.units(items)
    assert [len(one.drafts) for one in readings] == [2, 1]
    asked = [passages_call(window(*TRAM), "m"), *(units_call(item, "m") for item in items)]
    assert model.calls == asked


def test_tokens_and_dollars_are_those_of_the_replies() -> None:
    usage = Usage(input_tokens=100, cache_read_tokens=40, cache_write_tokens=2, output_tokens=8)

    def script(call: ModelCall) -> Answer:
        return data_reply(whole(call), usage=usage, dollars=0.25)

    reader, _, _ = reader_of(script)
    assert (reader.passages(window(*TRAM)).tokens, reader.passages(window("x")).cost) == (150, 0.25)
    (reading,) = reader.units([passage(*TRAM)])
    assert (reading.tokens, reading.cost) == (150, 0.25)


def test_what_was_read_is_not_asked_again() -> None:
    first, _, cache = reader_of(whole)
    items = [passage(*TRAM[:2]), passage(TRAM[2])]
    before = (first.passages(window(*TRAM)), list(first.units(items)))
    again, model, _ = reader_of([], cache)
    after = (again.passages(window(*TRAM)), list(again.units(items)))
    assert model.calls == []
    assert after[0].drafts == before[0].drafts
    assert [one.drafts for one in after[1]] == [one.drafts for one in before[1]]
    assert (after[0].tokens, after[0].cost, sum(one.tokens for one in after[1])) == (0, 0.0, 0)


def test_a_pool_looks_into_the_cache_once() -> None:
    looks: list[int] = []

    class Counting(MemoryCache):
        def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
            looks.append(len(keys))
            return super().cache_get(keys)

    reader, _, _ = reader_of(whole, Counting())
    reader.units([passage(text) for text in TRAM])
    assert looks == [4, 4]


# ---------------------------------------------------------------- outputs of no use

BAD: list[tuple[Answer, str]] = [
    (ModelReply(refused=True, stop_reason="refusal"), "refused"),
    (ModelReply(refused=True, text="{}", data={"units": [], "passages": []}), "refused"),
    (ModelReply(refused=True, truncated=True), "refused"),
    ("", "empty"),
    ("Sure! Here they are.", "not-json"),
    ({"answer": 1}, "wrong-shape"),
    (ModelError("the server said 500"), "call-failed"),
]


@pytest.mark.parametrize(("answer", "fault"), BAD)
def test_a_bad_output_fails_its_passage_alone(answer: Answer, fault: str) -> None:
    def script(call: ModelCall) -> Answer:
        return answer if "Mill Square" in call.user else whole(call)

    reader, model, cache = reader_of(script, lanes=2)
    items = [passage(text) for text in TRAM]
    readings = reader.units(items)
    assert [one.failure is None for one in readings] == [True, True, False, True]
    assert [len(one.drafts) for one in readings] == [1, 1, 0, 1]
    assert readings[2].faults == {fault: 1}
    failure = readings[2].failure
    assert failure is not None
    assert failure.stage == "units"
    assert items[2].passage.id[:12] in failure.message
    assert "characters 0-" in failure.message
    assert len(model.calls) == 4
    assert set(kept_outputs(cache, [units_call(item, "m") for item in items])) == {
        units_call(items[at], "m").id for at in (0, 1, 3)
    }


@pytest.mark.parametrize(("answer", "fault"), [*BAD, ({"passages": []}, "no-passages")])
def test_a_bad_output_fails_its_window(answer: Answer, fault: str) -> None:
    reader, _, cache = reader_of([answer])
    reading = reader.passages(window(*TRAM))
    assert reading.drafts == ()
    (unread,) = reading.unread
    assert (unread.first, unread.last, unread.error.stage) == (0, 3, "passages")
    assert reading.faults == {fault: 1}
    assert cache.values == {}


def test_a_bad_output_is_paid_for_all_the_same() -> None:
    bad = ModelReply(text="no", usage=Usage(output_tokens=7), dollars=0.5)
    reader, _, _ = reader_of([bad, bad])
    reading = reader.passages(window(*TRAM))
    assert (reading.tokens, reading.cost) == (7, 0.5)
    (unit,) = reader.units([passage(*TRAM)])
    assert (unit.tokens, unit.cost) == (7, 0.5)


def test_a_failed_call_counts_what_it_cost_all_the_same() -> None:
    error = ModelError("the last route failed")
    error.reply = ModelReply(usage=Usage(output_tokens=9), dollars=0.25)
    reader, _, _ = reader_of([error, error])
    (unit,) = reader.units([passage(*TRAM)])
    reading = reader.passages(window(*TRAM))
    assert (unit.tokens, unit.cost, reading.tokens, reading.cost) == (9, 0.25, 9, 0.25)


def test_a_kept_output_of_no_use_is_asked_for_anew() -> None:
    cache = MemoryCache()
    item = passage(*TRAM)
    reader, model, _ = reader_of(whole, cache)
    cache.values[f"output-units-{units_call(item, 'm').id}"] = b'{"units": 3}'
    assert len(reader.units([item])[0].drafts) == 4
    assert len(model.calls) == 1


def test_repaired_json_is_taken_and_counted() -> None:
    reader, _, _ = reader_of([data_reply({"units": [UNIT]}, route="repaired")])
    (reading,) = reader.units([passage(*TRAM)])
    assert (len(reading.drafts), reading.faults) == (1, {"repaired-json": 1})


def test_problems_of_single_passages_are_counted() -> None:
    items = [{"first": "S1", "last": "S2"}, {"first": "S8", "last": "S9"}]
    reader, _, _ = reader_of([{"passages": items}])
    reading = reader.passages(window(*TRAM))
    assert (len(reading.drafts), reading.unread) == (1, ())
    assert reading.faults == {"unknown-sentence": 1}


# ---------------------------------------------------------------- truncated outputs


def cut_above(size: int) -> Callable[[ModelCall], Answer]:
    """Answers that are cut off for more than ``size`` sentences."""

    def script(call: ModelCall) -> Answer:
        rows = [row for row in call.user.splitlines() if row.startswith("S")]
        return CUT if len(rows) > size else whole(call)

    return script


def test_a_truncated_window_is_read_in_halves() -> None:
    reader, model, cache = reader_of(cut_above(2))
    asked = window(*TRAM, before=("Above.",), after=("Below.",))
    reading = reader.passages(asked)
    assert [(draft.first, draft.last) for draft in reading.drafts] == [(0, 1), (2, 3)]
    assert reading.faults == {"truncated": 1, "split": 1}
    assert reading.unread == ()
    left, right = model.calls[1:]
    assert left.user.splitlines()[2:-1] == [
        "BEFORE: Above.",
        f"S1: {TRAM[0]}",
        f"S2: {TRAM[1]}",
        f"AFTER: {TRAM[2]}",
        f"AFTER: {TRAM[3]}",
    ]
    assert right.user.splitlines()[2:-1] == [
        f"BEFORE: {TRAM[0]}",
        f"BEFORE: {TRAM[1]}",
        f"S1: {TRAM[2]}",
        f"S2: {TRAM[3]}",
        "AFTER: Below.",
    ]
    assert reading.tokens == 5 + sum(
        10 + len(reply.text) for reply in (data_reply(whole(call)) for call in (left, right))
    )
    again, silent, _ = reader_of([], cache)
    assert again.passages(asked).drafts == reading.drafts
    assert silent.calls == [], "what is known to be cut off is not asked again"


def test_a_truncated_passage_is_read_in_parts_that_keep_its_id() -> None:
    reader, model, _ = reader_of(cut_above(1))
    item = passage(*TRAM)
    (reading,) = reader.units([item])
    assert len(model.calls) == 7
    assert [draft.sentence_ids for draft in reading.drafts] == [
        (sentence.id,) for sentence in item.sentences
    ]
    assert reading.faults == {"truncated": 3, "split": 3}
    assert reading.failure is None


def test_a_single_sentence_that_does_not_fit_fails_alone() -> None:
    def script(call: ModelCall) -> Answer:
        rows = [row for row in call.user.splitlines() if row.startswith("S")]
        return CUT if any("Mill Square" in row for row in rows) else whole(call)

    reader, model, cache = reader_of(script)
    item = passage(*TRAM)
    (reading,) = reader.units([item])
    assert len(reading.drafts) == 3, "the other sentences keep their units"
    assert reading.failure is not None
    sentence = item.sentences[2]
    assert f"characters {sentence.start}-{sentence.end}" in reading.failure.message
    assert reading.faults == {"truncated": 3, "split": 2}
    asked = reader.passages(window(*TRAM))
    assert [(span.first, span.last) for span in asked.unread] == [(2, 2)]
    assert [(draft.first, draft.last) for draft in asked.drafts] == [(0, 1), (3, 3)]
    again, silent, _ = reader_of([], cache)
    (same,) = again.units([item])
    assert (same.failure, same.drafts) == (reading.failure, reading.drafts)
    assert (same.tokens, silent.calls) == (0, [])
    assert len(model.calls) == 10


# ---------------------------------------------------------------- what ends the run


@pytest.mark.parametrize(
    "error", [ModelUnavailable("no key"), BudgetSpent("spent", spent=2.0, cap=1.0)]
)
def test_what_every_call_would_meet_is_raised_at_once(error: Exception) -> None:
    asked = threading.Event()

    def script(call: ModelCall) -> Answer:
        if "Mill Square" in call.user:
            asked.wait(10)
            return error
        asked.set()
        return whole(call)

    reader, model, cache = reader_of(script, lanes=2)
    items = [passage(TRAM[0]), passage(TRAM[2]), *(passage(f"More {n}.") for n in range(40))]
    with pytest.raises(type(error)):
        reader.units(items)
    assert len(model.calls) < len(items)
    done = [call for call in model.calls if "Mill Square" not in call.user]
    assert set(kept_outputs(cache, done)) == {call.id for call in done}
    with pytest.raises(type(error)):
        reader_of([error])[0].passages(window(*TRAM))


def test_a_model_that_answers_nothing_any_more_ends_the_run() -> None:
    error = ModelError("the server said 529")
    reader, model, _ = reader_of(lambda call: error)
    with pytest.raises(ModelUnavailable, match=r"5 calls of m failed .* 529"):
        reader.units([passage(f"Text {n}.") for n in range(20)])
    assert len(model.calls) == 5


def test_a_model_that_fails_now_and_then_is_asked_on() -> None:
    def script(call: ModelCall) -> Answer:
        return ModelError("no") if "odd" in call.user else whole(call)

    reader, _, _ = reader_of(script)
    readings = reader.units([passage(f"Text {n} is {n % 2 and 'odd'}.") for n in range(30)])
    assert sum(one.failure is not None for one in readings) == 15


def test_lanes_go_out_together_and_come_back_in_order() -> None:
    together = threading.Barrier(3, timeout=10)

    def script(call: ModelCall) -> Answer:
        together.wait()
        return whole(call)

    reader, _, _ = reader_of(script, lanes=3)
    items = [passage(f"Word{n} ends here.") for n in range(9)]
    subjects = [one.drafts[0].claim.subject for one in reader.units(items)]
    assert subjects == [f"Word{n}" for n in range(9)]


# ---------------------------------------------------------------- through extraction


def test_documents_are_read_and_both_stages_are_paid_for() -> None:
    def script(call: ModelCall) -> Answer:
        return data_reply(whole(call), usage=Usage(output_tokens=3), dollars=0.5)

    reader, model, _ = reader_of(script, lanes=2)
    documents = [document(*TRAM, external_id=str(n), title=f"T{n}") for n in range(3)]
    readings = read_many([(one, None) for one in documents], reader)
    assert [len(reading.new_units) for reading in readings] == [4, 4, 4]
    assert [(reading.tokens, reading.cost) for reading in readings] == [(6, 1.0)] * 3
    assert len(model.calls) == 6
    again, silent, _ = reader_of([], MemoryCache())
    assert read_many([], again) == []
    assert silent.calls == []


def test_faults_of_both_stages_end_in_the_reading() -> None:
    def script(call: ModelCall) -> Answer:
        if call.stage == "passages":
            rows = [{"first": "S2", "last": "S2"}, {"first": "S9", "last": "S9"}]
            return data_reply({"passages": rows}, route="repaired")
        lies = {**UNIT, "quote": "never said", "sentences": ["S1"]}
        return {"units": [lies, {"kind": "poem"}]}

    reader, _, _ = reader_of(script)
    (reading,) = read_many([(document(*TRAM), None)], reader)
    assert reading.faults == {"repaired-json": 1, "unknown-sentence": 1}
    assert reading.repairs == 2
    assert reading.rejected["wrong-kind"] == reading.rejected["quote-not-found"] > 0
    assert len(reading.sentences) == 4
    assert sum(len(one.sentence_ids) for one in reading.passages) == 4


def test_a_changed_prompt_asks_its_stage_only(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, cache = reader_of(whole)
    first, _, _ = reader_of(whole, cache)
    read_many([(document(*TRAM), None)], first)
    changed: Any = prompt("units").model_copy(update={"version": "2-x"})
    monkeypatch.setattr(
        "resin_es.llm.units.prompt", lambda stage: changed if stage == "units" else prompt(stage)
    )
    second, model, _ = reader_of(whole, cache)
    read_many([(document(*TRAM), None)], second)
    assert [call.stage for call in model.calls] == ["units"]
