"""A draft is stored only if its source says it: quote, numbers and names are looked up [3.3].

Nothing here knows a language: quotes are compared by characters, names by their capital
letters (scripts without capitals have no names to check, only numbers and quotes).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from resin_es.extract.folding import fold, fold_case, fold_shape, locate
from resin_es.model import Claim, Rule, Sentence, UnitDraft
from resin_es.model.unit import CausalEdge

EMPTY_FIELD = "empty-field"
UNKNOWN_SENTENCE = "unknown-sentence"
EMPTY_QUOTE = "empty-quote"
QUOTE_NOT_FOUND = "quote-not-found"
FOREIGN_NUMBER = "foreign-number"
FOREIGN_NAME = "foreign-name"

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")
_RUN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LONGEST_JOINTED = 40


def check(draft: UnitDraft, sentences: Sequence[Sentence], passage_text: str) -> str | None:
    """None if ``draft`` stands on its source, else the reason as one countable word.

    ``sentences`` are those of the passage, in order. The quote must stand in the cited ones
    (a run of neighbours counts with the text between them), and must not cut a word or number
    in two; numbers and names of subject, object, states, conditions and conclusion must stand
    in the passage. ``1,000`` equals ``1000``; ``4.00`` equals ``4``.
    """
    fields = _fields(draft.claim)
    if not all(map(str.strip, fields)):
        return EMPTY_FIELD
    by_id = {sentence.id: index for index, sentence in enumerate(sentences)}
    if any(cited not in by_id for cited in draft.sentence_ids):
        return UNKNOWN_SENTENCE
    quote = fold(draft.quote)
    if not quote:
        return EMPTY_QUOTE
    cited = sorted({by_id[cited] for cited in draft.sentence_ids})
    if not _stands_in(quote, fold(_cited_text(cited, sentences, passage_text))):
        return QUOTE_NOT_FOUND
    return _foreign(fields, _source(passage_text))


def verbatim(draft: UnitDraft, sentences: Sequence[Sentence], passage_text: str) -> str:
    """The quote of a checked draft in the source's own characters: its dashes, quotation marks
    and capitals (the reader's, where they cannot be traced)."""
    by_id = {sentence.id: index for index, sentence in enumerate(sentences)}
    cited = sorted({by_id[one] for one in draft.sentence_ids})
    text = _cited_text(cited, sentences, passage_text)
    quote = draft.quote.strip()
    if quote in text:
        return quote
    span = locate(quote, text)
    return text[span[0] : span[1]] if span else quote


def _fields(claim: Claim) -> list[str]:
    """What must be grounded, subject and object (where there is one) first."""
    fields = [claim.subject]
    if claim.object:
        fields.append(claim.object)
    if isinstance(claim, CausalEdge):
        fields += [claim.source_state, claim.target_state]
    if isinstance(claim, Rule):
        fields.append(claim.conclusion)
    return [*fields, *claim.conditions]


def _cited_text(cited: Sequence[int], sentences: Sequence[Sentence], passage_text: str) -> str:
    """The cited sentences, with what stands between neighbours (a tag, a bullet) where the
    passage's text is at hand, else a space."""
    base = sentences[0].start
    parts: list[str] = []
    for position, index in enumerate(cited):
        sentence = sentences[index]
        if position and cited[position - 1] == index - 1:
            gap = passage_text[sentences[index - 1].end - base : sentence.start - base]
            parts.append(gap or " ")
        elif position:
            parts.append(" ")
        parts.append(sentence.text)
    return "".join(parts)


def _stands_in(quote: str, text: str) -> bool:
    """Whether ``quote`` occurs in ``text`` without cutting a word or a number in two."""
    at = text.find(quote)
    while at >= 0:
        end = at + len(quote)
        if not _cuts(text, at) and not _cuts(text, end):
            return True
        at = text.find(quote, at + 1)
    return False


def _cuts(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isdigit():
        decimal = after in ".," and text[at + 1 : at + 2].isdigit()
        return after.isdigit() or decimal
    if after.isdigit():
        return before in ".," and text[at - 2 : at - 1].isdigit() and at >= 2
    return _cased(before) and _cased(after)


def _cased(char: str) -> bool:
    return char.isalpha() and (char.islower() or char.isupper())


# ---------------------------------------------------------------- numbers and names


@dataclass(frozen=True)
class _Source:
    """What a passage holds: its folded text, its words, its numbers in canonical form."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=64)
def _source(passage_text: str) -> _Source:
    folded = fold(passage_text)
    return _Source(
        text=folded,
        words=frozenset(_RUN.findall(folded)),
        numbers=frozenset(form for text in _digits(folded) for form in _forms(text)),
    )


def _digits(folded: str) -> list[str]:
    """The numbers of a text; groups of three digits apart also as one (``1 000``)."""
    grouped = [found.replace(" ", "") for found in _GROUPED.findall(folded)]
    return [*_DIGITS.findall(folded), *grouped]


def _forms(number: str) -> set[str]:
    """Spellings that count as the same number; a comma may group or point."""
    forms = {number, number.replace(",", ".") if number.count(",") == 1 else number}
    if _THOUSANDS.match(number):
        forms.add(number.replace(",", ""))
    return forms | {_trimmed(form) for form in forms}


def _trimmed(number: str) -> str:
    whole, point, fraction = number.partition(".")
    fraction = fraction.rstrip("0") if fraction.isdigit() else fraction
    return f"{whole}.{fraction}" if point and fraction else whole


def _foreign(fields: Sequence[str], source: _Source) -> str | None:
    for field in fields:
        shaped = fold_shape(field)
        for number in _NUMBER.findall(shaped):
            if not _forms(number) & source.numbers:
                return FOREIGN_NUMBER
        rest = _NUMBER.sub(" ", shaped)
        if any(not _known(name, source, first) for name, first in _names(rest)):
            return FOREIGN_NAME
    return None


def _names(text: str) -> list[tuple[str, bool]]:
    """Words that name something, with whether they open the field: an opening capital may
    only be a sentence's. Tokens with a digit, or with a capital after their first letter,
    always name."""
    runs = list(_RUN.finditer(text))
    opens_name = len(runs) > 1 and runs[1].group()[0].isupper()
    found: list[tuple[str, bool]] = []
    for index, run in enumerate(runs):
        word = run.group()
        strong = any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))
        if strong or (word[0].isupper() and (index or opens_name)):
            found.append((word, not index and not strong))
    return found


def _known(word: str, source: _Source, opening: bool) -> bool:
    """Whether the passage holds ``word``, a singular or plural of it, or its letters across
    joints (``CKL12`` in "CKL-12"). An opening word may also be another form of one it holds."""
    folded = fold_case(word)
    if folded in source.words or any(form in source.words for form in _numbers_of(folded)):
        return True
    if 2 < len(folded) <= _LONGEST_JOINTED and _jointed(folded).search(source.text):
        return True
    stem = folded[: max(4, len(folded) - 3)]
    return opening and any(held.startswith(stem) for held in source.words)


@lru_cache(maxsize=1024)
def _jointed(word: str) -> re.Pattern[str]:
    body = r"[\W_]?".join(map(re.escape, word))
    return re.compile(rf"(?<![^\W_]){body}(?![^\W_])")


def _numbers_of(word: str) -> tuple[str, ...]:
    """English singular and plural spellings, and the possessive's bare word."""
    bare = word.removesuffix("'s")
    return (
        bare,
        f"{bare}s",
        f"{bare}es",
        bare.removesuffix("s"),
        bare.removesuffix("es"),
        f"{bare.removesuffix('ies')}y",
        f"{bare.removesuffix('y')}ies",
    )
