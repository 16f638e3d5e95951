"""Which queue a worker that serves several takes its next message from.

Kombu's own orders do not fit: in turn, the quick first pass waits behind slow reading; in a fixed
order, the first source of a queue stands before all others, and what comes last may never come.
Kombu finds this class by its name (transport option ``queue_order_strategy``, read in kombu 5.6,
``transport/redis.py``): it asks for the order before each BRPOP, and tells which list gave.
"""

from __future__ import annotations

from collections.abc import Sequence

PASSED_OVER = 50
"""Messages of the first pass in a row, after which one of reading has its turn: a change of a
document that answers already waits for no more of another source's first pass than that, and
even where one reading takes as long as thirty first passes, most of the time is theirs. Likewise
of changes, after which something that was never read has its turn."""

FIRST = ".first"
"""End of the name of a list that goes before the others of its queue."""


class Turns:
    """The first pass before reading, what changed since it was read before what never was, all
    sources of a queue in turn. What looks for changes goes
    before both, but never twice in a row while anything else waits: where a look takes longer
    than the pause to the next one, documents are read nevertheless."""

    def __init__(self) -> None:
        self._lists: list[str] = []
        self._passed = self._hurried = 0
        self._looked = False

    def update(self, it: Sequence[str]) -> None:
        """These lists are served from now on; their turns stay as they were."""
        kept = [name for name in self._lists if name in it]
        self._lists = kept + [name for name in it if name not in kept]

    def consume(self, n: int) -> list[str]:
        """Lists in the order in which they are asked."""
        order = ["index", "read"] if self._passed < PASSED_OVER else ["read", "index"]
        order.insert(len(order) if self._looked else 0, "sync")
        rank = {queue: place for place, queue in enumerate(order)}
        others_first = self._hurried >= PASSED_OVER

        def place(name: str) -> tuple[int, bool]:
            return rank.get(_queue(name), len(rank)), name.endswith(FIRST) is others_first

        return sorted(self._lists, key=place)[:n]

    def rotate(self, last_used: str) -> str:
        """This list gave a message: it is the last one of its queue now."""
        if last_used in self._lists:
            self._lists.remove(last_used)
            self._lists.append(last_used)
        queue = _queue(last_used)
        self._looked = queue == "sync"
        if queue == "index":
            self._passed += 1
        elif queue == "read":
            self._passed = 0
            self._hurried = self._hurried + 1 if last_used.endswith(FIRST) else 0
        return last_used


def _queue(name: str) -> str:
    """``read`` of ``resin.read.3``."""
    return name.split(".")[1] if "." in name else name
