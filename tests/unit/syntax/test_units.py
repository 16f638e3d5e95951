"""Input sentence → the claims it must give: kinds, states, conditions, qualifiers."""

from __future__ import annotations

from typing import Any

import pytest

# (sentence, fields that one claim must have)
EXPECTED: list[tuple[str, dict[str, Any]]] = [
    ("The bus fare is $4.",
     {"kind": "entity-fact", "subject": "bus fare", "surface_predicate": "is", "object": "$4"}),
    ("The X200 pump is manufactured by Delta Works and weighs 14 kg.",
     {"kind": "relation", "subject": "X200 pump", "object": "Delta Works"}),
    ("The X200 pump is manufactured by Delta Works and weighs 14 kg.",
     {"kind": "entity-fact", "subject": "X200 pump", "surface_predicate": "weighs",
      "object": "14 kg"}),
    ("The Harbor Card costs $10 and is valid for one year.",
     {"kind": "entity-fact", "subject": "Harbor Card", "object": "valid",
      "scope": "for one year"}),
    ("Line 3 is closed on Sundays.",
     {"kind": "entity-fact", "subject": "Line 3", "object": "Sundays"}),
    ("Opening hours: Monday to Friday, 8 am to 6 pm.",
     {"kind": "entity-fact", "subject": "Opening hours",
      "object": "Monday to Friday, 8 am to 6 pm"}),
    ("The museum is open from 9 am to 5 pm except on Mondays.",
     {"kind": "entity-fact", "object": "open from 9 am to 5 pm", "scope": "except on Mondays"}),
    ("There was no significant difference in shoot weight between the two groups.",
     {"kind": "entity-fact", "subject": "no significant difference", "polarity": "negative",
      "object": "in shoot weight between the two groups"}),
    ("Every metro line accepts the Harbor Card.",
     {"kind": "type-property", "subject": "Every metro line", "object": "the Harbor Card"}),
    ("Night trains are cheap.",
     {"kind": "type-property", "subject": "Night trains", "object": "cheap"}),
    ("The Red Line is a metro line operated by Northway Transit.",
     {"kind": "entity-type", "subject": "Red Line",
      "object": "a metro line operated by Northway Transit"}),
    ("Vehicles such as trams, buses and ferries display the route number.",
     {"kind": "entity-type", "subject": "trams", "object": "vehicle"}),
    ("Ann Lee, a driver at the Oak depot, reported the fire on 3 May.",
     {"kind": "entity-type", "subject": "Ann Lee", "object": "a driver at the Oak depot"}),
    ("Route 7 connects Elm Street with the harbor.",
     {"kind": "relation", "subject": "Route 7", "surface_predicate": "connects",
      "object": "Elm Street with the harbor"}),
    ("Deciduous trees were associated with wet soils in Thailand.",
     {"kind": "relation", "surface_predicate": "were associated with"}),
    ("Growth hormone (GH) plays a central role in childhood growth.",
     {"kind": "relation", "subject": "Growth hormone", "aliases": ("GH",)}),
    # causal edges: whole states, in the right direction
    ("Heavy rain caused the Elm Street tunnel to close.",
     {"kind": "causal-edge", "source_state": "Heavy rain",
      "target_state": "the Elm Street tunnel to close"}),
    ("Increased drought severity reduced the growth of young trees.",
     {"kind": "causal-edge", "source_state": "Increased drought severity",
      "target_state": "reduced growth of young trees"}),
    ("Congestion increases ride time on Route 7.",
     {"kind": "causal-edge", "target_state": "increased ride time", "scope": "on Route 7"}),
    ("A power outage at Mill Station led to delays on the Blue Line.",
     {"kind": "causal-edge", "source_state": "power outage at Mill Station"}),
    ("Because the pump failed, the cellar flooded.",
     {"kind": "causal-edge", "source_state": "the pump failed",
      "target_state": "the cellar flooded"}),
    ("The tram was late due to a signal failure.",
     {"kind": "causal-edge", "source_state": "a signal failure",
      "target_state": "The tram was late"}),
    ("The delay was caused by a fallen tree.",
     {"kind": "causal-edge", "source_state": "a fallen tree", "target_state": "delay"}),
    ("The dam failed last week, leading to floods in the old town.",
     {"kind": "causal-edge", "target_state": "floods in the old town"}),
    # rules
    ("If the gate is closed, passengers should use the side entrance.",
     {"kind": "rule", "conditions": ("the gate is closed",), "modality": "recommended",
      "conclusion": "passengers should use the side entrance"}),
    ("Dogs are not allowed on trams unless they are carried in a bag.",
     {"kind": "rule", "conditions": ("unless they are carried in a bag",),
      "polarity": "negative"}),
    ("Children pay half price only if they carry a student card.",
     {"kind": "rule", "conditions": ("only if they carry a student card",)}),
    ("Customers receive a refund provided that they return the product within 30 days.",
     {"kind": "rule", "conditions": ("they return the product within 30 days",),
      "conclusion": "Customers receive a refund"}),
    ("When snow falls, the hill line stops running.",
     {"kind": "rule", "conditions": ("snow falls",)}),
    ("Without a permit, trucks cannot enter the old town.",
     {"kind": "rule", "conditions": ("Without a permit",), "polarity": "negative"}),
    # modality and polarity
    ("The new drug may reduce pain in adults.",
     {"kind": "causal-edge", "modality": "possible"}),
    ("The results suggest that the fungus attacks young roots.",
     {"subject": "fungus", "modality": "possible"}),
    ("We found that the fungus attacks young roots.",
     {"subject": "fungus", "modality": "asserted"}),
    ("Tickets must be validated before boarding.", {"modality": "required"}),
    ("Visitors should book a table in advance.", {"modality": "recommended"}),
    ("The ferry will be replaced by a bridge in 2027.", {"modality": "planned"}),
    ("The council plans to extend the Green Line to Eastfield.",
     {"modality": "planned", "subject": "council"}),
    ("A second bridge would shorten the trip.", {"modality": "hypothetical"}),
    ("Officials said that the tunnel would reopen on Friday.",
     {"modality": "reported", "subject": "tunnel"}),
    ("The store does not accept cash.",
     {"polarity": "negative", "surface_predicate": "does not accept"}),
    ("No parking is allowed on Main Street.", {"polarity": "negative"}),
    # subjects
    ("We measured the height of 30 oak trees in this study.",
     {"subject": "the authors", "surface_predicate": "measured"}),
    ("Results: The new valve leaked at high pressure.", {"subject": "new valve"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fields"), EXPECTED)
def test_claim(claims: Any, text: str, fields: dict[str, Any]) -> None:
    found = [claim.model_dump(mode="json") for claim in claims(text)]
    wanted = {key: list(value) if isinstance(value, tuple) else value
              for key, value in fields.items()}  # fmt: skip
    assert any(wanted.items() <= claim.items() for claim in found), found


def test_a_pronoun_takes_the_subject_before_it(claims: Any) -> None:
    found = claims("The Red Line opened in 1974.", "It serves 22 stations.")
    about = [claim for claim in found if claim.object == "22 stations"]
    assert [claim.subject for claim in about] == ["Red Line"]
    assert about[0].confidence < 0.7


def test_a_pronoun_of_another_number_is_left_alone(claims: Any) -> None:
    found = claims("The Red Line opened in 1974.", "They serve 22 stations.")
    assert not any(claim.object == "22 stations" for claim in found)


def test_we_is_the_company_where_nothing_is_studied(claims: Any) -> None:
    found = claims("We deliver within two days.", title="Harbor Coffee")
    assert [claim.subject for claim in found] == ["Harbor Coffee"]


@pytest.mark.parametrize(
    "text",
    [
        "This is an open access article under the Creative Commons licence.",
        "Keywords: oak; drought; growth.",
        "12 34 (5.6) 78",
        "What is the fare?",
        "Whether",
        "",
    ],
)
def test_nothing_is_claimed(claims: Any, text: str) -> None:
    assert claims(text) == []


def test_an_aside_stays_in_the_quote_and_out_of_the_fields(drafts: Any) -> None:
    text = "The <i>Candida</i> strain (n = 12) tolerated the drug (Table 1)."
    (draft,) = drafts(text)
    assert draft.claim.subject == "Candida strain"
    assert draft.claim.object == "the drug"
    assert draft.quote in text
    assert "(n = 12)" in draft.quote
