"""The language model is made when it is asked for something, and not before."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from resin_es.bootstrap import Resin, Services, language
from resin_es.bootstrap.syncing import sync_here
from resin_es.errors import ResinError, SettingsError
from resin_es.settings import load_settings
from resin_es.workers import tasks
from resin_es.workers.site import Tools

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch) -> Services:
    """RESIN_LLM=claude without a key, and a cluster that does not listen."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    return Services(load_settings(llm="claude", es_url=NOWHERE, groups=("staff",), embedder="hash"))


def test_what_never_asks_a_model_needs_no_key(keyless: Services) -> None:
    assert keyless.reader.identity.model == keyless.settings.llm_read_model
    assert keyless.indexer
    assert keyless.engine
    assert keyless.spending == {}


def test_an_index_that_cannot_be_reached_is_all_that_a_deletion_misses(keyless: Services) -> None:
    resin = Resin(keyless)
    for asked in (lambda: resin.delete(["a"]), lambda: resin.search("a"), lambda: resin.trace("a")):
        with pytest.raises(ResinError, match=re.escape("127.0.0.1:9")):
            asked()


@pytest.mark.parametrize(
    "asks",
    [
        lambda services: services.planner.plan("Who?", 4),
        lambda services: Resin(services).plan("Who?"),
        lambda services: Resin(services).index_documents([]),
        lambda services: sync_here(services, "kb"),
        lambda services: services.ready_to_read(),
    ],
)
def test_what_asks_it_says_at_once_that_there_is_no_key(
    keyless: Services, asks: Callable[[Services], Any]
) -> None:
    with pytest.raises(SettingsError, match="no key"):
        asks(keyless)


def test_files_are_not_read_before_the_key_is_there(keyless: Services, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("A.")
    with pytest.raises(SettingsError, match="no key"):
        Resin(keyless).index_paths([tmp_path], public=True)


def test_a_worker_without_a_key_claims_nothing(keyless: Services) -> None:
    with pytest.raises(SettingsError, match="no key"):
        tasks.read_document(Tools(keyless.settings), "kb", ["k1"])


@pytest.mark.parametrize(
    "asks",
    [
        lambda services: services.planner.plan("Who?", 4),
        lambda services: services.solver,
        lambda services: services.ready_to_read(),
        lambda services: Resin(services).index_documents([]),
        lambda services: sync_here(services, "kb"),
    ],
)
def test_a_cap_without_a_price_is_refused_before_anything_is_asked(
    asks: Callable[[Services], Any],
) -> None:
    """No call goes out: nothing listens there."""
    models = {"llm_read_model": "mine", "llm_answer_model": "mine"}
    settings = load_settings(llm="claude", anthropic_url=NOWHERE, max_cost=1.0, **models)
    with pytest.raises(SettingsError, match="no price known for mine"):
        asks(Services(settings))


def test_threads_that_ask_at_once_share_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def slow(*_: object) -> object:
        made.append(object())
        time.sleep(0.05)
        return made[-1]

    monkeypatch.setattr(language, "metered_model", slow)
    services = Services(load_settings(llm="claude", anthropic_url=NOWHERE))
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(services.ready_to_read) for _ in range(4)]
    assert [one.result() for one in asked] == [None] * 4
    assert len(made) == 1
