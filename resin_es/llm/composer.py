"""The composer that asks a language model."""

from __future__ import annotations

from collections.abc import Iterator

from resin_es.model import Answer, EvidenceBuffer, ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt


class ModelComposer:
    """Implements ``ports.Composer``, and ``StreamingComposer``, with a language model."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("compose").version)

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        """Raises ModelUnavailable, BudgetSpent, ModelError."""
        raise NotImplementedError

    def stream(self, question: str, evidence: EvidenceBuffer) -> Iterator[str | Answer]:
        """Text as it is written, then the whole answer, checked. Raises as ``compose``."""
        raise NotImplementedError
