"""The language gate: English stays English, others are named, the rest is undetermined."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resin_es.extract.language import UNDETERMINED, detect_language, in_another_language


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


# ---------------------------------------------------------------- a second vector or none

LAKE = {
    "tr": "Bu yaz göl kıyısındaki sazların üçte biri kurudu.",
    "es": "Un tercio de los juncos de la orilla se secó este verano.",
    "id": "Sepertiga alang-alang di tepi danau mengering musim panas ini.",
    "ar": "جف ثلث القصب على ضفاف البحيرة هذا الصيف.",
    "de": "In diesem Sommer vertrocknete ein Drittel des Schilfs am Ufer.",
    "nn": "Storken byggjer reir i mars kvart år i dei høgaste trea.",
    "ru": "Этим летом высохла треть камыша на берегу озера.",
    "zh": "今年夏天湖边的芦苇枯萎了。",
    "ja": "今年の夏、葦の三分の一が枯れた。",
    "ko": "올여름 갈대의 삼분의 일이 말랐다.",
    "th": "นกกระสาทำรังบนยอดไม้ทุกปี",
    "hi": "चमगादड़ हर साल मार्च में घोंसला बनाते हैं।",
    "my": "ငှက်များသည် နှစ်စဉ် အသိုက်ဆောက်ကြသည်။",
    "km": "សត្វស្លាបធ្វើសំបុកជារៀងរាល់ឆ្នាំ",
}


@pytest.mark.parametrize("code", LAKE)
def test_a_sentence_in_another_language(code: str) -> None:
    """Also one of few characters, where each says a syllable or a word."""
    assert in_another_language(LAKE[code])
    assert in_another_language(f"  {LAKE[code]}\n")


@pytest.mark.parametrize(
    "text",
    [
        "A third of the reeds on the shore dried up this summer.",
        "Dona Ana Ferreira is the head of the Novo Moinho depot in Vila Marenta.",
        "The ferry Sankt Nikolaus leaves for Östersund at noon.",
        "The word Schadenfreude means joy at the misfortune of others.",
        "Resumen: The storks nest in March and leave in August.",
        "He calls it 湖 (lake), and the reeds around it 芦苇.",
    ],
)
def test_english_with_foreign_names_and_words_is_none(text: str) -> None:
    assert not in_another_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "Canis lupus familiaris, Felis catus, Ursus arctos horribilis.",
        "Pinus sylvestris, Picea abies, Betula pendula, Quercus robur",
        "Quercus ilex L. subsp. ballota (Desf.) Samp.",
        "Anopheles gambiae s.s., An. arabiensis, An. funestus",
    ],
)
def test_latin_names_of_species_are_none(text: str) -> None:
    assert not in_another_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " " * 40,
        "Abb. 3: Verteilung",
        "Die Nester am Seeufer" + " " * 20,
        "Tabla 2. Muestras",
        "東京",
        "https://example.com/a/b/c?d=eeeeeeee",
        "ACGTACGTACGTACGTACGTACGTACGTACGT",
        "Methods: n = 24; p < 0.05; ANOVA, Tukey HSD.",
        "12.5 ± 3.4 mm, 23.1 ± 4.4 mm, 7.0 ± 1.1 mm",
        "α = 0.05; β = 0.2; χ² = 23.1; 45 ± 3 µm",
        "→→→→→→→→→→→→→→→→ 25 %",
        "\N{FISH}" * 30,
    ],
)
def test_labels_figures_and_signs_are_none(text: str) -> None:
    assert not in_another_language(text)


def test_figures_within_a_sentence_do_not_hide_its_language() -> None:
    assert in_another_language("2004 yılında 34.5 kg, 2005 yılında 45.6 kg balık tutuldu.")


def test_a_long_text_is_in_the_language_of_its_sample() -> None:
    assert in_another_language(LAKE["es"] * 5_000)
    assert not in_another_language("The storks nest in March. " * 5_000)


@given(st.text(st.characters(), max_size=80))
def test_any_text_is_or_is_not(text: str) -> None:
    assert in_another_language(text) in (True, False)


def test_half_a_character_harms_nothing() -> None:
    """A lone surrogate is a character that no encoding has."""
    assert not in_another_language("\ud800" * 30)
    assert in_another_language(LAKE["es"] + " \ud800")


@pytest.mark.parametrize(
    "text",
    [
        "Rhodri ap Merfyn was a ninth-century Welsh king.",
        "Cumann Luthchleas Baile Átha an Rí is a club based in the west of the county.",
        "Bleib bei mir, mein Schatz is a 1957 musical directed by Karl von Hagen.",
        "The Golden Gate Company (Arabic: شركة البوابة الذهبية) is a holding based in the capital.",
        "Old Harbour Airport (Thai: ท่าอากาศยานเก่า) is located in the north of the country.",
        "Vardan (Armenian: Վարդան ; born 3 May 1971) is a former professional wrestler.",
        "Rakotomanantsoandriana took three wives.",
        'The name is from Old Greek λύκος ("lykos") "wolf" + φωνή ("phone") "voice".',
        "first prince of Gwrtheyrnion in Wales ferch Llywarch ap Hyfaidd of Dyfed, Tangwystl.",
    ],
)
def test_english_about_foreign_names_is_english(text: str) -> None:
    assert not in_another_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "Het museum is in 1885 geopend en was toen het grootste van het land.",
        "Der Bahnhof wurde im Krieg zerstört und erst zehn Jahre später wieder aufgebaut.",
        "تعتمد الطريقة على خوارزمية (random forest) لتصنيف الصور في ثلاث فئات.",
        "ระบบนี้ใช้ deep learning เพื่อจำแนกภาพถ่ายของใบข้าวที่เป็นโรค",
        "PEMANFAATAN LIMBAH KULIT KOPI SEBAGAI PAKAN TERNAK DI DESA",
        "Muzej je odprt vsak dan razen ponedeljka, vstopnice pa so na voljo na vhodu.",
    ],
)
def test_names_and_terms_make_nothing_english(text: str) -> None:
    assert in_another_language(text)
