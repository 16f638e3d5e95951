"""A run: every row at every question and budget, side by side, kept and taken up again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from resin_es.errors import InputError, StoreUnavailable
from resin_es.evaluation.runner import lanes
from resin_es.evaluation.runner.finding import finding
from resin_es.evaluation.runner.folder import CONTEXTS, FINDINGS, JUDGED, RunFolder
from resin_es.evaluation.runner.runner import Lane, RunOptions
from resin_es.evaluation.runner.runner import evaluate as evaluate_in
from resin_es.evaluation.values import (
    EvalDataset,
    EvalQuestion,
    EvalResult,
    Evidence,
    GoldSentence,
    Judgement,
    Span,
    Spent,
)
from resin_es.model import (
    Answer,
    EvidenceBuffer,
    EvidencePassage,
    EvidenceSentence,
    ReaderIdentity,
)


def span(document: str, start: int, end: int) -> Span:
    return Span(document_id=document, start=start, end=end)


def question(key: str, *spans: Span) -> EvalQuestion:
    gold = tuple(GoldSentence(id=f"{key}-{n}", places=(s,)) for n, s in enumerate(spans))
    return EvalQuestion(id=key, question=f"{key}?", answer="forty fish", gold=gold)


DATASET = EvalDataset(
    name="fish",
    documents=(),
    questions=(
        question("q1", span("a", 0, 20), span("a", 20, 40)),
        question("q2", span("b", 0, 20)),
        question("q3", span("c", 0, 20)),
    ),
)


def passage(document: str, start: int, end: int) -> EvidencePassage:
    text = "x" * (end - start)
    sentence = EvidenceSentence(id=f"{document}-{start}", start=start, end=end, text=text)
    return EvidencePassage(
        passage_id=f"p-{document}-{start}",
        document_key=f"k-{document}",
        document_id=document,
        source="fish",
        title="Fish",
        text=text,
        sentences=(sentence,),
        tokens=-(-len(text) // 4),
    )


class Fixed:
    """Hands out the first ``budget`` tokens of document a (for q1) or b."""

    group, about, label = "baseline", "The start of a document.", "Fixed"

    def __init__(self, name: str = "fixed", settings: object = None) -> None:
        self.name, self.settings = name, settings
        self.asked: list[tuple[str, int]] = []

    def evidence(self, question: str, budget: int) -> Evidence:
        self.asked.append((question, budget))
        document = "a" if question == "q1?" else "b"
        kept = passage(document, 0, budget * 4)
        return Evidence(passages=(kept,), ranked=((span(document, 0, budget * 4),),))


class Breaking(Fixed):
    def evidence(self, question: str, budget: int) -> Evidence:
        if question == "q3?":
            raise StoreUnavailable("no answer", hint="start it")
        return super().evidence(question, budget)


class Composing:
    identity = ReaderIdentity(model="scripted", prompt_version="1")

    def __init__(self) -> None:
        self.seen: list[EvidenceBuffer] = []

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        self.seen.append(evidence)
        return Answer(question=question, text="The forty fish.", found=True)


class Judging:
    name = "scripted judge"

    def __init__(self) -> None:
        self.contexts: list[Sequence[str]] = []

    def answer_relevancy(self, question: str, answer: str) -> Judgement:
        if question == "q2?":
            return Judgement(score=None, failure="429")
        return Judgement(score=0.5)

    def context_recall(self, question: str, contexts: Sequence[str], reference: str) -> Judgement:
        self.contexts.append(contexts)
        return Judgement(score=1.0)

    def spent(self) -> Spent:
        return Spent()


def options(**changes: object) -> RunOptions:
    return RunOptions(**{"budgets": (5, 10), **changes})


def evaluate(
    dataset: EvalDataset,
    systems: Sequence[Any],
    chosen: RunOptions,
    *,
    folder: RunFolder | None = None,
    lent: Callable[[], float] = float,
) -> EvalResult:
    """A run in one lane."""
    return evaluate_in(dataset, [Lane(systems, lent=lent)], chosen, folder=folder)


def test_every_question_at_every_budget_in_file_order() -> None:
    system = Fixed()
    result = evaluate(DATASET, [system], options())
    assert system.asked == [(f"q{n}?", budget) for n in (1, 2, 3) for budget in (5, 10)]
    row = result.row("fixed")
    assert [(q.question_id, q.budget) for q in row.questions] == [
        (f"q{n}", budget) for n in (1, 2, 3) for budget in (5, 10)
    ]
    assert [q.found for q in row.questions] == [
        (True, False), (True, True), (True,), (True,), (False,), (False,)
    ]  # fmt: skip
    assert [q.tokens for q in row.questions] == [5, 10] * 3


def test_size_counts_a_character_once_and_own_text_whole() -> None:
    one = DATASET.questions[0]
    twice = Evidence(passages=(passage("a", 0, 20), passage("a", 10, 30)))
    assert finding(one, 10, twice).tokens == 8  # 30 characters
    assert finding(one, 10, Evidence(text="t" * 41)).tokens == 11


def test_a_run_goes_on_where_it_broke_off(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        evaluate(DATASET, [Breaking()], options(), folder=RunFolder(tmp_path, "one"))
    whole = Fixed()
    result = evaluate(DATASET, [whole], options(), folder=RunFolder(tmp_path, "one"))
    assert whole.asked == [("q3?", 5), ("q3?", 10)]
    assert result == _without_seconds(result, evaluate(DATASET, [Fixed()], options()))


def _without_seconds(timed: EvalResult, other: EvalResult) -> EvalResult:
    """``other`` with the times of ``timed``, so that all else can be compared."""
    rows = []
    for row, held in zip(other.systems, timed.systems, strict=True):
        questions = [
            q.model_copy(update={"seconds": h.seconds})
            for q, h in zip(row.questions, held.questions, strict=True)
        ]
        rows.append(row.model_copy(update={"questions": tuple(questions)}))
    return other.model_copy(update={"systems": tuple(rows)})


@pytest.mark.parametrize("tail", ['{"system": "fixed", "pri', "\n", "[1]\n", "\x00\xff\n"])
def test_a_line_cut_off_is_found_again(tmp_path: Path, tail: str) -> None:
    evaluate(DATASET, [Fixed()], options(), folder=RunFolder(tmp_path, "one"))
    path = tmp_path / FINDINGS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + tail)
    again = Fixed()
    evaluate(DATASET, [again], options(), folder=RunFolder(tmp_path, "one"))
    assert again.asked == [("q3?", 10)]
    third = Fixed()
    evaluate(DATASET, [third], options(), folder=RunFolder(tmp_path, "one"))
    assert third.asked == []


@pytest.mark.parametrize(
    ("fingerprint", "system"),
    [("two", Fixed()), ("one", Fixed(settings="k=5"))],
    ids=["another index", "other settings"],
)
def test_findings_of_another_state_are_not_used(
    tmp_path: Path, fingerprint: str, system: Fixed
) -> None:
    evaluate(DATASET, [Fixed()], options(), folder=RunFolder(tmp_path, "one"))
    system.asked.clear()
    evaluate(DATASET, [system], options(), folder=RunFolder(tmp_path, fingerprint))
    assert len(system.asked) == 6


def test_fresh_forgets(tmp_path: Path) -> None:
    evaluate(DATASET, [Fixed()], options(), folder=RunFolder(tmp_path, "one"))
    again = Fixed()
    evaluate(DATASET, [again], options(), folder=RunFolder(tmp_path, "one", fresh=True))
    assert len(again.asked) == 6


def test_new_rows_join_a_kept_run(tmp_path: Path) -> None:
    first, second = Fixed(), Fixed("second")
    evaluate(DATASET, [first], options(), folder=RunFolder(tmp_path, "one"))
    first.asked.clear()
    folder = RunFolder(tmp_path, "one")
    result = evaluate(DATASET, [first, second], options(), folder=folder)
    assert first.asked == []
    assert len(second.asked) == 6
    assert [row.system for row in result.systems] == ["fixed", "second"]


def test_answers_are_composed_at_the_largest_budget_from_the_row_s_own_evidence(
    tmp_path: Path,
) -> None:
    composer = Composing()
    result = evaluate(
        DATASET, [Fixed()], options(composer=composer), folder=RunFolder(tmp_path, "one")
    )
    assert [(b.budget, [p.document_id for p in b.passages]) for b in composer.seen] == [
        (10, ["a"]), (10, ["b"]), (10, ["b"])
    ]  # fmt: skip
    findings = result.row("fixed").questions
    assert [q.answer is None for q in findings] == [True, False] * 3
    assert findings[1].answer is not None
    assert findings[1].answer.f1 == 1.0  # articles and punctuation aside
    contexts = [json.loads(line) for line in (tmp_path / CONTEXTS).read_text().splitlines()]
    assert contexts[0]["contexts"] == ["Fish\n" + "x" * 40]


def test_kept_findings_without_an_answer_are_found_again_when_answers_are_asked_for(
    tmp_path: Path,
) -> None:
    evaluate(DATASET, [Fixed()], options(), folder=RunFolder(tmp_path, "one"))
    again = Fixed()
    evaluate(DATASET, [again], options(composer=Composing()), folder=RunFolder(tmp_path, "one"))
    assert again.asked == [("q1?", 10), ("q2?", 10), ("q3?", 10)]


def test_judge_calls_are_kept_with_what_was_sent_and_failures_are_named(tmp_path: Path) -> None:
    judge = Judging()
    chosen = options(composer=Composing(), judge=judge)
    result = evaluate(DATASET, [Fixed()], chosen, folder=RunFolder(tmp_path, "one"))
    judged = [q.answer for q in result.row("fixed").questions if q.answer]
    assert [one.relevancy.score for one in judged if one.relevancy] == [0.5, None, 0.5]
    assert judge.contexts[0] == ["Fish\n" + "x" * 40]
    rows = [json.loads(line) for line in (tmp_path / JUDGED).read_text().splitlines()]
    assert rows[1]["answer_relevancy"] == {"score": None, "failure": "429"}
    assert rows[0]["reference"] == "forty fish"
    again = Judging()
    chosen = options(composer=Composing(), judge=again)
    evaluate(DATASET, [Fixed()], chosen, folder=RunFolder(tmp_path, "one"))
    assert len(again.contexts) == 1  # only what failed is asked for, and paid, again


def test_nothing_to_run_is_an_error() -> None:
    empty = DATASET.model_copy(update={"questions": ()})
    for dataset, systems, chosen in (
        (empty, [Fixed()], options()),
        (DATASET, [], options()),
        (DATASET, [Fixed()], options(budgets=())),
        (DATASET, [Fixed()], options(budgets=(0, 5))),
        (DATASET, [Fixed(), Fixed()], options()),
    ):
        with pytest.raises(InputError):
            evaluate(dataset, systems, chosen)


def test_a_row_is_charged_for_what_a_memory_answered() -> None:
    lent = iter([0.0, 100.0] * 6)
    result = evaluate(DATASET, [Fixed()], options(), lent=lambda: next(lent))
    assert all(100 <= q.seconds < 200 for q in result.row("fixed").questions)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="taken"):
        RunFolder(tmp_path / "taken", "one")


class Meeting(Fixed):
    """Answers its first question only once another lane is asked one, too."""

    def __init__(self, together: threading.Barrier) -> None:
        super().__init__()
        self.together: threading.Barrier | None = together

    def evidence(self, question: str, budget: int) -> Evidence:
        if self.together is not None:
            self.together.wait(timeout=30)
            self.together = None
        return super().evidence(question, budget)


def test_lanes_ask_side_by_side_and_the_result_is_the_same(tmp_path: Path) -> None:
    both = threading.Barrier(2)
    systems = [Meeting(both), Meeting(both)]
    folder = RunFolder(tmp_path, "one")
    found = evaluate_in(DATASET, [Lane([one]) for one in systems], options(), folder=folder)
    assert all(system.asked for system in systems)
    assert found == _without_seconds(found, evaluate(DATASET, [Fixed()], options()))
    assert len((tmp_path / FINDINGS).read_text().splitlines()) == 6


def test_a_failure_in_one_lane_ends_the_run_and_keeps_what_was_found(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "one")
    with pytest.raises(StoreUnavailable):
        evaluate_in(DATASET, [Lane([Breaking()]), Lane([Breaking()])], options(), folder=folder)
    rest = Fixed()
    evaluate(DATASET, [rest], options(), folder=RunFolder(tmp_path, "one"))
    assert ("q3?", 5) in rest.asked
    assert len(rest.asked) < 6


def test_lanes_hold_the_same_rows() -> None:
    with pytest.raises(InputError, match="different systems"):
        evaluate_in(DATASET, [Lane([Fixed()]), Lane([Fixed("other")])], options())


class Holding(Fixed):
    """Answers ``free`` questions, then the next one only once it is let go."""

    def __init__(self, free: int, go: threading.Event) -> None:
        super().__init__("first")
        self.free, self.go, self.held = free, go, threading.Event()

    def evidence(self, question: str, budget: int) -> Evidence:
        if len(self.asked) >= 2 * self.free:
            self.held.set()
            assert self.go.wait(timeout=30)
        return super().evidence(question, budget)


class Interrupting:
    """A user who presses Ctrl-C once a question is through and all lanes are busy again."""

    def __init__(self, *busy: threading.Event) -> None:
        self.busy = busy

    def update(self, done: int, total: int | None, description: str) -> None:
        assert all(one.wait(timeout=30) for one in self.busy)
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_run_with_the_rows_at_hand_and_a_rerun_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            go.set()
            super().shutdown(wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(lanes, "ThreadPoolExecutor", Pool)
    many = DATASET.model_copy(update={"questions": tuple(question(f"q{n}") for n in range(9))})
    slow, quick = (Holding(0, go), Fixed("second")), (Holding(1, go), Fixed("second"))
    with pytest.raises(KeyboardInterrupt):
        evaluate_in(
            many,
            [Lane(slow), Lane(quick)],
            options(),
            folder=RunFolder(tmp_path, "one"),
            progress=Interrupting(slow[0].held, quick[0].held),
        )
    assert [len(one.asked) for one in slow] == [2, 0], "the row at hand is finished, no other begun"
    assert [len(one.asked) for one in quick] == [4, 2], "nor is a question that waits"
    assert len((tmp_path / FINDINGS).read_text().splitlines()) == 8
    rest = Fixed("first"), Fixed("second")
    evaluate(many, rest, options(), folder=RunFolder(tmp_path, "one"))
    assert sum(len(one.asked) for one in rest) == 9 * 2 * 2 - 8
