"""``Resin``: the whole product in one object, for Python and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.batches import left_open
from resin_es.bootstrap.estimating import unpriced_stages
from resin_es.bootstrap.paying import Consent, agree, paid, read_ahead
from resin_es.bootstrap.services import Services
from resin_es.errors import InputError, UsageError
from resin_es.index.filters import Filters, make_filters
from resin_es.index.report import IndexReport
from resin_es.model import Answer, Document, Plan, Principal
from resin_es.ports import Progress
from resin_es.query.values import Answered, AnswerText, Asked
from resin_es.settings import load_settings

if TYPE_CHECKING:
    from resin_es.adapters.files import FileSource
    from resin_es.llm.metered import Spending
    from resin_es.ports.language import Stage
    from resin_es.query.diagnose import Diagnosis
    from resin_es.query.replay import HopReplay
    from resin_es.query.shown import ShownTrace
    from resin_es.query.values import Retrieval, SearchResult


class Resin:
    """Documents in, cited answers out.

    ::

        resin = Resin.from_env()
        resin.index_paths(["handbook/"], public=True)
        print(resin.ask("Which line is cheaper?").text)

    Reads take ``groups``: who asks. None means RESIN_GROUPS, or an admin on the node that
    resin-es started itself; elsewhere it is an AccessError.
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self._progress: Progress | None = None

    @classmethod
    def from_env(cls, *, progress: Progress | None = None, **overrides: Any) -> Resin:
        """From environment and settings file; ``overrides`` by setting name win.

        Raises SettingsError.
        """
        resin = cls(Services(load_settings(**overrides), progress=progress))
        resin._progress = progress
        return resin

    # ------------------------------------------------------------ writing

    def index_paths(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        source: str = "files",
        public: bool = False,
        private: bool = False,
        prune: bool = False,
        batch: bool = False,
        consent: Consent | None = None,
    ) -> IndexReport:
        """Index files, folders and ``-`` (JSONL on standard input).

        With RESIN_LLM=claude, ``batch`` has Message Batches read at half the price, and
        ``consent`` is shown the estimate before the first paid reading of a source.

        Raises InputError, AccessError (nobody may read them), StoreError, ModelError; BudgetSpent
        where RESIN_MAX_COST is reached (what is finished is kept).
        """
        from resin_es.adapters.files import FileSource, Rights

        if public and private:
            raise UsageError("--public and --private contradict each other.", hint="Choose one.")
        if not source.strip() or len(source) > 256:
            raise InputError("The name of the source is empty or over 256 characters.")
        rights = Rights.PUBLIC if public else Rights.PRIVATE if private else Rights.RECORDS
        report = IndexReport()
        files = FileSource(
            [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)],
            source=source,
            rights=rights,
            max_bytes=self.services.settings.max_document_bytes,
            problem=lambda where, reason: report.problems.append((where, reason)),
        )
        files.check()
        documents = _peeked(files.documents())
        self.services.ready_to_read()
        self.services.ensure_installed()
        if paid(self.services):
            self._index_paid(documents, source, report, batch=batch, consent=consent)
        elif batch:
            raise UsageError("--batch needs a language model.", hint="Set RESIN_LLM=claude.")
        else:
            self.services.indexer.index(documents, report=report, progress=self._progress)
        for suffix, count in files.skipped.items():
            report.skipped[suffix] += count
        if prune:
            self._prune(source, files, report)
        return report

    def _index_paid(
        self,
        documents: Iterable[Document],
        source: str,
        report: IndexReport,
        *,
        batch: bool,
        consent: Consent | None,
    ) -> None:
        """Documents are gone over more than once: counted, read ahead by batch, indexed."""
        from resin_es.adapters.files import DocumentSpool

        with DocumentSpool(documents) as spool:
            agree(self.services, spool, source, consent, self._progress)
            if batch:
                report.batches = read_ahead(self.services, spool, self._progress).to_dict()
            else:
                report.batches = left_open(self.services)
            self.services.indexer.index(
                spool, report=report, progress=self._progress, total=len(spool)
            )

    @property
    def spending(self) -> Spending:
        """What the language model was asked in this process, by stage; empty without one."""
        return self.services.spending

    @property
    def unpriced(self) -> Mapping[Stage, str]:
        """Stages of ``spending`` whose dollars nobody knows, and the model without a price."""
        return unpriced_stages(self.services.settings, self.services.spending)

    def _prune(self, source: str, files: FileSource, report: IndexReport) -> None:
        """Never after a listing with holes, nor after one that found nothing at all: that is a
        wrong path or a missing mount more often than an emptied folder."""
        if not files.complete:
            reason = "nothing was pruned, since the listing is not complete"
        elif not files.seen:
            reason = "nothing was pruned, since no document was found"
        else:
            self.services.indexer.prune(source, files.seen, report, covers=files.covers)
            return
        report.problems.append(("--prune", reason))

    def index_documents(self, documents: Iterable[Document]) -> IndexReport:
        """Index documents made in Python. Raises SettingsError, StoreError, ModelError."""
        self.services.ready_to_read()
        self.services.ensure_installed()
        return self.services.indexer.index(documents, progress=self._progress)

    def delete(self, external_ids: Sequence[str], *, source: str = "files") -> IndexReport:
        """Delete documents; when this returns, no answer carries them. Raises StoreError."""
        return self.services.indexer.delete(source, external_ids)

    # ------------------------------------------------------------ reading

    def plan(self, question: str) -> Plan:
        """The plan of a question, with nothing searched. Raises InputError."""
        return self.services.engine.plan(question)

    def search(
        self, text: str, *, groups: Sequence[str] | None = None, limit: int = 10, **narrow: Any
    ) -> SearchResult:
        """Units and sentences nearest to ``text``. ``narrow``: sources, kinds, entities,
        fields. Raises FilterError, AccessError, StoreError."""
        principal, filters = self._who_and_what(groups, narrow)
        return self.services.engine.search(text, principal, filters, limit=limit)

    def retrieve(
        self,
        question: str,
        *,
        groups: Sequence[str] | None = None,
        plan: Plan | None = None,
        k: int | None = None,
        budget: int | None = None,
        **narrow: Any,
    ) -> Retrieval:
        """Plan, hops and evidence buffer, without an answer. Raises as :meth:`ask`."""
        principal, filters = self._who_and_what(groups, narrow)
        return self.services.engine.retrieve(
            question, principal, filters, plan=plan, k=k, budget=budget
        )

    def ask(self, question: str, **options: Any) -> Answer:
        """The cited answer; options as in :meth:`retrieve`.

        Raises InputError, FilterError, AccessError, StoreError, ModelError.
        """
        return self.ask_traced(question, **options).answer

    def ask_traced(
        self,
        question: str,
        *,
        groups: Sequence[str] | None = None,
        plan: Plan | None = None,
        k: int | None = None,
        budget: int | None = None,
        on_text: Callable[[str], None] | None = None,
        **narrow: Any,
    ) -> Asked:
        """Answer, the retrieval it stands on, and the trace. ``on_text`` hears the answer's text
        as a composer that streams writes it, before anything of it is checked."""
        principal, filters = self._who_and_what(groups, narrow)
        for event in self.services.engine.ask_events(
            question, principal, filters, plan=plan, k=k, budget=budget, stream=on_text is not None
        ):
            if isinstance(event, AnswerText) and on_text is not None:
                on_text(event.text)
            if isinstance(event, Answered):
                return event.result
        raise AssertionError("a question that is not cancelled ends with its answer")

    def diagnose(
        self, trace_id: str, expect: str, *, groups: Sequence[str] | None = None
    ) -> Diagnosis:
        """Where the expected evidence was lost on the way to an answer."""
        principal = self.services.principal(groups)
        return self.services.engine.diagnose(trace_id, expect, principal)

    def trace(self, trace_id: str, *, groups: Sequence[str] | None = None) -> ShownTrace:
        """A kept trace; what the reader may not read is withheld. Raises InputError where there
        is no such trace for them."""
        return self.services.engine.trace(trace_id, self.services.principal(groups))

    def solve(
        self, trace_id: str, *, groups: Sequence[str] | None = None
    ) -> tuple[ShownTrace, tuple[str, ...]]:
        """A kept trace with a local answer for each hop, made by the language model now, and
        notes on what could not be done. Raises SettingsError without one, InputError where there
        is no such trace for the reader."""
        services = self.services
        return services.engine.solve(trace_id, services.principal(groups), services.solver)

    def replay(self, trace_id: str, *, groups: Sequence[str] | None = None) -> list[HopReplay]:
        """Send a trace's searches again and compare what they rank."""
        return self.services.engine.replay(trace_id, self.services.principal(groups))

    def _who_and_what(
        self, groups: Sequence[str] | None, narrow: dict[str, Any]
    ) -> tuple[Principal, Filters]:
        known = {"sources", "kinds", "entities", "fields"}
        if unknown := set(narrow) - known:
            raise UsageError(
                f"unknown option {min(unknown)!r}.", hint=f"Known: {', '.join(sorted(known))}."
            )
        given = {name: value or () for name, value in narrow.items()}
        return self.services.principal(groups), make_filters(**given)


def _peeked(documents: Iterator[Document]) -> Iterator[Document]:
    """The same stream, its first element drawn at once: what is wrong with it, or with its
    rights, is known before anything is installed or written."""
    first = next(documents, None)
    return documents if first is None else chain((first,), documents)
