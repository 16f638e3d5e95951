"""Which language a text is in, so that no reader is given one it cannot read."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

UNDETERMINED = "und"
"""ISO 639 code for a text too short or too mixed to tell."""

_SAMPLE = 4_000
_MIN_LETTERS = 8
_SURE = 0.9
_LIKELY = 0.5
_MIN_UNSURE_LETTERS = 60
_WORDS = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    """the of and to is are was were be been has have had with from for by at on as this that
    these those it its not which who when where if but or can may will must than then there
    their they we our he she his her how what into only each every between after before""".split()
)
"""Words that are frequent in English and rare or unknown in other Latin-script languages."""
_ENGLISH_SHARE = 0.15

_OTHERS = frozenset(
    """af am ar as az be bg bn br bs ca cs cy da de el eo es et eu fa fi fr fy ga gd gl gu ha he hi
    hr hu hy id is it ja jv ka kk km kn ko ku ky lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl
    ps pt ro ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
    ary arz nn wuu yue""".split()
)
"""Languages that multilingual encoders of today were made of (those of XLM-R,
https://arxiv.org/abs/1911.02116, table 6), without English; and without Latin, for which names of
species are taken. Behind them the forms of Arabic, Norwegian and Chinese that are told apart."""
_MIN_SENTENCE = 25
"""Bytes (UTF-8) below which a sentence is too short to be called foreign. In Latin letters, a byte
each, it is mostly a name or a label; scripts that say more with a character take more for it."""
_MIN_REST = 3
"""Words that must be left without those that begin with a capital, for their language to count:
names make an English sentence look like another language, and no other language like English."""
_ONLY_ENGLISH = frozenset("the and from with which were this that these their who its".split())
_OF = frozenset({"nl", "af"})
"""Languages in which "of" is a word of theirs, too."""
_TELLING_SHARE = 0.1
_LATIN = "\u024f"
"""The last letter of the Latin script's main blocks."""
_LETTERS = 0.5
"""Share of letters in what is not white space below which a text is figures, units and signs."""


def detect_language(text: str) -> str:
    """ISO 639-1 code (639-3 where there is none) of ``text``; ``"und"`` if it cannot be told.

    Short English texts full of foreign names stay ``"en"``: a weak verdict gives way to the
    share of English function words. Long texts are judged by a sample of their beginning and
    middle (6,000 characters at most). Pure; the model is loaded once per process.
    """
    sample = _sample(text)
    words = _WORDS.findall(sample)
    letters = sum(map(len, words))
    if letters < _MIN_LETTERS and sample.isascii():
        return UNDETERMINED
    if not letters:
        return UNDETERMINED
    code, confidence = _identifier().classify(sample)
    if code == "en" or (confidence < _SURE and _looks_english(words)):
        return "en"
    if confidence >= _LIKELY or (confidence >= _LIKELY / 2 and letters >= _MIN_UNSURE_LETTERS):
        return str(code)
    return UNDETERMINED if sample.isascii() else str(code)


def in_another_language(text: str) -> bool:
    """Whether a sentence is in a language other than English that a multilingual encoder reads;
    False where that is in doubt. Pure."""
    text = text.strip()
    if len(text.encode("utf-8", "replace")) < _MIN_SENTENCE:
        return False
    sample = _sample(text)
    told = "".join(sample.split())
    letters = sum(unicodedata.category(char)[0] in "LM" for char in told)
    if letters < _LETTERS * len(told):
        return False
    code, confidence = _identifier().classify(sample)
    more = letters >= _MIN_UNSURE_LETTERS or not told.isascii()  # to go by, or that English lacks
    if code not in _OTHERS or confidence < (_LIKELY / 2 if more else _LIKELY):
        return False
    return not _english_but_for_names(_WORDS.findall(sample), code)


def _english_but_for_names(words: list[str], code: str) -> bool:
    """Whether what is left of a sentence that was taken for ``code`` is English: without words
    that begin with a capital, and without a few in another script, which are a name in its own."""
    rest = [word for word in words if not word[0].isupper()]
    latin = [word for word in rest if word[0] <= _LATIN]
    if 2 * len(latin) > len(rest):
        rest = latin
    if len(rest) < _MIN_REST:
        return False
    telling = sum(word in _ONLY_ENGLISH or (word == "of" and code not in _OF) for word in rest)
    if telling >= _TELLING_SHARE * len(rest):
        return True
    return bool(_identifier().classify(" ".join(rest))[0] == "en")


def _sample(text: str) -> str:
    text = text.strip()
    if len(text) <= _SAMPLE:
        return text
    middle = len(text) // 2
    return text[:_SAMPLE] + "\n" + text[middle : middle + _SAMPLE // 2]


def _looks_english(words: list[str]) -> bool:
    hits = sum(word.lower() in _ENGLISH for word in words)
    return hits > 0 and hits >= _ENGLISH_SHARE * len(words)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
