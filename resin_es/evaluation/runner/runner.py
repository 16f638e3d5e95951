"""One run: every row gets the same questions at the same budgets (design, section 7).

Question by question, all rows of it side by side: rows share searches (each charged for its
own), and a run that breaks off has whole questions behind it. Several lanes, each with systems
of its own, take a question each at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from resin_es.errors import InputError
from resin_es.evaluation.judging import Judge
from resin_es.evaluation.runner.finding import answer_finding, finding
from resin_es.evaluation.runner.folder import Key, RunFolder, context_texts
from resin_es.evaluation.runner.lanes import Lane, ask_all
from resin_es.evaluation.systems.system import EvalSystem
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalDataset,
    EvalQuestion,
    EvalResult,
    Evidence,
    Judgement,
    Miss,
    QuestionResult,
    SystemResult,
)
from resin_es.model import Answer
from resin_es.model.base import content_id
from resin_es.ports import Composer, Progress

__all__ = ["BUDGETS", "Diagnose", "Lane", "RunOptions", "evaluate", "row_print"]

BUDGETS = (500, 1000, 2000)

Diagnose = Callable[[EvalQuestion, Evidence, Answer | None], Sequence[Miss]]
"""Where a question's missed gold sentences were lost; only for rows with a trace."""


@dataclass(frozen=True)
class RunOptions:
    """How a run goes.

    ``composer``: answers every row at the largest budget, from the row's own evidence; ``judge``
    scores those answers. ``limit``: only the first questions. ``diagnose`` tells where missed
    gold was lost; it and the judge may be asked from several lanes at once.
    """

    budgets: tuple[int, ...] = BUDGETS
    limit: int | None = None
    composer: Composer | None = None
    judge: Judge | None = None
    diagnose: Diagnose | None = None


def evaluate(
    dataset: EvalDataset,
    lanes: Sequence[Lane],
    options: RunOptions | None = None,
    *,
    folder: RunFolder | None = None,
    progress: Progress | None = None,
) -> EvalResult:
    """Run the systems of ``lanes`` (the same rows in each) over the questions; what ``folder``
    holds is not run again. Raises InputError on an empty run, and whatever a system raises: a
    run with holes in it would not be comparable. What was found until then is kept, also when
    the run is interrupted; each lane then ends with the row that it is at.
    """
    options = options or RunOptions()
    questions = tuple(islice(dataset.questions, options.limit))
    _check(dataset, lanes, questions, options)
    systems = lanes[0].systems
    prints = {system.name: row_print(system) for system in systems}
    known = folder.findings(prints) if folder else {}

    def ask(lane: Lane, system: EvalSystem, question: EvalQuestion) -> None:
        _Row(system, lane, options, folder, known, prints).run(question)

    def done(number: int) -> None:
        if progress is not None:
            progress.update(number, len(questions), f"evaluating {dataset.name}")

    ask_all(lanes, questions, ask, done)
    return EvalResult(
        dataset=dataset.name,
        documents=len(dataset.documents),
        budgets=options.budgets,
        asked=questions,
        systems=tuple(_row(system, questions, options, known) for system in systems),
    )


def _check(
    dataset: EvalDataset,
    lanes: Sequence[Lane],
    questions: Sequence[EvalQuestion],
    options: RunOptions,
) -> None:
    rows = [[system.name for system in lane.systems] for lane in lanes]
    names = rows[0] if rows else []
    if not names or not questions or not options.budgets or min(options.budgets) < 1:
        raise InputError(
            f"nothing to evaluate: {len(questions)} questions of {dataset.name}, "
            f"{len(names)} systems, budgets {list(options.budgets)}.",
            hint="Give at least one question and system, and only positive budgets.",
        )
    if len(set(names)) < len(names):
        raise InputError(f"a system is named twice: {', '.join(names)}.")
    if any(row != names for row in rows):
        raise InputError("the lanes of a run hold different systems.")


def row_print(system: EvalSystem) -> str:
    """Fingerprint of a row: its name, what it does, and its settings where it has some."""
    settings = getattr(system, "settings", None)
    return content_id("row", system.name, system.about, repr(settings), length=12)


