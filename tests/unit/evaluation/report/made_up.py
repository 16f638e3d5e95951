"""A run that never was: rows of a likely size and spread, the same ones every time."""

from __future__ import annotations

import random

from resin_es.evaluation.systems.published import published_rows
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalQuestion,
    EvalResult,
    GoldSentence,
    Judgement,
    Miss,
    PublishedRow,
    QuestionResult,
    Span,
    Spent,
    SystemResult,
)

BUDGETS = (500, 1000, 2000)
KINDS = ("entity-fact", "type-property", "entity-type", "relation", "causal-edge", "rule")

ROWS: tuple[tuple[str, str, str, tuple[float, ...]], ...] = (
    ("none", "no retrieval", "baseline", (0.0, 0.0, 0.0)),
    ("bm25", "BM25", "baseline", (0.833, 0.885, 0.889)),
    ("dense", "StandardRAG (dense)", "baseline", (0.799, 0.874, 0.892)),
    ("rrf", "RRF of BM25 and dense", "baseline", (0.826, 0.878, 0.892)),
    ("sentence-document", "dense sentence → document", "baseline", (0.814, 0.877, 0.890)),
    ("dense-sentences", "dense sentences", "baseline", (0.610, 0.667, 0.720)),
    ("windows", "RRF, 5-sentence windows", "baseline", (0.806, 0.850, 0.877)),
    ("fused", "fused document score", "known", (0.861, 0.890, 0.895)),
    ("resin", "RESIN", "resin", (0.872, 0.905, 0.912)),
    ("k=1", "k = 1", "ablation", (0.70, 0.71, 0.71)),
    ("k=5", "k = 5", "ablation", (0.85, 0.88, 0.89)),
    ("k=10", "k = 10", "ablation", (0.872, 0.905, 0.912)),
    ("k=15", "k = 15", "ablation", (0.87, 0.904, 0.914)),
    ("k=20", "k = 20", "ablation", (0.868, 0.903, 0.915)),
    *(
        (f"kind={kind}", f"only {kind}", "ablation", shares)
        for kind, shares in zip(
            KINDS,
            [
                (0.61, 0.66, 0.7),
                (0.2, 0.23, 0.25),
                (0.15, 0.18, 0.2),
                (0.5, 0.56, 0.6),
                (0.42, 0.47, 0.5),
                (0.1, 0.12, 0.13),
            ],
            strict=True,
        )
    ),
    ("one-hop", "no decomposition", "ablation", (0.862, 0.898, 0.908)),
    ("one-hop-matched", "no decomposition, k matched", "ablation", (0.864, 0.9, 0.91)),
    ("no-bridging", "no bridging", "ablation", (0.86, 0.89, 0.9)),
    ("no-lexical", "no lexical part", "ablation", (0.84, 0.88, 0.894)),
    ("kind=all", "all six kinds", "ablation", (0.73, 0.78, 0.8)),
    ("no-sentences", "no sentence addresses", "ablation", (0.75, 0.8, 0.83)),
)


def made_up(
    name: str = "biology",
    *,
    questions: int = 60,
    kinds: tuple[str, ...] = (),
    answers: bool = False,
    hostile: str = "",
    seed: int = 7,
) -> EvalResult:
    """``hostile`` is put wherever a data set's own text can stand."""
    draw = random.Random(f"{name}{seed}")
    asked = tuple(_question(n, draw, kinds, hostile) for n in range(questions))
    ease = {question.id: draw.random() for question in asked}
    systems = [
        SystemResult(
            system=system,
            label=label,
            group=group,
            about=f"What {label} does.",
            questions=tuple(
                _result(system, question, budget, share, ease, draw, answers, hostile)
                for question in asked
                for budget, share in zip(BUDGETS, shares, strict=True)
            ),
        )
        for system, label, group, shares in ROWS
    ]
    skipped = SystemResult(
        system="graphrag-local",
        label="GraphRAG local",
        group="external",
        skipped="needs a model endpoint: set RESIN_TEXT_MODEL.",
    )
    return EvalResult(
        dataset=f"{name}{hostile}",
        documents=1111,
        budgets=BUDGETS,
        asked=asked,
        systems=(*systems, skipped),
        published=published_rows(name),
        facts={
            "command": f"resin-es eval holisqa --data ../shared/holisqa/{name} --systems all",
            "embedder": "all-MiniLM-L6-v2 (384)",
            "reader": "syntax 12",
            "index": "11,051 sentences, 23,310 units, 4,870 passages",
            "elasticsearch": "9.5.3",
            "resin-es": "0.1.0",
            "seed": "0",
            **({"note": hostile} if hostile else {}),
        },
    )


