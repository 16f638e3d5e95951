"""Embedding models by settings, or by what an index says of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resin_es.errors import ModelUnavailable, SettingsError

if TYPE_CHECKING:
    from resin_es.index.multilingual import SecondEncoder
    from resin_es.ports import Embedder
    from resin_es.settings import Settings

HASH_DIMS = 64

AUTO, OFF = "auto", "off"
"""Values of RESIN_MULTILINGUAL that are no folder."""
PACKAGED = "multilingual-e5"


def embedder_spec(settings: Settings) -> dict[str, Any]:
    """How this process's model is loaded; kept in the index, so that others can load it too."""
    return {"kind": settings.embedder, "model": settings.embedder_model}


def reads_english_alone(settings: Settings) -> bool:
    """Whether the first encoder is the default one. What a model of one's own reads is not ours to
    say."""
    return settings.embedder != "hash" and settings.embedder_model is None


def second_spec(settings: Settings) -> dict[str, Any] | None:
    """How the encoder of what is in another language is loaded; None where none is asked for, or
    left to us and not installed, or the first encoder is a model of one's own. A folder is told
    from the root: other processes run elsewhere."""
    named = settings.multilingual
    if named == AUTO:
        from resin_es.adapters.multilingual.encoder import installed

        return {"kind": PACKAGED} if reads_english_alone(settings) and installed() else None
    if named == OFF:
        return None
    folder = Path(named).expanduser()
    model = str(folder.resolve()) if folder.is_dir() else named
    return {"kind": settings.embedder, "model": model}


def second_encoder(settings: Settings, first: Embedder) -> SecondEncoder | None:
    """The encoder of ``second_spec``, loaded as far as it takes to tell its name and dims. Raises
    SettingsError where RESIN_MULTILINGUAL names none, or the model that is the ``first`` one."""
    from resin_es.index.multilingual import SecondEncoder

    spec = second_spec(settings)
    if spec is None:
        return None
    try:
        model = make_embedder(spec, settings.embedder_threads).identity
    except (ModelUnavailable, SettingsError) as error:
        raise SettingsError(
            f"RESIN_MULTILINGUAL {settings.multilingual!r} names no encoder: {error.message}",
            hint="It is auto, off, or the folder of an encoder that RESIN_EMBEDDER "
            f"({settings.embedder}) can load.",
        ) from error
    if (model.name, model.dims) == (first.identity.name, first.identity.dims):
        raise SettingsError(
            f"RESIN_MULTILINGUAL names {model.name}, which makes the vectors of all texts already.",
            hint="RESIN_MULTILINGUAL=off leaves it at that.",
        )
    return SecondEncoder(model=model, embedder=spec)


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
