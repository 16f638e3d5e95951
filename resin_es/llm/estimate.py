"""What reading documents will take, before anything is sent: calls, tokens, dollars.

The real way through the house is gone, with a reader that counts instead of asking. So windows
and the calls of the passage stage are exact; how a model cuts them, and how much it writes, is
assumed by the constants below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

from resin_es.extract.drafting import Previous
from resin_es.extract.read import read_many
from resin_es.llm.asking import Got, Item, Known, Task
from resin_es.llm.outputs import kept_outputs, known_splits
from resin_es.llm.pricing import Price, Prices, input_tokens, price_of
from resin_es.llm.tasks import PassagesTask, UnitsTask
from resin_es.model import Document, PassageDraft, ReaderIdentity
from resin_es.model.base import Frozen
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading
from resin_es.ports.language import ModelCall, OutputCache, Stage, Usage

SENTENCES_PER_PASSAGE = 4
"""Sentences of an expected passage: the prompt calls two to six usual."""
TOKENS_PER_PASSAGE = 55
"""What a model writes for one passage: as in the prompt's example."""
UNITS_PER_SENTENCE = 2.0
"""Units that a model is expected to find: the prompt says one to four for a sentence with
content, and many have none. (The syntax reader keeps about one.)"""
TOKENS_PER_UNIT = 95
"""What a model writes for one unit: as in the prompt's example."""
TOKENS_AROUND = 40
"""What frames the answer to any call."""
THINKING = 1.0
"""What a model thinks for each token that it writes: charged as output. Models since Claude 5
think unless told otherwise; how much is theirs to decide."""
_BATCH = 64
"""Documents gone through together; bounds what is in memory."""


class StageEstimate(Frozen):
    """One stage. ``calls`` are those that would go out, ``cached`` those answered from the output
    cache. ``dollars`` and ``batch_dollars`` are None where the model has no known price.
    ``usage`` counts all input at the full price: what a prompt cache saves comes off it."""

    stage: Stage
    model: str
    calls: int = 0
    cached: int = 0
    usage: Usage = Usage()
    dollars: float | None = None
    batch_dollars: float | None = None