def _question(n: int, draw: random.Random, kinds: tuple[str, ...], hostile: str) -> EvalQuestion:
    gold = tuple(
        GoldSentence(
            id=f"s{n}-{i}", places=(Span(document_id=f"d{n}", start=i * 100, end=i * 100 + 90),)
        )
        for i in range(1 + draw.randrange(3))
    )
    return EvalQuestion(
        id=f"q{n}",
        question=f"How does factor {n} change the growth of cells under stress?{hostile}",
        answer="It slows it.",
        kind=kinds[n % len(kinds)] if kinds else "",
        gold=gold,
    )


def _result(
    system: str,
    question: EvalQuestion,
    budget: int,
    share: float,
    ease: dict[str, float],
    draw: random.Random,
    answers: bool,
    hostile: str,
) -> QuestionResult:
    chance = 0.8 * (ease[question.id] < share) + 0.2 * share
    found = tuple(bool(share) and draw.random() < chance for _ in question.gold)
    ranks = tuple(1 + draw.randrange(9) if hit else 0 for hit in found)
    traced = system == "resin" or system.startswith(("k=", "kind=", "no-", "one-hop"))
    misses = tuple(
        Miss(
            gold_id=gold.id,
            stage=draw.choices(
                ("not_indexed", "not_retrieved", "not_selected"), (1, 6, 2000 / budget)
            )[0],
            detail=f"By h1 at rank 7. Left out of the buffer: budget.{hostile}",
            text=f"Under stress, the growth of cells slows down by a third.{hostile}",
            taken=f"Growth of plants in dry soil: Water decides how fast they grow.{hostile}",
        )
        for gold, hit in zip(question.gold, found, strict=True)
        if traced and not hit
    )
    answer = AnswerFinding(
        text=f"It slows down.{hostile}",
        found=True,
        f1=0.2 + 0.2 * draw.random(),
        exact=0.0,
        relevancy=Judgement(score=0.7 if draw.random() > 0.1 else None, failure="timeout"),
        context_recall=Judgement(score=0.8),
    )
    return QuestionResult(
        question_id=question.id,
        budget=budget,
        found=found,
        documents_found=(any(found) or draw.random() < share,),
        ranks=ranks,
        document_ranks=(max(ranks),),
        tokens=int(budget * (0.9 + 0.1 * draw.random())) if share else 0,
        passages=8,
        seconds=0.02 + 0.01 * draw.random(),
        spent=Spent(calls=1, input_tokens=900, output_tokens=40, dollars=0.0004)
        if answers
        else Spent(),
        misses=misses,
        answer=answer if answers and budget == BUDGETS[-1] else None,
        trace_id=f"{draw.getrandbits(64):016x}" if traced else "",
    )


def without_gold(run: EvalResult, *ids: str) -> EvalResult:
    """``run`` where these questions (all, if none is named) came without gold."""
    bare = {one.id for one in run.asked if one.id in ids or not ids}
    of_gold = ("found", "documents_found", "ranks", "document_ranks", "misses")
    nothing: dict[str, object] = dict.fromkeys(of_gold, ())

    def emptied(row: SystemResult) -> SystemResult:
        questions = tuple(
            one.model_copy(update=nothing) if one.question_id in bare else one
            for one in row.questions
        )
        return row.model_copy(update={"questions": questions})

    asked = tuple(
        one.model_copy(update={"gold": ()}) if one.id in bare else one for one in run.asked
    )
    return run.model_copy(
        update={"asked": asked, "systems": tuple(emptied(one) for one in run.systems)}
    )


__all__ = ["BUDGETS", "KINDS", "ROWS", "PublishedRow", "made_up", "without_gold"]