def _row(
    system: EvalSystem,
    questions: Sequence[EvalQuestion],
    options: RunOptions,
    known: Mapping[Key, QuestionResult],
) -> SystemResult:
    return SystemResult(
        system=system.name,
        label=system.label,
        group=system.group,
        about=system.about,
        questions=tuple(
            known[system.name, question.id, budget]
            for question in questions
            for budget in options.budgets
        ),
    )


class _Row:
    """One system at one question, all budgets."""

    def __init__(
        self,
        system: EvalSystem,
        lane: Lane,
        options: RunOptions,
        folder: RunFolder | None,
        known: dict[Key, QuestionResult],
        prints: Mapping[str, str],
    ) -> None:
        self.system, self.lane, self.options, self.folder = system, lane, options, folder
        self.known, self.print = known, prints[system.name]

    def run(self, question: EvalQuestion) -> None:
        for budget in self.options.budgets:
            key = (self.system.name, question.id, budget)
            if not self._done(self.known.get(key), budget):
                result = self._at(question, budget)
                self.known[key] = result
                if self.folder is not None:
                    self.folder.keep(self.system.name, self.print, result)

    def _done(self, held: QuestionResult | None, budget: int) -> bool:
        """Whether a kept finding says all that this run asks for. A judgement that failed is
        asked for again."""
        if held is None:
            return False
        if not self._composes(budget):
            return True
        return held.answer is not None and (self.options.judge is None or _scored(held.answer))

    def _composes(self, budget: int) -> bool:
        return self.options.composer is not None and budget == max(self.options.budgets)

    def _at(self, question: EvalQuestion, budget: int) -> QuestionResult:
        self._lent()
        started = time.perf_counter()
        evidence = self.system.evidence(question.question, budget)
        answer = self._answer(question, budget, evidence)
        seconds = time.perf_counter() - started + self._lent()
        misses = self._misses(question, evidence, answer)
        judged = self._judged(question, evidence, answer) if answer is not None else None
        if self.folder is not None:
            if answer is not None:
                self.folder.keep_context(self.system.name, question, budget, evidence, answer.text)
            if misses and evidence.trace is not None and self.system.group == "resin":
                self.folder.keep_trace(evidence.trace)
        return finding(question, budget, evidence, seconds=seconds, misses=misses, answer=judged)

    def _lent(self) -> float:
        """Seconds that the row was spared: by the shared memory, or, for a system that did its
        work beforehand, by that."""
        own = getattr(self.system, "lent", float)
        return self.lane.lent() + float(own())

    def _answer(self, question: EvalQuestion, budget: int, evidence: Evidence) -> Answer | None:
        composer = self.options.composer
        if composer is None or not self._composes(budget):
            return None
        if evidence.answer is not None:
            return Answer(question=question.question, text=evidence.answer, found=True)
        return composer.compose(question.question, evidence.buffer(budget))

    def _misses(
        self, question: EvalQuestion, evidence: Evidence, answer: Answer | None
    ) -> Sequence[Miss]:
        if self.options.diagnose is None or evidence.trace is None:
            return ()
        return self.options.diagnose(question, evidence, answer)

    def _judged(self, question: EvalQuestion, evidence: Evidence, answer: Answer) -> AnswerFinding:
        judge = self.options.judge
        if judge is None:
            return answer_finding(question, answer)
        contexts = list(context_texts(evidence))
        relevancy = judge.answer_relevancy(question.question, answer.text)
        recalled = judge.context_recall(question.question, contexts, question.answer)
        self._keep_judged(judge, question, contexts, answer, relevancy, recalled)
        return answer_finding(question, answer, relevancy=relevancy, context_recall=recalled)

    def _keep_judged(
        self,
        judge: Judge,
        question: EvalQuestion,
        contexts: Sequence[str],
        answer: Answer,
        relevancy: Judgement,
        recalled: Judgement,
    ) -> None:
        if self.folder is None:
            return
        self.folder.keep_judged(
            {
                "system": self.system.name,
                "question_id": question.id,
                "judge": judge.name,
                "question": question.question,
                "answer": answer.text,
                "contexts": contexts,
                "reference": question.answer,
                "answer_relevancy": relevancy.model_dump(),
                "context_recall": recalled.model_dump(),
            }
        )


def _scored(answer: AnswerFinding) -> bool:
    judgements = (answer.relevancy, answer.context_recall)
    return all(one is not None and one.score is not None for one in judgements)
