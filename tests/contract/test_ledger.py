"""One ledger for many processes, on a real Elasticsearch."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import install, uninstall
from resin_es.adapters.elasticsearch.ledger import ElasticsearchLedger
from resin_es.errors import BudgetSpent, StoreUnavailable
from resin_es.index.settings import StoreSettings
from resin_es.llm.metered import MeteredModel
from resin_es.ports.language import ModelCall, ModelReply, Spend, Usage
from resin_es.testing.hash_embedder import HashEmbedder

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

PROCESSES, CALLS = 4, 12


@pytest.fixture(scope="module")
def store(es: Elasticsearch) -> Iterator[StoreSettings]:
    settings = StoreSettings(prefix="t-ledger")
    install(es, settings, HashEmbedder().identity)
    yield settings
    uninstall(es, settings)


@pytest.fixture
def book(es: Elasticsearch, store: StoreSettings, request: pytest.FixtureRequest) -> Any:
    """``book()``: the ledger of another process, in a span of this test's own."""
    return lambda: ElasticsearchLedger(es, store, scope=lambda: request.node.name)


def spend(key: str, dollars: float = 0.25) -> Spend:
    usage = Usage(input_tokens=3, output_tokens=2)
    return Spend(key=key, stage="units", model="m", usage=usage, dollars=dollars)


def records(es: Elasticsearch, store: StoreSettings, scope: str) -> list[Any]:
    es.indices.refresh(index=f"{store.prefix}-ledger")
    query = {"bool": {"filter": [{"term": {"scope": scope}}, {"exists": {"field": "stage"}}]}}
    hits = es.search(index=f"{store.prefix}-ledger", query=query, size=1000)["hits"]["hits"]
    return [hit["_source"] for hit in hits]


def test_nothing_is_lost_where_many_write_at_once(
    book: Any, es: Elasticsearch, store: StoreSettings, request: pytest.FixtureRequest
) -> None:
    def process(number: int) -> None:
        mine = book()
        with ThreadPoolExecutor(3) as lanes:
            list(lanes.map(lambda n: mine.enter(spend(f"{number}-{n}")), range(CALLS)))

    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(process, range(PROCESSES)))
    assert book().spent() == PROCESSES * CALLS * 0.25
    kept = records(es, store, request.node.name)
    assert len(kept) == PROCESSES * CALLS
    assert sum(one["input_tokens"] for one in kept) == PROCESSES * CALLS * 3


def test_a_key_counts_once_whoever_enters_it(book: Any) -> None:
    def enter(_: int) -> None:
        book().enter(spend("the same batch result", 1.0))

    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(enter, range(PROCESSES * 3)))
    assert book().spent() == 1.0


def test_a_process_that_dies_between_counting_and_writing_counts_once(
    book: Any, es: Elasticsearch, store: StoreSettings, request: pytest.FixtureRequest
) -> None:
    dying = book()

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    dying._keep = dies
    with pytest.raises(KeyboardInterrupt):
        dying.enter(spend("a", 1.0))
    assert book().spent() == 1.0, "it was paid for"
    book().enter(spend("a", 1.0))
    book().enter(spend("b", 1.0))
    assert book().spent() == 2.0
    assert len(records(es, store, request.node.name)) == 2


def test_spans_are_apart(es: Elasticsearch, store: StoreSettings) -> None:
    span = ["monday"]
    book = ElasticsearchLedger(es, store, scope=lambda: span[0])
    book.enter(spend("a", 1.0))
    span[0] = "tuesday"
    assert book.spent() == 0.0
    book.enter(spend("a", 2.0))
    assert book.spent() == 2.0


class Priced:
    """Every call costs a dollar."""

    def __init__(self) -> None:
        self.asked = 0

    def call(self, call: ModelCall) -> ModelReply:
        self.asked += 1
        return ModelReply(text="ok", dollars=1.0)

    stream = call


class NoLimit:
    def wait(self, tokens: int) -> float:
        return 0.0


def test_a_cap_holds_for_all_processes_together(book: Any) -> None:
    models = [Priced() for _ in range(3)]

    def process(model: Priced) -> None:
        metered = MeteredModel(model, NoLimit(), book(), cap=10.0)  # type: ignore[arg-type]
        for number in range(10):
            call = ModelCall(
                stage="units", model="m", prompt_version="1", system="s", user=str(number)
            )
            try:
                metered.call(call)
            except BudgetSpent:
                return

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(process, models))
    asked = sum(model.asked for model in models)
    assert 10 <= asked <= 10 + len(models) - 1, "at most those that were under way"
    assert book().spent() == asked


def test_no_call_goes_out_while_nobody_knows_what_was_spent(store: StoreSettings) -> None:
    from elasticsearch import Elasticsearch

    away = ElasticsearchLedger(
        Elasticsearch("http://127.0.0.1:9", max_retries=0), store, scope=lambda: "away"
    )
    model = Priced()
    metered = MeteredModel(model, NoLimit(), away, cap=10.0)  # type: ignore[arg-type]
    call = ModelCall(stage="units", model="m", prompt_version="1", system="s", user="u")
    with pytest.raises(StoreUnavailable):
        metered.call(call)
    assert model.asked == 0
