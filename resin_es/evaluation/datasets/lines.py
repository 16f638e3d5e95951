"""Reading JSONL and JSON files so that every mistake is named with its file and line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resin_es.errors import InputError, RecordError

ALIKE = 0.75
"""From this likeness on (``difflib``'s ratio) a field's name is taken for a slip of another, as
for records to index."""


@dataclass(frozen=True)
class Row:
    """One JSON object and where it stood. Its accessors raise RecordError, naming the place."""

    fields: Mapping[str, Any]
    where: str

    def error(self, message: str, *, hint: str = "") -> RecordError:
        """A RecordError about this row, to be raised."""
        return RecordError(message, where=self.where, hint=hint)

    def need(self, *names: str) -> None:
        """Raises RecordError, naming all that is missing at once."""
        missing = [name for name in names if name not in self.fields]
        if missing:
            raise self.error(f"lacks {', '.join(missing)}.")

    def refuse_slips(self, known: Collection[str]) -> None:
        """Raises RecordError where a field that is none of ``known`` is spelt almost like one of
        them that the row lacks: what it says would be lost without a word. Other fields are
        somebody's own and may stay."""
        lacking = [name for name in known if self.fields.get(name) is None]
        for name in self.fields:
            near = difflib.get_close_matches(name.casefold(), lacking, n=1, cutoff=ALIKE)
            if name not in known and near:
                raise self.error(f"unknown field {name!r}.", hint=f"Did you mean {near[0]!r}?")

    def text(self, name: str, default: str | None = None) -> str:
        """A string; ``default`` where the field is missing or null."""
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            raise self.error(f"lacks {name}.")
        if not isinstance(value, str):
            raise self.error(f"{name} is no string.")
        return value

    def key(self, name: str) -> str:
        """An id: a string with something in it, or a whole number."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{name} is missing or empty." if not value else f"{name} is no id.")
        return value

    def number(self, name: str) -> int:
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"{name} is no whole number.")
        return value

    def items(self, name: str) -> Sequence[Any]:
        """A list; empty where the field is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.error(f"{name} is no list.")
        return value

    def strings(self, name: str) -> tuple[str, ...]:
        """A list of strings; empty where the field is missing or null."""
        values = self.items(name)
        if not all(isinstance(value, str) for value in values):
            raise self.error(f"{name} is no list of strings.")
        return tuple(values)

    def rows(self, name: str) -> tuple[Row, ...]:
        """A list of objects; empty where the field is missing or null."""
        return tuple(
            as_row(value, f"{self.where}, {name}[{number}]")
            for number, value in enumerate(self.items(name))
        )


def as_row(value: Any, where: str) -> Row:
    """Raises RecordError where ``value`` is no JSON object."""
    if not isinstance(value, dict):
        raise RecordError("is not a JSON object.", where=where)
    return Row(value, where)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file with their numbers from 1, blank ones left out. Raises InputError."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8.") from error


def read_jsonl(path: Path, *required: str) -> Iterator[Row]:
    """The objects of a JSONL file. Raises RecordError (not JSON, no object, lacks one of
    ``required``), InputError (the file cannot be read)."""
    for number, line in read_lines(path):
        where = f"{path}, line {number}"
        try:
            value = json.loads(line)
        except ValueError as error:
            raise RecordError(f"is not JSON ({error}).", where=where) from error
        row = as_row(value, where)
        row.need(*required)
        yield row


def read_json(path: Path) -> Any:
    """A file that is one JSON value. Raises InputError, RecordError."""
    value, more = read_first_json(path)
    if more:
        raise RecordError("is not JSON (more follows its first value).", where=str(path))
    return value


def read_first_json(path: Path) -> tuple[Any, bool]:
    """The first JSON value of a file, and whether more follows it (the file is JSONL).

    Raises InputError, RecordError.
    """
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8.") from error
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError as error:
        raise RecordError(f"is not JSON ({error}).", where=str(path)) from error
    return value, end < len(text)


def files_in(path: Path, *patterns: str, what: str) -> tuple[Path, ...]:
    """``path`` itself where it is a file, else its files that match a pattern, by name.

    Raises InputError where there are none; ``what`` says what was looked for.
    """
    if path.is_file():
        return (path,)
    found = sorted({file for pattern in patterns for file in path.glob(pattern)})
    if not found:
        raise InputError(
            f"{path} holds no {what}.",
            hint=f"Name a folder with {' or '.join(patterns)}, or one such file.",
        )
    return tuple(found)
