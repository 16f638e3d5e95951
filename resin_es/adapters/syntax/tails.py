"""What runs on behind a phrase: the last members of a list that the parse hung elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.adapters.syntax.tree import FINITE, Tok, Tree

DANGLING = frozenset(
    "using namely including based via by with of to for in than as the a an from between".split()
)
"""Words a field cannot end with: what they lead to was lost."""
LONGEST_TAIL = 30
_NAMING = ("NOUN", "PROPN", "NUM", "SYM")
_LISTED = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "CCONJ", "PUNCT", "SYM", "DET", "ADP", "ADV"})
_JOINING = ("and", "or", "&")
_SENTENCE_END = (".", ";", ":", "(", "[", "—", "–")


def list_tail(
    tokens: Sequence[Tok], tree: Tree, taken: set[int], *, bare: bool = False
) -> list[Tok]:
    """The rest of a list behind ``tokens``: ", B, and C", or "in A and 9 in B"; else nothing.

    ``bare``: the clause's verb is one that no bare form can go on with ("is …, and host/VB
    status"), so such a form is a list item. Only plain nominal words up to the end of the
    clause count, with an "and" among them.
    """
    last = tokens[-1]
    if last.pos not in _NAMING and last.pos != "PUNCT":
        return []
    tail: list[Tok] = []
    infinitives = bare or any(tok.tag == "TO" for tok in tokens)
    for tok in tree.tokens[last.i + 1 : last.i + 1 + LONGEST_TAIL]:
        if tok.text in _SENTENCE_END or tok.tag == "WRB":
            return _closed(tail)
        before = tail[-1] if tail else last
        if tok.i in taken or not (_listed(tok) or _infinitive(tok, before, infinitives)):
            goes_on = len(tail) > 1 and tail[-1].lower in _JOINING  # "A, and B, and | is C"
            return _closed(tail[:-1]) if goes_on else []
        tail.append(tok)
    return _closed(tail) if last.i + 1 + len(tail) == len(tree.tokens) else []


def with_quote(tokens: list[Tok], tree: Tree) -> list[Tok]:
    """``tokens`` with the opening quotation mark that their first closing one answers."""
    first = tokens[0].i
    before = tree.tokens[first - 1] if first else None
    if before is None or before.text not in ("“", "‘"):
        return tokens
    closing = {"“": "”", "‘": "’"}[before.text]
    return [before, *tokens] if any(tok.text == closing for tok in tokens) else tokens


def _listed(tok: Tok) -> bool:
    if tok.pos in _LISTED and tok.tag != "WDT":
        return tok.lower not in ("but", "yet", "so", "respectively", "with", "by")
    return tok.tag == "HYPH" or (tok.pos == "VERB" and tok.dep in ("amod", "compound"))


def _infinitive(tok: Tok, before: Tok, listed: bool) -> bool:
    """ "strategies to meet demand"; a list of bare infinitives only goes on from one."""
    linked = before.text == "," or before.lower in _JOINING
    if tok.tag == "TO":
        return not linked
    return tok.tag == "VB" and (before.tag == "TO" or (listed and linked))


def _closed(tail: list[Tok]) -> list[Tok]:
    """A tail that begins as a list goes on and names something at its end."""
    while tail and tail[-1].text in ",":
        tail = tail[:-1]
    if len(tail) < 2 or not (tail[0].pos == "PUNCT" or tail[0].lower in _JOINING):
        return []
    joined = any(tok.lower in _JOINING for tok in tail[:-1])
    names = tail[-1].pos in _NAMING or tail[-1].pos == "PUNCT"
    opener = next((tok for tok in tail if tok.pos not in ("PUNCT", "CCONJ")), tail[0])
    listed = opener.pos not in ("ADP", "ADV") and opener.tag != "PRP"
    if tail[0].pos == "CCONJ" and opener.pos == "VERB":
        listed = False  # "lowered A and increased B" may be two clauses
    return tail if joined and names and listed else []


def completed(tokens: list[Tok], tree: Tree, taken: set[int]) -> list[Tok]:
    """``tokens`` with what a dangling last word leads to: "up to 74 % by | isolate 4"."""
    if tokens[-1].text not in DANGLING:
        return tokens
    further: list[Tok] = []
    for tok in tree.tokens[tokens[-1].i + 1 :]:
        stops = tok.pos in ("PUNCT", "CCONJ", "SCONJ", "PRON") and tok.tag != "HYPH"
        if stops or tok.i in taken:
            break
        if tok.tag in FINITE:
            return tokens
        further.append(tok)
    ends = bool(further) and further[-1].pos in _NAMING
    return [*tokens, *further] if ends else tokens


def subject_tail(tokens: list[Tok], before: int, tree: Tree) -> list[Tok]:
    """``tokens`` with a list's last members that stand between them and token ``before``."""
    gap = tree.tokens[tokens[-1].i + 1 : before]
    if not gap or len(gap) > LONGEST_TAIL or not all(_listed(tok) for tok in gap):
        return tokens
    opens = gap[0].text == "," or gap[0].lower in _JOINING
    joined = any(tok.lower in _JOINING for tok in gap[:-1])
    names = gap[-1].pos in _NAMING
    return [*tokens, *gap] if opens and joined and names else tokens


def opens_bracket(tokens: Sequence[Tok], tree: Tree) -> bool:
    """Whether a bracket that was not taken for an aside follows: "X (Y)-free controls"."""
    after = tree.tokens[tokens[-1].i + 1 : tokens[-1].i + 2]
    return bool(after) and after[0].text in ("(", "[")


def verb_in_hole(tokens: Sequence[Tok], tree: Tree) -> bool:
    """Whether words left out of a that-clause hold a verb: two clauses read as one."""
    inside = {tok.i for tok in tokens}
    return any(tok.is_verb and tok.i not in inside
               for tok in tree.tokens[tokens[0].i : tokens[-1].i])  # fmt: skip


def with_following(tokens: list[Tok], tree: Tree, below: Sequence[Tok] = ()) -> list[Tok]:
    """``tokens`` with the nouns right behind them ("1,505 | clean reads"), or with the words
    that hang ``below`` the same verb ("levels comparable | to baseline")."""
    if not tokens:
        return tokens
    result = list(tokens)
    for tok in tree.tokens[tokens[-1].i + 1 :]:
        plain = tok in below and (tok.tag == "HYPH" or tok.pos not in ("PUNCT", "CCONJ"))
        if tok.pos not in ("NOUN", "PROPN", "ADJ") and not plain:
            break
        result.append(tok)
    return result
