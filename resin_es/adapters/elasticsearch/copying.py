"""From one generation to another, by comparing: what is missing or older is copied.

A copy's version is its original's sequence number plus one, given from outside, so that copying
twice, or beside writers that write to both, never puts an older record over a newer one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import CONFLICT, guard_of
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.purging import delete_guarded, entries_of
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.adapters.elasticsearch.store import ElasticsearchStore
from resin_es.adapters.elasticsearch.writing import version_after
from resin_es.index.generations import Generation
from resin_es.index.multilingual import FIELD as SECOND_VECTOR
from resin_es.index.multilingual import with_second_vectors
from resin_es.index.packed import stored
from resin_es.index.rebuilding import listed, passage_of, restated
from resin_es.index.records import (
    PASSAGES,
    SENTENCES,
    STATEMENT,
    UNITS,
    VECTOR,
    carried_fields,
)
from resin_es.index.vectors import embed_cached
from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.ports import Embedder

PAGE = 500
"""Records compared, embedded and written at a time."""
KEEP_ALIVE = "30m"
"""How long a page may take; embedding one with a large model on a small machine takes minutes."""
ORDER = (PASSAGES, SENTENCES, UNITS)

T = TypeVar("T")
Hit = Mapping[str, Any]
Seen = Callable[[int], None]


@dataclass
class Pass:
    """What one comparison saw, copied and deleted. ``absent`` counts what was missing altogether
    and is listed by the registry; only told after a swap."""

    seen: int = 0
    copied: int = 0
    deleted: int = 0
    absent: int = 0

    @property
    def found(self) -> int:
        return self.copied + self.deleted


class Copier:
    """Copies into ``new``, whose vectors ``embedder`` makes, and what ``second`` gives those of
    what is in another language; ``old`` names the index of each family that is copied from. With
    ``restate``, statements are written anew; unless ``complete``, titles and rights come from the
    registry: an older schema lacked some."""

    def __init__(
        self,
        store: ElasticsearchStore,
        embedder: Embedder,
        new: Generation,
        old: Mapping[str, str],
        *,
        second: Callable[[], Embedder] | None = None,
        restate: bool = False,
        complete: bool = True,
    ) -> None:
        changed = {"page": min(PAGE, store.settings.page), "keep_alive": KEEP_ALIVE}
        self._scanning = store.settings.model_copy(update=changed)
        self._store, self._embedder, self._second = store, embedder, second
        self._new, self._old = new, old
        self._restate, self._complete = restate, complete

    def catch_up(self, seen: Seen = lambda count: None) -> Pass:
        """Bring ``new`` up to ``old`` while ``old`` answers. Raises StoreError, ModelError."""
        done = Pass()
        for family in ORDER:
            for page in self._pages(self._old[family], []):
                behind = [hit for hit, copy in self._beside(family, page) if _older(copy, hit)]
                done.copied += self._copy(family, [hit["_id"] for hit in behind])
                done.seen += len(page)
                seen(len(page))
            for page in self._pages(self._new.indices[family], []):
                done.deleted += self._delete_extra(family, page)
        return done

    def settle(self) -> Pass:
        """After the swap: what ``new`` lacks or has older, and the registry lists, or a document
        at work may be about to list. What changed in ``new`` itself since is left alone."""
        done = Pass()
        for family in ORDER:
            for page in self._pages(self._old[family], ["document_key", "passage_id"]):
                behind = [(h, copy) for h, copy in self._beside(family, page) if _older(copy, h)]
                entries = entries_of(self._store, {_field(h, "document_key") for h, _ in behind})
                wanted: dict[str, Hit | None] = {}
                for hit, copy in behind:
                    entry = entries.get(_field(hit, "document_key"))
                    told = listed(entry, family, hit["_id"], _field(hit, "passage_id"))
                    done.absent += told and copy is None
                    if told or (entry and entry.status is DocumentStatus.WORKING):
                        wanted[hit["_id"]] = copy
                done.copied += self._copy(family, list(wanted), wanted, entries)
                done.seen += len(page)
        return done

    # ------------------------------------------------------------ reading

    def _pages(self, index: str, doc_values: Sequence[str]) -> Iterator[list[Hit]]:
        fields: dict[str, Any] = {"_source": False}
        if doc_values:
            fields["docvalue_fields"] = list(doc_values)
        hits = scan(
            self._store.client,
            [index],
            {"match_all": {}},
            self._scanning,
            fields=fields,
            doing=f"comparing {index}",
        )
        return chunks(hits, self._scanning.page)

    def _beside(self, family: str, page: Sequence[Hit]) -> list[tuple[Hit, Hit | None]]:
        """Each record of a page of ``old`` with its copy."""
        copies = self._at(self._new.indices[family], [hit["_id"] for hit in page], False)
        return [(hit, copies.get(hit["_id"])) for hit in page]

    def _at(self, index: str, ids: Iterable[str], source: object) -> dict[str, Hit]:
        docs = realtime.wanted(index, ids, source)
        found = realtime.mget(self._store.client, docs, f"comparing {index}")
        return {doc["_id"]: doc for doc in found}

    # ------------------------------------------------------------ writing

    def _copy(
        self,
        family: str,
        ids: Sequence[str],
        copies: Mapping[str, Hit | None] | None = None,
        entries: Mapping[str, RegistryEntry] | None = None,
    ) -> int:
        """Write copies. ``copies`` are those that stand: they are replaced as they are, or not at
        all. ``entries`` tell what a document's records carry of it, and which passage a sentence
        belongs to, where the originals do not count."""
        if not ids:
            return 0
        originals = self._at(self._old[family], ids, {"excludes": [VECTOR, SECOND_VECTOR]})
        bodies = {name: dict(doc["_source"]) for name, doc in originals.items()}
        if entries is None and not self._complete:
            entries = entries_of(self._store, {str(b["document_key"]) for b in bodies.values()})
        for name, body in bodies.items():
            entry = (entries or {}).get(str(body["document_key"]))
            if entry is not None:
                body.update(carried_fields(entry))
                if family == SENTENCES:
                    body["passage_id"] = passage_of(entry, name) or body["passage_id"]
        self._address(family, bodies)
        actions = [
            {
                "_op_type": "index",
                "_index": self._new.addresses[family],
                "_id": name,
                **_condition(originals[name], (copies or {}).get(name)),
                "_source": body if family == PASSAGES else stored(self._new.meta, name, body),
            }
            for name, body in bodies.items()
        ]
        doing = f"copying {family}"
        outcome = self._store._bulk(actions, doing)
        return report(outcome, doing, ignore=frozenset({CONFLICT})).written

    def _address(self, family: str, bodies: Mapping[str, dict[str, Any]]) -> None:
        """Give addresses their statement and vector; passages have none."""
        if family == PASSAGES or not bodies:
            return
        if family == UNITS and self._restate:
            wanted = dict.fromkeys(str(body["passage_id"]) for body in bodies.values())
            passages = self._at(self._old[PASSAGES], wanted, True)
            for name, body in bodies.items():
                held = passages.get(str(body["passage_id"]))
                body[STATEMENT] = restated(name, body, held["_source"] if held else None)
        texts = [str(body[STATEMENT]) for body in bodies.values()]
        store = self._store
        vectors = embed_cached(texts, self._embedder, store.cache_get, store.cache_put)
        for body, row in zip(bodies.values(), vectors, strict=True):
            body[VECTOR] = row.tolist()
        if self._second is not None:
            given = list(bodies.values())
            whole = with_second_vectors(given, self._second, store.cache_get, store.cache_put)
            for body, more in zip(given, whole, strict=True):
                body.update(more)

    def _delete_extra(self, family: str, page: Sequence[Hit]) -> int:
        standing = self._at(self._old[family], [hit["_id"] for hit in page], False)
        index = self._new.indices[family]
        extra = [(index, hit["_id"], guard_of(hit)) for hit in page if hit["_id"] not in standing]
        return sum(delete_guarded(self._store, extra)) if extra else 0


def _older(copy: Hit | None, original: Hit) -> bool:
    return copy is None or int(copy["_version"]) < version_after(original)


def _condition(original: Hit, copy: Hit | None) -> dict[str, Any]:
    """Under which a copy is written: as the original's successor, or in place of ``copy``."""
    if copy is None:
        return {"version": version_after(original), "version_type": "external"}
    return {"if_seq_no": copy["_seq_no"], "if_primary_term": copy["_primary_term"]}


def _field(hit: Hit, name: str) -> str:
    return str(hit.get("fields", {}).get(name, [""])[0])


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of up to ``size`` items."""
    source = iter(items)
    while part := list(islice(source, size)):
        yield part
