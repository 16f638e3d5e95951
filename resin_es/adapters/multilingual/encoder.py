"""multilingual-e5-small as an Embedder: for texts that an English encoder does not understand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from resin_es.adapters.multilingual import folder
from resin_es.adapters.onnx import RUNTIME, OnnxEmbedder
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from resin_es.ports import Vectors

IDENTITY = ModelIdentity(name=f"{folder.NAME}+16401c", dims=384, runtime=RUNTIME)
"""What the ONNX runtime says of the built folder, known without loading it: ``+16401c`` stands
for its prefixes, pooling and length (``encoder.Encoder.named``)."""


def installed() -> bool:
    """Whether the encoder can work here. Costs a look at the disk; nothing is imported."""
    return not folder.lacking()


class MultilingualE5:
    """Embedder of some hundred languages, vectors of 384 dims.

    The model is built on disk by whoever needs it first (see ``folder``) and loaded at the first
    text. ``threads``: batches worked on at a time, None for as many as this process has cores.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads

    @property
    def identity(self) -> ModelIdentity:
        """Costs nothing."""
        return IDENTITY

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), 384), float32, rows of length 1. Texts beyond 512 word pieces are
        cut there.

        Raises ModelUnavailable, ModelError.
        """
        return self._model.embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``, for questions. Raises ModelUnavailable, ModelError."""
        return self._model.embed_queries(texts)

    @cached_property
    def _model(self) -> OnnxEmbedder:
        return OnnxEmbedder(folder.ready(), threads=self._threads, name=folder.NAME)
