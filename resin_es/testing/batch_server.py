"""Message Batches for ``ModelServer``: a script that keeps batches and lets them end."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

from resin_es.testing.model_server import Asked, Reply

Answer = Callable[[Mapping[str, Any]], Reply | str]
"""From the body of one item to its message, or to ``errored``, ``expired`` or ``canceled``."""

PATH = "/v1/messages/batches"
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OUTCOMES = ("succeeded", "errored", "expired", "canceled")


class ScriptedBatch:
    """One batch: what it was asked, and how often it may still be looked at before it ends."""

    def __init__(self, number: int, requests: list[Mapping[str, Any]], polls: int) -> None:
        self.id = f"msgbatch_{number:04}"
        self.requests = requests
        self.polls = polls
        self.created_at = datetime.now(timezone.utc)
        self.canceled = False
        self.results: list[dict[str, Any]] | None = None


class ScriptedBatches:
    """``ModelServer(ScriptedBatches(answer, polls=2, single=script))``: a batch is in progress
    for ``polls`` looks at it, then its items are answered by ``answer``, or, without one, as
    ``single`` answers a request of their own. Whatever is no batch goes to ``single``.

    ``faults`` answer the first requests to make a batch, which then is not made, unless the
    fault stands in ``lost`` too: made, but whoever asked doesn't hear of it.

    ``batches`` holds all, by id; ``paid`` counts answered items by their custom id, ``reads``
    how often each batch's results were fetched.
    """

    def __init__(
        self,
        answer: Answer | None = None,
        *,
        polls: int = 1,
        single: Callable[[Asked], Reply] | None = None,
        faults: tuple[Reply, ...] = (),
        lost: tuple[Reply, ...] = (),
    ) -> None:
        self._answer, self._polls, self._single = answer, polls, single
        self._faults, self._lost = list(faults), lost
        self.batches: dict[str, ScriptedBatch] = {}
        self.paid: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.singles = 0

    def __call__(self, asked: Asked) -> Reply:
        url = urlsplit(asked.path)
        if not url.path.startswith(PATH):
            return self._alone(asked)
        name, _, action = url.path.removeprefix(PATH).strip("/").partition("/")
        if not name:
            making = asked.method == "POST"
            return self._make(asked.body) if making else self._list(parse_qs(url.query))
        batch = self.batches.get(name)
        if batch is None:
            return fault(404, "not_found_error", f"no batch {name}")
        if action == "results":
            return self._results(batch)
        if action == "cancel":
            batch.canceled = batch.results is None
            batch.polls = min(batch.polls, 1)
        self._look(batch)
        return Reply(self._shown(batch))

    def forget(self) -> None:
        """The provider's results are gone."""
        self.batches.clear()

    def _alone(self, asked: Asked) -> Reply:
        self.singles += 1
        if self._single is None:
            return fault(400, "invalid_request_error", f"nothing answers {asked.path}")
        return self._single(asked)

    def _make(self, body: Mapping[str, Any]) -> Reply:
        said = self._faults.pop(0) if self._faults else None
        if said is not None and not any(said is one for one in self._lost):
            return said
        requests = list(body.get("requests", ()))
        names = [one["custom_id"] for one in requests]
        if not names or len(set(names)) < len(names) or not all(map(CUSTOM_ID.fullmatch, names)):
            return fault(400, "invalid_request_error", "custom ids are missing, equal or malformed")
        if any("stream" in one["params"] for one in requests):
            return fault(400, "invalid_request_error", "an item of a batch cannot be streamed")
        batch = ScriptedBatch(len(self.batches) + 1, requests, self._polls)
        self.batches[batch.id] = batch
        return said or Reply(self._shown(batch))

    def _list(self, query: Mapping[str, list[str]]) -> Reply:
        newest = list(reversed(self.batches.values()))
        if after := query.get("after_id"):
            newest = newest[[batch.id for batch in newest].index(after[0]) + 1 :]
        limit = int(query.get("limit", ["20"])[0])
        shown = [self._shown(batch) for batch in newest[:limit]]
        return Reply(
            {
                "data": shown,
                "has_more": len(newest) > limit,
                "first_id": shown[0]["id"] if shown else None,
                "last_id": shown[-1]["id"] if shown else None,
            }
        )

    def _look(self, batch: ScriptedBatch) -> None:
        if batch.results is not None:
            return
        if batch.polls > 0:
            batch.polls -= 1
            return
        batch.results = [self._result(one, batch.canceled) for one in batch.requests]

    def _result(self, request: Mapping[str, Any], canceled: bool) -> dict[str, Any]:
        answered = "canceled" if canceled else self._answered(request["params"])
        result: dict[str, Any]
        if isinstance(answered, Reply):
            self.paid[request["custom_id"]] += 1
            result = {"type": "succeeded", "message": answered.content}
        else:
            result = {"type": answered}
        if answered == "errored":
            error = {"type": "api_error", "message": "it failed inside"}
            result["error"] = {"type": "error", "error": error, "request_id": None}
        return {"custom_id": request["custom_id"], "result": result}

    def _answered(self, params: Mapping[str, Any]) -> Reply | str:
        if self._answer is not None:
            return self._answer(params)
        if self._single is None:
            return "errored"
        reply = self._single(Asked("/v1/messages", {}, params))
        return reply if reply.status == 200 else "errored"

    def _results(self, batch: ScriptedBatch) -> Reply:
        if batch.results is None:
            return fault(400, "invalid_request_error", f"{batch.id} has not ended")
        self.reads[batch.id] += 1
        # not in the order of the requests, as the provider warns
        lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in reversed(batch.results)]
        return Reply("".join(lines).encode(), headers={"content-type": "application/x-jsonl"})

    def _shown(self, batch: ScriptedBatch) -> dict[str, Any]:
        ended = batch.results is not None
        counts = Counter(one["result"]["type"] for one in batch.results or ())
        made = batch.created_at.isoformat()
        waiting = 0 if ended else len(batch.requests)
        going = "canceling" if batch.canceled else "in_progress"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else going,
            "request_counts": {"processing": waiting, **{one: counts[one] for one in OUTCOMES}},
            "created_at": made,
            "expires_at": (batch.created_at + timedelta(hours=24)).isoformat(),
            "ended_at": made if ended else None,
            "archived_at": None,
            "cancel_initiated_at": made if batch.canceled else None,
            # an address that nobody listens at: a gateway's results come through the gateway
            "results_url": f"http://127.0.0.1:9{PATH}/{batch.id}/results" if ended else None,
        }


def fault(status: int, kind: str, message: str) -> Reply:
    """An error as the API writes it."""
    return Reply({"type": "error", "error": {"type": kind, "message": message}}, status)
