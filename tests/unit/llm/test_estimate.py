"""Estimates: exact where calls can be built, by named assumptions elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pytest

from resin_es.extract.drafting import Previous
from resin_es.extract.read import read_many
from resin_es.llm import estimate as module
from resin_es.llm.estimate import (
    SENTENCES_PER_PASSAGE,
    THINKING,
    TOKENS_AROUND,
    TOKENS_PER_PASSAGE,
    TOKENS_PER_UNIT,
    UNITS_PER_SENTENCE,
    CountingReader,
    Estimate,
    StageEstimate,
    estimate,
    expected_drafts,
)
from resin_es.llm.estimate_question import estimate_question
from resin_es.llm.outputs import keep_output, keep_split
from resin_es.llm.passages import passages_call
from resin_es.llm.pricing import input_tokens, tokens_of
from resin_es.llm.units import units_call
from resin_es.model import Document
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading
from resin_es.ports.language import Stage
from resin_es.prompts import prompt
from resin_es.testing.scripted import ScriptedReader
from resin_es.testing.scripted_language import MemoryCache

PRICES = {"m": (1.0, 10.0)}
Pending = tuple[Document, Previous | None]


def document(name: str, sentences: int) -> Document:
    text = " ".join(f"Bus {n} of line {name} leaves at {n % 24} o'clock." for n in range(sentences))
    return Document(source="s", external_id=name, title=name, text=text, access=("staff",))


class Overheard(ScriptedReader):
    """Cuts as the estimate expects, and keeps what it is given."""

    def __init__(self) -> None:
        super().__init__(languages=None)
        self.given: list[ReadingWindow] = []
        self.inputs: list[PassageInput] = []

    def passages(self, window: ReadingWindow) -> PassageReading:
        self.given.append(window)
        return PassageReading(drafts=expected_drafts(len(window.sentences)))

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        self.inputs.extend(passages)
        return [UnitReading()] * len(passages)


def stages(found: Estimate) -> dict[str, StageEstimate]:
    return {one.stage: one for one in found.stages}


def test_calls_are_those_that_reading_would_make() -> None:
    documents = [document("a", 200), document("b", 3), document("c", 11)]
    reader = Overheard()
    read_many([(one, None) for one in documents], reader)
    found = estimate([(one, None) for one in documents], model="m", prices=PRICES)
    by_stage = stages(found)
    assert len(reader.given) == 5, "200 sentences take three windows"
    assert by_stage["passages"].calls == 5
    assert by_stage["passages"].usage.input_tokens == sum(
        input_tokens(passages_call(window, "m")) for window in reader.given
    )
    assert by_stage["units"].calls == len(reader.inputs) == found.passages
    assert by_stage["units"].usage.input_tokens == sum(
        input_tokens(units_call(item, "m")) for item in reader.inputs
    )
    assert (found.documents, found.to_read) == (3, 3)
    assert found.characters == sum(len(one.text) for one in documents)
    assert found.calls == 5 + len(reader.inputs)


def test_output_and_dollars_follow_from_the_assumptions() -> None:
    one, reader = document("a", 8), Overheard()
    read_many([(one, None)], reader)
    found = estimate([(one, None)], model="m", prices=PRICES)
    by_stage = stages(found)
    assert found.passages == 8 / SENTENCES_PER_PASSAGE == 2
    written = TOKENS_AROUND + 2 * TOKENS_PER_PASSAGE
    assert by_stage["passages"].usage.output_tokens == round(written * (1 + THINKING))
    per_passage = TOKENS_AROUND + round(TOKENS_PER_UNIT * UNITS_PER_SENTENCE * 4)
    rooms = [units_call(item, "m").max_tokens for item in reader.inputs]
    assert by_stage["units"].usage.output_tokens == sum(
        min(round(per_passage * (1 + THINKING)), room) for room in rooms
    )
    for stage in found.stages:
        cost = (stage.usage.input_tokens + 10 * stage.usage.output_tokens) / 1_000_000
        assert stage.dollars == pytest.approx(cost)
        assert stage.batch_dollars == pytest.approx(cost / 2)
    assert found.dollars == pytest.approx(sum(one.dollars or 0 for one in found.stages))
    assert found.batch_dollars == pytest.approx((found.dollars or 0) / 2)


def test_no_call_is_expected_to_write_more_than_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOKENS_PER_UNIT", 10**9)
    reader = Overheard()
    one = document("a", 8)
    read_many([(one, None)], reader)
    room = sum(units_call(item, "m").max_tokens for item in reader.inputs)
    found = estimate([(one, None)], model="m", prices=PRICES)
    assert stages(found)["units"].usage.output_tokens == room


def test_nothing_to_read_costs_nothing_even_without_a_price() -> None:
    found = estimate([], model="nobody-knows", prices={})
    assert (found.calls, found.dollars, found.unpriced) == (0, 0.0, ())


def test_a_model_without_a_price_has_no_dollars_instead_of_none_to_pay() -> None:
    found = estimate([(document("a", 8), None)], model="nobody-knows", prices=PRICES)
    assert found.calls > 0
    assert found.dollars is None
    assert found.batch_dollars is None
    assert found.unpriced == ("nobody-knows",)


def test_what_is_kept_of_a_changed_document_costs_nothing() -> None:
    before = document("a", 40)
    reading = read_many([(before, None)], Overheard())[0]
    after = before.model_copy(update={"text": before.text.replace("Bus 17 ", "Tram 17 ")})
    previous = Previous(passages=reading.refs)
    whole = estimate([(after, None)], model="m", prices=PRICES)
    part = estimate([(after, previous)], model="m", prices=PRICES)
    assert stages(part)["passages"].calls == stages(part)["units"].calls == 1
    assert stages(whole)["units"].calls == 10


class Counted(CountingReader):
    """Keeps what it is asked for."""

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        self.inputs = list(passages)
        return super().units(passages)


def answer_of(window: ReadingWindow) -> dict[str, object]:
    """All sentences in one passage, as a model writes it."""
    last = len(window.sentences)
    return {
        "passages": [
            {
                "first": "S1",
                "last": f"S{last}",
                "main_entity": "Line a",
                "entity_type": "bus line",
                "focus": "its departures",
                "role": "attribute",
            }
        ]
    }


def test_cached_answers_cost_nothing_and_are_cut_as_they_say() -> None:
    one, cache, reader = document("a", 12), MemoryCache(), Overheard()
    read_many([(one, None)], reader)
    call = passages_call(reader.given[0], "m")
    keep_output(cache, call, answer_of(reader.given[0]))
    half = stages(estimate([(one, None)], model="m", prices=PRICES, cache=cache))
    assert (half["passages"].calls, half["passages"].cached, half["passages"].dollars) == (0, 1, 0)
    assert half["units"].calls == 1, "one passage, as the cached answer has it, and not three"
    other = stages(estimate([(one, None)], model="another", prices=PRICES, cache=cache))
    assert other["passages"].calls == 1, "what another model said is no answer of this one"

    counted = Counted("m", PRICES, cache)
    read_many([(one, None)], counted)
    keep_output(cache, units_call(counted.inputs[0], "m"), {"units": []})
    whole = estimate([(one, None)], model="m", prices=PRICES, cache=cache)
    assert (whole.calls, whole.dollars) == (0, 0)
    assert [stage.cached for stage in whole.stages] == [1, 1]


def test_an_answer_that_is_known_to_be_cut_off_is_expected_in_halves() -> None:
    one, cache, reader = document("a", 16), MemoryCache(), Overheard()
    read_many([(one, None)], reader)
    keep_split(cache, passages_call(reader.given[0], "m"))
    found = stages(estimate([(one, None)], model="m", prices=PRICES, cache=cache))
    assert (found["passages"].calls, found["passages"].cached) == (2, 0)
    assert found["units"].calls == 4


def test_documents_are_gone_through_a_bounded_number_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_BATCH", 2)
    taken = 0
    most_ahead = 0
    read = 0
    real = read_many

    def counted(
        batch: Sequence[tuple[Document, Previous | None]], reader: CountingReader
    ) -> object:
        nonlocal read, most_ahead
        most_ahead = max(most_ahead, taken - read)
        read += len(batch)
        return real(batch, reader)

    monkeypatch.setattr(module, "read_many", counted)

    def stream() -> Iterator[Pending]:
        nonlocal taken
        for number in range(7):
            taken += 1
            yield document(str(number), 2), None

    assert estimate(stream(), model="m", prices=PRICES).to_read == 7
    assert most_ahead <= 2


@pytest.mark.parametrize("sentences", [1, 2, 3, 4, 5, 6, 7, 79, 80])
def test_expected_passages_hold_each_sentence_once(sentences: int) -> None:
    drafts = expected_drafts(sentences)
    covered = [n for draft in drafts for n in range(draft.first, draft.last + 1)]
    assert covered == list(range(sentences))
    sizes = [draft.last - draft.first + 1 for draft in drafts]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= SENTENCES_PER_PASSAGE + 2


@pytest.mark.parametrize(
    ("stage", "tokens"), [("passages", TOKENS_PER_PASSAGE), ("units", TOKENS_PER_UNIT)]
)
def test_the_assumed_size_is_that_of_the_prompts_example(stage: Stage, tokens: int) -> None:
    text = prompt(stage).text
    example = re.search(rf'^\{{"{stage}": \[.*$', text, re.MULTILINE)
    assert example is not None
    records = json.loads(example.group())[stage]
    assert tokens_of(example.group()) / len(records) == pytest.approx(tokens, rel=0.2)


def test_a_question_takes_a_plan_and_an_answer() -> None:
    small, large = (
        estimate_question(model="m", prices=PRICES, budget=budget, max_hops=4)
        for budget in (500, 2_000)
    )
    assert [one.stage for one in small] == ["plan", "compose"]
    assert all(one.calls == 1 and one.dollars for one in small)
    assert small[0] == large[0], "the plan does not see the evidence"
    more = large[1].usage.input_tokens - small[1].usage.input_tokens
    # 1,500 tokens of four characters are 2,000 of three; labels and delimiters come on top
    assert 2_000 <= more <= 3_000
    unknown = estimate_question(model="nobody-knows", prices={}, budget=500, max_hops=4)
    assert [one.dollars for one in unknown] == [None, None]
