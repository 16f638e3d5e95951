"""One example for each cause of a wrong unit that the reader mends."""

from __future__ import annotations

from typing import Any

import pytest

# (sentence, fields that one claim must have)
MENDED: list[tuple[str, dict[str, Any]]] = [
    # a letter before a hyphen is no article; the last member of a list stays
    ("A-type engines reduced fuel use.", {"subject": "A-type engines"}),
    ("High sales of K1, K2, K3, K4, K5, K6, and K7 correlate with low prices.",
     {"subject": "High sales of K1, K2, K3, K4, K5, K6, and K7"}),
    ("The most common trees were the Oriental Plane (Platanus orientalis), Silver Birch "
     "(Betula pendula), and Red Maple (Acer rubrum).",
     {"object": "the Oriental Plane, Silver Birch, and Red Maple"}),
    ("The survey revealed the presence of oaks, maples, birches, poplars, and pines, with a "
     "density of 9 trees per hectare.",
     {"object": "the presence of oaks, maples, birches, poplars, and pines, with a density of 9 "
                "trees per hectare"}),
    ("Popular titles included “Food for cats”, “Maps in trains”, and “Goods in ports”.",
     {"object": "“Food for cats”, “Maps in trains”, and “Goods in ports”"}),
    # labels in tags, in capitals, starred
    ("<bold>Conclusions</bold> The new valve leaked at high pressure.", {"subject": "new valve"}),
    ("NEW &amp; NOTEWORTHY Old valves leak at high pressure.", {"subject": "Old valves"}),
    ("<p>Abstract* Background The new valve leaked at high pressure.", {"subject": "new valve"}),
    # which verb is the main one
    ("Most farms operated under old rules (60 %), while 10 % practiced crop rotation.",
     {"subject": "Most farms", "object": "old rules"}),
    ("Mean weight determined in milk samples from farms was found to be lower.",
     {"subject": "Mean weight determined in milk samples from farms", "object": "lower"}),
    ("Longitudinal decreases in plasma iron associated with slower growth.",
     {"subject": "Longitudinal decreases in plasma iron", "object": "slower growth"}),
    ("These maps provide a framework for understanding traffic and inform plans for new roads.",
     {"surface_predicate": "inform"}),
    ("The team employed a model to screen old bridges and designed four new bridges.",
     {"subject": "team", "surface_predicate": "designed", "object": "four new bridges"}),
    ("This project aimed to assess the price of eggs from three farms and a new, rarely seen "
     "one.", {"subject": "This project", "surface_predicate": "aimed to assess"}),
    ("In the northern city group, buses and changes in the timetable were observed.",
     {"subject": "buses and changes in the timetable"}),
    # modality
    ("This delay can result in higher costs.", {"modality": "possible"}),
    ("The objective was therefore to assess the price of eggs.", {"modality": "planned"}),
    ("The aim of this study was to assess the price of eggs.", {"modality": "planned"}),
    ("Loss may not be only associated with age, but also with food.", {"polarity": "positive"}),
    # what the finding depends on
    ("The highest yield was obtained when the field was watered at night.",
     {"scope": "when the field was watered at night"}),
    # causes
    ("The samples were compared after the storm, resulting in 1,505 clean rooms.",
     {"target_state": "1,505 clean rooms"}),
    ("Travel is slow due to fog.", {"kind": "causal-edge", "target_state": "Travel is slow"}),
    ("The virus was amplified by polymerase chain reaction.", {"kind": "relation"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fields"), MENDED)
def test_claim(claims: Any, text: str, fields: dict[str, Any]) -> None:
    found = [claim.model_dump(mode="json") for claim in claims(text)]
    assert any(fields.items() <= claim.items() for claim in found), found


def test_a_sentence_that_starts_in_lower_case_is_another_one(claims: Any) -> None:
    found = claims("We tested a new sampler in the harbor. eDNA samples were collected at sea.")
    assert {claim.subject for claim in found} == {"the authors", "eDNA samples"}
    assert not any("eDNA" in claim.object for claim in found)


def test_half_a_name_is_no_member(claims: Any) -> None:
    found = claims("The disease changes processes such as glycolysis, lipid and sugar metabolism.")
    assert "lipid" not in {claim.subject for claim in found}


def test_a_noun_before_a_preposition_is_no_verb(claims: Any) -> None:
    found = claims("Gaps remain in planning, motivating new, combination approaches to transport.")
    assert not any("approaches" in claim.surface_predicate for claim in found)


def test_whose_its_is_stays_out(claims: Any) -> None:
    found = claims("This study aims to design the new pump and assess its use in mines.")
    assert not any(claim.object.startswith("its") for claim in found)


def test_a_participle_behind_a_comma_is_no_second_verb(claims: Any) -> None:
    found = claims(
        "The type of the strains was then confirmed by mass spectrometry, followed by a count."
    )
    assert not any("followed" in claim.surface_predicate for claim in found)


def test_an_it_that_stands_for_nothing_has_no_antecedent(claims: Any) -> None:
    found = claims("The Red Line opened in 1974.", "It appears that trains ran twice a day.")
    assert not any(claim.surface_predicate == "appears" for claim in found)
