from __future__ import annotations

import json
from typing import Any

import pytest
from elastic_transport import SerializationError
from hypothesis import given
from hypothesis import strategies as st

from resin_es.adapters.elasticsearch.client import ConnectionOptions, connect
from resin_es.adapters.elasticsearch.json_reading import JsonReader

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_reads_what_the_standard_library_reads(value: Any) -> None:
    written = json.dumps(value)
    read = JsonReader().loads(written.encode())
    assert read == value
    assert json.dumps(read) == written  # 1 stays 1, and 1.0 stays 1.0


@pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', "[NaN, 1e400]", str(2**70)])
def test_reads_what_is_no_usual_json(text: str) -> None:
    assert repr(JsonReader().loads(text.encode())) == repr(json.loads(text))


def test_what_is_no_json_fails_as_ever() -> None:
    assert JsonReader().loads(b"") is None
    with pytest.raises(SerializationError):
        JsonReader().loads(b"<html>")


@pytest.mark.parametrize("kind", ["application/json", "application/vnd.elasticsearch+json"])
def test_a_client_reads_answers_by_it_and_leaves_lines_alone(kind: str) -> None:
    serializers = connect(ConnectionOptions(url="http://a:9200")).transport.serializers
    assert isinstance(serializers.get_serializer(kind), JsonReader)
    assert not isinstance(serializers.get_serializer("application/x-ndjson"), JsonReader)
