"""A document too long to be read whole: what the search hit of it comes, best first, bounded."""

from __future__ import annotations

import pytest

from resin_es.query import ranking
from resin_es.testing.scripted_store import ScriptedDocument
from tests.unit.query.grove import A, candidate, line

SENTENCE = (
    "Chapter {n} tells of the canal locks, their keepers, their tolls and their repairs. " * 4
)
BOOK = ScriptedDocument("book", [[SENTENCE.format(n=n).strip()] for n in range(60)])


def test_all_passages_that_were_hit_come_with_the_kept_one() -> None:
    hit = [candidate(BOOK, n, 0, 0.9 - n / 100) for n in (7, 3, 50)]
    (helping,) = line(hit, BOOK, k=1)
    assert helping.kept == (BOOK.passages[3].id,)
    assert helping.passages == tuple(BOOK.passages[n].id for n in (3, 7, 50))


def test_the_best_of_a_long_document_does_not_wait_for_the_rest_of_the_line() -> None:
    hit = [candidate(A, 0, 0, 0.8), *(candidate(BOOK, n, 0, 0.9) for n in range(5))]
    book, other = line(hit, BOOK, A, k=2)
    assert len(book.kept) == len(other.kept) == 1
    assert len(book.passages) == 5


def test_no_more_than_a_bound_is_fetched_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "HIT_PASSAGES", 2)
    hit = [candidate(BOOK, n, 0, 0.9 - n / 100) for n in range(5)]
    (helping,) = line(hit, BOOK, k=3)
    assert [p.id for p in BOOK.passages[:3]] == list(helping.passages), "what is kept stays"
    (helping,) = line(hit, BOOK, k=1)
    assert len(helping.passages) == 2


def test_narrowed_to_units_only_what_is_kept_comes() -> None:
    hit = [candidate(BOOK, n, 0, 0.9 - n / 100) for n in range(5)]
    (helping,) = line(hit, BOOK, k=1, whole=False)
    assert helping.passages == (BOOK.passages[0].id,)
