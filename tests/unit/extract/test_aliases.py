"""Aliases that a text declares itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.aliases import aliases_of, definitions, without_definition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Harbour Line (HL) costs.", [("Harbour Line", "HL")]),
        ("HL (Harbour Line) runs.", [("Harbour Line", "HL")]),
        ("polymerase chain reaction (PCR; n=3)", [("polymerase chain reaction", "PCR")]),
        ("The World Health Organization (hereafter WHO)", [("World Health Organization", "WHO")]),
        ('the Night Bus Network ("NBN")', [("Night Bus Network", "NBN")]),
        ("single nucleotide polymorphisms (SNPs)", [("single nucleotide polymorphisms", "SNPs")]),
        ("Vila Marenta (also known as Lower Town)", [("Vila Marenta", "Lower Town")]),
        ("one (see Fig. 2) of (n = 33) the (p < 0.05) groups (ABC)", []),
        ("somatic and telomerase positive stem cells (aTPSCs)", []),
        ("the tram (2019)", []),
        ("()", []),
    ],
)
def test_definitions(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(definitions(text)) == expected


def test_aliases_go_both_ways_and_into_longer_names() -> None:
    text = "The Harbour Line (HL) costs."
    assert aliases_of("Harbour Line", text) == ("HL",)
    assert aliases_of("HL stops", text) == ("Harbour Line",)
    assert aliases_of("HLX", text) == ()
    assert aliases_of("Harbour Line (HL)", text) == ()
    assert without_definition("The Harbour Line (HL)", text) == "The Harbour Line"


@given(st.text(st.sampled_from('ab AB(),.;[]"é\n-İ1'), max_size=60))
def test_any_text_is_searched(text: str) -> None:
    for long, short in definitions(text):
        assert long
        assert short
        assert long in text
