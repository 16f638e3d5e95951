"""Rows of the external packages, as ``EvalSystem``s.

A row is prepared once for all questions, since its package indexes the whole corpus first;
afterwards evidence is looked up. A row that cannot run is skipped with its reason.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from resin_es.errors import ModelError, ResinError, UsageError
from resin_es.evaluation.packing import pack_pieces
from resin_es.evaluation.systems.external.embedding import LentEmbedder
from resin_es.evaluation.systems.external.environment import ExternalEnvironments
from resin_es.evaluation.systems.external.jobs import (
    Answered,
    EmbeddingEndpoint,
    Job,
    JobDocument,
    JobQuestion,
    ModelEndpoint,
    Replies,
    corpus_print,
    given_text,
    question_id,
    read_replies,
)
from resin_es.evaluation.systems.external.mapping import ChunkMap, cut_text, spans_of
from resin_es.evaluation.systems.external.packages import ROWS, ExternalRow
from resin_es.evaluation.systems.external.running import Limits, run_job
from resin_es.evaluation.values import EvalDocument, Evidence, Spent, SystemResult
from resin_es.model.base import Frozen, content_id

if TYPE_CHECKING:
    from resin_es.ports import Embedder, Progress

NO_ENDPOINT = "No model endpoint is named (RESIN_EXTERNAL_URL and RESIN_EXTERNAL_MODEL)."


MOST_FAILED = 0.02
"""Share of documents that a package may fail on; a provider's filters refuse some for good."""


