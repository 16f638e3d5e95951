from __future__ import annotations

import pytest

from resin_es.adapters.syntax.clean import clean, section_label


@pytest.mark.parametrize(
    ("text", "label", "rest"),
    [
        ("Results: Growth fell.", "results", "Growth fell."),
        ("ABSTRACT Growth fell.", "abstract", "Growth fell."),
        ("Abstract Background: Growth fell.", "background", "Growth fell."),
        ("Materials and methods In this trial, plants grew.", "materials and methods",
         "In this trial, plants grew."),
        ("Resulting growth fell.", "", "Resulting growth fell."),
    ],
)  # fmt: skip
def test_labels(text: str, label: str, rest: str) -> None:
    found, taken = section_label(text)
    assert (found, text[taken:]) == (label, rest)


def test_asides_and_tags_leave_the_text_and_keep_their_place() -> None:
    text = "The strain (see [1]) of <i>E. coli</i>, poly(A) free, grew."
    cleaned = clean(text)
    assert cleaned.shown == "The strain of E. coli, poly(A) free, grew ."
    assert [aside.text for aside in cleaned.asides] == ["see [1]"]
    assert cleaned.quote(4, 15) == "strain (see [1]) of <i>E"


def test_every_character_knows_its_origin() -> None:
    text = "A  tree\u2010line &lt; 5\u00a0m."
    cleaned = clean(text)
    assert len(cleaned.parsed) == len(cleaned.shown) == len(cleaned.origin)
    assert cleaned.parsed == "A tree-line < 5 m ."
    assert cleaned.shown.startswith("A tree\u2010line")


def test_unbalanced_brackets_are_told() -> None:
    assert not clean("The strain (see above was lost.").balanced
