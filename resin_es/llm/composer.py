"""The composer that asks a language model."""

from __future__ import annotations

from collections.abc import Iterator

from resin_es.errors import ModelError
from resin_es.llm.compose import answer_from, compose_call, nothing_held
from resin_es.llm.wire import paid_for
from resin_es.model import Answer, EvidenceBuffer, ReaderIdentity
from resin_es.ports import LanguageModel, ModelReply
from resin_es.prompts import prompt
from resin_es.query.use import use_of


class ModelComposer:
    """Implements ``ports.Composer``, and can stream, with a language model: one call a question,
    which sees the question and the selected source passages and nothing else."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("compose").version)

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        """The checked answer; without any evidence no call is made.

        Raises ModelUnavailable, BudgetSpent, ModelError.
        """
        if not evidence.passages:
            return nothing_held(question, self._name)
        call = compose_call(question, evidence, self._name)
        return self._answer(self._model.call(call), question, evidence)

    def stream(self, question: str, evidence: EvidenceBuffer) -> Iterator[str | Answer]:
        """Text as the model writes it, unchecked, with its own markers; then the checked answer,
        last. Raises as ``compose``; a stream that breaks off is a ModelError."""
        if not evidence.passages:
            yield nothing_held(question, self._name)
            return
        call = compose_call(question, evidence, self._name)
        for piece in self._model.stream(call):
            if isinstance(piece, ModelReply):
                yield self._answer(piece, question, evidence)
                return
            yield piece
        raise ModelError("the answer's stream ended without its end.")

    def _answer(self, reply: ModelReply, question: str, evidence: EvidenceBuffer) -> Answer:
        with paid_for(reply):
            answer = answer_from(reply, question, evidence)
        use = use_of(reply, self.identity)
        return answer.model_copy(update={"use": use, "composer": self._name})
