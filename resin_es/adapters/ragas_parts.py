"""The parts that RAGAS's metrics are built from: a judge model, embeddings, what was spent.

Imported only once a judge is asked for: it loads ``ragas`` with all that comes with it. The
modules are imported by name, so that type checking does not depend on the extra.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import SecretStr

    from resin_es.ports import Embedder

# RAGAS reports every call to its makers unless told otherwise before it is first imported.
os.environ["RAGAS_DO_NOT_TRACK"] = "true"
_analytics: Any = import_module("ragas._analytics")
_analytics.do_not_track.cache_clear()  # somebody may have imported it before us
# It prints failed calls, and with them what a service says of the key; our judgement tells both.
logging.getLogger("instructor").setLevel(logging.CRITICAL)

_llms: Any = import_module("ragas.llms.base")
_embeddings: Any = import_module("ragas.embeddings.base")
_metrics: Any = import_module("ragas.metrics.collections")
VERSION: str = import_module("ragas").__version__

URLS = {
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai/",
    "anthropic": "https://api.anthropic.com",
}
"""Each provider's own address; Gemini is asked where it speaks OpenAI's API."""

DEFAULTS: Mapping[str, Any] = {"max_tokens": 4096, "max_retries": 2}
"""Beside RAGAS's own (temperature 0.01, top_p 0.1). A verdict on each statement of a long
reference does not fit into RAGAS's 1,024 tokens. ``max_retries`` asks again for an answer that
cannot be parsed."""

CLAUDE_DEFAULTS: Mapping[str, Any] = {"temperature": None, "top_p": None}
"""The Messages API takes neither since version 2026-10-21, and its SDK refuses both."""


@dataclass
class Tally:
    """What one judgement has asked for and got so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    outputs: list[Any] = field(default_factory=list)


tally: ContextVar[Tally] = ContextVar("tally")
"""The tally of the judgement that the current task works on."""


def client(provider: str, key: SecretStr | None, url: str, timeout: float, retries: int) -> Any:
    """The provider's own client, which repeats 429, 5xx and broken connections itself.

    A server of one's own may want no key, but the clients insist on one. Raises ImportError.
    """
    options = {
        "api_key": key.get_secret_value() if key else "none",
        "base_url": url,
        "timeout": timeout,
        "max_retries": retries,
    }
    if provider == "anthropic":
        return import_module("anthropic").AsyncAnthropic(**options)
    return import_module("openai").AsyncOpenAI(**options)


def judge_model(provider: str, model: str, asked: Any, options: Mapping[str, Any]) -> Any:
    """RAGAS's own model over the client ``asked``. ``options`` go with every call; None leaves
    one out."""
    kind = "anthropic" if provider == "anthropic" else "openai"
    merged = {**DEFAULTS, **(CLAUDE_DEFAULTS if kind == "anthropic" else {}), **options}
    llm = _llms.llm_factory(model, provider=kind, client=asked, adapter="instructor", **merged)
    llm.model_args = {name: value for name, value in llm.model_args.items() if value is not None}
    llm.client.on("completion:kwargs", _asked)
    llm.client.on("completion:response", _answered)
    return _Overheard(llm)


def _asked(*_: Any, **__: Any) -> None:
    tally.get().calls += 1


def _answered(response: Any, **_: Any) -> None:
    usage, now = getattr(response, "usage", None), tally.get()
    now.input_tokens += _tokens(usage, "prompt_tokens", "input_tokens")
    now.input_tokens += _tokens(usage, "cache_creation_input_tokens", "cache_read_input_tokens")
    now.output_tokens += _tokens(usage, "completion_tokens", "output_tokens")


def _tokens(usage: Any, *names: str) -> int:
    return sum(getattr(usage, name, None) or 0 for name in names)


class _Overheard(_llms.InstructorBaseRagasLLM):  # type: ignore[misc]
    """A judge model whose parsed answers are kept in the tally."""

    def __init__(self, llm: Any) -> None:
        self._llm = llm

    def generate(self, prompt: str, response_model: Any) -> Any:
        raise NotImplementedError("judged asynchronously only")

    async def agenerate(self, prompt: str, response_model: Any) -> Any:
        answer = await self._llm.agenerate(prompt, response_model)
        tally.get().outputs.append(answer)
        return answer


class LocalEmbeddings(_embeddings.BaseRagasEmbedding):  # type: ignore[misc]
    """RAGAS's embeddings by our own embedder: no second key, and nothing leaves the machine."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return self.embed_texts([text])[0]

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return self.embed_text(text)

    def embed_texts(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        rows: list[list[float]] = self._embedder.embed(list(texts)).tolist()
        return rows

    async def aembed_texts(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        return self.embed_texts(texts)


def answer_relevancy(llm: Any, embeddings: Any, strictness: int) -> Any:
    """The metric: ``strictness`` questions made of the answer, compared with the asked one."""
    return _metrics.AnswerRelevancy(llm=llm, embeddings=embeddings, strictness=strictness)


def context_recall(llm: Any) -> Any:
    """The metric: the share of the reference's statements that the contexts support."""
    return _metrics.ContextRecall(llm=llm)
