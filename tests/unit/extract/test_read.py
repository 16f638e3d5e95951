"""Reading documents: what is asked of the reader, what is kept, where failures end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable, ReadingError
from resin_es.extract.read import Previous, Reading, read_document, read_many
from resin_es.model import Document, MarkedPassage, PassageDraft, Sentence, StageError
from resin_es.ports import (
    PassageInput,
    PassageReading,
    ReadingWindow,
    UnitReading,
    UnreadSpan,
)
from resin_es.testing.scripted import ScriptedReader, one_passage_per, one_unit_per_sentence

NAMES = "anchor bridge canal dock engine ferry gate harbour island jetty".split()
PARTS = [f"The {name} is the place where the boats of the {name} stop." for name in NAMES]


def document(parts: Sequence[str] = PARTS, **fields: object) -> Document:
    return Document.model_validate(
        {"source": "s", "external_id": "1", "title": "Port", "text": " ".join(parts), "access": (),
         **fields}
    )  # fmt: skip


def after(reading: Reading) -> Previous:
    return Previous(passages=reading.refs)


def complete(reading: Reading, text: str) -> bool:
    """Each sentence in exactly one passage, in order, at the place the registry will say."""
    held = [one for passage in reading.passages for one in passage.sentence_ids]
    starts = all(
        text[ref.start : ref.start + len(passage.text)] == passage.text and ref.id == passage.id
        for ref, passage in zip(reading.refs, reading.passages, strict=True)
    )
    return starts and held == [sentence.id for sentence in reading.sentences]


def test_a_new_document_is_read_whole() -> None:
    reader = ScriptedReader()
    reading = read_document(document(), reader)
    assert complete(reading, document().text)
    assert reading.language == "en"
    assert [len(passage.sentence_ids) for passage in reading.passages] == [3, 3, 3, 1]
    assert len(reading.new_units) == reading.read_sentences == 10
    assert reading.read_passages == 4
    assert reader.unit_calls == 1
    assert reading.tokens == sum(len(passage.text) for passage in reading.passages)
    assert reading.failures == ()
    assert reading.kept_passage_ids == frozenset()
    assert {unit.passage_id for unit in reading.new_units} == {p.id for p in reading.passages}
    assert reader.windows[0].title == reader.asked[0].title == "Port"


def test_an_unchanged_document_asks_nothing() -> None:
    reader = ScriptedReader()
    first = read_document(document(), reader)
    calls = len(reader.windows)
    again = read_document(document(), reader, after(first))
    assert (len(reader.windows), reader.unit_calls) == (calls, 1)
    assert again.kept_passage_ids == {passage.id for passage in first.passages}
    assert again.refs == first.refs
    assert (again.new_units, again.read_passages, again.tokens) == ((), 0, 0)


def test_an_insertion_at_the_top_reads_one_sentence() -> None:
    reader = ScriptedReader()
    first = read_document(document(), reader)
    reader.windows.clear()
    reader.asked.clear()
    parts = ["The yard is the newest place of the port.", *PARTS]
    second = read_document(document(parts), reader, after(first))
    assert complete(second, document(parts).text)
    assert [item.passage.text for item in reader.asked] == [parts[0]]
    assert [s.text for s in reader.windows[0].sentences] == [parts[0]]
    assert [s.text for s in reader.windows[0].after] == PARTS[:2]
    assert [ref.id for ref in second.refs][1:] == [ref.id for ref in first.refs]
    assert (second.read_passages, second.read_sentences) == (1, 1)


def test_a_changed_sentence_reads_its_passage() -> None:
    reader = ScriptedReader()
    first = read_document(document(), reader)
    parts = [*PARTS[:4], "The engine is the place where no boats stop.", *PARTS[5:]]
    second = read_document(document(parts), reader, after(first))
    assert complete(second, document(parts).text)
    assert second.read_sentences == 3
    assert len(second.kept_passage_ids) == 3


EDITS = st.lists(st.sampled_from([*PARTS, "The new one is the last place of all."]), max_size=12)


@settings(deadline=None, max_examples=60)
@given(EDITS, EDITS, st.integers(1, 4))
def test_any_change_is_read_completely(old: list[str], new: list[str], size: int) -> None:
    reader = ScriptedReader(passages=one_passage_per(size))
    first = read_document(document(old), reader)
    second = read_document(document(new), reader, after(first))
    assert complete(second, document(new).text)
    fresh = {p.id for p in second.passages} - second.kept_passage_ids
    assert second.read_passages == len(fresh)
    assert {unit.passage_id for unit in second.new_units} == fresh
    assert second.kept_passage_ids <= {ref.id for ref in first.refs}


def failing_on(word: str, error: Exception) -> Callable[[PassageInput], UnitReading]:
    def script(item: PassageInput) -> UnitReading:
        if word in item.passage.text:
            raise error
        return one_unit_per_sentence(item)

    return script


@pytest.mark.parametrize("error", [ReadingError("cut", stage="extract"), ModelError("cut")])
def test_a_failing_passage_fails_alone(error: Exception) -> None:
    reader = ScriptedReader(units=failing_on("engine", error))
    others = [document(external_id=str(number), text=PARTS[number]) for number in (0, 1, 2)]
    readings = read_many([*((one, None) for one in others), (document(), None)], reader)
    assert [len(reading.new_units) for reading in readings] == [1, 1, 1, 7]
    assert [len(reading.failures) for reading in readings] == [0, 0, 0, 1]
    (failure,) = readings[3].failures
    assert failure.message == "cut"
    assert failure.stage == ("extract" if isinstance(error, ReadingError) else "units")
    (failed,) = readings[3].failed_passage_ids
    assert [ref.failed for ref in readings[3].refs] == [False, True, False, False]
    assert readings[3].refs[1].id == failed


def test_a_failed_passage_is_read_again_the_next_time() -> None:
    first = read_document(document(), ScriptedReader(units=failing_on("engine", ModelError("x"))))
    reader = ScriptedReader()
    second = read_document(document(), reader, after(first))
    assert [item.passage.id for item in reader.asked] == [*first.failed_passage_ids]
    assert (second.failures, len(second.new_units)) == ((), 3)


def test_a_failing_window_falls_back_to_fixed_size() -> None:
    def script(window: ReadingWindow) -> list[PassageDraft]:
        raise ReadingError("refused", stage="passages")

    reader = ScriptedReader(passages=script)
    reading = read_document(document(), reader)
    assert complete(reading, document().text)
    assert not any(passage.semantic for passage in reading.passages)
    assert (reading.new_units, reader.unit_calls) == ((), 0)
    assert [failure.stage for failure in reading.failures] == ["passages"]
    assert all(ref.failed for ref in reading.refs)


def test_a_reader_that_is_down_is_not_asked_for_ever() -> None:
    reader = ScriptedReader(passages=one_passage_per(1), units=failing_on("The", ModelError("no")))
    reading = read_document(document(PARTS * 20), reader)
    assert len(reading.failures) == 200
    assert reader.unit_calls < 40


def test_a_reader_that_fails_now_and_then_is_asked_on() -> None:
    reader = ScriptedReader(
        passages=one_passage_per(1), units=failing_on("of the anchor", ModelError("no"))
    )
    reading = read_document(document(PARTS[:2] * 20), reader)
    assert len(reading.failures) == len(reading.new_units) == 20


@pytest.mark.parametrize("error", [ModelUnavailable("no"), BudgetSpent("no", spent=1.0, cap=1.0)])
@pytest.mark.parametrize("lanes", [1, 3])
def test_what_every_document_would_meet_stops_everything(error: Exception, lanes: int) -> None:
    def refuse(window: ReadingWindow) -> list[PassageDraft]:
        raise error

    units = ScriptedReader(units=failing_on("The", error), lanes=lanes)
    for reader in (units, ScriptedReader(passages=refuse, lanes=lanes)):
        with pytest.raises(type(error)):
            read_many([(document(external_id=str(n)), None) for n in range(9)], reader)
    assert units.unit_calls == 1, "not asked again for halves"


def test_a_reading_may_say_itself_what_failed() -> None:
    failure = StageError(stage="units", type="ModelError", message="cut off")

    def script(item: PassageInput) -> UnitReading:
        reading = one_unit_per_sentence(item).model_copy(update={"faults": {"split": 1}})
        if "engine" not in item.passage.text:
            return reading
        return reading.model_copy(update={"drafts": reading.drafts[:1], "failure": failure})

    reader = ScriptedReader(units=script)
    reading = read_document(document(), reader)
    assert reader.unit_calls == 1
    assert reading.failures == (failure,)
    assert [ref.failed for ref in reading.refs] == [False, True, False, False]
    assert len(reading.new_units) == 8, "what was read of the passage stands"
    assert reading.faults == {"split": 4}
    again = ScriptedReader()
    second = read_document(document(), again, after(reading))
    assert [item.passage.id for item in again.asked] == [*reading.failed_passage_ids]
    assert second.failures == ()


def test_a_window_may_fail_in_part() -> None:
    error = StageError(stage="passages", type="ModelError", message="refused")

    def script(window: ReadingWindow) -> PassageReading:
        return PassageReading(
            drafts=(
                PassageDraft(first=0, last=1, main_entity="a"),
                PassageDraft(first=6, last=8, main_entity="b"),
            ),
            unread=(UnreadSpan(first=2, last=4, error=error),),
            faults={"refused": 1},
            tokens=70,
            cost=0.5,
        )

    reader = ScriptedReader(passages=script)
    reading = read_document(document(), reader)
    assert complete(reading, document().text)
    spans = [(len(one.sentence_ids), one.main_entity, one.semantic) for one in reading.passages]
    assert spans == [(2, "a", True), (3, "", False), (5, "b", True)]
    assert [ref.failed for ref in reading.refs] == [False, True, False]
    assert (reading.repairs, reading.failures) == (2, (error,))
    assert len(reading.new_units) == 7
    assert reading.faults == {"refused": 1}
    assert reading.tokens == 70 + sum(len(item.passage.text) for item in reader.asked)
    assert reading.cost == 0.5


def test_windows_of_many_documents_are_read_in_lanes() -> None:
    together = threading.Barrier(3, timeout=10)

    def script(window: ReadingWindow) -> Sequence[PassageDraft] | PassageReading:
        together.wait()
        return one_passage_per(3)(window)

    reader = ScriptedReader(passages=script, lanes=3)
    documents = [document(PARTS[n:], external_id=str(n)) for n in range(6)]
    readings = read_many([(one, None) for one in documents], reader)
    assert [reading.document_key for reading in readings] == [one.key for one in documents]
    assert all(complete(r, d.text) for r, d in zip(readings, documents, strict=True))
    sequential = read_many([(one, None) for one in documents], ScriptedReader(), lanes=1)
    assert readings == sequential


def test_a_short_answer_is_a_failure() -> None:
    class Short(ScriptedReader):
        def units(self, passages: Sequence[PassageInput]) -> list[UnitReading]:
            return []

    reading = read_document(document(), Short())
    assert "0 readings for 1 passages" in reading.failures[0].message
    assert len(reading.failed_passage_ids) == 4


def test_gaps_of_the_constructor_are_repaired_and_counted() -> None:
    reader = ScriptedReader(passages=lambda window: [PassageDraft(first=0, last=1)])
    reading = read_document(document(), reader)
    assert complete(reading, document().text)
    assert [passage.semantic for passage in reading.passages] == [True, False]
    assert reading.repairs == 1


def test_other_languages_get_sentences_and_no_units() -> None:
    text = "Die Fähre fährt im Winter nicht. Der Hafen ist dann zugefroren. Es ist sehr kalt."
    reader = ScriptedReader()
    reading = read_document(document([text]), reader)
    assert complete(reading, text)
    assert (reader.windows, reader.asked) == ([], [])
    assert reading.unread_language
    assert reading.rejected == {"language:de": 1}
    assert not any(passage.semantic for passage in reading.passages)
    again = read_document(document([text]), reader, after(reading))
    assert again.rejected == {}
    assert again.kept_passage_ids


def test_a_reader_of_all_languages_reads_them() -> None:
    text = "Die Fähre fährt im Winter nicht. Der Hafen ist dann zugefroren."
    reader = ScriptedReader(languages=None)
    assert len(read_document(document([text]), reader).new_units) == 2
    assert reader.windows[0].language == reader.asked[0].language == "de"


def test_a_text_too_short_to_tell_is_read_as_english() -> None:
    reader = ScriptedReader()
    reading = read_document(document(["Line 7"]), reader)
    assert (reading.language, reader.windows[0].language) == ("und", "en")
    assert len(reading.new_units) == 1


def test_marked_passages_are_kept_as_they_are() -> None:
    base = document()
    cut = base.text.index(PARTS[4])
    mark = MarkedPassage(start=cut, end=base.text.index(PARTS[7]), main_entity="engine")
    marked = document(marked=(mark,))
    reader = ScriptedReader()
    reading = read_document(marked, reader)
    assert complete(reading, marked.text)
    assert reader.windows == []
    assert [p.main_entity for p in reading.passages] == ["", "engine", ""]
    assert len(reading.new_units) == 10
    again = read_document(marked, reader, after(reading))
    assert again.kept_passage_ids == {passage.id for passage in reading.passages}
    other = document(marked=(mark.model_copy(update={"end": len(base.text)}),))
    assert len(read_document(other, reader, after(reading)).kept_passage_ids) == 1


def test_unmarked_input_is_cut_by_size_and_read() -> None:
    reader = ScriptedReader()
    reading = read_document(document(PARTS * 4, unmarked=True), reader)
    assert reader.windows == []
    assert len(reading.passages) > 1
    assert not any(passage.semantic for passage in reading.passages)
    assert reading.read_passages == len(reading.passages)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_nothing_to_read(text: str) -> None:
    reader = ScriptedReader()
    reading = read_document(document([text]), reader)
    assert (reading.sentences, reading.passages, reading.refs) == ((), (), ())
    assert reader.unit_calls == 0


def test_a_long_document_is_read_in_windows() -> None:
    def titles(sentences: Sequence[Sentence]) -> list[str]:
        return [sentence.text for sentence in sentences]

    reader = ScriptedReader(passages=one_passage_per(1_000))
    text = document(PARTS * 30)
    reading = read_document(text, reader)
    assert complete(reading, text.text)
    assert len(reader.windows) > 1
    assert titles(reader.windows[1].before) == titles(reader.windows[0].sentences[-2:])