class ExternalSetup(Frozen):
    """What all external rows of a data set share.

    ``questions`` are all that will be asked, as texts (never gold). ``folder`` keeps indexes and
    replies, so that a run goes on where it stopped. Vectors come from ``embedder``, lent to the
    packages, or from ``embeddings``. ``install``: install what is missing. ``answers``: use the
    packages' own answers instead of the evaluation's composer. ``max_tokens``: hard cap on the
    model tokens of one package's run; 0: none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    corpus: str
    documents: tuple[EvalDocument, ...]
    questions: tuple[str, ...]
    folder: Path
    model: ModelEndpoint | None = None
    embedder: object | None = None
    embeddings: EmbeddingEndpoint | None = None
    environments: ExternalEnvironments = Field(default_factory=ExternalEnvironments)
    install: bool = False
    answers: bool = False
    max_tokens: int = 0
    limits: Limits = Field(default_factory=Limits)


class ExternalSystem:
    """One row. Not prepared, it prepares itself at the first question."""

    group = "external"

    def __init__(self, row: ExternalRow, setup: ExternalSetup) -> None:
        self.name, self.label, self.about = row.name, row.label, row.about
        self.lost_chunks = 0
        self._row, self._setup = row, setup
        self._map = ChunkMap(setup.documents)
        self._replies: Replies | None = None
        self._skipped: str | None = None
        self._lent = 0.0

    def prepare(self, progress: Progress | None = None) -> str:
        """Index and ask all questions, unless replies are there already. Returns why the row
        has to be skipped; empty where every question has its context."""
        if self._skipped is None:
            try:
                self._skipped = self._prepare(progress)
            except ResinError as error:
                self._skipped = str(error)
        return self._skipped

    def evidence(self, question: str, budget: int) -> Evidence:
        """The package's chunks within ``budget``, in its order, the last cut at a sentence; or
        the context that it wrote itself, cut. Raises ModelError where the row is skipped."""
        reason = self.prepare()
        reply = self._replies.answered.get(question_id(question)) if self._replies else None
        if reply is None:
            raise ModelError(
                f"{self.label} has no context for {question!r}. {reason}".strip(),
                hint="Name every question when the row is set up.",
            )
        self._lent += reply.seconds
        return self._evidence(reply, budget)

    def lent(self) -> float:
        """Seconds that the package took for what was asked since this was last called: its
        evidence is looked up here, so a clock around ``evidence`` would not see them."""
        seconds, self._lent = self._lent, 0.0
        return seconds

    def skipped_row(self) -> SystemResult:
        """The row of a run that had to do without it."""
        return SystemResult(
            system=self.name,
            label=self.label,
            group=self.group,
            about=self.about,
            skipped=self.prepare(),
        )

    def indexing(self) -> Spent:
        """Calls and tokens that indexing took, over all runs of the job."""
        spent = Spent()
        for part in self._replies.indexed if self._replies else ():
            spent = spent.plus(part.spent(self._setup.model))
        return spent

    def facts(self) -> Mapping[str, str]:
        """What the row stood on, for the record."""
        package = self._setup.environments.packages[self._row.package]
        spent = self.indexing()
        indexed = f"{spent.calls} calls, {spent.input_tokens + spent.output_tokens} tokens"
        model = self._setup.model.model if self._setup.model else "none"
        last = self._replies.indexed[-1:] if self._replies else ()
        failed = sum(part.failed for part in last)
        return {
            f"{self.name} package": f"{package.name} {package.version}",
            f"{self.name} model": model,
            f"{self.name} indexing": indexed,
            f"{self.name} documents not indexed": str(failed),
            f"{self.name} chunks found in no document": str(self.lost_chunks),
        }

    def _evidence(self, reply: Answered, budget: int) -> Evidence:
        spent = reply.spent(self._setup.model)
        answer = reply.answer if self._setup.answers else None
        if not reply.chunks:
            text = cut_text(reply.text, budget)
            return Evidence(text=text, answer=answer, spent=spent)
        pieces, lost = self._map.pieces(reply.chunks)
        self.lost_chunks += lost
        return Evidence(
            passages=pack_pieces(pieces, budget, self._setup.corpus),
            ranked=tuple(spans_of(piece) for piece in pieces),
            answer=answer,
            spent=spent,
        )

    def _prepare(self, progress: Progress | None) -> str:
        setup, package = self._setup, self._row.package
        if setup.model is None:
            return NO_ENDPOINT
        if setup.install:
            setup.environments.install(package, progress=progress)
        if reason := setup.environments.available(package):
            return reason
        with self._vectors() as vectors:
            job = self._job(setup.model, vectors)
            replies = _read(Path(job.replies))
            if _open(job, replies):
                runner = setup.environments.packages[package].runner
                python = setup.environments.python(package)
                run_job(
                    python,
                    runner,
                    job,
                    setup.model.key,
                    limits=setup.limits,
                    progress=progress,
                )
                replies = _read(Path(job.replies))
        self._replies = replies
        return _holes(job, replies)

    @contextlib.contextmanager
    def _vectors(self) -> Iterator[EmbeddingEndpoint]:
        if self._setup.embeddings is not None:
            yield self._setup.embeddings
        elif self._setup.embedder is not None:
            embedder: Embedder = self._setup.embedder  # type: ignore[assignment]
            with LentEmbedder(embedder) as lent:
                yield lent.endpoint
        else:
            raise UsageError(f"{self.label} needs an embedder or an embeddings endpoint.")

    def _job(self, model: ModelEndpoint, vectors: EmbeddingEndpoint) -> Job:
        """The job; its folder changes with whatever an index of the package depends on."""
        setup = self._setup
        documents = tuple(
            JobDocument(id=document.id, text=given_text(document)) for document in setup.documents
        )
        package = setup.environments.packages[self._row.package]
        index = content_id(
            package.version,
            model.model,
            vectors.model,
            corpus_print(documents),
            length=12,
        )
        folder = setup.folder / f"{package.name}-{index}"
        asked = dict.fromkeys(setup.questions)
        mode = "answers" if setup.answers else "contexts"
        return Job(
            system=self.name,
            work=str(folder / "index"),
            replies=str(folder / f"{self.name}-{mode}.jsonl"),
            documents=documents,
            questions=tuple(JobQuestion(id=question_id(text), text=text) for text in asked),
            model={"url": model.url, "name": model.model},
            embeddings=vectors,
            options=self._row.options,
            answers=setup.answers,
            max_tokens=setup.max_tokens,
        )


def external_systems(
    setup: ExternalSetup,
    names: Sequence[str] = tuple(ROWS),
    *,
    rows: Mapping[str, ExternalRow] = ROWS,
) -> tuple[ExternalSystem, ...]:
    """The rows by name. Raises UsageError for an unknown one."""
    if unknown := [name for name in names if name not in rows]:
        raise UsageError(
            f"There is no external system {unknown[0]!r}.", hint=f"Known are {', '.join(rows)}."
        )
    return tuple(ExternalSystem(rows[name], setup) for name in names)


def _read(path: Path) -> Replies:
    try:
        return read_replies(path.read_text("utf-8", "replace").splitlines())
    except OSError:
        return Replies()


def _open(job: Job, replies: Replies) -> list[JobQuestion]:
    return [question for question in job.questions if question.id not in replies.answered]


def _holes(job: Job, replies: Replies) -> str:
    """Why what was replied makes no row: an index or a run with holes compares with nothing."""
    last = replies.indexed[-1] if replies.indexed else None
    if last and last.failed > MOST_FAILED * len(job.documents):
        return (
            f"{last.failed} of {len(job.documents)} documents were not indexed; its log says why."
        )
    missing = _open(job, replies)
    if not missing:
        return ""
    first = next((why for q in missing if (why := replies.failed.get(q.id))), "no reason was given")
    return f"{len(missing)} of {len(job.questions)} questions got no context: {first}"
