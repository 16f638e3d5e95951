"""GraphRAG through its package: the standard index, then local or global search.

Local search returns the text units of its context, in the order in which it ranks them; nothing
is asked of a model for that. Global search writes its own context: the points that the model
drew from all community reports (the map step), by the score that it gave them.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import protocol

LEVEL = 2
"""The community level that GraphRAG's own command line searches by default."""
TABLES = (
    "entities",
    "communities",
    "community_reports",
    "text_units",
    "relationships",
)


def count_calls(job: protocol.Job) -> None:
    """Count each completion where LiteLLM returns it; GraphRAG's cached ones never get there."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches one on import
    import litellm

    litellm.telemetry = False
    whole, awaited = litellm.completion, litellm.acompletion

    def completion(*parts: Any, **options: Any) -> Any:
        messages = options.get("messages")
        try:
            response = whole(*parts, **options)
        except Exception as error:
            job.spend.failed(messages, error)
            raise
        job.spend.returned(messages, getattr(response, "usage", None))
        return response

    async def acompletion(*parts: Any, **options: Any) -> Any:
        messages = options.get("messages")
        try:
            response = await awaited(*parts, **options)
        except Exception as error:
            job.spend.failed(messages, error)
            raise
        job.spend.returned(messages, getattr(response, "usage", None))
        return response

    litellm.completion, litellm.acompletion = completion, acompletion


def count_tokens_by_characters() -> None:
    """The evaluation's yardstick, and no vocabulary to download."""
    from graphrag_llm.tokenizer import Tokenizer
    from graphrag_llm.tokenizer.tokenizer_factory import register_tokenizer

    class FourCharacters(protocol.FourCharacters, Tokenizer):  # type: ignore[misc]
        def __init__(self, **_: Any) -> None:
            pass

    for kind in ("litellm", "tiktoken"):
        register_tokenizer(kind, FourCharacters, scope="singleton")


def configuration(job: protocol.Job) -> Any:
    from graphrag.config.models.graph_rag_config import GraphRagConfig

    work, vectors = job.work, job.embeddings
    chat = {
        "model_provider": "openai",
        "model": job.model["name"],
        "api_base": job.model["url"],
        "api_key": job.key,
    }
    embed = {
        "model_provider": "openai",
        "model": vectors["model"],
        "api_base": vectors["url"],
        "api_key": job.key,
        "call_args": {"encoding_format": "float"},
    }
    return GraphRagConfig(
        completion_models={"default_completion_model": chat},
        embedding_models={"default_embedding_model": embed},
        input_storage={"type": "file", "base_dir": str(work / "input")},
        output_storage={"type": "file", "base_dir": str(work / "output")},
        update_output_storage={"type": "file", "base_dir": str(work / "update")},
        cache={"type": "json", "storage": {"type": "file", "base_dir": str(work / "cache")}},
        reporting={"type": "file", "base_dir": str(work / "logs")},
        vector_store={
            "type": "lancedb",
            "db_uri": str(work / "output" / "lancedb"),
            "vector_size": vectors["dims"],
        },
    )


async def index(config: Any, job: protocol.Job) -> None:
    """Build the index once: GraphRAG starts from its first workflow again, with what its cache
    holds of the model's answers."""
    done = job.work / "indexed.json"
    if done.exists():
        if not job.replied("indexed"):  # by the other of the two searches, which shares the index
            job.reply("indexed", **json.loads(done.read_text("utf-8")))
        return
    import pandas
    from graphrag.api import build_index
    from graphrag.callbacks.noop_workflow_callbacks import NoopWorkflowCallbacks

    class Told(NoopWorkflowCallbacks):  # type: ignore[misc]
        def workflow_start(self, name: str, instance: object) -> None:
            job.progress(0, len(job.documents), name)

    table = pandas.DataFrame(
        {
            "id": [row["id"] for row in job.documents],
            "human_readable_id": range(len(job.documents)),
            "title": [row["id"] for row in job.documents],
            "text": [row["text"] for row in job.documents],
            "creation_date": "2000-01-01",
            "raw_data": None,
        }
    )
    with job.measured() as cost:
        results = await build_index(config=config, callbacks=[Told()], input_documents=table)
    for result in results:
        if result.error is not None:
            job.fatal(f"GraphRAG's {result.workflow}: {protocol.shown(result.error, job)}")
    facts = {"documents": len(job.documents), "failed": len(job.spend.lost()), **cost}
    job.reply("indexed", **facts)
    done.write_text(json.dumps(facts), "utf-8")


