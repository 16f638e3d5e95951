"""The ledger of one process."""

from __future__ import annotations

import threading

from resin_es.adapters.ledger import MemoryLedger
from resin_es.ports.language import Spend


def spend(key: str, dollars: float) -> Spend:
    return Spend(key=key, stage="units", model="m", dollars=dollars)


def test_each_key_counts_once() -> None:
    ledger = MemoryLedger()
    assert ledger.spent() == 0.0
    ledger.enter(spend("a", 1.0))
    ledger.enter(spend("a", 1.0))
    ledger.enter(spend("b", 0.5))
    assert ledger.spent() == 1.5


def test_threads_lose_nothing() -> None:
    ledger = MemoryLedger()

    def lane(name: int) -> None:
        for number in range(500):
            ledger.enter(spend(f"{name}-{number}", 0.25))
            ledger.enter(spend(f"shared-{number}", 0.25))

    threads = [threading.Thread(target=lane, args=(n,), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert ledger.spent() == (4 * 500 + 500) * 0.25
