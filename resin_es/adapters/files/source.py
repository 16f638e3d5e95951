"""Files → a stream of documents. Memory holds one record and the keys seen, never a corpus."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from resin_es.adapters.files.formats import JSONL_SUFFIXES, PROSE_SUFFIXES, SUFFIXES, read_prose
from resin_es.adapters.files.records import Rights, document_from
from resin_es.errors import AccessError, DocumentTooLarge, InputError, RecordError
from resin_es.model import Document, document_key

STDIN = "-"
_LINE_OVERHEAD = 4
"""A JSON line may be this many times the document limit (escapes, metadata) before it is
passed over unread."""


class FileSource:
    """Streams documents of files, folders and standard input (``-``, JSONL).

    A record that cannot be taken is told to ``problem(where, reason)`` and passed over.
    ``complete`` turns false where something could not be listed or named, since a pruning run
    must not delete what it merely failed to see. ``seen`` holds the keys of all documents that
    are there, taken or not.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        source: str,
        rights: Rights,
        max_bytes: int,
        problem: Callable[[str, str], None],
        stdin: IO[bytes] | None = None,
    ) -> None:
        self._paths = list(paths)
        self._source = source
        self._rights = rights
        self._max_bytes = max_bytes
        self._problem = problem
        self._stdin = stdin
        self._yielded = False
        self._roots: set[str] = set()
        self._any_id = False
        self.seen: set[str] = set()
        self.complete = True
        self.skipped: Counter[str] = Counter()

    def check(self) -> None:
        """Raises InputError where a path does not exist or is of no known kind, before
        anything is read."""
        for name in self._paths:
            path = Path(name)
            if name == STDIN or path.is_dir():
                continue
            if not path.exists():
                raise InputError(f"{name} does not exist.", hint="Check the path.")
            if path.suffix.lower() not in SUFFIXES:
                raise InputError(
                    f"{name} is of no kind that can be read.",
                    hint=f"Known: {', '.join(sorted(SUFFIXES))}, folders, `-` for JSONL on stdin.",
                )

    def documents(self) -> Iterator[Document]:
        """Raises AccessError if not even the first document says who may read it, OSError never:
        an unreadable file is a problem of its own."""
        self.check()
        for name in self._paths:
            if name == STDIN:
                yield from self._lines(self._stdin or sys.stdin.buffer, "stdin")
            elif Path(name).is_dir():
                yield from self._folder(Path(name))
            else:
                self._roots.add(Path(name).name)
                yield from self._file(Path(name), Path(name).name)

    def covers(self, external_id: str) -> bool:
        """Whether a document of that id would have been seen here if it were still there: it
        lies in a folder or is a file that was given, or JSONL was read, whose ids are free."""
        if self._any_id or external_id in self._roots:
            return True
        folder, slash, _ = external_id.partition("/")
        return folder + slash in self._roots if slash else False

    # ------------------------------------------------------------ files

    def _folder(self, root: Path) -> Iterator[Document]:
        def unlisted(error: OSError) -> None:
            self._lose(str(error.filename), f"cannot be listed: {error.strerror}")

        inside = root.resolve()
        label = inside.name
        self._roots.add(f"{label}/")
        for folder, folders, names in os.walk(root, onerror=unlisted):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder, name)
                if name.startswith("."):
                    continue
                if path.suffix.lower() not in SUFFIXES:
                    self.skipped[path.suffix.lower() or name] += 1
                    continue
                if path.is_symlink() and not path.resolve().is_relative_to(inside):
                    # what lies outside was not given, and may be nobody's to publish
                    self.skipped["link out of the folder"] += 1
                    continue
                yield from self._file(path, f"{label}/{path.relative_to(root).as_posix()}")

    def _file(self, path: Path, external_id: str) -> Iterator[Document]:
        try:
            if path.suffix.lower() in JSONL_SUFFIXES:
                with path.open("rb") as stream:
                    yield from self._lines(stream, str(path))
            elif path.suffix.lower() in PROSE_SUFFIXES:
                yield from self._prose(path, external_id)
        except OSError as error:
            self._lose(str(path), f"cannot be read: {error.strerror}")

    def _prose(self, path: Path, external_id: str) -> Iterator[Document]:
        where = str(path)
        # the file is there, whatever is wrong with it: a pruning run must not delete it
        self.seen.add(document_key(self._source, external_id))
        size = path.stat().st_size
        if size > self._max_bytes:
            self._problem(
                where,
                f"{size:,} bytes, over the limit of {self._max_bytes:,} (RESIN_MAX_DOCUMENT_BYTES)",
            )
            return
        try:
            content = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._problem(where, f"not UTF-8 (byte {error.start})")
            return
        if not content.strip():
            self._problem(where, "the file is empty")
            return
        title, text = read_prose(path, content)
        self.seen.discard(document_key(self._source, external_id))
        record: dict[str, Any] = {"id": external_id, "title": title, "text": text}
        yield from self._take(record, where)

    # ------------------------------------------------------------ JSONL

    def _lines(self, stream: IO[bytes], name: str) -> Iterator[Document]:
        self._any_id = True
        limit = self._max_bytes * _LINE_OVERHEAD
        number = records = 0
        while line := stream.readline(limit):
            number += 1
            where = f"{name} line {number}"
            if len(line) >= limit and not line.endswith(b"\n"):
                while (rest := stream.readline(limit)) and not rest.endswith(b"\n"):
                    pass
                records += 1
                self._lose(where, f"longer than {limit:,} bytes")
                continue
            if line.strip():
                records += 1
                yield from self._line(line, where)
        if not records:
            self._lose(name, "the file is empty")

    def _line(self, line: bytes, where: str) -> Iterator[Document]:
        try:
            record = json.loads(line.decode("utf-8-sig"), parse_constant=_no_constant)
        except UnicodeDecodeError as error:
            self._lose(where, f"not UTF-8 (byte {error.start} of the line)")
        except (ValueError, RecursionError) as error:
            self._lose(where, f"not JSON: {error}")
        else:
            yield from self._take(record, where)

    def _take(self, record: Any, where: str) -> Iterator[Document]:
        try:
            document = document_from(
                record,
                source=self._source,
                rights=self._rights,
                where=where,
                max_bytes=self._max_bytes,
            )
        except RecordError as error:
            self._lose_record(record, where, f"{error.reason}. {error.hint}".strip())
            return
        except DocumentTooLarge as error:
            self._lose_record(record, where, error.message.removeprefix(f"{where}: "))
            return
        except AccessError as error:
            if not self._yielded:
                raise
            self._lose_record(record, where, error.message.removeprefix(f"{where}: "))
            return
        if document.key in self.seen:
            self._problem(
                where, f"duplicate id {document.external_id[:80]!r}: the first one was taken"
            )
            return
        self.seen.add(document.key)
        self._yielded = True
        yield document

    def _lose_record(self, record: Any, where: str, reason: str) -> None:
        """A record whose id is known is there, though not taken; one without is lost sight of."""
        known = record.get("id") if isinstance(record, dict) else None
        if isinstance(known, str | int) and str(known).strip():
            self.seen.add(document_key(self._source, str(known)))
            self._problem(where, reason)
        else:
            self._lose(where, reason)

    def _lose(self, where: str, reason: str) -> None:
        self.complete = False
        self._problem(where, reason)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
