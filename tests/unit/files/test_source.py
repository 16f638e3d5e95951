"""Streams of documents from files: what is taken, what is named as a problem."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from resin_es.adapters.files import FileSource, Rights
from resin_es.errors import AccessError, InputError
from resin_es.model import Document, document_key


class Reader:
    """A source and what it told."""

    def __init__(self, *paths: object, rights: Rights = Rights.PUBLIC, **options: Any) -> None:
        self.problems: list[tuple[str, str]] = []
        self.source = FileSource(
            [str(path) for path in paths],
            source="s",
            rights=rights,
            max_bytes=options.pop("max_bytes", 1000),
            problem=lambda where, reason: self.problems.append((where, reason)),
            **options,
        )

    def all(self) -> list[Document]:
        return list(self.source.documents())


def jsonl(path: Path, *records: object) -> Path:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_broken_line_is_named_and_the_others_go_in(tmp_path: Path) -> None:
    records: list[object] = [{"id": str(n), "text": f"Text {n}."} for n in range(1, 11)]
    records[2] = '{"id": "3", "text": '
    reader = Reader(jsonl(tmp_path / "a.jsonl", *records))
    assert [document.external_id for document in reader.all()] == [*"12456789", "10"]
    [(where, reason)] = reader.problems
    assert where.endswith("a.jsonl line 3")
    assert reason.startswith("not JSON")
    assert not reader.source.complete


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.md", "a.html"])
def test_an_empty_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b" \n")
    reader = Reader(tmp_path / name)
    assert reader.all() == []
    [(_, reason)] = reader.problems
    assert reason == "the file is empty"


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_not_utf8_is_named_with_its_byte(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"id": "1", "text": "caf\xe9"}')
    reader = Reader(tmp_path / name)
    assert reader.all() == []
    [(_, reason)] = reader.problems
    assert reason.startswith("not UTF-8 (byte 24")


def test_duplicate_ids_of_one_run(tmp_path: Path) -> None:
    reader = Reader(jsonl(tmp_path / "a.jsonl", {"id": "1", "text": "a"}, {"id": 1, "text": "b"}))
    assert [document.text for document in reader.all()] == ["a"]
    assert "duplicate id '1'" in reader.problems[0][1]
    assert reader.source.complete


def test_one_document_over_the_limit(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("x" * 1001)
    path = jsonl(
        tmp_path / "a.jsonl",
        {"id": "big", "text": "x" * 1001},
        {"id": "line", "text": "x" * 5000},
        {"id": "ok", "text": "x"},
    )
    reader = Reader(path, tmp_path / "b.txt")
    assert [document.external_id for document in reader.all()] == ["ok"]
    assert len(reader.problems) == 3
    assert all("limit" in reason or "longer" in reason for _, reason in reader.problems)
    assert document_key("s", "big") in reader.source.seen
    assert not reader.source.complete, "the id of the longest line is not known"


def test_folders_files_and_ids(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.md").write_text("# The Title\n\nBody text.")
    (root / "b.html").write_text(
        "<html><head><title>Page</title><style>p{}</style></head>"
        "<body><p>One &amp; two.</p><script>no()</script><p>Three.</p></body></html>"
    )
    (root / "c.txt").write_text("\ufeffPlain text.")
    (root / "d.pdf").write_bytes(b"%PDF")
    (root / ".hidden.txt").write_text("no")
    reader = Reader(root)
    found = {document.external_id: document for document in reader.all()}
    assert set(found) == {"docs/sub/a.md", "docs/b.html", "docs/c.txt"}
    assert found["docs/sub/a.md"].title == "The Title"
    assert found["docs/b.html"].title == "Page"
    assert found["docs/b.html"].text == "One & two.\n\nThree."
    assert found["docs/c.txt"].text == "Plain text."
    assert reader.source.skipped == {".pdf": 1}
    assert reader.source.complete


def test_standard_input(tmp_path: Path) -> None:
    stream = io.BytesIO(b'{"id": "1", "text": "Hello."}\n')
    assert [d.text for d in Reader("-", stdin=stream).all()] == ["Hello."]


@pytest.mark.parametrize(("name", "words"), [("no.jsonl", "does not exist"), ("a.pdf", "no kind")])
def test_a_wrong_path_is_refused_before_anything_is_read(
    tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    good = jsonl(tmp_path / "a.jsonl", {"id": "1", "text": "a"})
    with pytest.raises(InputError, match=words):
        Reader(good, tmp_path / name).all()


def test_rights_missing_at_once_refuse_the_run_and_later_the_record(tmp_path: Path) -> None:
    bare, own = {"id": "1", "text": "a"}, {"id": "2", "text": "b", "access": ["hr"]}
    with pytest.raises(AccessError):
        Reader(jsonl(tmp_path / "a.jsonl", bare, own), rights=Rights.RECORDS).all()
    reader = Reader(jsonl(tmp_path / "b.jsonl", own, bare), rights=Rights.RECORDS)
    assert [document.external_id for document in reader.all()] == ["2"]
    assert "nothing says who may read" in reader.problems[0][1]


def test_a_stream_is_never_held_as_a_whole(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", *({"id": str(n), "text": "x"} for n in range(1000)))
    source = Reader(path).source
    stream = source.documents()
    assert next(stream).external_id == "0"
    assert len(source.seen) == 1


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("Secret.")
    (root / "a.txt").write_text("Open.")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "in.txt").symlink_to(root / "a.txt")
    reader = Reader(root)
    assert {document.external_id for document in reader.all()} == {"docs/a.txt", "docs/in.txt"}
    assert reader.source.skipped == {"link out of the folder": 1}


def test_what_a_listing_covers(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.txt").write_text("Open.")
    (tmp_path / "b.txt").write_text("Other.")
    reader = Reader(root, tmp_path / "b.txt")
    reader.all()
    ids = ("docs/gone.txt", "b.txt", "minutes/board.txt", "docs", "c.txt")
    assert [one for one in ids if reader.source.covers(one)] == ["docs/gone.txt", "b.txt"]
    jsonl(root / "r.jsonl", {"id": "1", "text": "x"})
    reader = Reader(root)
    reader.all()
    assert all(reader.source.covers(one) for one in ids), "ids of JSONL are free"
