"""Judging answers by RAGAS 0.4.3 (extra ``judge``): answer relevancy and context recall [A.4].

The metrics, their prompts and the structured calls are RAGAS's own. Here stand the judge model
behind a key, embeddings by our embedder, and what becomes of a call that fails: a judgement
without a score, with the reason.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.prices import Prices, dollars, told
from resin_es.errors import ModelUnavailable, ResinError
from resin_es.evaluation.judging import JudgeCall
from resin_es.evaluation.values import Judgement, Spent

if TYPE_CHECKING:
    from pydantic import SecretStr

    from resin_es.adapters.ragas_parts import Tally
    from resin_es.ports import Embedder

STRICTNESS = 3
"""Questions made of each answer, as in the paper's evaluation."""

UNREADABLE = frozenset(
    {"ValidationError", "AsyncValidationError", "ResponseParsingError", "JSONDecodeError"}
)
"""What instructor raises, by name, for an answer that is not what was asked for."""

INSTALL = "Install it with: pip install 'resin-es[judge]'"
Record = Callable[[JudgeCall], None]


class RagasJudge:
    """A ``Judge``. ``provider`` is ``openai`` or ``gemini`` (OpenAI's API) or ``anthropic``;
    ``url`` an address other than its own; ``options`` go with every call (None leaves one out);
    ``timeout`` is for a whole judgement, in seconds; ``retries`` for 429 and 5xx. ``record`` is
    called with every judgement, from the thread that asked for it.

    May be used by several threads at once; ``close()`` ends its own. Raises ModelUnavailable if
    RAGAS or the provider's SDK is not installed.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        key: SecretStr | None,
        embedder: Embedder,
        *,
        url: str | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float = 180.0,
        retries: int = 3,
        strictness: int = STRICTNESS,
        prices: Prices | None = None,
        record: Record | None = None,
    ) -> None:
        try:
            from resin_es.adapters import ragas_parts as parts

            address = url or parts.URLS[provider]
            asked = parts.client(provider, key, address, timeout, retries)
        except ImportError as error:
            raise ModelUnavailable(
                f"The judge needs a package that is missing or does not fit: {told(error)}.",
                hint=INSTALL,
            ) from error
        llm = parts.judge_model(provider, model, asked, options or {})
        self.name = f"{model} by ragas {parts.VERSION}, embeddings {embedder.identity.name}"
        self._model, self._key, self._timeout = model, key, timeout
        self._prices: Prices = prices or {}
        self._record = record or (lambda call: None)
        self._relevancy = parts.answer_relevancy(llm, parts.LocalEmbeddings(embedder), strictness)
        self._recall = parts.context_recall(llm)
        self._client, self._tally, self._new_tally = asked, parts.tally, parts.Tally
        self._loop, self._lock, self._spent = _Loop(), threading.Lock(), Spent()

    def answer_relevancy(self, question: str, answer: str) -> Judgement:
        """Mean cosine of the question and ``strictness`` questions that the judge makes of the
        answer; 0 for an answer that commits to nothing, and, without a call, for none at all.

        Raises ModelError if the embedder fails.
        """
        asked = JudgeCall(
            metric="answer_relevancy",
            judge=self.name,
            question=question,
            answer=answer,
            judgement=Judgement(score=0.0),
        )
        if not answer.strip():
            return self._told(asked)
        return self._judged(
            asked, lambda: self._relevancy.ascore(user_input=question, response=answer)
        )

    def context_recall(self, question: str, contexts: Sequence[str], reference: str) -> Judgement:
        """The share of the reference's statements that the judge finds in the contexts; 0,
        without a call, where there are no contexts. No reference, no score."""
        present = [context for context in contexts if context.strip()]
        asked = JudgeCall(
            metric="context_recall",
            judge=self.name,
            question=question,
            contexts=tuple(contexts),
            reference=reference,
            judgement=Judgement(score=0.0),
        )
        if not reference.strip():
            failed = Judgement(score=None, failure="there is no reference answer")
            return self._told(asked.model_copy(update={"judgement": failed}))
        if not present:
            return self._told(asked)
        return self._judged(
            asked,
            lambda: self._recall.ascore(
                user_input=question, retrieved_contexts=present, reference=reference
            ),
        )

    def spent(self) -> Spent:
        """All calls so far, those of failed judgements too."""
        return self._spent

    def check(self) -> None:
        """One small judgement, so that a refused key shows before a run and not after it.

        Raises ModelUnavailable.
        """
        asked = JudgeCall(
            metric="context_recall",
            judge=self.name,
            question="Where does it stand?",
            contexts=("It stands in Bonn.",),
            reference="It stands in Bonn.",
            judgement=Judgement(score=0.0),
        )
        judged, _ = self._score(
            asked,
            lambda: self._recall.ascore(
                user_input=asked.question,
                retrieved_contexts=list(asked.contexts),
                reference=asked.reference,
            ),
        )
        if judged.score is None:
            raise ModelUnavailable(
                f"The judge {self._model} cannot be used: {judged.failure}.",
                hint="Check RESIN_JUDGE_PROVIDER, _MODEL, _URL, _KEY and _OPTIONS.",
            )

    def close(self) -> None:
        """Ends the connections and the judge's thread."""
        self._loop.close(self._client.close())

    def _judged(self, asked: JudgeCall, score: Callable[[], Coroutine[Any, Any, Any]]) -> Judgement:
        judgement, tally = self._score(asked, score)
        return self._told(
            asked.model_copy(
                update={
                    "judgement": judgement,
                    "outputs": tuple(one.model_dump_json() for one in tally.outputs),
                    "spent": self._price(tally),
                }
            )
        )

    def _score(
        self, asked: JudgeCall, score: Callable[[], Coroutine[Any, Any, Any]]
    ) -> tuple[Judgement, Tally]:
        tally = self._new_tally()

        async def limited() -> Any:
            self._tally.set(tally)
            return await asyncio.wait_for(score(), self._timeout)

        try:
            value = self._loop.run(limited()).value
            judgement = read(asked.metric, value, tally.outputs)
        except ResinError:  # our own embedder: no judge can do without it
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails here is a failed judgement
            judgement = Judgement(score=None, failure=self._reason(error))
        with self._lock:
            self._spent = self._spent.plus(self._price(tally))
        return judgement, tally

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
            return f"no judgement within {self._timeout:g} s"
        while error.__cause__ is not None and type(error).__name__ == "InstructorRetryException":
            error = error.__cause__
        kind = type(error).__name__
        if kind == "IncompleteOutputException":
            return "the judge's answer was cut off at max_tokens"
        unread = "the judge's answer cannot be read: " if kind in UNREADABLE else ""
        return f"{unread}{kind}: {told(error, self._key)}"

    def _price(self, tally: Tally) -> Spent:
        return Spent(
            calls=tally.calls,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            dollars=dollars(self._prices, self._model, tally.input_tokens, tally.output_tokens),
        )

    def _told(self, call: JudgeCall) -> Judgement:
        self._record(call)
        return call.judgement


def read(metric: str, value: float, outputs: Sequence[Any]) -> Judgement:
    """RAGAS's score as a judgement.

    RAGAS gives 0 where the judge made no question at all, and takes any number for a verdict:
    both are failed calls. A cosine below 0 counts as 0, since the metric is defined from 0 to 1.
    """
    if metric == "answer_relevancy" and not any(one.question for one in outputs):
        return Judgement(score=None, failure="the judge made no question of the answer")
    if not math.isfinite(value):
        return Judgement(score=None, failure="the judge gave no verdict on any statement")
    if metric == "context_recall" and not all(
        verdict.attributed in (0, 1) for one in outputs for verdict in one.classifications
    ):
        return Judgement(score=None, failure="a verdict was neither 0 nor 1")
    return Judgement(score=min(max(value, 0.0), 1.0))


class _Loop:
    """An event loop on a thread of its own: the clients' connections belong to one loop, while
    the evaluation is synchronous and may come from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except BaseException:
            waiting.cancel()  # an interrupted caller wants no further calls
            raise

    def close(self, last: Coroutine[Any, Any, Any]) -> None:
        self.run(last)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
