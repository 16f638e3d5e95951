"""The composer's request, and the answer read from what came back. Pure [3.6, A.5, A.7]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from resin_es.errors import ModelError
from resin_es.llm.citing import Place, Said, said, unmarked, without_markers
from resin_es.llm.data import delimited, line
from resin_es.llm.wire import usable
from resin_es.model import UNCITED, Answer, Citation, EvidenceBuffer, EvidencePassage, Statement
from resin_es.ports import ModelCall, ModelReply
from resin_es.prompts import prompt
from resin_es.query.compose import NOT_HELD

MAX_TOKENS = 8192
"""Room for an answer, and for what a model may think first: that counts as output too."""
NAMED = 8
"""Rejected citations that a note names; the statements hold all."""

_MISSING = re.compile(
    r"^[ \t>*_#-]*not in the evidence\b[ \t*_]*(?:[:.\u2013\u2014-][ \t*_]*(.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING = frozenset({"none", "nothing", "n/a", "-"})


def compose_call(question: str, evidence: EvidenceBuffer, model: str) -> ModelCall:
    """The request: the question and the selected source passages, each sentence behind its
    label, nothing else. Free text, since a schema cannot be streamed."""
    told = prompt("compose")
    blocks = [f"QUESTION: {delimited(question)}"]
    blocks.extend(_block(n, passage) for n, passage in enumerate(evidence.passages, start=1))
    return ModelCall(
        stage="compose",
        model=model,
        prompt_version=told.version,
        system=told.text,
        user="\n\n".join(blocks),
        max_tokens=MAX_TOKENS,
    )


def _block(number: int, passage: EvidencePassage) -> str:
    """One passage. White space in a sentence is folded, and brackets that read like a label are
    round ones, so a label is always ours."""
    shown = [unmarked(line(sentence.text)) for sentence in passage.sentences]
    rows = [f"[{number}.{n}] {text}" for n, text in enumerate(shown, start=1)]
    title = unmarked(line(passage.title))
    head = [f"PASSAGE {number}", *([f"TITLE: {delimited(title)}"] if title else [])]
    return "\n".join([*head, f"TEXT: {delimited(chr(10).join(rows))}"])


def answer_from(reply: ModelReply, question: str, evidence: EvidenceBuffer) -> Answer:
    """The answer in ``reply``. Every citation of it stands in ``evidence``; a sentence without
    one is marked; markers that name nothing given are taken out and named. An answer that was
    cut off keeps its complete sentences and says so.

    Raises ModelError where the model declined, said nothing, or no sentence was finished.
    """
    usable(reply, "the answer")
    text = reply.text.replace("\r\n", "\n").replace("\r", "\n")
    told, needs = _needs(text, question)
    sentences = said(told, evidence, cut=reply.truncated)
    if not sentences and needs is None:
        cut = "was cut off before its first sentence ended" if reply.truncated else "has no words"
        raise ModelError(f"the answer {cut}.")
    book = _Numbers()
    statements = tuple(book.statement(one) for one in sentences)
    found = bool(book.citations)
    missing = needs or (() if found else (question,))
    return Answer(
        question=question,
        text=_text(statements, missing),
        found=found,
        statements=statements,
        citations=tuple(book.citations),
        missing=missing,
        notes=tuple(_notes(statements, reply.truncated)),
    )


def _needs(text: str, question: str) -> tuple[str, tuple[str, ...] | None]:
    """The text without its lines of missing needs, and the needs; None without such a line. A
    line that names none means the question."""
    lines = list(_MISSING.finditer(text))
    if not lines:
        return text, None
    told = [without_markers(one[1] or "") or question for one in lines]
    parts = (part for one in told for part in one.split(";"))
    needs = dict.fromkeys(need for part in parts if (need := line(part).strip(" *_.")))
    return _MISSING.sub("", text), tuple(n for n in needs if n.casefold() not in _NOTHING)


def _text(statements: Sequence[Statement], missing: Sequence[str]) -> str:
    lines = [statement.text for statement in statements] or [NOT_HELD]
    if missing:
        lines.append("Not in the evidence: " + "; ".join(missing))
    return "\n".join(lines)


def _notes(statements: Sequence[Statement], truncated: bool) -> Iterable[str]:
    bare = sum(not statement.citations for statement in statements)
    if bare:
        yield f"{bare} of {len(statements)} sentences carry no valid citation."
    rejected = [marker for statement in statements for marker in statement.rejected]
    if rejected:
        names = " ".join(dict.fromkeys(rejected[:NAMED])) + (" …" if len(rejected) > NAMED else "")
        yield f"Citations that name no sentence given, taken out ({len(rejected)}): {names}"
    if truncated:
        yield "The answer was cut off at its length limit: its complete sentences are kept."


class _Numbers:
    """Citations numbered by first use, one for each sentence."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def statement(self, one: Said) -> Statement:
        numbers = tuple(dict.fromkeys(self._number(place) for place in one.places))
        marks = " ".join(f"[{number}]" for number in numbers) or UNCITED
        return Statement(text=f"{one.text} {marks}", citations=numbers, rejected=one.rejected)

    def _number(self, place: Place) -> int:
        passage, sentence = place
        key = (passage.passage_id, sentence.id)
        if key not in self._numbers:
            self._numbers[key] = len(self.citations) + 1
            self.citations.append(
                Citation(
                    number=self._numbers[key],
                    passage_id=passage.passage_id,
                    document_key=passage.document_key,
                    document_id=passage.document_id,
                    source=passage.source,
                    title=passage.title,
                    url=passage.url,
                    sentence_ids=(sentence.id,),
                    quote=sentence.text,
                )
            )
        return self._numbers[key]


def nothing_held(question: str, composer: str) -> Answer:
    """The answer to a question for which no evidence was found: no model is asked."""
    return Answer(
        question=question,
        text=_text((), (question,)),
        found=False,
        missing=(question,),
        composer=composer,
    )
