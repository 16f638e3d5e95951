"""The language gate: English stays English, others are named, the rest is undetermined."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resin_es.extract.language import UNDETERMINED, detect_language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The fare is $4.", "en"),
        ("Line 7 is a night bus.", "en"),
        ("THE FERRY DOES NOT SAIL", "en"),
        ("Harbour Line runs from Quay to Hill.", "en"),
        ("Dona Ana Ferreira is the head of the Novo Moinho depot in Vila Marenta.", "en"),
        ("Dona Ana Ferreira was from Novo Moinho and Vila Marenta.", "en"),
        ("Die Fähre fährt im Winter nicht, wenn der Hafen zugefroren ist.", "de"),
        ("O ônibus da linha sete não para aqui aos domingos e feriados.", "pt"),
        ("Xe buýt chạy mỗi ngày từ sáu giờ sáng đến mười giờ đêm.", "vi"),
        ("公共汽车每天早上六点开始运行，晚上十一点结束。", "zh"),
        ("", UNDETERMINED),
        ("Line 7", UNDETERMINED),
        ("12 34 56 78 90", UNDETERMINED),
    ],
)
def test_detect(text: str, code: str) -> None:
    assert detect_language(text) == code


def test_a_long_text_is_judged_by_a_sample() -> None:
    assert detect_language("The ferry sails at noon and comes back at night. " * 50_000) == "en"


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_any_text_gets_a_code(text: str) -> None:
    assert detect_language(text).isalpha()