def tables(job: protocol.Job) -> dict[str, Any]:
    import pandas

    return {name: pandas.read_parquet(job.work / "output" / f"{name}.parquet") for name in TABLES}


def local_engine(config: Any, found: dict[str, Any]) -> Any:
    from graphrag.config.embeddings import entity_description_embedding
    from graphrag.query import indexer_adapters as read
    from graphrag.query.factory import get_local_search_engine
    from graphrag.utils.api import get_embedding_store

    return get_local_search_engine(
        config=config,
        reports=read.read_indexer_reports(found["community_reports"], found["communities"], LEVEL),
        text_units=read.read_indexer_text_units(found["text_units"]),
        entities=read.read_indexer_entities(found["entities"], found["communities"], LEVEL),
        relationships=read.read_indexer_relationships(found["relationships"]),
        covariates={"claims": []},
        description_embedding_store=get_embedding_store(
            config=config.vector_store, embedding_name=entity_description_embedding
        ),
        response_type="multiple paragraphs",
    )


def global_engine(config: Any, found: dict[str, Any]) -> Any:
    from graphrag.query import indexer_adapters as read
    from graphrag.query.factory import get_global_search_engine

    return get_global_search_engine(
        config,
        reports=read.read_indexer_reports(
            found["community_reports"], found["communities"], community_level=LEVEL
        ),
        entities=read.read_indexer_entities(
            found["entities"], found["communities"], community_level=LEVEL
        ),
        communities=read.read_indexer_communities(found["communities"], found["community_reports"]),
        response_type="multiple paragraphs",
    )


def local_context(engine: Any, found: dict[str, Any], question: str) -> dict[str, Any]:
    result = engine.context_builder.build_context(query=question, **engine.context_builder_params)
    units = found["text_units"]
    documents = dict(zip(units["text"], units["document_id"]))  # noqa: B905
    sources = result.context_records.get("sources")
    texts = list(sources["text"]) if sources is not None and len(sources) else []
    return {"chunks": [{"text": text, "document": documents.get(text, "")} for text in texts]}


async def global_context(engine: Any, question: str) -> dict[str, Any]:
    """The map step as GraphRAG's own search runs it, and the order in which its reduce step
    would read the points."""
    batches = await engine.context_builder.build_context(
        query=question, **engine.context_builder_params
    )
    answers = await asyncio.gather(
        *(
            engine._map_response_single_batch(
                context_data=batch,
                query=question,
                max_length=engine.map_max_length,
                **engine.map_llm_params,
            )
            for batch in batches.context_chunks
        )
    )
    points = [point for answer in answers for point in answer.response if point["score"] > 0]
    points.sort(key=lambda point: -point["score"])
    return {"text": "\n\n".join(point["answer"] for point in points)}


async def ask(engine: Any, found: dict[str, Any], job: protocol.Job, question: str) -> Any:
    if job.options["mode"] == "local":
        context = local_context(engine, found, question)
    else:
        context = await global_context(engine, question)
    if job.answers:
        context["answer"] = str((await engine.search(question)).response)
    job.require_all()
    return context


async def main(job: protocol.Job) -> None:
    count_calls(job)
    count_tokens_by_characters()
    config = configuration(job)
    await index(config, job)
    waiting = job.open_questions()
    found = tables(job)
    make = local_engine if job.options["mode"] == "local" else global_engine
    engine = make(config, found)
    for number, question in enumerate(waiting, 1):
        try:
            with job.measured() as cost:
                context = await ask(engine, found, job, question["text"])
            job.reply("answered", question=question["id"], **context, **cost)
        except Exception as error:  # noqa: BLE001 - whatever the package raises is its reply
            job.reply("failed", question=question["id"], reason=protocol.shown(error, job))
        job.progress(number, len(waiting), "asking")


if __name__ == "__main__":
    the_job = protocol.Job(sys.argv[1])
    try:
        asyncio.run(main(the_job))
    except Exception as error:  # noqa: BLE001 - ditto
        the_job.fatal(protocol.shown(error, the_job))
