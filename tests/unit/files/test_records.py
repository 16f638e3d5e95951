"""One record to one document, and every reason why not."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.adapters.files import Rights, document_from
from resin_es.errors import AccessError, DocumentTooLarge, RecordError, ResinError

EMOJI_ID = ("a/b c/😀" * 100)[:600]


def read(record: Any, rights: Rights = Rights.PUBLIC, max_bytes: int = 10_000) -> Any:
    return document_from(record, source="s", rights=rights, where="f line 1", max_bytes=max_bytes)


def test_a_full_record() -> None:
    document = read(
        {
            "id": EMOJI_ID,
            "title": "T",
            "text": "One. Two.",
            "metadata": {"year": 2024, "deep": {"a": [1, 2]}},
            "access": ["hr", "hr", "it"],
            "url": "https://example.org/1",
            "updated_at": "2025-12-31",
            "passages": [{"start": 0, "end": 4, "main_entity": "One"}],
        }
    )
    assert document.external_id == EMOJI_ID
    assert document.access == ("hr", "it")
    assert document.updated_at == datetime(2025, 12, 31, tzinfo=timezone.utc)
    assert document.metadata == {"year": 2024, "deep": {"a": [1, 2]}}
    assert document.marked[0].main_entity == "One"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ([], "not a JSON object"),
        ({"text": "x"}, "`id` is missing"),
        ({"id": " ", "text": "x"}, "`id` is missing"),
        ({"id": True, "text": "x"}, "`id` is missing"),
        ({"id": "x" * 2049, "text": "x"}, "2,049 characters"),
        ({"id": "1"}, "`text` is missing"),
        ({"id": "1", "text": 3}, "`text` is a int"),
        ({"id": "1", "text": "x", "titel": "y"}, "unknown field 'titel'"),
        ({"id": "1", "text": "x", "metadata": []}, "`metadata` is not an object"),
        ({"id": "1", "text": "x", "metadata": {" ": 1}}, "empty key"),
        ({"id": "1", "text": "x", "access": [""]}, "`access` is not a list"),
        ({"id": "1", "text": "x", "access": [3]}, "`access` is not a list"),
        ({"id": "1", "text": "x", "updated_at": "soon"}, "not an ISO 8601 date"),
        ({"id": "1", "text": "\ud800"}, "half a surrogate pair"),
        ({"id": "1", "text": "abc", "passages": [{"start": 0, "end": 9}]}, "leaves the text"),
        (
            {
                "id": "1",
                "text": "abc",
                "passages": [{"start": 0, "end": 2}, {"start": 1, "end": 3}],
            },
            "overlaps",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(record: Any, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        read(record)
    assert words in caught.value.message
    assert caught.value.message.startswith("f line 1: ")
    assert caught.value.exit_code == 2


def test_a_misspelt_field_names_its_neighbour() -> None:
    with pytest.raises(RecordError) as caught:
        read({"id": "1", "text": "x", "titel": "y"})
    assert "title" in caught.value.hint


def test_the_limit_counts_bytes_not_characters() -> None:
    assert read({"id": "1", "text": "é" * 50}, max_bytes=100)
    with pytest.raises(DocumentTooLarge) as caught:
        read({"id": "1", "text": "é" * 51}, max_bytes=100)
    assert "RESIN_MAX_DOCUMENT_BYTES" in caught.value.hint


@pytest.mark.parametrize(
    ("rights", "own", "expected"),
    [
        (Rights.PUBLIC, None, ("*",)),
        (Rights.PUBLIC, ["hr"], ("hr",)),
        (Rights.PUBLIC, [], ()),
        (Rights.PRIVATE, None, ()),
        (Rights.PRIVATE, ["hr"], ()),
        (Rights.PRIVATE, ["*"], ()),
        (Rights.RECORDS, ["hr"], ("hr",)),
        (Rights.RECORDS, "hr", ("hr",)),
    ],
)
def test_neither_flag_ever_widens_what_a_record_says(
    rights: Rights, own: Any, expected: tuple[str, ...]
) -> None:
    assert read({"id": "1", "text": "x", "access": own}, rights).access == expected


def test_without_flag_or_own_access_nothing_is_assumed() -> None:
    with pytest.raises(AccessError) as caught:
        read({"id": "1", "text": "x"}, Rights.RECORDS)
    assert "--public" in caught.value.hint
    assert caught.value.exit_code == 2


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "text", "access", "metadata", "passages", "x"]), inner
            )
        ),
    )
)
def test_any_json_is_a_document_or_a_named_error(record: Any) -> None:
    document = error = None
    try:
        document = read(record)
    except ResinError as caught:
        error = caught
    assert document or "f line 1" in str(error)
