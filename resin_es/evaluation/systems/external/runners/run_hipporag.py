"""HippoRAG 2 through its package: open information extraction, then passages by PageRank.

The package declares torch, vllm and gritlm for models on a GPU of one's own. With endpoints for
both models it uses torch for one nearest-neighbour search alone. Where torch is not installed,
that search is done by numpy, and what is only imported is stood in for.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol

TAKEN = 20
"""Passages returned per question; 2,000 tokens hold about six abstracts."""
ABSENT = ("torch", "vllm", "gritlm")


class _Anything:
    """Stands for whatever a module that is only imported would have offered."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *parts: Any, **_: Any) -> Any:
        return parts[0] if parts else self  # a decorator gives back what it decorates

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of packages that are not installed: every name in them is a class."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__path__ = []

        def offered(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (_Anything,), {}) if name[0].isupper() else _Anything()

        module.__dict__["__getattr__"] = offered
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def neighbours(
    query_ids: Sequence[str],
    key_ids: Sequence[str],
    query_vecs: Any,
    key_vecs: Any,
    k: int = 2047,
    query_batch_size: int = 1000,
    key_batch_size: int = 10000,
) -> dict[str, tuple[list[str], list[float]]]:
    """The k nearest keys of each query by cosine, best first: what HippoRAG's own function of
    this signature returns, without torch."""
    import numpy

    if len(key_vecs) == 0:
        return {}
    keys = _unit(numpy.asarray(key_vecs, dtype=numpy.float32))
    queries = _unit(numpy.asarray(query_vecs, dtype=numpy.float32))
    found: dict[str, tuple[list[str], list[float]]] = {}
    for start in range(0, len(queries), query_batch_size):
        cosines = queries[start : start + query_batch_size] @ keys.T
        order = numpy.argsort(-cosines, axis=1, kind="stable")[:, :k]
        for row, best in enumerate(order):
            scores = cosines[row, best].tolist()
            found[query_ids[start + row]] = ([key_ids[index] for index in best], scores)
    return found


def _unit(vectors: Any) -> Any:
    import numpy

    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / numpy.maximum(lengths, 1e-12)


def build(job: protocol.Job) -> Any:
    os.environ["OPENAI_API_KEY"] = job.key  # the only place where HippoRAG looks for it
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    missing = [name for name in ABSENT if importlib.util.find_spec(name) is None]
    import transformers  # before the stand-ins, so that it sees for itself that torch is absent

    assert transformers.__version__
    sys.meta_path.append(_StandIns(missing))
    package = importlib.import_module("hipporag.HippoRAG")
    if "torch" in missing:
        package.retrieve_knn = neighbours  # type: ignore[attr-defined]
    rag = package.HippoRAG(
        save_dir=str(job.work),
        llm_model_name=job.model["name"],
        llm_base_url=job.model["url"],
        embedding_model_name=job.embeddings["model"],
        embedding_base_url=job.embeddings["url"],
    )
    count_calls(rag, job)
    return rag


def count_calls(rag: Any, job: protocol.Job) -> None:
    """Count each completion where the client returns it; cached ones never get there."""
    completions = rag.llm_model.openai_client.chat.completions
    create = completions.create

    def counted(*parts: Any, **options: Any) -> Any:
        messages = options.get("messages")
        try:
            response = create(*parts, **options)
        except Exception as error:
            job.spend.failed(messages, error)
            raise
        job.spend.returned(messages, response.usage)
        return response

    completions.create = counted


def index(rag: Any, job: protocol.Job, texts: list[str]) -> None:
    """HippoRAG keeps an empty extraction where a call failed. Then all is thrown away but the
    model's answers, so that the next run asks again for what is missing alone."""
    with job.measured() as cost:
        rag.index(texts)
    if reasons := job.spend.lost():
        for path in job.work.iterdir():
            if path.name != "llm_cache":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        job.fatal(f"{len(reasons)} model calls of HippoRAG's indexing failed: {reasons[0]}")
    if not job.replied("indexed") or cost["calls"]:
        job.reply("indexed", documents=len(job.documents), **cost)


def ask(rag: Any, job: protocol.Job, documents: dict[str, str], question: str) -> dict[str, Any]:
    (found,) = rag.retrieve(queries=[question], num_to_retrieve=TAKEN)
    answer = rag.rag_qa(queries=[found])[0][0].answer if job.answers else None
    job.require_all()
    chunks = [
        {"text": text, "document": documents.get(text, ""), "score": float(score)}
        for text, score in zip(found.docs, found.doc_scores)  # noqa: B905
    ]
    return {"chunks": chunks, "answer": answer}


def main(job: protocol.Job) -> None:
    rag = build(job)
    documents: dict[str, str] = {}
    for row in job.documents:
        documents.setdefault(row["text"], row["id"])
    index(rag, job, list(documents))
    waiting = job.open_questions()
    for number, question in enumerate(waiting, 1):
        try:
            with job.measured() as cost:
                context = ask(rag, job, documents, question["text"])
            job.reply("answered", question=question["id"], **context, **cost)
        except Exception as error:  # noqa: BLE001 - whatever the package raises is its reply
            job.reply("failed", question=question["id"], reason=protocol.shown(error, job))
        job.progress(number, len(waiting), "asking")


if __name__ == "__main__":
    the_job = protocol.Job(sys.argv[1])
    try:
        main(the_job)
    except Exception as error:  # noqa: BLE001 - ditto
        the_job.fatal(protocol.shown(error, the_job))
