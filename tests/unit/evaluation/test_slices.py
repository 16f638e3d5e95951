"""Fewer questions over fewer documents, without losing the gold."""

from __future__ import annotations

from resin_es.evaluation.datasets.building import dataset, joined_document, whole
from resin_es.evaluation.slices import sliced
from resin_es.evaluation.values import EvalQuestion, GoldSentence

DOCUMENTS = [joined_document(key, "", [(f"{key}0", f"Text of {key}.")]) for key in "abcd"]
QUESTIONS = [
    EvalQuestion(id=key, question="?", gold=(GoldSentence(id=key, places=(whole(one),)),))
    for key, one in (("q1", DOCUMENTS[2]), ("q2", DOCUMENTS[3]))
]
DATASET = dataset("letters", DOCUMENTS, QUESTIONS, "here")


def ids(questions: int | None, documents: int | None) -> tuple[str, str]:
    part = sliced(DATASET, questions=questions, documents=documents)
    assert part.name == "letters"
    return "".join(q.id for q in part.questions), "".join(d.id for d in part.documents)


def test_slices() -> None:
    assert ids(None, None) == ("q1q2", "abcd")
    assert ids(1, None) == ("q1", "abcd")
    assert ids(1, 2) == ("q1", "ac"), "gold first, then others, in file order"
    assert ids(None, 1) == ("q1q2", "cd"), "never fewer than the gold needs"
