"""A corpus over time: again, changed, deleted, pruned, opened and closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
EVIDENCE = ("units", "sentences", "passages")


def boat(name: str, **more: Any) -> dict[str, Any]:
    text = (
        f"The {name} is a ferry. The {name} leaves pier {len(name)} at dawn because the tide "
        f"turns. Passengers of the {name} need a {name} token."
    )
    return {"id": f"boat/{name}", "title": f"Ferry {name}", "text": text, **more}


@pytest.fixture
def source(request: pytest.FixtureRequest) -> str:
    """A source of the test's own."""
    name: str = request.node.name
    return name.removeprefix("test_")


def test_the_same_again_costs_nothing(
    cli: CommandLine, shelf: Any, write: Write, source: str
) -> None:
    path = write("a.jsonl", boat("Kestrel"), boat("Plover"))
    first = cli.run("index", path, "--public", "--source", source, "--json").json
    assert (first["new"], first["read_documents"]) == (2, 2)
    assert first["units"] >= 2
    before = shelf.sizes()
    again = cli.run("index", path, "--public", "--source", source, "--json").json
    assert again["unchanged"] == 2
    assert again["read_passages"] == again["embedded"] == again["purged"] == 0
    assert shelf.sizes() == before


def test_one_changed_sentence_is_all_that_is_read(
    cli: CommandLine, write: Write, source: str
) -> None:
    paragraphs = [f"Shed {n} is a store. Shed {n} holds {n} oars." for n in range(12)]
    cli.run("index", write("a.jsonl", {"id": "1", "text": "\n\n".join(paragraphs)}),
            "--public", "--source", source)  # fmt: skip
    paragraphs[7] = "Shed 7 is a store. Shed 7 holds seventy masts."
    changed = "A new first line stands here.\n\n" + "\n\n".join(paragraphs)
    path = write("a.jsonl", {"id": "1", "text": changed})
    report = cli.run("index", path, "--public", "--source", source, "--json").json
    assert report["changed"] == 1
    assert 0 < report["read_sentences"] < report["sentences"] / 2
    for question, told in (("What does shed 7 hold?", "masts"), ("What does shed 3 hold?", "3 o")):
        found = cli.run("retrieve", question, "--source", source, "--json").json
        sentences = [one for passage in found["evidence"] for one in passage["sentences"]]
        assert any(told in one["text"] for one in sentences)
        assert not any("7 oars" in one["text"] for one in sentences)
        assert all(changed[one["start"] : one["end"]] == one["text"] for one in sentences)


def test_deleted(cli: CommandLine, shelf: Any, write: Write, source: str) -> None:
    path = write("a.jsonl", boat("Heron"), boat("Curlew"))
    cli.run("index", path, "--public", "--source", source)
    question = ("What do passengers of the Heron need?", "--source", source)
    answer = cli.run("ask", *question, "--json").json
    assert answer["citations"][0]["document_id"] == "boat/Heron"
    for family in EVIDENCE:
        assert shelf.count(family, document_id="boat/Heron") > 0
    gone = cli.run("delete", "boat/Heron", "--source", source, "--json").json
    assert gone == {"deleted": 1, "problems": []}
    for family in EVIDENCE:
        assert shelf.count(family, document_id="boat/Heron") == 0
        assert shelf.count(family, document_id="boat/Curlew") > 0
    for command in ("ask", "retrieve", "search"):
        told = cli.run(command, *question, "--json").stdout
        assert "boat/Heron" not in told
        assert "Heron token" not in told
    shown = cli.run("trace", answer["trace_id"], "--json")
    assert "Heron token" not in shown.stdout
    [stone] = shelf.all("documents", document_id="boat/Heron").values()
    assert "Heron" not in json.dumps({**stone, "document_id": ""})
    status = cli.run("status", "--json").json
    assert {"source": source, "documents": 1, "by_status": {"indexed": 1}} in status["sources"]
    back = cli.run("index", path, "--public", "--source", source, "--json").json
    assert (back["new"], back["unchanged"]) == (1, 1)
    assert cli.run("ask", *question, "--json").json["citations"]


def test_changed_access(cli: CommandLine, shelf: Any, write: Write, source: str) -> None:
    """Out of reach at once, and nothing is read for it."""
    question = ("What do passengers of the Avocet need?", "--json")
    crew, guests = cli.under(RESIN_GROUPS="crew"), cli.under(RESIN_GROUPS="guests")
    cli.run("index", write("a.jsonl", boat("Avocet", access=["crew"])), "--source", source)
    assert "Avocet token" in crew.run("ask", *question).stdout
    assert "Avocet" not in guests.run("search", *question[1:], "token").stdout
    before = shelf.all("units", source=source)
    moved = write("a.jsonl", boat("Avocet", access=["guests"]))
    report = cli.run("index", moved, "--source", source, "--json").json
    assert report["rights_changed"] == 1
    assert report["read_passages"] == report["embedded"] == 0
    for command in ("ask", "retrieve", "search"):
        told = crew.run(command, *question).json
        told.pop("plan", None)  # it repeats the question's words
        assert "Avocet" not in json.dumps(told).replace(question[0], "")
        assert "Avocet token" in guests.run(command, *question).stdout
    assert shelf.all("units", source=source).keys() == before.keys()
    for family in EVIDENCE:
        assert {tuple(r["access"]) for r in shelf.all(family, source=source).values()} == {
            ("guests",)
        }


