"""Which generation answers and which is being built; the calls that move them."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import IndexMismatch, StoreNotInstalled
from resin_es.index.generations import (
    Generations,
    building_actions,
    built_as,
    cancel_actions,
    fits,
    generations_from,
    next_meta,
    own_actions,
    schema_of,
    swap_actions,
    unmark_actions,
)
from resin_es.index.multilingual import SecondEncoder
from resin_es.index.names import EVIDENCE_FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import Schema, meta
from resin_es.ports import ModelIdentity

R = Names(prefix="r")
SETTINGS = StoreSettings(prefix="r")
OLD = Schema(model=ModelIdentity(name="old", dims=4), settings=SETTINGS)
NEW = Schema(model=ModelIdentity(name="new", dims=8), settings=SETTINGS, embedder={"kind": "k"})


def index(*aliases: str, resin: dict[str, Any]) -> dict[str, Any]:
    return {"aliases": {one: {} for one in aliases}, "mappings": {"_meta": {"resin": resin}}}


def installed(schema: Schema = OLD, number: int = 1) -> dict[str, Any]:
    return {
        R.concrete(f, number): index(R.alias(f), resin=meta(schema, f)["resin"])
        for f in EVIDENCE_FAMILIES
    }


def rebuilding(*families: str) -> dict[str, Any]:
    """With generation 2 under construction, or as much of it."""
    live = generations_from(R, installed()).live
    return installed() | {
        R.concrete(f, 2): index(
            R.own(f, 2), R.building(f, 2), resin=next_meta(NEW, f, live, "then")["resin"]
        )
        for f in families or EVIDENCE_FAMILIES
    }


def both() -> Generations:
    return generations_from(R, rebuilding())


def test_an_install_has_one_generation() -> None:
    now = generations_from(R, installed())
    assert now.next is None
    assert (now.begun, now.left) == ((), ())
    assert now.live.label == "v1"
    assert now.live.model == ModelIdentity(name="old", dims=4)
    assert now.live.addresses == {f: f"r-{f}" for f in EVIDENCE_FAMILIES}, "it has no own alias"
    assert [one.name for one in now.active] == ["r-units-v1,r-sentences-v1,r-passages-v1"]


def test_the_next_one_is_told_by_its_mark_and_written_to_by_its_own_alias() -> None:
    now = both()
    assert now.next is not None
    assert now.next.addresses["units"] == "r-units-v2-own"
    assert now.next.label == "v2"
    assert [one.label for one in now.active] == ["v1", "v2"]
    assert now.addresses()["r-units-v1"] == "r-units"
    assert sorted(now.begun) == [f"r-{f}-v2" for f in sorted(EVIDENCE_FAMILIES)]


def test_a_part_of_the_next_one_is_not_written_to() -> None:
    now = generations_from(R, rebuilding("units", "sentences"))
    assert now.next is None
    assert sorted(now.begun) == ["r-sentences-v2", "r-units-v2"]


def test_what_is_neither_is_left_and_what_is_not_ours_is_not_seen() -> None:
    told = installed(number=3) | {
        "r-units-v1": index(resin=meta(OLD, "units")["resin"]),
        "r-units-v9": index(resin={}),
        "r-other-units-v1": index(resin=meta(OLD, "units")["resin"]),
    }
    now = generations_from(R, told)
    assert now.left == ("r-units-v1",)
    assert now.live.label == "v3"


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({}, StoreNotInstalled),
        ({n: b for n, b in installed().items() if "passages" not in n}, StoreNotInstalled),
        (
            installed() | {"r-units-v2": index("r-units", resin=meta(OLD, "units")["resin"])},
            IndexMismatch,
        ),
        (installed() | {"r-units-v1": index("r-units", resin={})}, IndexMismatch),
        (
            {n: b for n, b in installed().items() if "units" not in n}
            | {"elsewhere": index("r-units", resin=meta(OLD, "units")["resin"])},
            IndexMismatch,
        ),
    ],
)
def test_what_cannot_be_worked_with_is_refused(told: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        generations_from(R, told)


def test_the_swap_is_one_call_that_takes_the_marks() -> None:
    actions = swap_actions(R, both())
    assert actions[:3] == [
        {"remove": {"index": "r-units-v1", "alias": "r-units", "must_exist": True}},
        {"add": {"index": "r-units-v2", "alias": "r-units"}},
        {"remove": {"index": "r-units-v2", "alias": "r-units-v2-next", "must_exist": True}},
    ]
    assert len(actions) == 3 * len(EVIDENCE_FAMILIES)
    with pytest.raises(ValueError, match="nothing"):
        swap_actions(R, generations_from(R, installed()))


def test_a_cancel_takes_the_same_marks() -> None:
    swapped = [a for a in swap_actions(R, both()) if "-next" in str(a)]
    cancelled = cancel_actions(R, both().begun)
    assert sorted(map(str, cancelled)) == sorted(map(str, swapped))
    given = [a["add"]["alias"] for a in building_actions(R, 2)]
    assert sorted(given) == sorted(a["remove"]["alias"] for a in cancelled)


def test_own_aliases_are_given_once_and_taken_back_after_a_cancel() -> None:
    plain = generations_from(R, installed()).live
    actions = own_actions(R, plain)
    assert {"add": {"index": "r-units-v1", "alias": "r-units-v1-own"}} in actions
    assert len(actions) == len(EVIDENCE_FAMILIES)
    assert unmark_actions(R, plain) == []
    told = installed()
    for family in EVIDENCE_FAMILIES:
        told[R.concrete(family, 1)]["aliases"][R.own(family, 1)] = {}
    marked = generations_from(R, told).live
    assert own_actions(R, marked) == []
    taken = [a["remove"] for a in unmark_actions(R, marked)]
    assert taken == [a["add"] for a in actions]


def test_a_generation_remembers_what_it_replaced_and_how_its_model_is_loaded() -> None:
    second = both().next
    assert second is not None
    assert second.meta["embedder"] == {"kind": "k"}
    assert "embedder" not in second.metas["passages"]
    assert second.follows(OLD.model)
    assert not second.follows(ModelIdentity(name="old", dims=5))
    assert not second.follows(NEW.model)
    assert second.replaced_statements(SETTINGS.statement_version)
    third = next_meta(OLD, "units", second, "later")["resin"]["rebuild"]
    assert third["began"] == "later"
    assert [one["model"] for one in third["replaces"]] == ["new", "old"]


def test_without_a_way_to_load_its_model_nobody_follows() -> None:
    told = rebuilding()
    del told["r-units-v2"]["mappings"]["_meta"]["resin"]["embedder"]
    second = generations_from(R, told).next
    assert second is not None
    assert not second.follows(OLD.model)


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": SETTINGS.model_copy(update={"vector_index": "flat"})},
        {"settings": SETTINGS.model_copy(update={"language": "german"})},
        {"settings": SETTINGS.model_copy(update={"statement_version": "9"})},
        {"model": ModelIdentity(name="old", dims=5)},
        {"stemming": False},
    ],
)
def test_what_fits_is_not_built_again(changed: dict[str, Any]) -> None:
    live = generations_from(R, installed()).live
    assert fits(live, OLD)
    assert fits(live, OLD.model_copy(update={"embedder": {"kind": "from elsewhere"}}))
    assert not fits(live, OLD.model_copy(update=changed))


MANY = SecondEncoder(model=ModelIdentity(name="many", dims=2), embedder={"kind": "k"})
WITH = OLD.model_copy(update={"second": MANY})


def test_a_second_encoder_more_or_less_or_another_is_built_anew() -> None:
    plain, second = (generations_from(R, installed(one)).live for one in (OLD, WITH))
    assert fits(second, WITH)
    assert not fits(plain, WITH)
    assert not fits(second, OLD)
    for model in (ModelIdentity(name="many", dims=4), ModelIdentity(name="other", dims=2)):
        other = MANY.model_copy(update={"model": model})
        assert not fits(second, WITH.model_copy(update={"second": other}))
    moved = MANY.model_copy(update={"embedder": {"kind": "from elsewhere"}})
    assert fits(second, WITH.model_copy(update={"second": moved})), "it may lie anywhere"


def test_passages_have_no_vectors_of_either_kind() -> None:
    has = meta(OLD, "passages")["resin"]
    assert built_as(has, WITH, "passages")
    assert not built_as(meta(OLD, "units")["resin"], WITH, "units")
    assert not built_as(meta(OLD, "sentences")["resin"], WITH, "sentences")


def test_the_schema_of_a_generation_with_a_second_encoder_is_what_built_it() -> None:
    live = generations_from(R, installed(WITH)).live
    assert schema_of(live, SETTINGS) == WITH
    assert live.model == OLD.model, "the second one is not what it answers with"
    told = next_meta(OLD, "units", live, "then")["resin"]
    assert told["rebuild"]["replaces"] == [
        {"model": "old", "dims": 4, "statement_version": SETTINGS.statement_version}
    ]
    assert "multilingual" not in told


def test_the_schema_of_a_generation_is_what_built_it() -> None:
    german = SETTINGS.model_copy(update={"language": "german", "vector_index": "flat"})
    built = NEW.model_copy(update={"settings": german, "stemming": False})
    live = generations_from(R, installed(built)).live
    assert schema_of(live, SETTINGS) == built
