"""all-MiniLM-L6-v2, or another encoder, by sentence-transformers, the runtime the paper used;
needs torch.

The package is imported at first use. Vectors equal those of the ``onnx`` runtime up to its
quantisation (``tests/contract/test_embedders.py`` holds both to it), so both share one
``ModelIdentity.name``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resin_es.adapters import minilm
from resin_es.adapters.encoder import Encoder, described, prefixes
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from resin_es.ports import Vectors

RUNTIME = "sentence-transformers"


class SentenceTransformersEmbedder:
    """Embedder over a sentence-transformers model.

    ``model``: None for the default copy of all-MiniLM-L6-v2 (see ``minilm``), else a local
    folder or a hub name, whose last part becomes the identity's name unless ``name`` is given.
    ``device``: as in sentence-transformers, None lets it choose. ``max_tokens_per_batch`` counts
    word pieces.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        device: str | None = None,
        max_tokens_per_batch: int = 2048,
        name: str = "",
    ) -> None:
        self._source = model
        self._device = device
        self._max_tokens = max_tokens_per_batch
        self._name = name

    @cached_property
    def identity(self) -> ModelIdentity:
        """Costs nothing for the default model; any other is loaded for its dims.

        Raises ModelUnavailable.
        """
        if self._source is None or str(self._source) == minilm.HUB_NAME:
            return ModelIdentity(name=minilm.MODEL_NAME, dims=minilm.DIMS, runtime=RUNTIME)
        name = self._encoder.named(self._own_name)
        dims = int(self._model.get_sentence_embedding_dimension())
        return ModelIdentity(name=name, dims=dims, runtime=RUNTIME)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dims), float32, rows of length 1. Texts beyond the model's
        ``max_seq_length`` word pieces are cut there.

        Raises ModelUnavailable, ModelError.
        """
        return self._embed(self._encoder.passage_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``, for questions. Raises ModelUnavailable, ModelError."""
        return self._embed(self._encoder.query_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        import numpy as np

        out = np.zeros((len(texts), self.identity.dims), dtype=np.float32)
        readable = [minilm.readable(text) for text in texts]
        model = self._model
        try:
            lengths = _lengths(model, [prefix + text for text in readable])
            for batch in minilm.token_batches(lengths, self._max_tokens):
                out[batch] = model.encode(
                    [readable[position] for position in batch],
                    # Always said, else the library puts the model's default prompt there.
                    prompt=prefix,
                    batch_size=len(batch),
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
        except Exception as error:
            raise ModelError(f"sentence-transformers failed: {error}") from error
        return out

    @cached_property
    def _own_name(self) -> str:
        source = Path(self._source or minilm.MODEL_NAME)
        return self._name or (source.resolve() if source.is_dir() else source).name

    @cached_property
    def _encoder(self) -> Encoder:
        """How the model wants its texts. The library itself cuts and pools as the model says; of
        a model named by the hub the prefixes are all that has to be known here."""
        if self._source is None or str(self._source) == minilm.HUB_NAME:
            return Encoder()
        if Path(self._source).is_dir():
            return described(Path(self._source), self._own_name)
        model = self._model
        told = {
            "prompts": getattr(model, "prompts", None),
            "default_prompt_name": getattr(model, "default_prompt_name", None),
        }
        query, passage = prefixes(told, self._own_name)
        return Encoder(query_prefix=query, passage_prefix=passage)

    def _folder(self) -> str | Path:
        if self._source is None:
            return minilm.torch_folder()
        if str(self._source) == minilm.HUB_NAME:
            return minilm.torch_folder_from_hub()
        return self._source

    @cached_property
    def _model(self) -> Any:
        source = str(self._folder())
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelUnavailable(
                "sentence-transformers is not installed.",
                hint="Install it with: pip install 'resin-es[sentence-transformers]'",
            ) from error
        try:
            return SentenceTransformer(source, device=self._device)
        except Exception as error:
            raise ModelUnavailable(
                f"sentence-transformers cannot load {source}: {error}", hint=minilm.HINT
            ) from error


def _lengths(model: Any, texts: Sequence[str]) -> list[int]:
    if not texts:
        return []
    encoded = model.tokenizer(list(texts), truncation=True, max_length=model.max_seq_length)
    return [len(row) for row in encoded["input_ids"]]
