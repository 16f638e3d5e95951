from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from resin_es.errors import InputError
from resin_es.model import DocumentStatus, Principal, StageError
from resin_es.ports import SearchHit
from resin_es.query.diagnose import Diagnosis, lookup_bodies
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

FARE = "What is the fare of Bus 14?"


class Library(ScriptedStore):
    """Answers hops as told, and look-ups by what they ask for."""

    def __init__(self, documents: list[ScriptedDocument], hits: list[SearchHit]) -> None:
        super().__init__(documents, self.answer)
        self.library, self.hop_hits = documents, hits

    def answer(self, body: Mapping[str, Any]) -> list[SearchHit]:
        if "knn" in body:
            return self.hop_hits
        query = body["query"]["bool"]
        ids = next(
            (
                c["terms"]["document_id"]
                for c in query["filter"]
                if "document_id" in c.get("terms", {})
            ),
            None,
        )
        wanted = query["must"][0]["match"]["statement"]["query"] if "must" in query else ""
        return [
            document.hit(p, s)
            for document in self.library
            for p, passage in enumerate(document.passages)
            for s, span in enumerate(passage.offsets)
            if (ids is not None and document.entry.external_id in ids)
            or (ids is None and wanted in passage.text[slice(*span)])
        ]


def diagnosed(store: ScriptedStore, expect: str, **options: Any) -> Diagnosis:
    trace = engine_on(store).ask(FARE, ANYONE, **options)[2]
    return engine_on(store).diagnose(trace.id, expect, ANYONE)


@pytest.fixture
def library(
    bus: ScriptedDocument, metro: ScriptedDocument, secret: ScriptedDocument, hits: list[SearchHit]
) -> Library:
    return Library([bus, metro, secret], hits)


def test_used(library: Library) -> None:
    for expect in ("fare of Bus 14", "bus-14"):
        found = diagnosed(library, expect)
        assert found.stage == "used"
        assert found.documents == ("bus-14",)
        assert list(found.details) == ["indexed", "retrieved", "selected", "used"]
        assert "[1]" in found.details["used"]


def test_not_used(library: Library) -> None:
    found = diagnosed(library, "Dogs ride free")
    assert found.stage == "not_used"
    assert "something else" in found.details["used"]


def test_not_selected(library: Library) -> None:
    found = diagnosed(library, "fare of Metro Line B", budget=30)
    assert found.stage == "not_selected"
    assert "budget" in found.details["selected"]


def test_not_retrieved(bus: ScriptedDocument, metro: ScriptedDocument) -> None:
    library = Library([bus, metro], [bus.hit(1, 0, dense=near(0.8))])
    assert diagnosed(library, "fare of Metro Line B").stage == "not_retrieved"
    library = Library(
        [bus, metro], [bus.hit(1, 0, dense=near(0.8)), metro.hit(1, 0, dense=near(0.1))]
    )
    beyond = diagnosed(library, "metro-b", k=1)
    assert beyond.stage == "not_retrieved"
    assert "beyond the k" in beyond.details["retrieved"]


def test_not_indexed(library: Library) -> None:
    found = diagnosed(library, "parking at the harbour")
    assert found.stage == "not_indexed"
    assert found.documents == ()


def test_what_may_not_be_read_is_not_indexed(library: Library, secret: ScriptedDocument) -> None:
    for expect in ("secret plan closes", "secret-plan"):
        found = diagnosed(library, expect)
        assert found.stage == "not_indexed"
        assert secret.key not in found.model_dump_json()


def test_a_failed_document_says_why(bus: ScriptedDocument) -> None:
    failed = ScriptedDocument("broken", [], status=DocumentStatus.FAILED)
    failed.entry = failed.entry.model_copy(
        update={"error": StageError(stage="passages", type="ReadingError", message="too long")}
    )
    store = Library([bus, failed], [])
    store._by_document = [SearchHit(id=failed.key, score=1.0)]
    found = diagnosed(store, "broken")
    assert found.stage == "not_indexed"
    assert "failed" in found.details["indexed"]
    assert "too long" in found.details["indexed"]


def test_an_older_version_is_told_apart(library: Library, metro: ScriptedDocument) -> None:
    library.change(metro.key, passages=metro.entry.passages[:1])
    found = diagnosed(library, "fare of Metro Line B")
    assert found.stage == "not_indexed"
    assert "older version" in found.details["indexed"]


def test_the_expectation_must_hold_a_word(library: Library) -> None:
    with pytest.raises(InputError):
        diagnosed(library, "?!")


def test_the_look_up_bodies() -> None:
    named, told = lookup_bodies("metro-b", Principal())
    access = {"terms": {"access": ["*"]}}
    assert named["query"] == {"bool": {"filter": [access, {"terms": {"document_id": ["metro-b"]}}]}}
    assert told["query"] == {
        "bool": {
            "filter": [access],
            "must": [{"match": {"statement": {"query": "metro-b", "operator": "and"}}}],
        }
    }
