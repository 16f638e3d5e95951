"""What an indexing run did: every document and every reject is counted and named."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class IndexReport:
    """Counts of one run. ``problems`` names records that were not taken, ``failures``
    documents that could not be read or written (where, reason); ``skipped`` counts files of a
    folder that are of no known kind, by ending; ``rejected_units`` counts units turned down, by
    reason; ``model_faults`` what a language model did wrong, by short name, whether it was put
    right (split, repaired) or ended in a failure; ``tokens`` and ``cost`` (US dollars) are what
    reading spent, outputs from the cache being free; ``batches`` tells of what was read ahead by
    batch; ``pruned`` holds the ids that a pruning run
    deleted.
    """

    documents: int = 0
    new: int = 0
    changed: int = 0
    rights_changed: int = 0
    unchanged: int = 0
    empty: int = 0
    partial: int = 0
    failed: int = 0
    busy: int = 0
    deleted: int = 0
    sentences: int = 0
    passages: int = 0
    units: int = 0
    read_documents: int = 0
    read_passages: int = 0
    read_sentences: int = 0
    embedded: int = 0
    embedded_from_cache: int = 0
    purged: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    rejected_units: Counter[str] = field(default_factory=Counter)
    model_faults: Counter[str] = field(default_factory=Counter)
    unread_languages: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    batches: dict[str, Any] = field(default_factory=dict)
    pruned: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether everything given was taken and read."""
        return not (self.problems or self.failures or self.busy)

    def to_dict(self) -> dict[str, Any]:
        """All counts, for ``--json``."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["rejected_units"] = dict(self.rejected_units)
        plain["model_faults"] = dict(self.model_faults)
        plain["unread_languages"] = dict(self.unread_languages)
        plain["skipped"] = dict(self.skipped)
        plain["problems"] = [{"where": w, "reason": r} for w, r in self.problems]
        plain["failures"] = [{"document": w, "reason": r} for w, r in self.failures]
        plain["seconds"] = round(self.seconds, 3)
        return plain
