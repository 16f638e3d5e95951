"""Reading by batches with everything in its place: cache and book in Elasticsearch, documents in
a spool, the indexer before and after."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.anthropic.batches import AnthropicBatches
from resin_es.adapters.anthropic.client import AnthropicModel
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.elasticsearch.batch_book import ElasticsearchBatchBook
from resin_es.adapters.files import DocumentSpool
from resin_es.adapters.ledger import MemoryLedger
from resin_es.adapters.limits import LimitsRateLimiter
from resin_es.index.indexer import Indexer
from resin_es.index.report import IndexReport
from resin_es.llm.batching import BatchesLeft, BatchReport, BatchSettings, read_in_batches
from resin_es.llm.metered import MeteredModel
from resin_es.llm.reader import ModelReader
from resin_es.model import Document
from resin_es.testing.batch_server import ScriptedBatches
from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import ScriptedClaude

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

SETTINGS = BatchSettings(documents=4, first_pause=1)


class Batching:
    """A provider, and runs against it on one store. Each run has new objects."""

    def __init__(self, house: Any, script: ScriptedBatches, url: str) -> None:
        self.house, self.script = house, script
        self.options = AnthropicOptions(key=SecretStr("sk-test-12345"), url=url, retries=0)

    def run(
        self, documents: list[Document], sleep: Callable[[float], None] = lambda seconds: None
    ) -> tuple[BatchReport, IndexReport]:
        store, embedder = self.house.store, self.house.embedder
        model = MeteredModel(
            AnthropicModel(self.options), LimitsRateLimiter(None, None), MemoryLedger()
        )
        indexer = Indexer(store, embedder, ModelReader(model, store, name="m"))
        book = ElasticsearchBatchBook(self.house.es, self.house.settings)
        with DocumentSpool(iter(documents)) as spool:
            batches = read_in_batches(
                spool,
                indexer,
                AnthropicBatches(self.options),
                store,
                book,
                model,
                name="m",
                settings=SETTINGS,
                sleep=sleep,
            )
            report = indexer.index(spool)
        assert book.open() == []
        return batches, report


@pytest.fixture
def batching(house: Any) -> Iterator[Batching]:
    script = ScriptedBatches(single=ScriptedClaude())
    with ModelServer(script) as server:
        yield Batching(house, script, server.url)


def test_ten_documents_are_read_by_batch_alone(batching: Batching) -> None:
    documents = [batching.house.document(number) for number in range(10)]
    batches, report = batching.run(documents)
    # windows of one, two or four documents each; passages of three sentences
    assert (batches.submitted, batches.items, batches.landed) == (6, 30, 30)
    assert (report.new, report.read_documents, report.failures) == (10, 10, [])
    assert report.units == 60
    assert batching.script.singles == 0
    assert set(batching.script.paid.values()) == {1}


def test_nothing_is_asked_for_what_stands_and_two_calls_for_one_changed_sentence(
    batching: Batching,
) -> None:
    documents = [batching.house.document(number) for number in range(6)]
    batching.run(documents)
    before = sum(batching.script.paid.values())
    batches, report = batching.run(documents)
    assert (batches.submitted, report.unchanged) == (0, 6)
    text = documents[2].text.replace("corner of street 1", "corner of street 91")
    documents[2] = documents[2].model_copy(update={"text": text})
    documents[2].__dict__.pop("version", None)
    batches, report = batching.run(documents)
    assert report.changed == 1
    assert batches.items == sum(batching.script.paid.values()) - before == 2
    assert batching.script.singles == 0


def test_after_an_interruption_the_same_batches_are_landed(batching: Batching) -> None:
    documents = [batching.house.document(number) for number in range(6)]

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(BatchesLeft):
        batching.run(documents, interrupt)
    book = ElasticsearchBatchBook(batching.house.es, batching.house.settings)
    assert [len(record.call_ids) for record in book.open()] == [4, 2]
    batches, report = batching.run(documents)
    assert (batches.resumed, batches.submitted, report.new) == (2, 2, 6)
    assert set(batching.script.paid.values()) == {1}
    assert batching.script.singles == 0
