"""A parsed sentence as plain values: what the rules walk over, free of the parser's types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from resin_es.adapters.syntax.clean import Cleaned

if TYPE_CHECKING:
    from spacy.tokens import Doc

FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_EDGES = " \t,;:.-–—·•/"


class Tok:
    """One token; ``start``/``end`` are offsets in the cleaned text."""

    __slots__ = (
        "children", "dep", "end", "head", "i", "lemma", "lower", "pos", "start", "tag", "text",
    )  # fmt: skip

    def __init__(
        self, i: int, text: str, lemma: str, pos: str, tag: str, dep: str, start: int
    ) -> None:
        self.i = i
        self.text = text
        self.lower = text.lower()
        self.lemma = lemma.lower()
        self.pos = pos
        self.tag = tag
        self.dep = dep
        self.start = start
        self.end = start + len(text)
        self.head: Tok = self
        self.children: list[Tok] = []

    def __repr__(self) -> str:
        return f"{self.text}/{self.tag}/{self.dep}"

    def kids(self, *deps: str) -> list[Tok]:
        """Children with one of these dependency labels, in order."""
        return [child for child in self.children if child.dep in deps]

    def kid(self, *deps: str) -> Tok | None:
        """First child with one of these labels."""
        for child in self.children:
            if child.dep in deps:
                return child
        return None

    @property
    def is_verb(self) -> bool:
        return self.pos in ("VERB", "AUX")

    def subtree(self, skip: Callable[[Tok], bool] | None = None) -> list[Tok]:
        """The token and all below it, in text order, without the children ``skip`` names."""
        found = [self]
        stack = [self]
        while stack:
            for child in stack.pop().children:
                if skip is not None and skip(child):
                    continue
                found.append(child)
                stack.append(child)
        found.sort(key=lambda tok: tok.i)
        return found


class Tree:
    """One sentence: its cleaned text and its tokens (none where it was not parsed)."""

    __slots__ = ("cleaned", "tokens")

    def __init__(self, cleaned: Cleaned, tokens: list[Tok]) -> None:
        self.cleaned = cleaned
        self.tokens = tokens

    def roots(self) -> list[Tok]:
        return [tok for tok in self.tokens if tok.head is tok]

    def text(self, tokens: Iterable[Tok]) -> str:
        """Tokens as readable text: the source's own characters, gaps closed by one space."""
        ordered = sorted(tokens, key=lambda tok: tok.i)
        runs: list[tuple[int, int]] = []
        last = -2
        for tok in ordered:
            if runs and tok.i == last + 1:
                runs[-1] = (runs[-1][0], tok.end)
            else:
                runs.append((tok.start, tok.end))
            last = tok.i
        pieces = [self.cleaned.shown[start:end].strip() for start, end in runs]
        return tidy(" ".join(piece for piece in pieces if piece))

    def quote(self, tokens: Iterable[Tok]) -> str:
        """The original text from the first to the last of these tokens."""
        ordered = list(tokens)
        start = min(tok.start for tok in ordered)
        end = max(tok.end for tok in ordered)
        return self.cleaned.quote(start, end)


def tidy(text: str) -> str:
    """White space folded, stray punctuation at the edges and doubled commas gone."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    text = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", text)
    text = text.strip(_EDGES)
    if text.count('"') == 1:
        text = text.replace('"', "")
    return text.strip(_EDGES)


def from_doc(doc: Doc, cleaned: Cleaned, mend: Callable[[list[Tok]], None]) -> Tree:
    """Plain copy of a parse, mended: the parser's own document (and its tensors) can go."""
    tokens = [
        Tok(tok.i, tok.text, tok.lemma_, tok.pos_, tok.tag_, tok.dep_, tok.idx) for tok in doc
    ]
    for source, tok in zip(doc, tokens, strict=True):
        tok.head = tokens[source.head.i]
        if tok.head is not tok:
            tok.head.children.append(tok)
    mend(tokens)
    return Tree(cleaned, tokens)


def torn(tokens: Sequence[Tok], tree: Tree) -> bool:
    """Whether a field's tokens leave out words that no comma sets off."""
    ordered = sorted(tokens, key=lambda tok: tok.i)
    for left, right in pairwise(ordered):
        if right.i == left.i + 1:
            continue
        first, last = tree.tokens[left.i + 1], tree.tokens[right.i - 1]
        if first.pos == "PUNCT" or left.pos == "PUNCT":
            continue
        if first.tag == "CC" and last.pos == "PUNCT":
            continue
        return True
    return False


_PLAIN = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "CCONJ", "PUNCT", "SYM"})
_LONGEST_GAP = 8
_LONGEST_LIST = 30
_SHORT_GAP = 3


def _plain(tok: Tok) -> bool:
    return tok.pos in _PLAIN or tok.lower in ("of", "to") or tok.tag == "HYPH"


def _list_inside(gap: Sequence[Tok]) -> bool:
    """Whether a gap is ", B, C, and D," and no aside like ", a kinase,"."""
    if len(gap) < 4 or gap[0].text != "," or gap[1].tag in ("DT", "IN"):
        return False
    return gap[-1].text == "," and any(one.lower in ("and", "or") for one in gap[1:-2])


def refill(tokens: Sequence[Tok], tree: Tree) -> list[Tok]:
    """Put back nouns and marks that were left out inside a phrase: list items hung elsewhere.

    What a comma opens and no list goes on with (an aside) stays out.
    """
    ordered = sorted({tok.i: tok for tok in tokens}.values(), key=lambda tok: tok.i)
    result: list[Tok] = []
    for tok in ordered:
        gap = tree.tokens[result[-1].i + 1 : tok.i] if result else []
        longest = _LONGEST_LIST if _list_inside(gap) else _LONGEST_GAP
        if gap and len(gap) <= longest and all(_plain(one) for one in gap):
            following = tree.tokens[tok.i : tok.i + 2]
            listed = any(one.tag == "CC" for one in (*following, gap[-1]))
            listed = listed or _list_inside(gap)
            if all(one.pos == "PUNCT" for one in gap) or gap[0].pos != "PUNCT" or listed:
                result.extend(gap)
        elif 0 < len(gap) <= _SHORT_GAP and gap[0].tag == "CC":
            if not any(one.tag in ("VBZ", "VBP", "MD", "VB") for one in gap):
                result.extend(gap)  # "natural and introduced plants"
        result.append(tok)
    return result
