"""Somebody who asks all the time, and checks every answer."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from resin_es.errors import StoreError
from resin_es.model import Answer
from resin_es.query.values import Asked
from tests.background.office import CLAIM, name, number_of


class Ledger:
    """What the driver has done to documents, for whoever checks answers. Times are those of
    ``time.monotonic``. Thread-safe."""

    def __init__(self) -> None:
        self._gone: dict[int, list[tuple[float, float]]] = {}
        self._lock = threading.Lock()

    def deleted(self, numbers: Sequence[int]) -> None:
        """To be called when the delete returned: from now on no answer may cite them."""
        with self._lock:
            for number in numbers:
                self._gone.setdefault(number, []).append((time.monotonic(), float("inf")))

    def coming_back(self, number: int) -> None:
        """To be called before it is written again."""
        with self._lock:
            spans = self._gone.get(number, [])
            if spans and spans[-1][1] == float("inf"):
                spans[-1] = (spans[-1][0], time.monotonic())

    def was_gone(self, number: int, moment: float) -> bool:
        with self._lock:
            return any(start < moment < end for start, end in self._gone.get(number, ()))

    def recent(self) -> list[int]:
        """Documents worth asking about: those that were deleted, the last ones first."""
        with self._lock:
            rows = [(spans[-1][0], number) for number, spans in self._gone.items()]
        return [number for _, number in sorted(rows, reverse=True)[:20]]


class LastLook:
    """When a client last began a realtime look-up: the last one of an answer is its last check,
    whichever way the product goes there."""

    def __init__(self, client: Any) -> None:
        self.at = 0.0
        transport = client.transport
        perform = transport.perform_request

        def noted(method: str, target: str, **given: Any) -> Any:
            if "/_mget" in target:
                self.at = time.monotonic()
            return perform(method, target, **given)

        transport.perform_request = noted


class Dawdling:
    """A composer that takes its time, so that documents change while it writes."""

    def __init__(self, inner: Any, chance: random.Random) -> None:
        self._inner, self._chance = inner, chance
        self.identity = inner.identity

    def compose(self, question: str, evidence: Any) -> Answer:
        answer: Answer = self._inner.compose(question, evidence)
        time.sleep(self._chance.random() * 0.6)
        return answer


def versions(text: str) -> set[tuple[int, int]]:
    """(record, version) of every claim in a text."""
    return {(int(record), int(version)) for record, version in CLAIM.findall(text)}


def violations(asked: Asked, ledger: Ledger, checked_at: float) -> list[str]:
    """What an answer must not do: cite what was gone at its last check, or mix versions of a
    document; neither in its citations nor in the evidence it shows."""
    shown: dict[str, set[tuple[int, int]]] = {}
    for citation in asked.answer.citations:
        if not citation.void:
            shown.setdefault(citation.document_id, set()).update(versions(citation.quote))
    for passage in asked.retrieval.buffer.passages:
        sentences = " ".join(sentence.text for sentence in passage.sentences)
        shown.setdefault(passage.document_id, set()).update(versions(sentences))
    wrong = []
    for document_id, claims in shown.items():
        number = number_of(document_id)
        if len({version for _, version in claims}) > 1:
            wrong.append(f"mixed: {document_id} in versions {sorted(claims)}")
        if {record for record, _ in claims} - {number}:
            wrong.append(f"foreign: {document_id} shown with {sorted(claims)}")
        if ledger.was_gone(number, checked_at):
            wrong.append(f"deleted: {document_id} shown after its delete had returned")
    return wrong


@dataclass
class Told:
    """What the asker saw. ``away`` counts questions that Elasticsearch was not there for."""

    answers: int = 0
    found: int = 0
    cited: int = 0
    voided: int = 0
    away: int = 0
    wrong: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


class Asker(threading.Thread):
    """Asks about records, most of all about those that were just deleted. ``services`` are its
    own: nobody else uses their client."""

    def __init__(self, services: Any, ledger: Ledger, records: int, seed: int) -> None:
        super().__init__(daemon=True, name="asker")
        self._chance = random.Random(seed)
        self._ledger, self._records = ledger, records
        self._principal = services.principal()
        self._engine = services.engine
        self._last_look = LastLook(services.client)
        self._engine.composer = Dawdling(self._engine.composer, self._chance)
        self._over = threading.Event()
        self.told = Told()

    def stop(self) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.is_set():
            try:
                self._ask()
            except StoreError:
                self.told.away += 1
                self._over.wait(0.5)
            except Exception as error:  # noqa: BLE001 (told at the end: nothing else may go wrong)
                self.told.failures[f"{type(error).__name__}: {error}"[:300]] += 1
                self._over.wait(0.5)

    def _question(self) -> str:
        recent = self._ledger.recent()
        if recent and self._chance.random() < 0.6:
            number = self._chance.choice(recent)
        else:
            number = self._chance.randrange(self._records)
        return f"Who keeps record {number}, and in which room is it?"

    def _ask(self) -> None:
        answer, retrieval, trace = self._engine.ask(self._question(), self._principal)
        asked = Asked(answer=answer, retrieval=retrieval, trace=trace)
        self.told.answers += 1
        self.told.found += answer.found
        self.told.cited += sum(not one.void for one in answer.citations)
        self.told.voided += sum(bool(one.void) for one in answer.citations)
        for one in violations(asked, self._ledger, self._last_look.at):
            self.told.wrong.append(one)


__all__ = ["Asker", "Ledger", "Told", "name", "violations"]
