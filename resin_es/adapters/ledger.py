"""Ledgers: what was spent, in this process."""

from __future__ import annotations

import threading

from resin_es.ports.language import Spend


class MemoryLedger:
    """A ``Ledger`` that lives as long as its run. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: set[str] = set()
        self._spent = 0.0

    def enter(self, spend: Spend) -> None:
        """Count ``spend``, unless its key is there already."""
        with self._lock:
            if spend.key not in self._keys:
                self._keys.add(spend.key)
                self._spent += spend.dollars

    def spent(self) -> float:
        """US dollars entered so far."""
        return self._spent