def test_private_is_for_nobody_but_an_admin(cli: CommandLine, write: Write, source: str) -> None:
    path = write("a.jsonl", boat("Dunlin", access=["all"]))
    cli.run("index", path, "--private", "--source", source)
    assert "Dunlin" not in cli.run("search", "ferry token", "--json", "--limit", "100").stdout
    cli.run("index", path, "--source", source)
    assert "Dunlin" in cli.run("search", "ferry token", "--json", "--limit", "100").stdout


# ---------------------------------------------------------------- folders, stdin, --prune


def folder(root: Path) -> Path:
    (root / "harbour" / "deep").mkdir(parents=True)
    (root / "harbour" / "note.txt").write_text("The lighthouse keeper is Odile.")
    (root / "harbour" / "deep" / "rules.md").write_text("# Rules\n\nDogs need a leash.\n")
    (root / "harbour" / "page.html").write_text(
        "<title>Prices</title><p>A berth costs 12 crowns.<script>var x = 1</script></p>"
    )
    (root / "harbour" / "more.jsonl").write_text('{"id": "own", "text": "The buoy is orange."}\n')
    (root / "harbour" / "photo.jpg").write_bytes(b"\xff\xd8")
    (root / "harbour" / ".hidden.txt").write_text("The hidden word is mulberry.")
    return root / "harbour"


def test_a_folder(cli: CommandLine, tmp_path: Path, source: str) -> None:
    outcome = cli.run("index", folder(tmp_path), "--public", "--source", source, "--json")
    assert outcome.json["new"] == 4
    assert outcome.json["skipped"] == {".jpg": 1}
    for question, document, title in (
        ("Who is the lighthouse keeper?", "harbour/note.txt", "note"),
        ("What do dogs need?", "harbour/deep/rules.md", "Rules"),
        ("What does a berth cost?", "harbour/page.html", "Prices"),
        ("Which colour is the buoy?", "own", ""),
    ):
        answer = cli.run("ask", question, "--source", source, "--json").json
        first = answer["citations"][0]
        assert (first["document_id"], first["title"]) == (document, title)
    told = cli.run("search", "word", "--source", source, "--limit", "100", "--json").stdout
    assert "mulberry" not in told
    assert "var x" not in told


def test_standard_input(cli: CommandLine, source: str) -> None:
    lines = "\n".join(json.dumps(boat(name)) for name in ("Teal", "Smew")) + "\n"
    report = cli.run("index", "-", "--public", "--source", source, "--json", stdin=lines.encode())
    assert report.json["new"] == 2
    assert "Smew token" in cli.run("ask", "What do passengers of the Smew need?").stdout
    empty = cli.run("index", "-", "--public", "--source", source, code=1)
    assert empty.stderr == "not taken: stdin: the file is empty\n"


def test_prune(cli: CommandLine, shelf: Any, tmp_path: Path, write: Write, source: str) -> None:
    harbour = folder(tmp_path)
    cli.run("index", write("b.jsonl", boat("Gannet")), "--public", "--source", f"{source}-other")
    cli.run("index", harbour, "--public", "--source", source)
    (harbour / "note.txt").unlink()
    (harbour / "deep" / "rules.md").write_bytes(b"\xff is not UTF-8")
    kept = cli.run("index", harbour, "--public", "--source", source, "--json", code=1).json
    assert kept["deleted"] == 0
    pruned = cli.run("index", harbour, "--public", "--source", source, "--prune", "--json", code=1)
    assert pruned.json["deleted"] == 1
    found = shelf.all("documents", source=source).values()
    assert {one["document_id"] for one in found if one["status"] != "deleted"} == {
        "harbour/deep/rules.md", "harbour/page.html", "own",
    }  # fmt: skip
    for family in EVIDENCE:
        assert shelf.count(family, source=source, document_id="harbour/note.txt") == 0
        assert shelf.count(family, source=f"{source}-other") > 0
    question = ("Who is the lighthouse keeper?", "--source", source, "--json")
    assert "Odile" not in cli.run("ask", *question).stdout


def test_prune_keeps_what_it_may_not_have_seen(cli: CommandLine, write: Write, source: str) -> None:
    """A line that cannot be read may be any document."""
    cli.run("index", write("a.jsonl", boat("Coot"), boat("Rail")), "--public", "--source", source)
    broken = write("a.jsonl", boat("Coot"), "{broken")
    outcome = cli.run("index", broken, "--public", "--source", source, "--prune", code=1)
    assert "nothing was pruned, since the listing is not complete" in outcome.stderr
    assert "Rail token" in cli.run("ask", "What do passengers of the Rail need?").stdout
