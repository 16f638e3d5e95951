"""Units, sentences and passages written in bulk, to every generation that takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from resin_es.adapters.elasticsearch.base import CONFLICT
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.generations import (
    ROUNDS,
    GenerationsPart,
    same_model,
    unsteady,
)
from resin_es.adapters.elasticsearch.keeping import KeepingPart
from resin_es.errors import (
    IndexMismatch,
    ModelUnavailable,
    SettingsError,
    StoreNotInstalled,
    StoreRejected,
)
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import Generation, Generations
from resin_es.index.multilingual import second_of, with_second_vectors
from resin_es.index.packed import stored
from resin_es.index.records import (
    PASSAGES,
    SENTENCE_KIND,
    SENTENCES,
    STATEMENT,
    UNITS,
    VECTOR,
)
from resin_es.index.vectors import embed_cached
from resin_es.ports import AddressRecord, BulkReport, Embedder

Body = Mapping[str, Any]
DOING = "writing units, sentences and passages"


@dataclass
class _Written:
    """What one write has done so far: the generations that have it, or that the copier will
    bring it to; and the versions that the answering one, ``live``, gave its records."""

    done: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    live: str = ""
    versions: dict[tuple[str, str], int] = field(default_factory=dict)

    def missing(self, now: Generations) -> list[Generation]:
        """What was left to the copier counts as missing once it answers."""
        enough = self.done | (self.left - {now.live.name})
        return [one for one in now.active if one.name not in enough]


class WritingPart(GenerationsPart, KeepingPart):
    """Implements ``UnitStore.write``."""

    def write(
        self, addresses: Sequence[AddressRecord], passages: Sequence[AddressRecord]
    ) -> BulkReport:
        """To every active generation; counts what the answering one took. Looks again after it
        has written: a generation that came meanwhile gets the same."""
        if not (addresses or passages):
            return BulkReport()
        total, told = BulkReport(), _Written()
        for _ in range(ROUNDS):
            now = self.generations()
            missing = told.missing(now)
            if not missing:
                return total
            try:
                for one in missing:
                    done = self._write_to(one, now, addresses, passages, told)
                    total = done if one.name == now.live.name else total
            except (StoreNotInstalled, StoreRejected):
                if self.generations() == now:
                    raise
        raise unsteady()

    def _write_to(
        self,
        one: Generation,
        now: Generations,
        addresses: Sequence[AddressRecord],
        passages: Sequence[AddressRecord],
        told: _Written,
    ) -> BulkReport:
        """One generation's share. What goes to one under construction has the sequence number of
        the answering one's record as its version, so that a newer record is never overwritten."""
        answering = one.name == now.live.name
        bodies = self._bodies(one, now, [record.body for record in addresses])
        if bodies is None:
            told.left.add(one.name)
            return BulkReport()
        rows = [
            *(
                (_family(record), record.id, stored(one.meta, record.id, body))
                for record, body in zip(addresses, bodies, strict=True)
            ),
            *((PASSAGES, record.id, record.body) for record in passages),
        ]
        versions = {} if answering or told.live != now.live.name else told.versions
        outcome = self._bulk((_index(one, row, versions) for row in rows), DOING)
        done = report(outcome, DOING, ignore=frozenset({CONFLICT} if versions else ()))
        told.done.add(one.name)
        if answering:
            told.live = one.name
            told.versions = {
                (family, record_id): version_after(item)
                for (family, record_id, _), item in zip(rows, outcome.items, strict=True)
            }
        return done

    def _bodies(
        self, one: Generation, now: Generations, given: Sequence[Body]
    ) -> Sequence[Body] | None:
        """The addresses as ``one`` stores them, with vectors of its models. None where this process
        cannot make them and ``one`` does not answer yet: the copier will bring them."""
        may_leave = one.name != now.live.name
        if one.statement_version != self.settings.statement_version:
            if may_leave:
                return None
            raise IndexMismatch(
                f"the index has statements of version {one.statement_version}, this version of "
                f"resin-es writes {self.settings.statement_version}.",
                hint="Restart this process with the version that built the index.",
            )
        book = self.embedders
        if not given:
            return given
        if book is None:
            return given if same_model(one.model, now.live.model) else None
        # Some models are loaded by their first text, so that only that tells whether they are here.
        try:
            return self._with_second(one, book, self._with_first(one, book, given))
        except (ModelUnavailable, IndexMismatch, SettingsError):
            if may_leave:
                return None
            raise

    def _with_first(
        self, one: Generation, book: EmbedderBook, given: Sequence[Body]
    ) -> Sequence[Body]:
        """Callers bring vectors of this process's own model along."""
        if same_model(one.model, book.native.identity):
            return given
        return self._embedded(given, book.embedder(one.meta))

    def _with_second(
        self, one: Generation, book: EmbedderBook, bodies: Sequence[Body]
    ) -> Sequence[Body]:
        if second_of(one.meta) is None:
            return bodies
        load = partial(book.second, one.meta)
        return with_second_vectors(bodies, load, self.cache_get, self.cache_put)

    def _embedded(self, given: Sequence[Body], model: Embedder) -> Sequence[Body]:
        texts = [str(body[STATEMENT]) for body in given]
        vectors = embed_cached(texts, model, self.cache_get, self.cache_put)
        return [{**body, VECTOR: row.tolist()} for body, row in zip(given, vectors, strict=True)]


def version_after(item: Mapping[str, Any]) -> int:
    """The version of a copy of the record that ``item`` (a bulk item, hit or document) tells of:
    it grows with the record's sequence number, and is never 0."""
    return int(item["_seq_no"]) + 1


def _index(
    one: Generation, row: tuple[str, str, Body], versions: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    family, record_id, body = row
    version = versions.get((family, record_id))
    return {
        "_op_type": "index",
        "_index": one.addresses[family],
        "_id": record_id,
        **({} if version is None else {"version": version, "version_type": "external"}),
        "_source": body,
    }


def _family(record: AddressRecord) -> str:
    return SENTENCES if record.kind == SENTENCE_KIND else UNITS
