"""The answering side in one object: plan, search, retrieve, ask. Sync; yields events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from resin_es.errors import GenerationGone, ModelError
from resin_es.index.filters import Filters, address_filter
from resin_es.model import Answer, Plan, Principal, Trace
from resin_es.ports import Composer, Embedder, Planner, SearchResponse, UnitStore
from resin_es.query import checks, hits
from resin_es.query.answering import composed, keep, settled, unanswered
from resin_es.query.background import Elsewhere, elsewhere
from resin_es.query.choosing import Chosen, choose
from resin_es.query.diagnose import Diagnosis, diagnose
from resin_es.query.fence import fence
from resin_es.query.hits import Address
from resin_es.query.hop import hop_body
from resin_es.query.pinned import TRIES, generation_of, pinned, second_encoder, steadily
from resin_es.query.replay import HopReplay, replay
from resin_es.query.searching import Searching, vectors_of
from resin_es.query.settings import QuerySettings
from resin_es.query.shown import ShownTrace, fetch_referenced, shown
from resin_es.query.solving import Solver, solved
from resin_es.query.trace import check_visible, retrieval_trace
from resin_es.query.values import (
    AddressHit,
    Answered,
    BufferFilled,
    Cancel,
    Cancelled,
    Event,
    HopsFound,
    Planned,
    Retrieval,
    SearchResult,
)

EVERYTHING = Filters()


class QueryEngine:
    """Question → plan → hops → evidence → answer, over one store.

    Every read takes a principal. ``k`` and ``budget`` of a call override the settings'.
    Raises UsageError (exit 2) for what cannot be asked, before any model is called; StoreError
    and ModelError for what fails: an error is never an empty result.
    """

    def __init__(
        self,
        store: UnitStore,
        embedder: Embedder,
        planner: Planner,
        composer: Composer,
        settings: QuerySettings | None = None,
    ) -> None:
        self.store, self.embedder = store, embedder
        self.planner, self.composer = planner, composer
        self.settings = settings or QuerySettings()

    def plan(self, question: str) -> Plan:
        """The plan alone; nothing is searched."""
        return checks.planned(self.planner, checks.check_question(question), self.settings.max_hops)

    def search(
        self,
        text: str,
        principal: Principal,
        filters: Filters = EVERYTHING,
        *,
        limit: int | None = None,
    ) -> SearchResult:
        """One plain search over units and sentences: the best ``limit`` addresses, fenced,
        with the source sentences they point at."""
        settings = self.settings.changed(k=limit)

        def once() -> tuple[str, SearchResponse, Elsewhere | None]:
            asked, store, embedder = self._ready(text, principal, filters)
            second = second_encoder(store, principal) if settings.second_vectors else None
            ((vector, other),) = vectors_of([asked], embedder, second)
            clauses = address_filter(principal, filters)
            body = hop_body(asked, vector, clauses, settings, second=other)
            return asked, store.search([body], None)[0][0], elsewhere(body, second)

        asked, response, beside = steadily(once)
        found = hits.ranked(response, settings, beside)
        top = found[: 2 * settings.k]
        wanted = {c.passage_id: c.document_key for c in top}
        kept = self._fenced(top, wanted, principal) if wanted else []
        return SearchResult(query=asked, hits=tuple(kept[: settings.k]), took_ms=response.took_ms)

    def _fenced(
        self, found: tuple[Address, ...], wanted: dict[str, str], principal: Principal
    ) -> list[AddressHit]:
        fetched = self.store.fetch(list(wanted), list(dict.fromkeys(wanted.values())))
        sources = fence(fetched, wanted.items(), principal).sources
        return [
            AddressHit(
                candidate=address.candidate(),
                title=source.entry.title,
                url=source.entry.url,
                sentences=tuple(s for s in source.sentences if s.id in address.sentence_ids),
            )
            for address in found
            if (source := sources.get(address.passage_id)) is not None
        ]

    def retrieve(
        self,
        question: str,
        principal: Principal,
        filters: Filters = EVERYTHING,
        *,
        plan: Plan | None = None,
        k: int | None = None,
        budget: int | None = None,
    ) -> Retrieval:
        """Everything up to composing; its trace is returned, not kept."""
        within = self.settings.changed(k=k, budget=budget).budget
        return self.searched(question, principal, filters, plan=plan, k=k)(within)

    def searched(
        self,
        question: str,
        principal: Principal,
        filters: Filters = EVERYTHING,
        *,
        plan: Plan | None = None,
        k: int | None = None,
    ) -> Callable[[int], Retrieval]:
        """Plan and search once; what is returned fills a buffer of any budget from that, as
        ``retrieve`` would with it."""
        settings = self.settings.changed(k=k)
        asked, plan, run = self._begun(question, principal, filters, plan, settings)
        for _ in self._searches(asked, plan, run, None):
            pass

        def filled(budget: int) -> Retrieval:
            run.settings = settings.changed(budget=budget)
            return self._retrieved(asked, plan, run, choose(run))

        return filled

    def ask(
        self,
        question: str,
        principal: Principal,
        filters: Filters = EVERYTHING,
        *,
        plan: Plan | None = None,
        k: int | None = None,
        budget: int | None = None,
    ) -> tuple[Answer, Retrieval, Trace]:
        """The answer, the retrieval it stands on, and the trace, which the store keeps.
        ``answer.trace_id`` is empty where it was not kept."""
        for event in self.ask_events(question, principal, filters, plan=plan, k=k, budget=budget):
            if isinstance(event, Answered):
                return event.result.answer, event.result.retrieval, event.result.trace
        raise AssertionError("a question that is not cancelled ends with its answer")

    def ask_events(
        self,
        question: str,
        principal: Principal,
        filters: Filters = EVERYTHING,
        *,
        plan: Plan | None = None,
        k: int | None = None,
        budget: int | None = None,
        stream: bool = False,
        cancel: Cancel | None = None,
    ) -> Iterator[Event]:
        """The same, step by step: Planned, HopsFound (once or twice), BufferFilled, Answered.
        With ``stream``, a composer that can brings AnswerText before Answered, as it writes.
        ``cancel`` is looked at between steps, and between pieces of text; once set, Cancelled
        is the last event. A composer that fails raises its ModelError, the trace kept. HopsFound
        starts anew where the indices were replaced between the searches."""
        settings = self.settings.changed(k=k, budget=budget)
        for event in self._retrieval(question, principal, filters, plan, settings, cancel):
            yield event
            if isinstance(event, BufferFilled):
                if _given_up(cancel):
                    yield Cancelled(before="compose")
                    return
                yield from self._answered(event.retrieval, principal, filters, stream, cancel)

    # ------------------------------------------------------------ steps

    def _ready(
        self, question: str, principal: Principal, filters: Filters
    ) -> tuple[str, UnitStore, Embedder]:
        """The question as it is asked, and what to search with: a generation and its model."""
        asked = checks.check_question(question)
        store, embedder = pinned(self.store, self.embedder)
        checks.check_filters(store, principal, filters)
        return asked, store, embedder

    def _begun(
        self,
        question: str,
        principal: Principal,
        filters: Filters,
        plan: Plan | None,
        settings: QuerySettings,
    ) -> tuple[str, Plan, Searching]:
        """The question as it is asked, its plan, and the run that is to search it."""
        if plan is not None:
            plan = checks.check_plan(plan, settings.max_hops)
        asked, store, embedder = self._ready(question, principal, filters)
        run = Searching(store, embedder, settings, principal, filters)
        started = time.perf_counter()
        plan = plan or checks.planned(self.planner, asked, settings.max_hops)
        run.took("plan", started)
        return asked, plan, run

    def _retrieval(
        self,
        question: str,
        principal: Principal,
        filters: Filters,
        plan: Plan | None,
        settings: QuerySettings,
        cancel: Cancel | None,
    ) -> Iterator[Event]:
        asked, plan, run = self._begun(question, principal, filters, plan, settings)
        yield Planned(plan=plan)
        for event in self._searches(asked, plan, run, cancel):
            yield event
            if isinstance(event, Cancelled):
                return
        if _given_up(cancel):
            yield Cancelled(before="select")
            return
        yield BufferFilled(retrieval=self._retrieved(asked, plan, run, choose(run)))

    def _searches(
        self, asked: str, plan: Plan, run: Searching, cancel: Cancel | None
    ) -> Iterator[Event]:
        """Both searches on one generation. Where it is replaced and dropped in between, they
        begin again on the new one, with its model."""
        steps = (("search", run.first), ("second search", run.second))
        done = tries = 0
        while done < len(steps):
            name, step = steps[done]
            if _given_up(cancel):
                yield Cancelled(before=name)
                return
            try:
                found = step(asked, plan)
            except GenerationGone:
                tries += 1
                if tries > TRIES:
                    raise
                run.begin_again(*pinned(self.store, self.embedder))
                done = 0
                continue
            done += 1
            if found:
                yield HopsFound(hops=tuple(item.result() for item in found))

    def _retrieved(self, question: str, plan: Plan, run: Searching, chosen: Chosen) -> Retrieval:
        order = {hop.id: index for index, hop in enumerate(plan.hops)}
        found = sorted(run.found.values(), key=lambda item: order.get(item.hop.id, len(order)))
        second = run.second_encoder
        trace = retrieval_trace(
            question=question,
            plan=plan,
            principal=run.principal,
            found=found,
            document_body=run.document_body,
            document_hits=[(hit.document_key, hit.score) for hit in chosen.documents],
            buffer=chosen.buffer,
            keys=chosen.keys,
            settings=run.settings.model_dump(),
            models={
                "embedder": run.embedder.identity.name,
                "runtime": run.embedder.identity.runtime,
                **({"multilingual": second.identity.name} if second else {}),
                "planner": f"{self.planner.identity.model}/{self.planner.identity.prompt_version}",
            },
            times_ms=run.times,
            generation=generation_of(run.store),
        )
        return Retrieval(
            question=question,
            plan=plan,
            hops=tuple(item.result() for item in found),
            documents=chosen.documents,
            buffer=chosen.buffer,
            trace=trace,
        )

    def _answered(
        self,
        retrieval: Retrieval,
        principal: Principal,
        filters: Filters,
        stream: bool,
        cancel: Cancel | None,
    ) -> Iterator[Event]:
        started = time.perf_counter()
        keep_traces = self.settings.keep_traces
        try:
            answer = yield from composed(self.composer, retrieval, stream, cancel)
        except ModelError as error:
            unanswered(error, retrieval, self.store, self.composer.identity, keep_traces)
        if answer is None:
            yield Cancelled(before="answer")
            return
        yield Answered(
            result=settled(
                answer,
                retrieval,
                self.store,
                principal,
                filters,
                self.composer.identity,
                started,
                keep_traces,
            )
        )

    # ------------------------------------------------------------ looking back

    def trace(self, trace_id: str, principal: Principal) -> ShownTrace:
        """A kept trace, its evidence fenced with this reader's rights. Raises InputError where
        there is none that the reader may see."""
        trace = self._trace(trace_id, principal)
        return shown(trace, fetch_referenced(trace, self.store, principal))

    def replay(self, trace_id: str, principal: Principal) -> list[HopReplay]:
        """The searches of a kept trace sent again, compared hop by hop."""
        trace = self._trace(trace_id, principal)

        def once() -> list[HopReplay]:
            store, embedder = pinned(self.store, self.embedder)
            return replay(trace, store, embedder, second_encoder(store, principal))

        return steadily(once)

    def solve(
        self, trace_id: str, principal: Principal, solver: Solver
    ) -> tuple[ShownTrace, tuple[str, ...]]:
        """A kept trace with a local answer for each hop of its plan, made now from the hop's own
        candidates that this reader may read, and kept in it; and notes on what could not be
        done. Hops that ``solver`` answered before are not asked again.

        Raises InputError, StoreError; ModelUnavailable or BudgetSpent, with what was solved
        before that kept.
        """
        before = trace = self._trace(trace_id, principal)
        fenced = fetch_referenced(trace, self.store, principal)
        try:
            for trace in solved(before, fenced, solver):  # noqa: B007 (the last one counts)
                pass
        except ModelError:
            if trace is not before:
                keep(self.store, trace)
            raise
        notes = keep(self.store, trace)[0] if trace is not before else ()
        return shown(trace, fenced), notes

    def diagnose(self, trace_id: str, expect: str, principal: Principal) -> Diagnosis:
        """Where ``expect`` (a document's id, or words) was lost on the way to the answer."""
        return diagnose(self._trace(trace_id, principal), expect, self.store, principal)

    def _trace(self, trace_id: str, principal: Principal) -> Trace:
        return check_visible(self.store.get_trace(trace_id), trace_id, principal)


__all__ = ["Diagnosis", "HopReplay", "QueryEngine", "Retrieval", "SearchResult", "ShownTrace"]


def _given_up(cancel: Cancel | None) -> bool:
    return cancel is not None and cancel.is_set()