class Estimate(Frozen):
    """``to_read`` of ``documents`` would be read, ``characters`` long in all; ``passages`` is how
    many are expected to be cut of them or are to be read again."""

    documents: int = 0
    to_read: int = 0
    characters: int = 0
    passages: int = 0
    stages: tuple[StageEstimate, ...] = ()

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.stages)

    @property
    def usage(self) -> Usage:
        return sum((one.usage for one in self.stages), Usage())

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models that would be asked and have no known price."""
        return tuple(dict.fromkeys(one.model for one in self.stages if one.dollars is None))

    @property
    def dollars(self) -> float | None:
        """None where a model that would be asked has no known price."""
        return _sum([one.dollars for one in self.stages])

    @property
    def batch_dollars(self) -> float | None:
        """The same by Message Batches."""
        return _sum([one.batch_dollars for one in self.stages])


def estimate(
    documents: Iterable[tuple[Document, Previous | None]],
    *,
    model: str,
    prices: Prices,
    cache: OutputCache | None = None,
) -> Estimate:
    """What it takes to read ``documents``, which are those that need it (``Indexer.survey``).
    Goes through them once, a bounded number at a time.

    Raises StoreError where the cache cannot be asked.
    """
    counting = CountingReader(model, prices, cache)
    read = characters = passages = 0
    for batch in _batches(documents):
        readings = read_many(batch, counting)
        read += len(batch)
        characters += sum(len(document.text) for document, _ in batch)
        passages += sum(one.read_passages for one in readings)
    return Estimate(
        documents=read,
        to_read=read,
        characters=characters,
        passages=passages,
        stages=tuple(counting.stages),
    )


class CountingReader:
    """A Reader that builds each call, looks into the cache, and counts instead of asking. A
    window whose answer is cached is cut as that answer says, any other one evenly."""

    lanes = 1

    def __init__(self, model: str, prices: Prices, cache: OutputCache | None = None) -> None:
        self._model, self._cache = model, cache
        price = price_of(prices, model)
        self._passages = _Tally("passages", model, price)
        self._units = _Tally("units", model, price)
        self._windows, self._chunks = PassagesTask(model), UnitsTask(model)

    @property
    def identity(self) -> ReaderIdentity:
        return ReaderIdentity(model=self._model, prompt_version="estimate")

    @property
    def stages(self) -> list[StageEstimate]:
        """What was counted so far."""
        return [tally.estimate() for tally in (self._passages, self._units)]

    def languages(self) -> frozenset[str] | None:
        """All languages, as a model reads them."""
        return None

    def passages(self, window: ReadingWindow) -> PassageReading:
        """Expected passages of one window."""

        def expected(part: ReadingWindow) -> tuple[PassageReading, int]:
            drafts = expected_drafts(len(part.sentences))
            return PassageReading(drafts=drafts), TOKENS_PER_PASSAGE * len(drafts)

        known = self._known([self._windows.call_of(window)])
        return self._count(self._windows, window, known, self._passages, expected)

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """No units: only their calls are counted."""

        def expected(part: PassageInput) -> tuple[UnitReading, int]:
            found = UNITS_PER_SENTENCE * len(part.sentences)
            return UnitReading(), round(TOKENS_PER_UNIT * found)

        known = self._known([self._chunks.call_of(item) for item in passages])
        return [self._count(self._chunks, one, known, self._units, expected) for one in passages]

    def _count(
        self,
        task: Task[Item, Got],
        item: Item,
        known: Known,
        tally: _Tally,
        expected: Callable[[Item], tuple[Got, int]],
    ) -> Got:
        """As ``Asker.ask`` goes about it, with ``expected`` instead of a model."""
        call = task.call_of(item)
        if call.id in known.outputs:
            reading, fault = task.read(known.outputs[call.id], item)
            if not fault:
                tally.cached += 1
                return reading
        halves = task.halves(item) if call.id in known.splits else None
        if halves is not None:
            inner = self._known([task.call_of(part) for part in halves])
            parts = [self._count(task, part, inner, tally, expected) for part in halves]
            return task.joined(item, parts)
        guess, tokens = expected(item)
        tally.count(call, TOKENS_AROUND + tokens)
        return guess

    def _known(self, calls: Sequence[ModelCall]) -> Known:
        if self._cache is None:
            return Known({}, frozenset())
        return Known(kept_outputs(self._cache, calls), frozenset(known_splits(self._cache, calls)))


def expected_drafts(sentences: int, size: int = SENTENCES_PER_PASSAGE) -> tuple[PassageDraft, ...]:
    """``sentences`` cut evenly into passages of about ``size``."""
    count = max(round(sentences / size), 1)
    edges = [sentences * number // count for number in range(count + 1)]
    return tuple(
        PassageDraft(first=first, last=end - 1) for first, end in pairwise(edges) if end > first
    )


def stage_estimate(call: ModelCall, output: int, prices: Prices) -> StageEstimate:
    """What ``call`` takes if a model writes ``output`` tokens."""
    tally = _Tally(call.stage, call.model, price_of(prices, call.model))
    tally.count(call, output)
    return tally.estimate()


class _Tally:
    """One stage while it is counted; each call is priced by itself."""

    def __init__(self, stage: Stage, model: str, price: Price | None) -> None:
        self.stage, self.model, self.price = stage, model, price
        self.calls = self.cached = self.input = self.output = 0
        self.dollars = self.batch_dollars = 0.0

    def count(self, call: ModelCall, output: int) -> None:
        written = min(round(output * (1 + THINKING)), call.max_tokens)
        usage = Usage(input_tokens=input_tokens(call), output_tokens=written)
        self.calls += 1
        self.input += usage.input_tokens
        self.output += usage.output_tokens
        if self.price is not None:
            self.dollars += self.price.dollars(usage)
            self.batch_dollars += self.price.dollars(usage, batch=True)

    def estimate(self) -> StageEstimate:
        known = self.price is not None or not self.calls
        return StageEstimate(
            stage=self.stage,
            model=self.model,
            calls=self.calls,
            cached=self.cached,
            usage=Usage(input_tokens=self.input, output_tokens=self.output),
            dollars=self.dollars if known else None,
            batch_dollars=self.batch_dollars if known else None,
        )


def _batches(
    documents: Iterable[tuple[Document, Previous | None]],
) -> Iterator[list[tuple[Document, Previous | None]]]:
    pending = iter(documents)
    while batch := list(islice(pending, _BATCH)):
        yield batch


def _sum(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
