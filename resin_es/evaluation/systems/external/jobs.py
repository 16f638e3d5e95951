"""What passes between us and a runner: a job as one JSON file, replies as JSON lines. Pure.

A runner appends a line per question as soon as it has it, so a job that was broken off goes on
where it stood. The key of the endpoint is in neither file: it goes by the child's environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from resin_es.evaluation.values import EvalDocument, Spent
from resin_es.model.base import Frozen, content_id

KEY = "RESIN_EXTERNAL_KEY"
"""Variable of the child's environment that holds the endpoint's key."""


class ModelEndpoint(Frozen):
    """An OpenAI-compatible endpoint: base URL up to ``/v1``, model, key. Prices are US dollars
    per million tokens (0: not known)."""

    url: str
    model: str
    key: SecretStr | None = None
    input_price: float = Field(0.0, ge=0)
    output_price: float = Field(0.0, ge=0)

    def dollars(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1e6


class EmbeddingEndpoint(Frozen):
    """Where a runner gets vectors from; same protocol. ``dims`` is their length."""

    url: str
    model: str
    dims: int


class JobDocument(Frozen):
    """A document as the package is given it: title and text in one."""

    id: str
    text: str


class JobQuestion(Frozen):
    id: str
    text: str


class Job(Frozen):
    """All that a runner needs. ``work`` is the package's own folder, ``replies`` the file of
    lines. ``answers``: also let the package answer (it costs model calls; the evaluation has
    its own composer). ``max_tokens``: a hard cap on model tokens of the job; 0: none."""

    version: Literal[1] = 1
    system: str
    work: str
    replies: str
    documents: tuple[JobDocument, ...]
    questions: tuple[JobQuestion, ...]
    model: dict[str, str]
    embeddings: EmbeddingEndpoint
    options: Mapping[str, str] = {}
    answers: bool = False
    max_tokens: int = Field(0, ge=0)


class _Reply(Frozen):
    model_config = ConfigDict(frozen=True, extra="ignore")

    seconds: float = 0.0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def spent(self, endpoint: ModelEndpoint | None = None) -> Spent:
        """Calls and tokens, and dollars where ``endpoint`` has prices."""
        return Spent(
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            dollars=endpoint.dollars(self.input_tokens, self.output_tokens) if endpoint else 0.0,
        )


class Chunk(Frozen):
    """A piece of source text as the package returned it, best first; ``document`` is the id of
    the job's document where the package says it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    document: str = ""
    score: float = 0.0


class Indexed(_Reply):
    kind: Literal["indexed"] = "indexed"
    documents: int
    failed: int = 0


class Answered(_Reply):
    """One question: chunks where the package returns source text, else ``text``, the context
    that it wrote itself."""

    kind: Literal["answered"] = "answered"
    question: str
    chunks: tuple[Chunk, ...] = ()
    text: str = ""
    answer: str | None = None


class Failed(_Reply):
    """A question that failed, or, without ``question``, the whole job."""

    kind: Literal["failed"] = "failed"
    question: str = ""
    reason: str


class Progressed(_Reply):
    kind: Literal["progress"] = "progress"
    done: int
    total: int
    stage: str = ""


Reply = Annotated[Indexed | Answered | Failed | Progressed, Field(discriminator="kind")]
_REPLY: TypeAdapter[Indexed | Answered | Failed | Progressed] = TypeAdapter(Reply)


class Replies(Frozen):
    """All lines of a job so far. A later line on a question replaces an earlier one."""

    answered: Mapping[str, Answered] = {}
    failed: Mapping[str, str] = {}
    indexed: tuple[Indexed, ...] = ()
    progress: Progressed | None = None
    fatal: str = ""


def read_replies(lines: Iterable[str]) -> Replies:
    """Lines that are not whole or not of the protocol are left out: the last one may be torn."""
    answered: dict[str, Answered] = {}
    failed: dict[str, str] = {}
    indexed: list[Indexed] = []
    progress, fatal = None, ""
    for line in lines:
        try:
            reply = _REPLY.validate_json(line)
        except ValidationError:
            continue
        if isinstance(reply, Answered):
            answered[reply.question] = reply
            failed.pop(reply.question, None)
        elif isinstance(reply, Failed) and reply.question:
            failed[reply.question] = reply.reason
        elif isinstance(reply, Failed):
            fatal = reply.reason
        elif isinstance(reply, Indexed):
            indexed.append(reply)
        else:
            progress = reply
    return Replies(
        answered=answered, failed=failed, indexed=tuple(indexed), progress=progress, fatal=fatal
    )


def given_text(document: EvalDocument) -> str:
    """A document as every package is given it: its title above its text."""
    return f"{document.title}\n{document.text}" if document.title else document.text


def question_id(question: str) -> str:
    return content_id(question, length=16)


def corpus_print(documents: Sequence[JobDocument]) -> str:
    """Changes with every document: an index of other documents is never taken for this one."""
    return content_id(*(part for document in documents for part in (document.id, document.text)))


def job_json(job: Job) -> str:
    value: dict[str, Any] = job.model_dump(mode="json")
    return json.dumps(value, ensure_ascii=False)
