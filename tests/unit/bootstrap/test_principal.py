"""Who asks, when nothing, nobody or somebody is named."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.bootstrap import Services
from resin_es.errors import AccessError
from resin_es.model import Principal
from resin_es.settings import load_settings

CLUSTER = "http://es.invalid:9200"


def services(**settings: Any) -> Services:
    return Services(load_settings(**settings))


def test_nobody_named_is_an_admin_on_the_own_node_and_an_error_elsewhere() -> None:
    assert services().principal() == Principal(admin=True)
    with pytest.raises(AccessError, match="RESIN_GROUPS"):
        services(es_url=CLUSTER).principal()


@pytest.mark.parametrize("url", [None, CLUSTER])
def test_somebody_without_groups_is_no_admin(url: str | None) -> None:
    assert services(es_url=url).principal([]) == Principal()
    assert services(es_url=url, groups="a").principal([]) == Principal()


def test_groups_given_win_over_the_setting() -> None:
    found = services(groups="a, b")
    assert found.principal() == Principal(groups=frozenset({"a", "b"}))
    assert found.principal([" c "]) == Principal(groups=frozenset({"c"}))


@pytest.mark.parametrize("value", ["", " ", ",", " , "])
def test_a_setting_that_names_no_group_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("RESIN_GROUPS", value)
    with pytest.raises(AccessError, match="names no group"):
        services().principal()


@pytest.mark.parametrize("groups", ["drivers", [""], [" "], [5], [None]])
def test_what_is_no_list_of_names_is_refused(groups: Any) -> None:
    with pytest.raises(AccessError):
        services().principal(groups)
