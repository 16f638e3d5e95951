"""What the best documents of a search name, and the documents that those names lead to. Pure.

Evidence that a question does not name is named by evidence that it does: the second document
of a chain stands in the first one as a name, or says the first one's name itself. All names
count at once; none is chosen, and no model is called.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp, log
from typing import Any, NamedTuple

from resin_es.query.hits import Address
from resin_es.query.words import STOPWORDS, fold, names, words

SOURCES = 2
"""How many of a search's best documents name what is looked for next; 1 to 6 measure alike."""

SOURCE_DECAY = 0.7
"""What a name of the second document weighs beside one of the first."""

COMMON = 10
"""In how many documents of the pool that named it a name may stand: one that half of them
share tells none of them apart."""

TITLE, MENTIONED = 1.0, 0.4
"""How close a link is: the name is the document's title, or stands in its text, in its title
or in a unit's aliases."""

CORPUS = 1000
"""Found in this many documents, a name is worth nothing."""

SLOPE, CLOSENESS, DOUBT, CONTENT = 6.0, 2.0, 0.6, 0.5
"""A linked document's odds, against there being none to go on to, are exp(SLOPE · (similarity
beside the best document's + CLOSENESS · link - DOUBT)) · p · (1 - p)^CONTENT, where p is the best
document's own chance: what a wrong document names leads nowhere, and where one document is
nearly certain, little is likely to be missing. Fitted by likelihood on questions that need two
documents and on as many that need one; see docs/quality.md."""

BY_PLACE = 0.1
"""Share of these chances that goes by place alone (as 1/2, 1/6, 1/12 …): the odds are too sure
of themselves, and the second of two linked documents is not as hopeless as they say. Best by
likelihood is about .2 (.15 to .25 in five folds); what is found is the same from .02 to .2."""

MAX_NAME_WORDS = 5
MAX_WORDS = 80
"""Words of all names together: three fields of them, in the query and in the filter, stay
below the clauses that the smallest node allows, beside the question's own."""

STATEMENTS = 32_768
"""So many statements are kept in the forms that names are looked for in; some 20 MB each."""

_TOKEN = re.compile(r"[^\W_]+")


class Name(NamedTuple):
    """A name with its folded words, the address that it was first read in, and the documents
    that name it with what their word weighs."""

    text: str
    key: str
    address: str
    sources: Mapping[str, float]


def named_by(
    question: str,
    documents: Sequence[str],
    naming: Sequence[Address],
    pool: Sequence[Address],
    limit: int,
) -> list[Name]:
    """Up to ``limit`` names that ``documents`` (keys, best first) bring and the question does
    not: their titles, names in their units' subjects, objects and aliases, and in their
    sentences. ``naming`` holds the addresses that may name something, ``pool`` all that the
    search found: what is common there is left out, and what somebody writes small there too
    (``Our findings``): its capital was only that of a sentence."""
    asked, texts = key_of(question), _texts(pool)
    written = "|".join(_as_written(c.statement) for c in pool)
    found: dict[str, Name] = {}
    for rank, document in enumerate(documents[:SOURCES]):
        for text, address in _naming([c for c in naming if c.document_key == document]):
            key = key_of(text)
            if not _tells(key, asked):
                continue
            held = found.setdefault(key, Name(text, key, address, {}))
            found[key] = held._replace(sources={document: SOURCE_DECAY**rank, **held.sources})
    telling = [
        name
        for name in found.values()
        if not (name.text != name.text.lower() and name.key in written)
        and _spread(name.key, texts) <= COMMON
    ]
    return _bounded(telling, limit)


def _naming(own: Sequence[Address]) -> Iterable[tuple[str, str]]:
    """Names with the address each comes from: the title's, then units', then sentences'."""
    for candidate in own[:1]:
        yield bare_title(candidate.title), candidate.address_id
    for candidate in sorted(own, key=lambda c: not (c.subject or c.object)):
        for text in named_entities(candidate):
            yield text, candidate.address_id


