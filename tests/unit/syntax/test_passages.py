from __future__ import annotations

import pytest

from resin_es.adapters.syntax.reader import SyntaxReader
from resin_es.model import EvidenceRole
from tests.unit.syntax.conftest import window_of


def test_an_entity_holds_a_passage_together_and_a_turn_ends_it(reader: SyntaxReader) -> None:
    window = window_of(
        "The Red Line is a metro line.",
        "The Red Line runs from Eastfield to the harbor.",
        "It costs $5 per trip.",
        "Many ferries leave from Pier 3.",
        "The ferries carry bicycles.",
    )
    drafts = reader.passages(window).drafts
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
    drafts = reader.passages(window).drafts
    assert [draft.first for draft in drafts] == [0, 2, 4]
    assert [draft.role for draft in drafts] == [
        EvidenceRole.BACKGROUND, EvidenceRole.METHOD, EvidenceRole.RESULT,
    ]  # fmt: skip


def test_passages_are_bounded(reader: SyntaxReader) -> None:
    window = window_of(*["The Red Line carries many people every day."] * 23)
    assert all(draft.last - draft.first < 5 for draft in reader.passages(window).drafts)


def test_an_empty_window_has_no_passages(reader: SyntaxReader) -> None:
    assert list(reader.passages(window_of()).drafts) == []


def test_a_sentence_that_leans_back_stays_with_what_it_leans_on(reader: SyntaxReader) -> None:
    window = window_of(
        "Wolves eat deer.",
        "Wolves live in packs.",
        "However, ferries leave from Pier 3.",
        "Several of these carry bicycles.",
    )
    assert [(one.first, one.last) for one in reader.passages(window).drafts] == [(0, 3)]


REPORT = (
    "Oak dieback is a major threat to forests.",
    "The cause of oak dieback remains unclear.",
    "This study aimed to assess oak dieback in dry plots.",
    "One hundred samples were collected from 12 plots.",
    "Leaves were dried and analysed using mass spectrometry.",
    "Soil moisture was measured every week.",
    "We found that oak dieback was significantly higher in dry plots.",
    "However, oak dieback did not differ between soils.",
    "Mortality reached 32% compared with 12% in wet plots.",
)


def test_the_steps_of_a_report_are_parted_and_named(reader: SyntaxReader) -> None:
    drafts = reader.passages(window_of(*REPORT, title="Oak dieback in dry plots")).drafts
    assert [(one.first, one.last, one.role.value) for one in drafts] == [
        (0, 1, "background"), (2, 5, "method"), (6, 8, "result"),
    ]  # fmt: skip
    assert {drafts[0].main_entity.lower(), drafts[2].main_entity.lower()} == {"oak dieback"}


@pytest.mark.parametrize(
    ("role", "texts"),
    [
        ("method", ("Samples were collected in spring.", "We used PCR for the leaves.")),
        ("result", ("The assay revealed 12 genes.", "Growth was significantly higher.")),
        ("cause", ("Drought induces dieback.", "Rain controls the growth of oaks.")),
        ("condition", ("If a train is late, riders wait.", "Riders must not stand.")),
        ("membership", ("The whale is a mammal.", "It belongs to the cetaceans.")),
        ("attribute", ("The bus costs $4.", "It has 40 seats.")),
        ("event", ("The bridge opened in March 2019.", "The fire happened in April 2020.")),
        ("relation", ("Anna met Ben.", "Ben visits Clara.")),
    ],
)  # fmt: skip
def test_roles_follow_their_cues(reader: SyntaxReader, role: str, texts: tuple[str, ...]) -> None:
    assert [one.role for one in reader.passages(window_of(*texts)).drafts] == [EvidenceRole(role)]


def test_quantities_and_samples_are_no_main_entity(reader: SyntaxReader) -> None:
    window = window_of(
        "Samples were taken from approximately 159 kinases.",
        "The samples showed that all kinases bind calcium.",
    )
    (draft,) = reader.passages(window).drafts
    assert draft.main_entity == "kinases"


def test_a_piece_of_a_joined_name_is_no_main_entity(reader: SyntaxReader) -> None:
    window = window_of("SIRT1\u2013LKB1\u2013AMPK signaling inhibits lipogenesis.")
    (draft,) = reader.passages(window).drafts
    assert draft.main_entity not in ("SIRT1", "LKB1", "AMPK")


def test_a_hyphenated_name_stays_whole_and_a_bare_noun_yields(reader: SyntaxReader) -> None:
    window = window_of(
        "Pre-harvest sprouting lowers yields.",
        "Breeders fight sprouting.",
        "Pre-harvest sprouting is common.",
    )
    (draft,) = reader.passages(window).drafts
    assert draft.main_entity == "Pre-harvest sprouting"


def test_the_bringer_of_news_is_no_main_entity(reader: SyntaxReader) -> None:
    window = window_of("Correlation analysis revealed that oak seedlings need light.",
                       "Flow cytometry showed that oak seedlings are small.")  # fmt: skip
    (draft,) = reader.passages(window).drafts
    assert draft.main_entity == "oak seedlings"


def test_a_long_name_keeps_what_its_adjective_rests_on(reader: SyntaxReader) -> None:
    window = window_of(
        "Through transcriptomic analysis, 6684 and 6616 differentially expressed genes were "
        "identified from the skin and muscle tissues, respectively.",
    )
    (draft,) = reader.passages(window).drafts
    assert draft.main_entity == "differentially expressed genes"
