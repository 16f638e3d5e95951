"""Answers as they are compared: the words that carry them."""

from __future__ import annotations

import string
import unicodedata

ARTICLES = frozenset({"a", "an", "the"})

_MARKS = frozenset(string.punctuation)


def answer_tokens(text: str) -> list[str]:
    """Words of an answer after the normalisation of SQuAD (Rajpurkar et al., 2016), which
    HotpotQA and MuSiQue took over: lower case, punctuation dropped (so that what it joined grows
    together), the English articles dropped, split at white space.

    Two steps go beyond it, neither of which changes a text of ASCII words: compatibility forms
    are folded (NFKC), and punctuation is what Unicode calls so, not ASCII's alone, because
    abstracts are full of typographic hyphens and quotation marks. And an answer that is nothing
    but an article (option ``A`` of a multiple choice) stays.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    words = "".join(char for char in folded if not _is_mark(char)).split()
    return [word for word in words if word not in ARTICLES] or words


def _is_mark(char: str) -> bool:
    return char in _MARKS or unicodedata.category(char).startswith("P")
