"""From a filled buffer to an answer that may be given, and the trace that is kept of it."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import NoReturn

from resin_es.errors import ModelError, StoreError, StoreRefused
from resin_es.index.filters import Filters
from resin_es.model import Answer, Principal, ReaderIdentity, Trace
from resin_es.ports import Composer, UnitStore
from resin_es.query.recheck import recheck, still_standing
from resin_es.query.trace import with_answer, with_failure
from resin_es.query.use import paid
from resin_es.query.values import AnswerText, Asked, Cancel, Retrieval, StreamingComposer


def composed(
    composer: Composer, retrieval: Retrieval, stream: bool, cancel: Cancel | None
) -> Generator[AnswerText, None, Answer | None]:
    """The composer's answer; where ``stream`` is wanted and it can, its text first, as it is
    written. None where the caller gave up meanwhile. Raises ModelError."""
    question, evidence = retrieval.question, retrieval.buffer
    if not (stream and isinstance(composer, StreamingComposer)):
        return composer.compose(question, evidence)
    for piece in composer.stream(question, evidence):
        if isinstance(piece, Answer):
            return piece
        if cancel is not None and cancel.is_set():
            return None
        yield AnswerText(text=piece)
    raise ModelError("the composer stopped before its answer was whole.")


def settled(
    answer: Answer,
    retrieval: Retrieval,
    store: UnitStore,
    principal: Principal,
    filters: Filters,
    composer: ReaderIdentity,
    started: float,
    keep_traces: bool,
) -> Asked:
    """The answer rechecked against what stands now, with its coverage and its kept trace.
    ``started`` is when composing began."""
    spent = round((time.perf_counter() - started) * 1000)
    keys = list(dict.fromkeys(p.document_key for p in retrieval.buffer.passages))
    entries = store.fetch([], keys).entries if keys else {}
    buffer = still_standing(retrieval.buffer, entries, principal)
    whole = len(buffer.passages) == len(retrieval.buffer.passages)
    answer = recheck(answer, entries, principal, whole=whole).model_copy(
        update={
            "coverage": tuple(store.coverage(principal, filters.sources)),
            "composer": f"{composer.model}/{composer.prompt_version}",
        }
    )
    trace = with_answer(retrieval.trace, answer, {"compose": spent})
    notes, kept = keep(store, trace) if keep_traces else ((), False)
    return Asked(
        answer=answer.model_copy(update={"trace_id": trace.id if kept else ""}),
        retrieval=retrieval.model_copy(update={"buffer": buffer, "trace": trace}),
        trace=trace,
        notes=notes,
    )


def keep(store: UnitStore, trace: Trace) -> tuple[tuple[str, ...], bool]:
    """Keep the trace if the store lets us: a note where not, and whether it did."""
    try:
        store.put_trace(trace)
    except StoreRefused as error:
        return (f"The trace was not kept: {error.message}",), False
    return (), True


def unanswered(
    error: ModelError,
    retrieval: Retrieval,
    store: UnitStore,
    composer: ReaderIdentity,
    keep_traces: bool,
) -> NoReturn:
    """Raise ``error`` again, its hint saying where the evidence is: what was found is not lost
    with the composer. A store that fails now too does not hide why there is no answer."""
    trace = with_failure(retrieval.trace, error.message, paid(error, composer))
    try:
        kept = keep_traces and keep(store, trace)[1]
    except StoreError:
        kept = False
    where = (
        f"The evidence was found; `resin-es trace {trace.id}` shows it."
        if kept
        else "`resin-es retrieve` shows the evidence without composing."
    )
    error.hint = f"{error.hint} {where}".strip()
    raise error
