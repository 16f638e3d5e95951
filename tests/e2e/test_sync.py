"""A team's index kept fresh by the command line alone, without broker or worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.testing.command import CommandLine

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

NOBODY_LISTENS = "redis://127.0.0.1:1/7"
QUESTION = "What melts tin?"
Put = Callable[..., None]


@pytest.fixture
def put(es: Elasticsearch, cli: CommandLine) -> Iterator[Put]:
    """Writes into the team's index, or deletes from it; the source ``kb`` is on it."""
    index = f"{cli.environ['RESIN_PREFIX']}-team"
    es.indices.create(
        index=index,
        mappings={"properties": {"body": {"type": "text"}, "groups": {"type": "keyword"}}},
    )

    def written(name: str, body: str | None, *groups: str) -> None:
        if body is None:
            es.delete(index=index, id=name, refresh=True)
        else:
            es.index(index=index, id=name, document={"body": body, "groups": groups}, refresh=True)

    written("a/1", "The Zanthor reactor melts tin. It is a furnace.", "all")
    written("b 2", "The harbour crane lifts 20 tonnes.", "all")
    written("empty", "", "all")
    cli.run("source", "add", "kb", "--index", index, "--text", "body", "--access", "groups")
    yield written
    cli.run("source", "remove", "kb", "--yes")
    es.indices.delete(index=index)


def synced(cli: CommandLine, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = cli.run("sync", "kb", "--here", "--json", *options).json
    return found


def cited(cli: CommandLine, question: str = QUESTION) -> set[str]:
    answer = cli.run("ask", question, "--json", code=None).json
    return {one["document_id"] for one in answer["citations"]}


def test_from_first_sync_to_last_delete(cli: CommandLine, put: Put) -> None:
    first = synced(cli)
    assert (first["new"], first["empty"], first["work"]["index"]["units"] > 0) == (3, 1, True)
    assert "a/1" in cited(cli)
    again = synced(cli)
    assert (again["unchanged"], again["pending"], again["deleted"]) == (3, 0, 0)
    assert again["work"]["index"]["read_passages"] == 0

    status = cli.run("status", "--json").json
    (background,) = status["background"]
    assert (background["source"], background["paused"], background["error"]) == ("kb", False, None)
    assert background["synced_at"]
    assert [one["by_status"] for one in status["sources"]] == [{"empty": 1, "indexed": 2}]

    assert cli.run("revoke", "kb", "--id", "a/1", "--json").json["revoked"] == 1
    assert "revoked: a/1\n" in cli.run("source", "show", "kb").stdout
    assert "a/1" not in cited(cli)
    synced(cli, "--full")
    assert "a/1" not in cited(cli), "a sync gives nothing back"
    cli.run("revoke", "kb", "--id", "a/1", "--undo")
    assert "a/1" in cited(cli)

    put("a/1", None)
    gone = cli.under(RESIN_REDIS_URL=NOBODY_LISTENS).run("notify", "kb", "--id", "a/1", "--json")
    assert gone.json["deleted"] == 1
    assert "a/1" not in cited(cli)


def test_a_broker_that_is_away_is_told_and_loses_nothing(cli: CommandLine, put: Put) -> None:
    away = cli.under(RESIN_REDIS_URL=NOBODY_LISTENS)
    told = away.run("sync", "kb", code=1)
    assert "queue:" in told.stderr
    assert "wait in the registry" in told.stderr
    assert cli.run("sync", "kb", "--here", "--json").json["waiting"] == 3
    assert "a/1" in cited(cli)


def test_what_failed_is_listed_and_shown(cli: CommandLine, put: Put) -> None:
    synced(cli)
    assert cli.run("failed", "list", "--json").json == []
    assert "none failed" in cli.run("failed", "list").stdout
    row = cli.run("failed", "show", "kb", "a/1", "--json").json
    assert (row["id"], row["status"], row["attempts"]) == ("a/1", "indexed", 0)
    shown = cli.run("failed", "show", "kb", "a/1").stdout
    assert "status: indexed\n" in shown
    assert "None" not in shown
    assert cli.run("failed", "retry", "kb", "--json").json == {"retried": 0}
    told = cli.run("failed", "show", "kb", "nothing", code=2)
    assert "no document 'nothing'" in told.everything


def test_sources_that_are_not_there_are_named(cli: CommandLine) -> None:
    told = cli.run("sync", "nowhere", "--here", code=2)
    assert "There is no source 'nowhere'." in told.everything


def test_following_ends_when_nothing_waits(cli: CommandLine, put: Put) -> None:
    synced(cli)
    found = cli.run("sync", "kb", "--follow", "--json").json
    assert found["standing"]["open"] == 0
    assert found["standing"]["by_status"] == {"empty": 1, "indexed": 2}


def test_a_paused_source_is_not_followed(cli: CommandLine, put: Put) -> None:
    synced(cli)
    put("a/1", "The tunnel is closed.")
    cli.run("notify", "kb", "--id", "a/1", code=None)  # waits for a worker that never comes
    cli.run("source", "pause", "kb")
    told = cli.run("sync", "kb", "--follow")
    assert "the source is paused" in told.stderr
    assert cli.run("sync", "kb", "--follow", "--json").json["standing"] is None
