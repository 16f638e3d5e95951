"""How an encoder wants its texts: what stands before them, where they are cut, what is pooled.

Read from the files that sentence-transformers saves beside the weights: ``modules.json``,
``*_Pooling/config.json``, ``sentence_bert_config.json`` and, for the prefixes, the ``prompts`` of
``config_sentence_transformers.json``
(https://sbert.net/docs/sentence_transformer/usage/custom_models.html). So the two runtimes treat
one folder alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from resin_es.adapters.minilm import MAX_LENGTH
from resin_es.errors import ModelUnavailable
from resin_es.model.base import Frozen

PROMPTS = "config_sentence_transformers.json"
MODULES = "modules.json"
POOLING = "1_Pooling"
PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""Names under which a model may keep what stands before a passage, the first one wins."""

_SEARCHING = "Represent this sentence for searching relevant passages: "
FAMILIES: tuple[tuple[str, str, str], ...] = (
    (r"\be5-(small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"\bbge-(small|base|large)-en\b", _SEARCHING, ""),
    (r"\bmxbai-embed-(large|xsmall)\b", _SEARCHING, ""),
    (r"\barctic-embed-.*v2", "query: ", ""),
    (r"\barctic-embed-", _SEARCHING, ""),
    (r"\bnomic-embed-text\b", "search_query: ", "search_document: "),
)
"""(pattern of the name, before a question, before a passage) of encoders whose published files
name no prompts although the model was trained with them; the first match wins."""

POSITIONS_KEPT = {"xlm-roberta": 2, "roberta": 2, "camembert": 2, "mpnet": 2}
"""Positions that a model type never gives to a text."""


class Encoder(Frozen):
    """What a model asks for. ``pooling`` is ``mean``, ``cls`` or another word of
    sentence-transformers; ``max_length`` counts word pieces, markers and prefix with them. The
    defaults are those of all-MiniLM-L6-v2. Vectors are brought to length 1 whatever a model says:
    the port asks for it."""

    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"
    max_length: int = MAX_LENGTH

    def named(self, name: str) -> str:
        """``name``, marked where texts are treated otherwise than by default: vectors of one
        folder before and after its files were changed must not meet in one index."""
        if self == Encoder():
            return name
        told = (self.query_prefix, self.passage_prefix, self.pooling, str(self.max_length))
        return f"{name}+{sha256(chr(0).join(told).encode()).hexdigest()[:6]}"


def described(folder: Path, name: str) -> Encoder:
    """The description of the model in ``folder``; ``name`` tells its family where the files name
    no prompts. What no file says is as in ``Encoder``.

    Raises ModelUnavailable where a file can't be read.
    """
    query, passage = prefixes(_json(folder / PROMPTS), name)
    return Encoder(
        query_prefix=query,
        passage_prefix=passage,
        pooling=_pooling(folder),
        max_length=_max_length(folder),
    )


def prefixes(config: Mapping[str, Any], name: str) -> tuple[str, str]:
    """(before a question, before a passage): the model's own ``prompts``, else its family's."""
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name") or "", "")
    query = prompts.get("query", default)
    passage = next((prompts[key] for key in PASSAGE_PROMPTS if key in prompts), default)
    if query or passage:
        return str(query), str(passage)
    for pattern, before_query, before_passage in FAMILIES:
        if re.search(pattern, name.lower()):
            return before_query, before_passage
    return "", ""


def pooling_of(config: Mapping[str, Any]) -> str:
    """The word for what a pooling module's configuration switches on; several are joined by
    ``+``. Older files have a switch for each, newer ones a word."""
    if "pooling_mode" in config:
        told = config["pooling_mode"]
        return str(told) if isinstance(told, str) else "+".join(told)
    switches = {
        "pooling_mode_cls_token": "cls",
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_max_tokens": "max",
        "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
        "pooling_mode_weightedmean_tokens": "weightedmean",
        "pooling_mode_lasttoken": "lasttoken",
    }
    return "+".join(word for key, word in switches.items() if config.get(key)) or "mean"


def extra_modules(folder: Path) -> tuple[str, ...]:
    """Kinds of the modules that come after the word pieces' vectors and their pooling, other
    than bringing to length 1: a graph of the transformer alone lacks them. Raises
    ModelUnavailable."""
    usual = ("Transformer", "Pooling", "Normalize")
    return tuple(kind for kind, _ in _modules(folder) if kind not in usual)


def _modules(folder: Path) -> list[tuple[str, str]]:
    """(kind, folder) of each module. Kinds are the last words of class names."""
    told = _json(folder / MODULES, [])
    return [(str(one["type"]).rsplit(".", 1)[-1], str(one.get("path", ""))) for one in told]


def _pooling(folder: Path) -> str:
    paths = [path for kind, path in _modules(folder) if kind == "Pooling"]
    return pooling_of(_json(folder / (paths[0] if paths else POOLING) / "config.json"))


def _max_length(folder: Path) -> int:
    """What the model was made to read: as said for its sentences, else by its tokenizer, else by
    its positions."""
    model = _json(folder / "config.json")
    positions = model.get("max_position_embeddings")
    if positions:
        positions = int(positions) - POSITIONS_KEPT.get(str(model.get("model_type")), 0)
    told: Sequence[object] = (
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
    )
    # A tokenizer without a bound says 10**30.
    lengths = [int(n) for n in told if isinstance(n, (int, float)) and 0 < n < 10**6]
    if not lengths:
        return int(positions or MAX_LENGTH)
    return min(lengths[0], int(positions)) if positions else lengths[0]


def _json(path: Path, default: Any = None) -> Any:
    """The content of a configuration file; ``default`` (an empty object) where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {} if default is None else default
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"The model's file {path} cannot be read: {error}",
            hint="Save the model again with sentence-transformers, or name another folder.",
        ) from error
