"""Embedding models by settings, or by what an index says of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from resin_es.errors import SettingsError

if TYPE_CHECKING:
    from resin_es.ports import Embedder
    from resin_es.settings import Settings

HASH_DIMS = 64

AUTO, OFF = "auto", "off"
"""Values of RESIN_MULTILINGUAL that are no folder."""
PACKAGED = "multilingual-e5"


def embedder_spec(settings: Settings) -> dict[str, Any]:
    """How this process's model is loaded; kept in the index, so that others can load it too."""
    return {"kind": settings.embedder, "model": settings.embedder_model}


def second_spec(settings: Settings) -> dict[str, Any] | None:
    """How the encoder of what is in another language is loaded; None where none is asked for, or
    left to us and not installed, or the first encoder is not the default one, which reads English
    alone."""
    named = settings.multilingual
    if named == AUTO:
        from resin_es.adapters.multilingual.encoder import installed

        default = settings.embedder != "hash" and settings.embedder_model is None
        return {"kind": PACKAGED} if default and installed() else None
    if named == OFF:
        return None
    return {"kind": settings.embedder, "model": named}


def make_embedder(spec: Mapping[str, Any], threads: int | None = None) -> Embedder:
    """The model of a spec; what is heavy is loaded at first use. For ``hash``, ``model`` is the
    number of dims. Raises SettingsError, ModelUnavailable."""
    kind, model = spec.get("kind"), spec.get("model")
    if kind == "hash":
        from resin_es.testing.hash_embedder import HashEmbedder

        if model is not None and not (str(model).isdigit() and int(model)):
            raise SettingsError(
                f"RESIN_EMBEDDER_MODEL {model!r}: for RESIN_EMBEDDER=hash it is a number of dims."
            )
        return HashEmbedder(int(model or HASH_DIMS))
    if kind == "sentence-transformers":
        from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model)
    if kind == "onnx":
        from resin_es.adapters.onnx import OnnxEmbedder

        return OnnxEmbedder(model, threads=threads)
    if kind == PACKAGED:
        from resin_es.adapters.multilingual.encoder import MultilingualE5

        return MultilingualE5(threads=threads)
    raise SettingsError(
        f"There is no embedder {kind!r} in this version of resin-es.", hint="Upgrade resin-es."
    )
