"""A real client on a scripted wire: what it sends is kept, what it gets was written before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from elastic_transport import ApiResponseMeta, BaseNode, HttpHeaders
from elastic_transport._node import NodeApiResponse
from elasticsearch import Elasticsearch

from resin_es.index.settings import StoreSettings

SETTINGS = StoreSettings(prefix="resin", page=2, bulk_items=10, retries=2, backoff=0.01)


class Wire:
    """Answers in order; ``sent`` holds (method, target, lines of the body)."""

    def __init__(self, *answers: tuple[int, Any] | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[tuple[str, str, list[Any]]] = []
        wire = self

        class Node(BaseNode):
            def perform_request(  # type: ignore[override]
                self, method: str, target: str, body: bytes | None = None, **_: Any
            ) -> NodeApiResponse:
                lines = [json.loads(line) for line in (body or b"").splitlines() if line]
                wire.sent.append((method, target, lines))
                answer = wire.answers.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                status, content = answer
                headers = HttpHeaders(
                    {"x-elastic-product": "Elasticsearch", "content-type": "application/json"}
                )
                meta = ApiResponseMeta(status, "1.1", headers, 0.0, self.config)
                return NodeApiResponse(meta, json.dumps(content).encode())

            def close(self) -> None:
                pass

        self.client = Elasticsearch("http://es.test:9200", node_class=Node, max_retries=0)


def item(status: int, op: str = "index", **fields: Any) -> Mapping[str, Any]:
    """One item of a bulk answer."""
    return {op: {"_id": "a", "status": status, **fields}}


def failure(kind: str, reason: str, status: int = 400, **more: Any) -> tuple[int, Any]:
    """An error answer as Elasticsearch writes it."""
    error = {"type": kind, "reason": reason, "root_cause": [{"type": kind, "reason": reason}]}
    return status, {"error": {**error, **more}, "status": status}
