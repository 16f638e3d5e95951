"""The team's own index: records of a harbour office, three sentences each, with their version
in every one."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from elasticsearch import helpers

from resin_es.model.source import SourceSpec

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

TOWNS = ("Alder", "Birch", "Cedar", "Doum", "Elm", "Fir", "Ginkgo", "Hazel", "Ilex", "Juniper")
CLAIM = re.compile(r"record (\d+) of version (\d+)", re.IGNORECASE)
"""Which record, in which version, a sentence is from."""

MAPPING = {
    "dynamic": "strict",
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "updated_at": {"type": "date"},
        "groups": {"type": "keyword"},
        "version": {"type": "integer"},
    },
}


def text(number: int, version: int) -> str:
    town, other = TOWNS[number % 10], TOWNS[(number * 7 + version) % 10]
    this = f"ecord {number} of version {version}"
    return (
        f"R{this} belongs to the harbour of {town} town. "
        f"Clerk {other} keeps r{this} in room {number * 3 + version}. "
        f"Whoever needs r{this} asks at gate {version} of the harbour."
    )


class Office:
    """The index, written by the team alone."""

    def __init__(self, es: Elasticsearch, index: str, source: str = "office") -> None:
        self.es, self.index, self.source = es, index, source

    @property
    def spec(self) -> SourceSpec:
        return SourceSpec(
            name=self.source,
            index=self.index,
            title_field="title",
            text_fields=("body",),
            updated_field="updated_at",
            access="field",
            access_field="groups",
        )

    def open(self) -> None:
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        self.es.indices.create(index=self.index, mappings=MAPPING, settings=settings)

    def record(self, number: int, version: int = 1, **fields: Any) -> dict[str, Any]:
        """A record as the index holds it; its id is ``rec/NUMBER``."""
        return {
            "title": f"Record {number}",
            "body": text(number, version),
            "updated_at": datetime.now(timezone.utc).isoformat(),
            "groups": ["all"],
            "version": version,
            **fields,
        }

    def put(self, records: Iterable[tuple[int, dict[str, Any]]]) -> None:
        """Write records, seen by searches when this returns."""
        actions = (
            {"_op_type": "index", "_index": self.index, "_id": name(number), "_source": record}
            for number, record in records
        )
        helpers.bulk(self.es, actions, chunk_size=1000, refresh=True)

    def drop(self, numbers: Iterable[int]) -> None:
        actions = (
            {"_op_type": "delete", "_index": self.index, "_id": name(number)} for number in numbers
        )
        helpers.bulk(self.es, actions, refresh=True)

    def hits(self) -> Iterator[dict[str, Any]]:
        return helpers.scan(
            self.es, index=self.index, size=1000, version=True, seq_no_primary_term=True
        )

    def checksum(self) -> str:
        """Of every record: id, source as it is stored, and the number of its last write."""
        digests = sorted(
            hashlib.sha256(
                json.dumps(
                    [hit["_id"], hit["_version"], hit["_seq_no"], hit["_source"]], sort_keys=True
                ).encode()
            ).hexdigest()
            for hit in self.hits()
        )
        return hashlib.sha256("".join(digests).encode()).hexdigest()


def name(number: int) -> str:
    return f"rec/{number}"


def number_of(external_id: str) -> int:
    return int(external_id.removeprefix("rec/"))


def wait_until(condition: Any, seconds: float, pause: float = 0.2) -> bool:
    """Whether ``condition()`` came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
