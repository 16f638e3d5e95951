"""LightRAG through its package: index the documents, return the chunks for each question."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol

BATCH = 16


def build(job: protocol.Job) -> Any:
    from lightrag import LightRAG
    from lightrag.llm.openai import openai_complete_if_cache, openai_embed
    from lightrag.utils import EmbeddingFunc, Tokenizer

    model, vectors = job.model, job.embeddings

    async def complete(prompt: str, **options: Any) -> str:
        return str(
            await openai_complete_if_cache(
                model["name"],
                prompt,
                base_url=model["url"],
                api_key=job.key,
                token_tracker=job.spend,
                **options,
            )
        )

    async def embed(texts: list[str], **options: Any) -> Any:
        return await openai_embed.func(
            texts, model=vectors["model"], base_url=vectors["url"], api_key=job.key
        )

    # functions, not partials: LightRAG copies its configuration deeply, and a lock has no copy
    return LightRAG(
        working_dir=str(job.work),
        workspace="",
        llm_model_func=complete,
        llm_model_name=model["name"],
        embedding_func=EmbeddingFunc(
            embedding_dim=vectors["dims"], func=embed, model_name=vectors["model"]
        ),
        tokenizer=Tokenizer("four-characters", protocol.FourCharacters()),
    )


async def index(rag: Any, job: protocol.Job) -> dict[str, str]:
    """Insert what is not in yet. Returns file name → document id: LightRAG hands the names of
    files back with its chunks, and keeps their base names alone."""
    names = {f"d{number:06}.txt": row["id"] for number, row in enumerate(job.documents)}
    rows = list(zip(names, job.documents))  # noqa: B905
    with job.measured() as cost:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            await rag.ainsert(
                [row["text"] for _, row in batch],
                ids=[name for name, _ in batch],
                file_paths=[name for name, _ in batch],
            )
            job.progress(min(start + BATCH, len(rows)), len(rows), "indexing")
    counts = await rag.get_processing_status()
    failed = int(counts.get("failed", 0))
    job.reply("indexed", documents=int(counts.get("processed", 0)), failed=failed, **cost)
    if not counts.get("processed"):
        job.fatal(f"LightRAG indexed none of {len(rows)} documents; its log says why.")
    return names


async def ask(rag: Any, job: protocol.Job, names: dict[str, str], question: dict[str, str]) -> None:
    from lightrag import QueryParam

    param = QueryParam(mode=job.options.get("mode", "mix"), enable_rerank=False)
    with job.measured() as cost:
        run = rag.aquery_llm if job.answers else rag.aquery_data
        found = await run(question["text"], param=param)
    status, reason = found.get("status"), (found.get("metadata") or {}).get("failure_reason")
    if status != "success" and reason != "no_results":
        raise RuntimeError(found.get("message") or "LightRAG returned no result")
    chunks = (found.get("data") or {}).get("chunks") or []
    job.reply(
        "answered",
        question=question["id"],
        chunks=[
            {"text": chunk["content"], "document": names.get(chunk.get("file_path", ""), "")}
            for chunk in chunks
        ],
        answer=(found.get("llm_response") or {}).get("content") if job.answers else None,
        **cost,
    )


async def main(job: protocol.Job) -> None:
    rag = build(job)
    await rag.initialize_storages()
    try:
        names = await index(rag, job)
        waiting = job.open_questions()
        for number, question in enumerate(waiting, 1):
            try:
                await ask(rag, job, names, question)
            except Exception as error:  # noqa: BLE001 - whatever the package raises is its reply
                job.reply("failed", question=question["id"], reason=protocol.shown(error, job))
            job.progress(number, len(waiting), "asking")
    finally:
        await rag.finalize_storages()


if __name__ == "__main__":
    the_job = protocol.Job(sys.argv[1])
    try:
        asyncio.run(main(the_job))
    except Exception as error:  # noqa: BLE001 - ditto
        the_job.fatal(protocol.shown(error, the_job))
