"""What stands in the end, against what should: pure, so that it can be shown to find what it is
there to find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from resin_es.model import DocumentStatus, RegistryEntry
from tests.chaos.asking import versions

Records = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Records by family and id."""

FINISHED = (DocumentStatus.INDEXED, DocumentStatus.EMPTY)
SAMPLES = 5


@dataclass
class Figures:
    """All but ``documents`` and ``records`` are to be 0. ``samples`` names some of each."""

    documents: int = 0
    records: int = 0
    lost: int = 0
    duplicated: int = 0
    orphaned: int = 0
    stuck: int = 0
    mixed_versions: int = 0
    different: int = 0
    left_in_queue: int = 0
    wrong_answers: int = 0
    failed_answers: int = 0
    samples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def wrong(self) -> dict[str, int]:
        """What is not 0 and should be."""
        counts = asdict(self)
        for name in ("documents", "records", "samples"):
            del counts[name]
        return {name: count for name, count in counts.items() if count}

    def take(self, name: str, found: Iterable[str]) -> None:
        """Count what was found under ``name``."""
        told = sorted(found)
        setattr(self, name, getattr(self, name) + len(told))
        if told:
            self.samples[name] = [*self.samples.get(name, ()), *told][:SAMPLES]


def compared(
    entries: Sequence[RegistryEntry],
    records: Records,
    wanted: Sequence[RegistryEntry],
    fresh: Records,
) -> Figures:
    """``wanted`` and ``fresh`` are registry and records of an index that was built at one go
    from the same documents."""
    figures = Figures(documents=len(wanted), records=sum(len(found) for found in fresh.values()))
    alive = [one for one in entries if one.status is not DocumentStatus.DELETED]
    _documents(figures, alive, entries, wanted)
    _records(figures, {one.key: one for one in alive}, records, fresh)
    return figures


def _documents(
    figures: Figures,
    alive: Sequence[RegistryEntry],
    entries: Sequence[RegistryEntry],
    wanted: Sequence[RegistryEntry],
) -> None:
    standing = {one.key: one for one in alive}
    expected = {one.key: one for one in wanted}
    figures.take("lost", (one.external_id for one in wanted if _lost(standing.get(one.key), one)))
    twice = Counter(one.external_id for one in alive)
    figures.take("duplicated", (name for name, times in twice.items() if times > 1))
    figures.take("orphaned", (one.external_id for one in alive if one.key not in expected))
    figures.take(
        "stuck",
        (
            f"{one.external_id} {one.status.value} {one.error.message if one.error else ''}"
            for one in entries
            if _stuck(one)
        ),
    )


def _lost(standing: RegistryEntry | None, wanted: RegistryEntry) -> bool:
    """Not there, or not as it was last written."""
    if standing is None:
        return True
    same = ("committed_version", "rights_hash", "access", "title")
    return any(getattr(standing, name) != getattr(wanted, name) for name in same)


def _stuck(entry: RegistryEntry) -> bool:
    if entry.status is DocumentStatus.DELETED:
        return not entry.settled
    return entry.status not in FINISHED or not entry.settled or entry.lease is not None


def _records(
    figures: Figures, alive: Mapping[str, RegistryEntry], records: Records, fresh: Records
) -> None:
    seen: dict[str, set[int]] = {}
    for family, found in records.items():
        expected = fresh[family]
        contents = Counter(_content(one) for one in expected.values())
        for record_id, record in found.items():
            where = f"{family} {record['document_id']} {record_id}"
            for _, version in versions(_said(record)):
                seen.setdefault(record["document_key"], set()).add(version)
            if record_id not in expected:
                content = _content(record)
                name = "duplicated" if contents[content] else "orphaned"
                figures.take(name, [where])
            elif record != expected[record_id]:
                figures.take("different", [f"{where}: {_differing(record, expected[record_id])}"])
        figures.take(
            "lost",
            (f"{family} {one['document_id']} {i}" for i, one in expected.items() if i not in found),
        )
    figures.take("mixed_versions", (key for key, held in seen.items() if len(held) > 1))
    ownerless = {
        str(one["document_key"]) for found in records.values() for one in found.values()
    } - set(alive)
    figures.take("orphaned", (f"records of {key}" for key in ownerless))


def _said(record: Mapping[str, Any]) -> str:
    return str(record.get("statement") or record.get("text") or "")


def _content(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record["document_key"]), _said(record)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    names = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    return ", ".join(f"{name}: {one.get(name)!r} is not {other.get(name)!r}" for name in names)[
        :300
    ]
