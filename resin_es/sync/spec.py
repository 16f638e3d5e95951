"""What a team says about its index, against what the index really has. Pure.

Mistakes are found when a source is added, all at once, each with the names that come nearest;
later, in the background, nobody would see them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from pydantic import ValidationError

from resin_es.errors import InputError
from resin_es.index.names import Names
from resin_es.model.source import WHOLE_ID, SourceSpec
from resin_es.ports.sync import FieldInfo

TEXT = frozenset({"text", "match_only_text", "search_as_you_type", "semantic_text"})
WORDS = frozenset({"keyword", "wildcard"})
WHOLE = frozenset({"long", "integer", "short", "byte", "unsigned_long"})
DATES = frozenset({"date", "date_nanos"})
OBJECTS = frozenset({"object", "nested", "flattened"})

MIXED = " or "
"""Between the types of a field that has several, in the indices of one pattern."""


def check_spec(
    spec: SourceSpec,
    fields: Mapping[str, FieldInfo],
    names: Names,
    indices: Sequence[str] = (),
) -> None:
    """Raises InputError with every mistake in one message.

    ``fields`` are those of the real mapping, ``indices`` the concrete ones behind the spec's
    name. ``names`` are ours: what resin-es wrote is no source.
    """
    told = [*_own(spec, names, indices), *_problems(spec, fields)]
    if told:
        raise InputError(
            f"source {spec.name!r} does not fit index {spec.index!r}: {'; '.join(told)}.",
            hint="Nothing was kept. Mend what is named, and add it again.",
        )


def drifted(spec: SourceSpec, fields: Mapping[str, FieldInfo]) -> list[str]:
    """What a source lacks by now, so that a sync would take everything for unchanged, or for
    empty. A mapping that is written anew, an alias that leads elsewhere: nobody tells us. Fields
    that only some records have are not among it, nor groups, without which nobody may read."""
    check = _Checker(fields)
    texts = [list(check("text_fields", name, None, objects=True)) for name in spec.text_fields]
    told = list(check("updated_field", spec.updated_field, DATES, single=True))
    return told + ([one for each in texts for one in each] if all(texts) else [])


def near(name: str, known: Iterable[str], count: int = 3) -> str:
    """``(did you mean …?)`` with the nearest names, or nothing. The last part of a path counts
    too: ``title`` is near ``meta.title``."""
    names = sorted(known)
    last = name.rpartition(".")[2]
    same_end = [one for one in names if one != name and one.rpartition(".")[2] == last]
    close = difflib.get_close_matches(name, names, n=count)
    found = list(dict.fromkeys([*close, *same_end]))[:count]
    return f" (did you mean {' or '.join(map(repr, found))}?)" if found else ""


def own_indices(index: str, names: Names) -> list[str]:
    """Indices of ours that an index expression would read, now or later."""
    parts = [part.strip() for part in index.split(",")]
    ours = [*names.aliases(), *(names.concrete(family, 1) for family in _families(names))]
    wanted = [part for part in parts if part and not part.startswith("-")]
    return sorted(
        {
            *(part for part in wanted if names.family(part)),
            *(one for one in ours for part in wanted if fnmatchcase(one, part)),
        }
    )


def spec_from(given: Mapping[str, Any], where: str = "the source") -> SourceSpec:
    """A spec from plain values (a YAML file's, say).

    Raises InputError naming every field that is wrong, with the nearest name of an unknown one.
    """
    try:
        return SourceSpec.model_validate(
            {k: [v] if k in _LISTS and isinstance(v, str) else v for k, v in given.items()}
        )
    except ValidationError as error:
        lines = [_explained(one) for one in error.errors()]
        raise InputError(
            f"{where}: {'; '.join(lines)}.",
            hint=f"The fields: {', '.join(SourceSpec.model_fields)}.",
        ) from error


_LISTS = ("text_fields", "metadata_fields")


def _explained(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"there is no field {place!r}{near(place, SourceSpec.model_fields)}"
    told = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {told}" if place else told


def _families(names: Names) -> list[str]:
    return [alias.removeprefix(f"{names.prefix}-") for alias in names.aliases()]


def _own(spec: SourceSpec, names: Names, indices: Sequence[str]) -> Iterator[str]:
    behind = {one for one in indices if names.family(one)}
    ours = sorted(behind | set(own_indices(spec.index, names)))
    if ours:
        yield f"it would read what resin-es itself wrote ({', '.join(ours[:3])})"


def _problems(spec: SourceSpec, fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    check = _Checker(fields)
    if spec.id_field != WHOLE_ID:
        yield from check("id_field", spec.id_field, WORDS | WHOLE, single=True)
    yield from check("title_field", spec.title_field, None)
    for field in spec.text_fields:
        yield from check("text_fields", field, TEXT | WORDS)
    yield from check("updated_field", spec.updated_field, DATES, single=True)
    yield from check("access_field", spec.access_field, TEXT | WORDS | WHOLE)
    for field in spec.metadata_fields:
        yield from check("metadata_fields", field, None, objects=True)
    yield from check("url_field", spec.url_field, TEXT | WORDS)


class _Checker:
    """One field after another against the mapping."""

    def __init__(self, fields: Mapping[str, FieldInfo]) -> None:
        self._fields = fields

    def __call__(
        self,
        option: str,
        name: str,
        types: frozenset[str] | None,
        *,
        objects: bool = False,
        single: bool = False,
    ) -> Iterator[str]:
        """``types``: those that will do, None for any value. ``single``: it is filtered on, so
        it may not stand in a nested object."""
        if not name:
            return
        info = self._fields.get(name)
        if info is None:
            if not self._inside_flattened(name):
                yield f"{option}: there is no field {name!r}{near(name, self._fields)}"
            elif single:
                yield f"{option}: {name!r} is a key of a flattened field, which cannot serve here"
            return
        found = info.type.split(MIXED)
        if not objects and any(one in OBJECTS for one in found):
            inner = [one for one in self._fields if one.startswith(f"{name}.")]
            told = f"; its fields: {', '.join(sorted(inner)[:5])}" if inner else ""
            yield f"{option}: {name!r} is an object ({info.type}), not a value{told}"
        elif types is not None and not set(found) <= types:
            wanted = " or ".join(sorted(types))
            yield f"{option}: {name!r} is {info.type}, not {wanted}{self._better(types)}"
        elif single and info.nested:
            yield f"{option}: {name!r} stands in a nested object, where it cannot be filtered on"

    def _inside_flattened(self, name: str) -> bool:
        parts = name.split(".")
        above = (self._fields.get(".".join(parts[:end])) for end in range(1, len(parts)))
        return any(info is not None and info.type == "flattened" for info in above)

    def _better(self, types: frozenset[str]) -> str:
        fit: Sequence[str] = sorted(
            name for name, info in self._fields.items() if info.type in types and not info.nested
        )
        return f" (such are: {', '.join(fit[:5])})" if fit else ""
