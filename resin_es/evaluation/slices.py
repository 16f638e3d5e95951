"""A smaller data set: fewer questions, fewer documents. Pure."""

from __future__ import annotations

from resin_es.evaluation.datasets import EvalDataset


def sliced(
    dataset: EvalDataset, *, questions: int | None = None, documents: int | None = None
) -> EvalDataset:
    """The first ``questions`` questions over ``documents`` documents: those that hold their
    gold sentences first, then others in file order. Recall over fewer documents is easier than
    over all of them, so a slice's figures stand only beside others of the same slice."""
    asked = dataset.questions[:questions]
    if documents is None:
        return dataset.model_copy(update={"questions": asked})
    needed = {place.document_id for one in asked for gold in one.gold for place in gold.places[:1]}
    order = sorted(dataset.documents, key=lambda document: document.id not in needed)
    kept = {document.id for document in order[: max(documents, len(needed))]}
    held = tuple(one for one in dataset.documents if one.id in kept)
    return dataset.model_copy(update={"documents": held, "questions": asked})
