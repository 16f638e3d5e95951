"""A stream of documents that can be gone over again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from resin_es.adapters.files.spool import DocumentSpool
from resin_es.model import Document


def a_document(name: str, text: str = "It is.") -> Document:
    return Document(
        source="s", external_id=name, text=text, access=("*",), metadata={"day": date(2026, 1, 2)}
    )


def test_a_stream_is_read_once_and_given_again_as_it_was() -> None:
    documents = [a_document("a"), a_document("b", "One.\nTwo \u2028 é \ud83d 😀."), a_document("c")]
    drawn: list[str] = []

    def stream() -> Iterator[Document]:
        for document in documents:
            drawn.append(document.external_id)
            yield document

    with DocumentSpool(stream()) as spool:
        assert list(spool) == documents
        assert list(spool) == documents
        assert [document.rights_hash for document in spool] == [d.rights_hash for d in documents]
        assert len(spool) == 3
    assert drawn == ["a", "b", "c"]


def test_parts_may_be_read_in_any_order_and_side_by_side() -> None:
    documents = [a_document(str(number)) for number in range(7)]
    with DocumentSpool(documents) as spool:
        first, second = spool.part(0, 3), spool.part(5, 99)
        mixed = [next(first), next(second), next(first), next(second), next(first)]
        assert mixed == [documents[i] for i in (0, 5, 1, 6, 2)]
        assert list(spool.part(7, 9)) == []


def test_what_goes_wrong_in_the_stream_leaves_no_file_behind() -> None:
    def stream() -> Iterator[Document]:
        yield a_document("a")
        raise ValueError("broken input")

    spool = DocumentSpool(stream())
    with pytest.raises(ValueError, match="broken input"), spool:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        list(spool.part(0, 1))
