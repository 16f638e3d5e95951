"""An index whose mapping changed after its source was added."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import InputError
from resin_es.model import DocumentStatus
from resin_es.ports.sync import FieldInfo
from resin_es.sync.spec import drifted
from tests.unit.sync.conftest import spec


@pytest.fixture
def held(world: Any) -> Any:
    for name in ("a", "b"):
        world.put(name)
    world.settle()
    world.passes(3_600)
    return world


def test_a_date_field_that_is_gone_is_told_and_not_taken_for_nothing_changed(held: Any) -> None:
    held.index.mapping["changed_at"] = held.index.mapping.pop("updated")
    held.put("a", "Changed.")
    held.index.remove("b")
    with pytest.raises(InputError, match="no field 'updated'"):
        held.sync()
    assert held.entry("a").status is DocumentStatus.INDEXED
    assert held.entry("b").status is DocumentStatus.DELETED, "what is gone is gone nevertheless"
    state = held.book.source("s").source.state
    assert (state.error.type, state.lease) == ("InputError", None)
    held.index.mapping["updated"] = held.index.mapping.pop("changed_at")
    assert held.sync().changed == 1
    assert held.book.source("s").source.state.error is None


@pytest.mark.parametrize("full", [False, True])
def test_texts_that_are_gone_do_not_empty_the_documents(held: Any, full: bool) -> None:
    held.index.mapping["body"] = held.index.mapping.pop("text")
    for name in ("a", "b"):
        held.put(name, "")  # as they would be read
    with pytest.raises(InputError, match="no field 'text'"):
        held.sync(full=full)
    assert {held.entry(name).status for name in "ab"} == {DocumentStatus.INDEXED}


def test_an_index_that_was_emptied_has_nothing_to_say(held: Any) -> None:
    """Made anew, and its fields come with its first record."""
    held.index.mapping.clear()
    held.index.remove("a", "b")
    assert held.sync().deleted == 2


def test_only_what_would_go_unnoticed_stops_a_sync() -> None:
    fields = {"body": FieldInfo(type="text"), "at": FieldInfo(type="date")}
    one = spec(
        text_fields=("body", "summary"),
        updated_field="at",
        title_field="title",
        metadata_fields=("lang",),
        access="field",
        access_field="groups",
    )
    assert drifted(one, fields) == []
    assert drifted(one, {**fields, "at": FieldInfo(type="keyword")})
    assert drifted(one, {"at": fields["at"]})
    nested = {"summary": FieldInfo(type="flattened"), "at": fields["at"]}
    assert drifted(spec(text_fields=("summary.short",), updated_field="at"), nested) == []
    assert drifted(spec(text_fields=("body",)), fields) == [], "no date field was named"
