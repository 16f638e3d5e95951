"""A model under a cap and a rate limit, with every call entered in a ledger."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import Field

from resin_es.errors import BudgetSpent, ModelError
from resin_es.llm.pricing import expected_tokens
from resin_es.model.base import Frozen
from resin_es.ports.language import (
    LanguageModel,
    Ledger,
    ModelCall,
    ModelReply,
    RateLimiter,
    Spend,
    Stage,
    Usage,
)

MORE_MONEY = (
    "What is finished is kept. Run it again with more (--max-cost, RESIN_MAX_COST): only what is "
    "missing is paid for."
)


class StageSpending(Frozen):
    """What one stage took.

    ``calls`` came back, ``failed`` did not (what those cost counts where it is known);
    ``fallbacks`` are requests beyond one a call; ``routes`` counts how structures were got, by
    ``ModelReply.route``; ``batched`` of the calls went by batch. ``waited``: seconds at the rate
    limit, of all lanes together.
    """

    calls: int = 0
    batched: int = 0
    failed: int = 0
    truncated: int = 0
    refused: int = 0
    fallbacks: int = 0
    usage: Usage = Usage()
    dollars: float = 0.0
    waited: float = 0.0
    routes: Mapping[str, int] = Field(default_factory=dict)

    def __add__(self, other: StageSpending) -> StageSpending:
        fields = {name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        routes = Counter(self.routes)
        routes.update(other.routes)
        return StageSpending(**fields, routes=dict(sorted(routes.items())))


_ADDED = [name for name in StageSpending.model_fields if name != "routes"]
Spending = Mapping[Stage, StageSpending]


def total(spending: Spending) -> StageSpending:
    """All stages together."""
    result = StageSpending()
    for one in spending.values():
        result += one
    return result


def _exactly(amount: float) -> str:
    """With two digits, or as many as it has."""
    return f"{amount:.2f}" if round(amount, 2) == amount else f"{amount:g}"


class MeteredModel:
    """A LanguageModel around another: asks the cap, then the limiter, then the model, and enters
    what it took. Thread-safe.

    With ``cap`` (US dollars), nothing goes out any more once ``ledger.spent()`` has reached it.
    Calls that are under way by then are paid for as well: at most as many as there are threads.
    """

    def __init__(
        self,
        inner: LanguageModel,
        limiter: RateLimiter,
        ledger: Ledger,
        *,
        cap: float | None = None,
    ) -> None:
        self._inner, self._limiter, self._ledger, self._cap = inner, limiter, ledger, cap
        self._lock = threading.Lock()
        self._spending: dict[Stage, StageSpending] = {}

    @property
    def spending(self) -> Spending:
        """What was spent so far, by stage in order of first use; the others are left out."""
        with self._lock:
            return dict(self._spending)

    def left(self) -> float | None:
        """US dollars under the cap, None for any."""
        return None if self._cap is None else max(self._cap - self._ledger.spent(), 0.0)

    def check(self) -> None:
        """Raises BudgetSpent once the cap is reached."""
        if self._cap is None:
            return
        spent = self._ledger.spent()
        if spent >= self._cap:
            raise BudgetSpent(
                f"The cap of ${_exactly(self._cap)} is reached (${spent:.4f} spent): no further "
                "call goes out.",
                spent=spent,
                cap=self._cap,
                hint=MORE_MONEY,
            )

    def call(self, call: ModelCall) -> ModelReply:
        """The inner model's reply. Raises as it does, and BudgetSpent."""
        self._admit(call)
        try:
            reply = self._inner.call(call)
        except ModelError as error:
            self._failed(call, error)
            raise
        self.book(call, reply)
        return reply

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        """The inner model's stream. Raises as it does, and BudgetSpent before anything is sent.
        A stream that the caller leaves counts as failed."""
        self._admit(call)
        whole = False
        try:
            for part in self._inner.stream(call):
                if isinstance(part, ModelReply):
                    whole = True
                    self.book(call, part)
                yield part
        except ModelError as error:
            if not whole:
                self._failed(call, error)
            raise
        except GeneratorExit:
            if not whole:
                self._count(call, StageSpending(failed=1))
            raise

    def book(
        self, call: ModelCall, reply: ModelReply, *, key: str = "", batch: bool = False
    ) -> None:
        """Enter what ``reply`` cost. For calls that went out by another way (a batch) as well:
        ``key`` is then unique to the outcome, so that the ledger counts it once, however often
        it is entered."""
        self._enter(call, reply, key, batch)
        self._count(
            call,
            StageSpending(
                calls=1,
                batched=int(batch),
                truncated=int(reply.truncated),
                refused=int(reply.refused),
                fallbacks=max(reply.calls - 1, 0),
                usage=reply.usage,
                dollars=reply.dollars,
                routes={reply.route: 1},
            ),
        )

    def _admit(self, call: ModelCall) -> None:
        self.check()
        waited = self._limiter.wait(expected_tokens(call))
        if waited:
            self._count(call, StageSpending(waited=waited))
            self.check()  # others went on spending meanwhile

    def _failed(self, call: ModelCall, error: ModelError) -> None:
        """An error that stems from an answer carries it: it was paid for."""
        reply = error.reply
        if not isinstance(reply, ModelReply):
            self._count(call, StageSpending(failed=1))
            return
        self._enter(call, reply, "", batch=False)
        self._count(call, StageSpending(failed=1, usage=reply.usage, dollars=reply.dollars))

    def _enter(self, call: ModelCall, reply: ModelReply, key: str, batch: bool) -> None:
        self._ledger.enter(
            Spend(
                key=key or f"{call.id}-{uuid.uuid4().hex}",
                stage=call.stage,
                model=reply.model or call.model,
                usage=reply.usage,
                dollars=reply.dollars,
                batch=batch,
            )
        )

    def _count(self, call: ModelCall, more: StageSpending) -> None:
        with self._lock:
            before = self._spending.get(call.stage, StageSpending())
            self._spending[call.stage] = before + more
