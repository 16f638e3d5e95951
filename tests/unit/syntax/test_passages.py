from __future__ import annotations

from resin_es.adapters.syntax.reader import SyntaxReader
from resin_es.model import EvidenceRole
from tests.unit.syntax.conftest import window_of


def test_an_entity_holds_a_passage_together_and_a_turn_ends_it(reader: SyntaxReader) -> None:
    window = window_of(
        "The Red Line is a metro line.",
        "The Red Line runs from Eastfield to the harbor.",
        "It costs $5 per trip.",
        "However, ferries leave from Pier 3.",
        "The ferries carry bicycles.",
    )
    drafts = reader.passages(window)
    assert [(draft.first, draft.last) for draft in drafts] == [(0, 2), (3, 4)]
    assert drafts[0].main_entity == "Red Line"
    assert drafts[0].entity_type == "metro line"
    assert drafts[0].focus
    assert drafts[1].main_entity == "ferries"


def test_a_section_label_starts_a_passage_and_gives_its_role(reader: SyntaxReader) -> None:
    window = window_of(
        "Background: Oak growth depends on rain.",
        "Oak growth is poorly understood.",
        "Methods: Oak trees were measured in 12 plots.",
        "Plots were visited twice.",
        "Results: Oak trees grew less in dry plots.",
    )
    drafts = reader.passages(window)
    assert [draft.first for draft in drafts] == [0, 2, 4]
    assert [draft.role for draft in drafts] == [
        EvidenceRole.BACKGROUND, EvidenceRole.METHOD, EvidenceRole.RESULT,
    ]  # fmt: skip


def test_passages_are_bounded(reader: SyntaxReader) -> None:
    window = window_of(*["The Red Line carries many people every day."] * 23)
    assert all(draft.last - draft.first < 5 for draft in reader.passages(window))


def test_an_empty_window_has_no_passages(reader: SyntaxReader) -> None:
    assert list(reader.passages(window_of())) == []
