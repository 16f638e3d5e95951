"""The second vector: what is in another language than English gets one by a multilingual encoder.

An encoder made for English puts texts of other languages nowhere in particular. Such texts keep the
vector that it gives them, and have another one beside it. Which encoder made these, or that there
are none, an index says in its ``_meta``; one without them takes and answers what it always did, and
`resin-es rebuild` gives it the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resin_es.extract.language import in_another_language
from resin_es.index.records import STATEMENT
from resin_es.index.vectors import CacheGet, CachePut, embed_cached
from resin_es.model.base import Frozen
from resin_es.ports import Embedder, ModelIdentity

FIELD = "multilingual_vector"
META = "multilingual"
"""Under which name ``_meta`` tells of the encoder."""

Body = Mapping[str, Any]


class SecondEncoder(Frozen):
    """The encoder of the second vectors, and how it is loaded."""

    model: ModelIdentity
    embedder: Mapping[str, Any]

    @property
    def meta(self) -> dict[str, Any]:
        """What ``_meta`` says of it."""
        name, dims = self.model.name, self.model.dims
        return {"model": name, "dims": dims, "embedder": dict(self.embedder)}


def second_of(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an index's ``_meta`` says of its second vectors; None where it has none."""
    told: Mapping[str, Any] | None = meta.get(META)
    return told


def second_encoder_of(meta: Mapping[str, Any]) -> SecondEncoder | None:
    """The same as it was given to the index."""
    told = second_of(meta)
    if told is None:
        return None
    model = ModelIdentity(name=str(told["model"]), dims=int(told["dims"]))
    return SecondEncoder(model=model, embedder=told.get("embedder") or {})


def with_second_vectors(
    bodies: Sequence[Body],
    encoder: Callable[[], Embedder],
    cache_get: CacheGet,
    cache_put: CachePut,
) -> list[Body]:
    """The addresses, those in another language with their second vector; any that a body brings
    along for other reasons is left out. ``encoder`` is asked for only where there is one to make:
    who writes English alone needs none. Raises what the encoder and the cache raise."""
    plain = [without_second_vector(body) for body in bodies]
    texts = [str(body[STATEMENT]) for body in plain]
    foreign = [place for place, text in enumerate(texts) if in_another_language(text)]
    if not foreign:
        return plain
    rows = embed_cached([texts[place] for place in foreign], encoder(), cache_get, cache_put)
    for place, row in zip(foreign, rows, strict=True):
        plain[place] = {**plain[place], FIELD: row.tolist()}
    return plain


def without_second_vector(body: Body) -> Body:
    """An address as an index without second vectors takes it."""
    return {name: value for name, value in body.items() if name != FIELD} if FIELD in body else body


def any_body(principal_filter: Sequence[Body]) -> dict[str, Any]:
    """Body of a search that tells whether any address that passes the filter has a second
    vector."""
    clauses = [{"exists": {"field": FIELD}}, *(dict(one) for one in principal_filter)]
    return {
        "query": {"bool": {"filter": clauses}},
        "size": 0,
        "terminate_after": 1,
        "track_total_hits": 1,
    }