def _texts(pool: Sequence[Address]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    for candidate in pool:
        texts.setdefault(candidate.document_key, []).append(_read(candidate.statement))
    return {document: "|".join(parts) for document, parts in texts.items()}


def _spread(key: str, texts: Mapping[str, str]) -> int:
    return sum(key in text for text in texts.values())


def _tells(key: str, asked: str) -> bool:
    """Whether a name says anything that the question did not: no stop words, no bare number."""
    parts = key.split()
    if not parts or key in asked or (len(parts) == 1 and parts[0].isdigit()):
        return False
    return not all(part in STOPWORDS or len(part) < 2 for part in parts)


def _bounded(found: Sequence[Name], limit: int) -> list[Name]:
    kept: list[Name] = []
    room = MAX_WORDS
    for name in found[:limit]:
        room -= len(name.key.split())
        if room < 0:
            break
        kept.append(name)
    return kept


def named_entities(candidate: Address) -> list[str]:
    """Names in a unit's subject, object and aliases; in a sentence's text, if it is one."""
    fields = [candidate.subject, candidate.object, *candidate.aliases]
    if not any(fields):
        fields = [candidate.statement]
    found: list[str] = []
    for text in fields:
        bare = re.sub(r"^(?:the|an?)\s+", "", text.strip(), flags=re.I)
        if len(words(bare)) <= MAX_NAME_WORDS and re.match(r"[^\W\d_a-z]", bare):
            found.append(bare)
        else:
            found.extend(names(text))
    return [entity for entity in found if 1 < len(entity) <= 60]


def key_of(text: str) -> str:
    """Folded words between single spaces, so that a phrase is found as a part of a text."""
    return f" {' '.join(_TOKEN.findall(fold(html.unescape(text))))} "


@lru_cache(maxsize=STATEMENTS)
def _read(statement: str) -> str:
    """Its key. One statement is in the pools of many questions, and of each question's rows."""
    return key_of(statement)


@lru_cache(maxsize=STATEMENTS)
def _as_written(statement: str) -> str:
    """The same with its capitals."""
    return f" {' '.join(_TOKEN.findall(statement))} "


def bare_title(title: str) -> str:
    """A title without what tells it from its namesakes: ``Medici (board game)``."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", html.unescape(title)).strip() or title


class Best(NamedTuple):
    """The best document of the search that named, how like the question its best address is,
    and its chance to be the right one."""

    document: str
    similarity: float
    chance: float


# ---------------------------------------------------------------- the search


def link_clause(found: Sequence[Name]) -> dict[str, Any]:
    """What an address must match to be linked: one of the names, as a phrase."""
    return {
        "bool": {
            "should": [
                {
                    "multi_match": {
                        "query": name.text,
                        "type": "phrase",
                        "fields": ["title^2", "statement", "aliases.text"],
                    }
                }
                for name in found
            ],
            "minimum_should_match": 1,
        }
    }


# ---------------------------------------------------------------- what came of it


def links(pool: Sequence[Address], found: Sequence[Name]) -> dict[str, float]:
    """How closely each document of ``pool`` is linked, from 0 to 1: the best of its links,
    each by closeness, rarity of the name and weight of the document that said it. A document
    is not linked by what it says itself."""
    close: dict[str, dict[int, float]] = {}
    titles = {title: key_of(bare_title(title)) for title in {c.title for c in pool}}
    for candidate in pool:
        exact, said = titles[candidate.title], _said(candidate)
        held = close.setdefault(candidate.document_key, {})
        for index, name in enumerate(found):
            if name.key == exact:
                held[index] = TITLE
            elif name.key in said:
                held.setdefault(index, MENTIONED)
    reached = [sum(index in held for held in close.values()) for index in range(len(found))]
    return {
        document: max(
            value * _rarity(reached[index]) * _weight(found[index], document)
            for index, value in held.items()
        )
        for document, held in close.items()
        if held
    }


def _said(candidate: Address) -> str:
    told = (candidate.title, candidate.statement, candidate.subject, *candidate.aliases)
    return "|".join(key_of(text) for text in told if text)


def _rarity(documents: int) -> float:
    return max(0.0, 1.0 - log(1 + documents) / log(CORPUS))


def _weight(name: Name, document: str) -> float:
    return max((v for source, v in name.sources.items() if source != document), default=0.0)


def linked_chances(pool: Sequence[Address], found: Sequence[Name], best: Best) -> dict[str, float]:
    """For each linked document, the chance that it is the one to go on to; the best document
    itself is no news and stays out. With the chance that there is none they sum to 1."""
    likeness: dict[str, float] = {}
    for candidate in pool:
        key = candidate.document_key
        likeness[key] = max(candidate.score, likeness.get(key, candidate.score))
    needed = best.chance * max(0.0, 1.0 - best.chance) ** CONTENT
    weights = {
        key: needed * exp(SLOPE * (likeness[key] - best.similarity + CLOSENESS * value - DOUBT))
        for key, value in links(pool, found).items()
        if value > 0 and key != best.document
    }
    total = 1.0 + sum(weights.values())
    return by_place({key: weight / total for key, weight in weights.items()})


def by_place(held: Mapping[str, float]) -> dict[str, float]:
    """Chances that sum to the same, a share of them by place alone; ties broken by key."""
    best = sorted(held, key=lambda key: (-held[key], key))
    places = {key: 1.0 / (place * (place + 1)) for place, key in enumerate(best, start=1)}
    share = BY_PLACE * sum(held.values()) / (sum(places.values()) or 1.0)
    return {key: (1.0 - BY_PLACE) * held[key] + share * places[key] for key in best}
