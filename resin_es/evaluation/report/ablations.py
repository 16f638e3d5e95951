"""RESIN's variants beside the same variants in the paper [4.5, figure 2 and table 5]. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from resin_es.evaluation.report.compared import HERO
from resin_es.evaluation.report.values import Ablation, RowReport
from resin_es.evaluation.systems.published import PublishedAblation, published_ablations

STUDIES = {
    "k": "Passages kept per hop (figure 2a)",
    "kind": "Kinds of units (figure 2b)",
    "decomposition": "Splitting the question into hops (table 5)",
    "other": "Other parts (not in the paper)",
}

_SYSTEMS = {
    ("decomposition", "full"): HERO,
    ("decomposition", "none"): "one-hop",
}
_WORDS = {
    ("kind", "all"): "all six kinds",
    ("decomposition", "full"): "planned hops",
    ("decomposition", "none"): "the question as one hop",
}


def ablations(rows: Iterable[RowReport]) -> tuple[Ablation, ...]:
    """The paper's variants in its order, then those that it has not; only studies of which a
    variant was run."""
    held = {row.system: row for row in rows if not row.skipped}
    lines = [_line(one, held) for one in published_ablations()]
    told = {line.system for line in lines}
    lines += [
        Ablation(
            study=_study(row.system),
            variant=row.label,
            system=row.system,
            ours=row.gold_recall,
            against_resin=row.against_resin,
        )
        for row in held.values()
        if row.group == "ablation" and row.system not in told
    ]
    run = {line.study for line in lines if line.ours and line.system != HERO}
    order = list(STUDIES)
    kept = (line for line in lines if line.study in run)
    return tuple(sorted(kept, key=lambda line: order.index(line.study)))


def _line(paper: PublishedAblation, held: dict[str, RowReport]) -> Ablation:
    key = (paper.study, paper.variant)
    system = _SYSTEMS.get(key, f"{paper.study}={paper.variant}")
    words = f"k = {paper.variant}" if paper.study == "k" else f"only {paper.variant}"
    row = held.get(system)
    return Ablation(
        study=paper.study,
        variant=_WORDS.get(key, words),
        system=system,
        ours=row.gold_recall if row else {},
        against_resin=row.against_resin if row else {},
        paper_context_recall=paper.context_recall,
        paper_answer_relevancy=paper.answer_relevancy,
        paper_source=paper.source,
    )


def _study(system: str) -> str:
    """``one-hop-matched`` stands with ``one-hop``."""
    return "decomposition" if system.startswith("one-hop") else "other"


def k_of(system: str) -> int | None:
    """``k=5`` → 5; None for a system that is no variant of k."""
    name, _, value = system.partition("=")
    return int(value) if name == "k" and value.isdecimal() else None


def kind_of(system: str) -> str:
    """``kind=rule`` → ``rule``; empty for a system that is no single kind."""
    name, _, value = system.partition("=")
    return value if name == "kind" else ""
