"""Pages of a team's index by point in time: complete, or an error that says why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elasticsearch import ApiError, AuthorizationException, NotFoundError, TransportError

from resin_es.adapters.elasticsearch.errors import error_type, reason, translate, where
from resin_es.adapters.elasticsearch.foreign_requests import Slice, listing_body
from resin_es.errors import StoreRefused, StoreRejected, StoreTimeout

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Hit = Mapping[str, Any]
Page = Sequence[Hit]

KEEP_ALIVE = "5m"
"""How long a snapshot may lie idle: the consumer works between two pages."""
FIRST_PAGE, MOST_HITS = 32, 1_000
IDS_PAGE = 10_000
PAGE_BYTES = 16_000_000
"""About what a page may hold: documents of 2 MB come by the handful, small ones by the
thousand."""
MOST_THREADS = 8


class MissingIndex(StoreRejected):
    """There is nothing to read. A pattern that matches nothing, or nothing that the credentials
    may see, is an error as well: taken for an empty index it would delete everything."""


@contextmanager
def reading(doing: str, client: Elasticsearch, index: str) -> Iterator[None]:
    """The client's exceptions as StoreErrors that speak of the team's index, not of ours."""
    try:
        yield
    except NotFoundError as error:
        if error_type(error.body) == "index_not_found_exception":
            raise missing(index, client) from error
        if "search_context_missing_exception" in str(error.body):
            raise StoreTimeout(
                f"{doing}: the point in time expired before the listing was complete.",
                hint="Run it again; nothing follows from an incomplete listing.",
            ) from error
        raise translate(error, doing, client) from error
    except AuthorizationException as error:
        raise StoreRefused(
            f"Elasticsearch at {where(client)} refused {doing}: {reason(error.body)}.",
            hint=f"Reading a source takes `read` and `view_index_metadata` on {index!r}.",
        ) from error
    except (ApiError, TransportError) as error:
        raise translate(error, doing, client) from error


def missing(index: str, client: Elasticsearch) -> MissingIndex:
    return MissingIndex(
        f"Elasticsearch at {where(client)} has no index {index!r}, or none that may be read.",
        hint="Check the name, and the rights on it.",
    )


def complete(answer: Mapping[str, Any], doing: str, client: Elasticsearch, index: str) -> None:
    """Raises StoreTimeout for an answer in part, MissingIndex where nothing was searched."""
    shards = answer.get("_shards", {})
    if answer.get("timed_out") or shards.get("failed"):
        raise StoreTimeout(
            f"{doing}: the answer is incomplete ({shards.get('failed', 0)} of "
            f"{shards.get('total', '?')} shards failed, timed out: {answer.get('timed_out')})."
        )
    if shards.get("total") == 0:
        raise missing(index, client)


class Snapshot:
    """An index as it stood at one moment."""

    def __init__(self, client: Elasticsearch, index: str, pit: str, doing: str) -> None:
        self._client, self._index, self._doing = client, index, doing
        self._pit = pit

    @classmethod
    @contextmanager
    def of(cls, client: Elasticsearch, index: str, doing: str) -> Iterator[Snapshot]:
        """Raises StoreError where there is no such index."""
        with reading(doing, client, index):
            pit = client.open_point_in_time(index=index, keep_alive=KEEP_ALIVE)["id"]
        snapshot = cls(client, index, pit, doing)
        try:
            yield snapshot
        finally:
            snapshot._close()

    def pages(
        self, query: Mapping[str, Any], source: Sequence[str] = (), slices: int = 1
    ) -> Iterator[Page]:
        """Every record of ``query``, slices side by side; the order says nothing."""
        if slices == 1:
            yield from self._part(query, source, Slice())
            return
        waiting = [
            self._part(query, source, Slice(number=number, of=slices)) for number in range(slices)
        ]
        with ThreadPoolExecutor(min(slices, MOST_THREADS)) as pool:
            while waiting:
                drawn = list(pool.map(_draw, waiting))
                waiting = [part for part, page in zip(waiting, drawn, strict=True) if page]
                yield from filter(None, drawn)

    def _part(self, query: Mapping[str, Any], source: Sequence[str], part: Slice) -> Iterator[Page]:
        after: Sequence[Any] | None = None
        announced, seen = 0, 0
        size = FIRST_PAGE if source else IDS_PAGE
        while True:
            answer = self._search(query, source, size, part, after)
            hits = answer["hits"]["hits"]
            if after is None:
                announced = answer["hits"]["total"]["value"]
            seen += len(hits)
            if hits:
                yield hits
            if len(hits) < size:
                break
            after = hits[-1]["sort"]
            size = next_size(hits, size) if source else IDS_PAGE
        if seen != announced:
            raise StoreTimeout(f"{self._doing}: {seen} of {announced} records came back.")

    def _search(
        self,
        query: Mapping[str, Any],
        source: Sequence[str],
        size: int,
        part: Slice,
        after: Sequence[Any] | None,
    ) -> Mapping[str, Any]:
        pit = {"id": self._pit, "keep_alive": KEEP_ALIVE}
        body = listing_body(query, pit, source=source, size=size, part=part, after=after)
        with reading(self._doing, self._client, self._index):
            answer: Mapping[str, Any] = self._client.search(
                **{name.lstrip("_"): value for name, value in body.items()},
                allow_partial_search_results=False,
            ).body
        complete(answer, self._doing, self._client, self._index)
        self._pit = answer.get("pit_id", self._pit)
        return answer

    def _close(self) -> None:
        """It expires by itself, and a failure here must not hide what ended the listing."""
        try:
            self._client.options(ignore_status=404).close_point_in_time(id=self._pit)
        except (ApiError, TransportError):
            return


def _draw(part: Iterator[Page]) -> Page | None:
    return next(part, None)


def next_size(hits: Page, size: int) -> int:
    """How many hits the next page may have, by how large these were."""
    each = sum(len(repr(hit.get("_source"))) for hit in hits) / len(hits)
    return max(1, min(int(PAGE_BYTES / each), 4 * size, MOST_HITS))
