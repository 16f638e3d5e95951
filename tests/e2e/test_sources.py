"""source add, list, show, pause, resume, remove: an index that was there before."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.testing.command import CommandLine

TEXT = "The Alder Line connects Oslo and Bergen. The company Norrail operates the line since 1998."
OPTIONS = (
    "--title", "title", "--text", "body,parts.text", "--access", "groups",
    "--updated-at", "updated_at", "--metadata", "lang", "--url", "link",
)  # fmt: skip


@pytest.fixture(scope="module")
def kb(es: Elasticsearch) -> Iterator[str]:
    name = f"kb{uuid.uuid4().hex[:10]}"
    words = {"type": "keyword"}
    es.indices.create(
        index=name,
        mappings={
            "properties": {
                "title": {"type": "text"},
                "body": {"type": "text"},
                "parts": {"type": "nested", "properties": {"text": {"type": "text"}}},
                "groups": words,
                "lang": words,
                "link": words,
                "updated_at": {"type": "date"},
            }
        },
    )
    record = {
        "title": "The Alder Line",
        "body": TEXT,
        "parts": [{"text": "It costs 40 euros."}],
        "groups": ["all"],
        "lang": "en",
        "link": "https://kb/1",
        "updated_at": "2024-05-01T10:00:00Z",
    }
    bare = {"title": "No text, no groups, no date"}
    sources = {"d/1 é😀": record, "d/2": record, "bare": bare}
    lines = [{"_index": name, "_id": one, "_source": body} for one, body in sources.items()]
    helpers.bulk(es, lines, refresh=True)
    yield name
    es.indices.delete(index=name)


def names(cli: CommandLine) -> list[str]:
    return [one["spec"]["name"] for one in cli.run("source", "list", "--json").json]


def test_a_dry_run_shows_counts_samples_units_and_the_price_and_keeps_nothing(
    cli: CommandLine, kb: str
) -> None:
    found = cli.run("source", "add", "s", "--index", kb, *OPTIONS, "--dry-run", "--json").json
    assert (found["kept"], found["documents"], found["indices"]) == (False, 3, [kb])
    # what of a nested field is missing no query of ours can tell
    assert found["lacking"] == {"text": None, "access": 1, "updated": 1}
    sample = {one["external_id"]: one for one in found["samples"]}["d/1 é😀"]
    assert sample["text"] == f"{TEXT}\n\nIt costs 40 euros."
    assert sample["title"] == "The Alder Line"
    assert sample["access"] == ["all"]
    assert sample["metadata"] == ["lang=en"]
    assert sample["url"] == "https://kb/1"
    assert any("connects Oslo and Bergen" in unit for unit in sample["units"])
    assert found["price"]["calls"] > 0
    assert found["price"]["dollars"] > 0
    assert (
        "1 document names no group in 'groups': only an admin may read what nobody is named for"
        in (found["warnings"])
    )
    shown = cli.run("source", "add", "s", "--index", kb, *OPTIONS, "--dry-run")
    assert "looked at, nothing kept; 3 documents" in shown.stdout
    assert "would take about" in shown.stdout
    assert "warning: 1 document names no group" in shown.stderr
    assert names(cli) == []


def test_mistakes_are_told_all_at_once_before_anything_is_kept(cli: CommandLine, kb: str) -> None:
    wrong = ("--title", "titel", "--text", "body,lnk", "--access", "groups")
    told = cli.run("source", "add", "s", "--index", f"{kb}*", *wrong, code=2).stderr
    assert "no field 'titel' (did you mean 'title'" in told
    assert "no field 'lnk' (did you mean 'link'" in told
    own = f"{cli.environ['RESIN_PREFIX']}-documents"
    told = cli.run(
        "source", "add", "s", "--index", own, "--text", "text", "--public", code=2
    ).stderr
    assert "resin-es itself wrote" in told
    told = cli.run(
        "source", "add", "s", "--index", f"{kb}x", "--text", "b", "--public", code=2
    ).stderr
    assert f"did you mean '{kb}'" in told
    assert names(cli) == []


def test_a_source_from_its_adding_to_its_removal(
    cli: CommandLine, kb: str, es: Elasticsearch, write: Any
) -> None:
    added = cli.run("source", "add", "life", "--index", kb, *OPTIONS)
    assert "resin-es sync life" in added.stderr
    assert "resin-es source list" in cli.run("status").stdout
    told = cli.run("source", "add", "life", "--index", kb, *OPTIONS, code=2).stderr
    assert "--replace" in told
    changed = cli.run("source", "add", "life", "--index", kb, "--text", "body", "--public",
                      "--replace", "--json").json  # fmt: skip
    assert changed["spec"]["access"] == "public"
    assert names(cli) == ["life"]
    assert cli.run("source", "pause", "life", "--json").json["state"]["paused"] is True
    shown = cli.run("source", "show", "life").stdout
    assert f"index: {kb}\n" in shown
    assert "state: paused\n" in shown
    assert "who may read: everyone\n" in shown
    assert "paused" in cli.run("source", "list").stdout
    cli.run("source", "resume", "life")

    cli.run("index", write("d.jsonl", {"id": "d/2", "text": TEXT}), "--source", "life", "--public")
    assert cli.run("source", "show", "life", "--json").json["coverage"]["documents"] == 1
    assert cli.run("search", "Alder Line", "--source", "life", "--json").json["hits"]
    deleted = cli.run("delete", "d/2", "--source", "life")
    assert "comes back with its next sync" in deleted.stderr
    cli.run("index", write("d.jsonl", {"id": "d/2", "text": TEXT}), "--source", "life", "--public")
    assert cli.run("source", "remove", "life", "--yes", "--json").json == {
        "removed": "life",
        "deleted": 1,
    }
    assert names(cli) == []
    told = cli.run("search", "Alder Line", "--source", "life", code=2).stderr
    assert "no document that you may read is in source 'life'" in told
    assert es.count(index=kb)["count"] == 3
    told = cli.run("source", "show", "lif", code=2).stderr
    assert "There is no source 'lif'" in told


def test_documents_that_came_another_way_are_not_taken_over_unasked(
    cli: CommandLine, kb: str, write: Any
) -> None:
    cli.run("index", write("d.jsonl", {"id": "x", "text": TEXT}), "--source", "pushed", "--public")
    add = ("source", "add", "pushed", "--index", kb, *OPTIONS)
    assert "a sync would delete" in cli.run(*add, code=2).stderr
    cli.run(*add, "--replace")
    cli.run("source", "remove", "pushed", "--keep-documents")
    assert cli.run("search", "Alder Line", "--source", "pushed", "--json").json["hits"]


def test_sources_come_from_a_file(cli: CommandLine, kb: str, write: Any) -> None:
    fields = f"index: {kb}\ntext_fields: [body]\naccess: private\n"
    path = write("s.yml", f"name: filed\n{fields}")
    cli.run("source", "add", "--file", path)
    assert names(cli) == ["filed"]
    cli.run("source", "remove", "filed", "--yes")
