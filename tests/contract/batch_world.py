"""A provider on a scripted server, and what a run leaves behind: for tests of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import SecretStr

from resin_es.adapters.anthropic.batches import AnthropicBatches
from resin_es.adapters.anthropic.client import AnthropicModel
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.ledger import MemoryLedger
from resin_es.extract.drafting import Previous
from resin_es.extract.read import Reading, read_many
from resin_es.llm.batching import BatchReport, BatchSettings, read_in_batches
from resin_es.llm.metered import MeteredModel
from resin_es.llm.reader import ModelReader
from resin_es.model import Document
from resin_es.testing.batch_book import MemoryBatchBook
from resin_es.testing.batch_server import ScriptedBatches
from resin_es.testing.model_server import Asked, ModelServer
from resin_es.testing.scripted_claude import ScriptedClaude
from resin_es.testing.scripted_language import MemoryCache

PRICES = {"m": (1.0, 5.0)}
BODY = (
    "The Harbour Line is a tram. Ostrel Works owns the Harbour Line. Car {n} carries nine "
    "doors. If snow falls, tram {n} turns round at Mill Square. Tram {n} stopped early because "
    "ice covered the rails. All trams need a rack rail."
)


class Listed(list[Document]):
    """Documents in memory, as the spool gives them."""

    def part(self, start: int, stop: int) -> Iterator[Document]:
        return iter(self[start:stop])


def documents(count: int) -> Listed:
    return Listed(
        Document(source="s", external_id=str(n), text=BODY.format(n=n), access=("all",))
        for n in range(count)
    )


FIVE = documents(5)


class Everything:
    """A surveyor that has every document read."""

    def survey(self, documents: Iterable[Document]) -> Iterator[tuple[Document, Previous | None]]:
        return ((document, None) for document in documents)


class Unlimited:
    """A rate limiter that never waits."""

    def wait(self, tokens: int) -> float:
        return 0.0


class World:
    """What outlives a run: the provider, the cache, the book. Every run has new objects."""

    def __init__(
        self, script: ScriptedBatches, asked: list[Asked], url: str, *, size: int = 2
    ) -> None:
        self.script, self.asked = script, asked
        self.options = AnthropicOptions(
            key=SecretStr("sk-test-12345"), url=url, timeout=10, retries=0, prices=PRICES
        )
        self.cache, self.book = MemoryCache(), MemoryBatchBook()
        self.settings = BatchSettings(documents=size, first_pause=1, longest_pause=3)
        self.slept: list[float] = []
        self.ledger = MemoryLedger()
        self.shown: list[tuple[int, int | None, str]] = []

    def model(self, cap: float | None = None) -> MeteredModel:
        self.ledger = MemoryLedger()
        return MeteredModel(AnthropicModel(self.options), Unlimited(), self.ledger, cap=cap)

    def batches(
        self,
        documents: Listed,
        *,
        cap: float | None = None,
        sleep: Callable[[float], None] | None = None,
        wrapped: Callable[[Any], Any] = lambda port: port,
        slice_of: int | None = None,
        **settings: Any,
    ) -> BatchReport:
        if slice_of:
            settings["documents"] = slice_of
        return read_in_batches(
            documents,
            Everything(),
            wrapped(AnthropicBatches(self.options)),
            wrapped(self.cache),
            wrapped(self.book),
            self.model(cap),
            name="m",
            prices=PRICES,
            settings=self.settings.model_copy(update=settings),
            progress=self,
            sleep=sleep or self.slept.append,
        )

    def update(self, done: int, total: int | None, description: str) -> None:
        self.shown.append((done, total, description))

    def ordinary(self, documents: Sequence[Document]) -> list[Reading]:
        """The run that follows, or that was never preceded by batches."""
        reader = ModelReader(self.model(), self.cache, name="m")
        return read_many([(document, None) for document in documents], reader)

    def made(self) -> list[str]:
        """Requests so far, in short: ``make``, ``look``, ``fetch``, ``list``, ``single``."""
        return [_short(asked) for asked in self.asked]


def _short(asked: Asked) -> str:
    path = asked.path.partition("?")[0]
    if not path.startswith("/v1/messages/batches"):
        return "single"
    if path.endswith("/results"):
        return "fetch"
    if path.endswith("/batches"):
        return "make" if asked.method == "POST" else "list"
    return "look"


def said_without_batches(readings: Sequence[Reading]) -> list[Reading]:
    """Readings without what they cost, which differs by the way that they came."""
    return [one.model_copy(update={"tokens": 0, "cost": 0.0}) for one in readings]


@contextmanager
def a_world(
    claude: ScriptedClaude | None = None, *, size: int = 2, **fields: Any
) -> Iterator[World]:
    script = ScriptedBatches(single=claude or ScriptedClaude(), **fields)
    with ModelServer(script) as server:
        yield World(script, server.asked, server.url, size=size)
