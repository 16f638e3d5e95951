"""Text to sentences with exact character spans.

Three passes: lines are grouped into blocks (paragraphs, headings, list items, table rows;
hard-wrapped lines are put back together), sentencex cuts each block, and a small rule mends
its cuts: splits after abbreviations are rejoined, sentences it left together are parted.
Offsets stay exact because nothing is ever inserted or removed: masked characters are replaced
one for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from resin_es.extract.blocks import Span, blocks
from resin_es.model import Document, Sentence, number_sentences

MAX_SENTENCE_CHARS = 2_000
"""Longer sentences are cut at white space: no embedder or reader gains from more."""

_NEVER_LAST = frozenset(
    """e.g eg i.e ie cf vs viz approx fig figs eq eqs ref refs sect suppl ed eds vol vols pp
    dr prof mr mrs ms st sr jr rev gen sen rep hon capt col sgt lt mt ft dept univ resp incl
    excl avg ca circa esp nos ext tel dipl ing mag aff nr art par abb bzw vgl""".split()
)
"""Abbreviations that do not end a sentence (lower case, without the last stop)."""

_RARELY_LAST = frozenset(
    """al sp spp ssp subsp subspp var cv nov comb syn gen f etc no inc ltd co corp bros ph.d
    a.m p.m u.s u.k e.u approx jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
"""They end a sentence only where the next word looks like a sentence's first."""

