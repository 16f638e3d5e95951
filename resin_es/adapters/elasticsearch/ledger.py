"""What was spent, kept in the ``ledger`` family and shared by every process.

One record a call, for looking back, and one counter a span of time, which the cap asks. The
counter is read in realtime and written under ``if_seq_no``: a sum over the records would be as
of the last refresh, and a cap that lags is none.

A call is counted before its own record is written, and its id stands in the counter until the
record does: so that a process which dies between the two, or enters the same call again, makes
it count once.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import CONFLICT, MGET_DOCS, StoreBase, guard_of, parts
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.errors import StoreConflict, StoreTimeout, StoreUnavailable
from resin_es.index.settings import StoreSettings
from resin_es.model.base import content_id
from resin_es.ports.language import Spend

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FAMILY = "ledger"
OPEN = "trace_id"
"""Where a counter keeps the ids of calls whose records may not be written yet. A call that
belongs to an answer has its trace there; a counter belongs to none, and a field of its own would
have every installation laid out anew."""

_MOST_OPEN = 200
"""Ids in a counter from which on other processes' are looked after as well."""
_TRIES = 100
_PAUSE_S = 0.02

Record = dict[str, Any]


def counter_id(scope: str) -> str:
    return content_id("spent", scope)


def spend_id(scope: str, key: str) -> str:
    return content_id("spend", scope, key)


def spend_record(scope: str, spend: Spend, at: datetime) -> Record:
    """A call as the family stores it. Tokens that a prompt cache took or gave count as input.
    Pure."""
    return {
        "at": at.isoformat(),
        "scope": scope,
        "stage": spend.stage,
        "model": spend.model,
        "calls": 1,
        "input_tokens": spend.usage.total - spend.usage.output_tokens,
        "output_tokens": spend.usage.output_tokens,
        "cost": spend.dollars,
    }


def counter_after(
    before: Mapping[str, Any], records: Mapping[str, Record], closed: Iterable[str], at: datetime
) -> Record:
    """The counter once ``records`` (by id) are counted, and ``closed`` need not be kept in mind
    any more. It has no stage and no model: that tells it from the records. Pure."""
    [scope] = {str(record["scope"]) for record in records.values()}
    added = ("calls", "input_tokens", "output_tokens", "cost")
    sums = {
        name: before.get(name, 0) + sum(record[name] for record in records.values())
        for name in added
    }
    gone = set(closed)
    kept = [one for one in _open(before) if one not in gone]
    return {"at": at.isoformat(), "scope": scope, **sums, OPEN: [*kept, *records]}


class ElasticsearchLedger(StoreBase):
    """A ``Ledger``. Thread-safe; one a process.

    ``scope`` names the span that ``spent`` adds up, at the time it is asked: a day, a run. What
    cannot be written because Elasticsearch is away is owed: the call is paid for and its answer
    should not be lost for it; ``spent`` writes it first, and raises while it cannot, so that no
    further call goes out meanwhile.
    """

    def __init__(
        self,
        client: Elasticsearch,
        settings: StoreSettings,
        *,
        scope: Callable[[], str],
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(client, settings)
        self._scope, self._now, self._sleep = scope, now, sleep
        self._owed: dict[str, Record] = {}
        self._closed: set[str] = set()
        self._adding, self._writing = threading.Lock(), threading.Lock()

    def enter(self, spend: Spend) -> None:
        """Count ``spend``, unless its key was counted in this span already. Raises StoreError
        other than an Elasticsearch that is away."""
        scope = self._scope()
        one = spend_id(scope, spend.key)
        with self._adding:
            self._owed[one] = spend_record(scope, spend, self._now())
        with suppress(StoreUnavailable, StoreTimeout):
            self._settle(one)

    def spent(self) -> float:
        """US dollars entered in this span by anybody. Raises StoreError."""
        self._settle()
        found = self._get([counter_id(self._scope())])
        return float(found[0]["_source"]["cost"]) if found else 0.0

    def _settle(self, one: str | None = None) -> None:
        """Write what is owed, in one go for all threads that wait here."""
        with self._writing:
            with self._adding:
                owed = dict(self._owed)
            if not owed or (one is not None and one not in owed):
                return  # another thread took it along
            for scope in {str(record["scope"]) for record in owed.values()}:
                self._write(scope, {k: r for k, r in owed.items() if r["scope"] == scope})
            with self._adding:
                for written in owed:
                    del self._owed[written]

    def _write(self, scope: str, records: Mapping[str, Record]) -> None:
        for _ in range(_TRIES):
            try:
                missing = self._count(scope, records)
            except StoreConflict:  # another process was quicker
                self._sleep(random.uniform(0.0, _PAUSE_S))
            else:
                self._keep({one: records[one] for one in missing})
                self._closed |= set(records)
                return
        raise StoreConflict(
            f"what was spent could not be counted in {_TRIES} tries: too many processes write it.",
            hint="Run fewer workers, or fewer lanes (RESIN_LLM_LANES).",
        )

    def _count(self, scope: str, records: Mapping[str, Record]) -> Sequence[str]:
        """Count those that are not counted yet; returns the ids whose records are missing. The
        counter is looked at before the records: whoever takes an id out of it wrote its record
        first."""
        found = self._get([counter_id(scope)])
        before = found[0]["_source"] if found else {}
        written = self._written(list(records))
        missing = [one for one in records if one not in written]
        fresh = {one: records[one] for one in missing if one not in _open(before)}
        if not fresh:
            return missing
        closed = set(self._closed)
        if len(_open(before)) > _MOST_OPEN:
            closed |= self._written(_open(before))
        after = counter_after(before, fresh, closed, self._now())
        guarded: dict[str, Any] = {"op_type": "create"}
        if found:
            guard = guard_of(found[0])
            guarded = {"if_seq_no": guard.seq_no, "if_primary_term": guard.primary_term}
        with translated("counting what was spent", self.client):
            self.client.index(
                index=self.names.alias(FAMILY),
                id=counter_id(scope),
                document=after,
                require_alias=True,
                **guarded,
            )
        self._closed -= closed
        return missing

    def _keep(self, records: Mapping[str, Record]) -> None:
        doing = "writing the ledger"
        actions = (
            {
                "_op_type": "create",
                "_index": self.names.alias(FAMILY),
                "_id": one,
                "_source": record,
            }
            for one, record in records.items()
        )
        report(self._bulk(actions, doing), doing, ignore=frozenset({CONFLICT}))

    def _written(self, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for part in parts(ids, MGET_DOCS):
            docs = realtime.wanted(self.names.alias(FAMILY), part, False)
            doing = "reading the ledger"
            found |= {str(doc["_id"]) for doc in realtime.mget(self.client, docs, doing)}
        return found

    def _get(self, ids: Sequence[str]) -> list[realtime.Doc]:
        docs = realtime.wanted(self.names.alias(FAMILY), ids)
        return realtime.mget(self.client, docs, "reading what was spent")


def _open(counter: Mapping[str, Any]) -> Sequence[str]:
    kept: Sequence[str] = counter.get(OPEN) or ()
    return kept