_STARTERS = frozenset(
    """the this these those that a an in on at by for from to with we our it its they their he
    she his her however here there moreover furthermore therefore thus although while when
    where after before during results methods conclusion conclusions background as each all
    both most some no if no such since because one two three another other additionally
    finally similarly overall also and but or so among between under within through using
    based compared according given despite i you your my new many several only data
    nevertheless meanwhile instead then hence consequently specifically notably importantly
    together taken further""".split()
)
_UNITS = frozenset("g h kg mg cm mm km ml l m s min t ha ph pp d wk yr mol".split())
"""Units that sentencex takes for abbreviations; after a number or a slash they may end."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_WHITE = re.compile(r"\s")
_CLOSERS = re.compile(r"\s*(?:</[\w:.-]+>|[)\]}\"”’»])+")
_LAST_TOKEN = re.compile(r"[^\s(\[{<>\"“‘«]+$")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\Z")
_GLUED_NEXT = re.compile(r"(?:[^\W\d_a-z][a-z\u00df-\u024f\u1e00-\u1eff]+[\s,:]|A\s|&nbsp;)")
_GLUED_LAST = re.compile(r"(?:^|[\s(\[\"“])(?:\W?[^\W\d_A-Z]{3,}|\w+[)\]%]+|[^\s./]*\d)[.!?]\Z")
_RESPLIT = re.compile(r"(?<=[^\s.!?])([.!?])[)\]\"”’]*\s+(?=[\"“(\[]?([A-Z][\w’'-]*))")
_RESPLIT_MIN = 300
_INITIAL = re.compile(r"(?:^|[^\w])[A-Z]\Z")


def split_sentences(text: str, language: str = "en") -> list[Span]:
    """Spans ``(start, end)`` of the sentences of ``text``, in order.

    ``text[start:end]`` has no outer white space and is at most :data:`MAX_SENTENCE_CHARS`
    long; the spans do not overlap, and every character that is not white space lies in one.
    ``language`` is an ISO 639-1 code; sentencex falls back to its general rules for unknown
    ones. Never raises.
    """
    masked = _SURROGATES.sub("?", text)
    spans: list[Span] = []
    for start, end in blocks(masked):
        spans.extend(_block_sentences(masked, start, end, language))
    return list(_capped(text, _join_wordless(text, spans)))


def sentences_of(document: Document, language: str = "en") -> tuple[Sentence, ...]:
    """The numbered sentences of a document. No sentence crosses the edge of a passage that
    the input marked, so that a marked passage holds whole sentences."""
    text = document.text
    edges = {0, len(text)}
    for mark in document.marked:
        edges.update((min(mark.start, len(text)), min(mark.end, len(text))))
    cuts = sorted(edges)
    spans: list[Span] = []
    for start, end in pairwise(cuts):
        part = split_sentences(text[start:end], language)
        spans.extend((start + first, start + last) for first, last in part)
    return number_sentences(document.key, spans, text)


def _block_sentences(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """Sentences of one block. All its white space counts as spaces: line breaks join, and
    sentencex 1.0.32 panics on some white space of more than one byte."""
    block = _WHITE.sub(" ", text[start:end])
    first = 0
    for cut in _cuts(block, language):
        yield from _stripped(block, first, cut, start)
        first = cut
    yield from _stripped(block, first, len(block), start)


def _stripped(block: str, first: int, last: int, offset: int) -> Iterator[Span]:
    body = block[first:last]
    lead = len(body) - len(body.lstrip())
    if lead < len(body):
        yield offset + first + lead, offset + first + len(body.rstrip())


def _cuts(block: str, language: str) -> list[int]:
    """Positions inside ``block`` where one sentence ends and the next begins."""
    from sentencex import get_sentence_boundaries

    try:
        found = get_sentence_boundaries(language or "en", block)
    except BaseException as error:
        # A panic of its Rust code is no Exception, so one odd text would end the whole run;
        # its class cannot be imported. Our own rule then cuts what it can.
        if type(error).__name__ != "PanicException":
            raise
        return _resplit(block, [])
    cuts: list[int] = []
    first = 0
    for boundary in found[:-1]:
        cut = _mended(block, first, boundary["end_index"])
        if cut is not None:
            cuts.append(cut)
            first = cut
    return _resplit(block, cuts)


def _mended(block: str, first: int, cut: int) -> int | None:
    """Where the cut belongs, or None if the sentence goes on."""
    closers = _CLOSERS.match(block, cut)
    if closers:
        cut = closers.end()
        if cut == len(block) or block[cut].isalpha():
            return None
    rest = block[cut : cut + 40]
    following = rest.lstrip()
    if not following or (closers and following[0] in ",;:)") or following[0].islower():
        return None
    last = block[max(first, cut - 60) : cut].rstrip()
    glued = not block[cut - 1].isspace() and not rest[0].isspace()
    if last.endswith(":") or (cut - first < 12 and _ENUMERATOR.match(block[first:cut].strip())):
        return None
    if last.endswith(".") and _goes_on(last, following, glued):
        return None
    return cut


def _goes_on(last: str, following: str, glued: bool) -> bool:
    """Whether the full stop that ends ``last`` belongs to an abbreviation or a name."""
    if glued and following[0].isascii() and following[0] not in "<[(\"'":
        return not (_GLUED_LAST.search(last) and _GLUED_NEXT.match(following))
    word = _last_word(last[:-1]).lower()
    if word in _NEVER_LAST:
        return True
    if word in _RARELY_LAST:
        return not _starts_sentence(following)
    return False


def _starts_sentence(following: str) -> bool:
    head = re.match(r"[\"“(\[]?([^\W\d_]+)", following)
    return head is not None and head.group(1).lower() in _STARTERS


def _resplit(block: str, cuts: list[int]) -> list[int]:
    """Add the cuts that sentencex missed: units that look like abbreviations, and long
    stretches that an unbalanced quotation mark or bracket kept together."""
    added: list[int] = []
    edges = [0, *cuts, len(block)]
    for first, last in pairwise(edges):
        lenient = last - first > _RESPLIT_MIN
        seen, depth = first, 0
        for match in _RESPLIT.finditer(block, first, last):
            stop = match.start()
            depth += block.count("(", seen, stop) - block.count(")", seen, stop)
            seen = stop
            before = block[max(first, stop - 40) : stop]
            if _unit_ends(before) or (
                lenient and depth <= 0 and _word_ends(before, match.group(2).lower())
            ):
                added.append(match.end())
                seen, depth = match.end(), 0
    return sorted({*cuts, *added}) if added else cuts


def _unit_ends(before: str) -> bool:
    """``100 g``, ``mg/g``, ``pH``: taken for abbreviations, but they can end a sentence."""
    word = _last_word(before)
    head, _, unit = word.rpartition("/")
    if unit.lower() not in _UNITS:
        return False
    return bool(head) or word == "pH" or bool(re.search(r"\d\s*\Z", before[: -len(unit)]))


def _word_ends(before: str, following: str) -> bool:
    """Whether ``before`` ends in a plain word, and not in an abbreviation or an initial."""
    word = _last_word(before)
    if len(word) < 3 or "." in word or _INITIAL.search(before):
        return False
    lowered = word.lower()
    return lowered not in _NEVER_LAST and (lowered not in _RARELY_LAST or following in _STARTERS)


def _last_word(before: str) -> str:
    match = _LAST_TOKEN.search(before)
    return match.group() if match else ""


def _join_wordless(text: str, spans: list[Span]) -> list[Span]:
    """Spans without a letter or digit (rules, fences, "...") go to the one before them."""
    joined: list[Span] = []
    for start, end in spans:
        wordy = any(map(str.isalnum, text[start:end]))
        if joined and (not wordy or not any(map(str.isalnum, text[slice(*joined[-1])]))):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _capped(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Cut what is longer than :data:`MAX_SENTENCE_CHARS`, at white space where there is."""
    for start, end in spans:
        while end - start > MAX_SENTENCE_CHARS:
            cut = _white_before(text, start, start + MAX_SENTENCE_CHARS)
            yield start, cut - (len(text[start:cut]) - len(text[start:cut].rstrip()))
            start = cut + (end - cut - len(text[cut:end].lstrip()))
        if start < end:
            yield start, end


def _white_before(text: str, start: int, limit: int) -> int:
    """The last white space in the second half before ``limit``; else ``limit`` itself."""
    for cut in range(limit, (start + limit) // 2, -1):
        if text[cut].isspace():
            return cut
    return limit
