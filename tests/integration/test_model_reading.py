"""Reading by a language model into a real Elasticsearch: paid once, counted, finished later."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from resin_es.errors import BudgetSpent, ModelError
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.llm.reader import ModelReader
from resin_es.model import DocumentStatus
from resin_es.ports import ModelCall, Usage
from resin_es.testing.scripted_language import Answer, ScriptedLanguageModel, data_reply


def answer(call: ModelCall) -> Answer:
    """Passages of two sentences; a fact from each sentence."""
    rows = [row.partition(": ") for row in call.user.splitlines() if row.startswith("S")]
    data: dict[str, Any]
    if call.stage == "passages":
        n = len(rows)
        data = {
            "passages": [
                {"first": f"S{at}", "last": f"S{min(at + 1, n)}"} for at in range(1, n + 1, 2)
            ]
        }
    else:
        data = {"units": [unit(label, text) for label, _, text in rows]}
    return data_reply(data, usage=Usage(output_tokens=1), dollars=0.125)


def unit(label: str, text: str) -> dict[str, Any]:
    words = text.split()
    return {
        "kind": "entity-fact",
        "subject": words[0],
        "predicate": "stands at",
        "object": " ".join(words[4:]).strip("."),
        "modality": "asserted",
        "polarity": "positive",
        "confidence": 0.9,
        "quote": text,
        "sentences": [label],
    }


def indexer(house: Any, model: Any, lanes: int = 3, store: Any = None) -> Indexer:
    reader = ModelReader(model, store or house.store, name="m", lanes=lanes)
    settings = IndexSettings(batch_documents=4)
    return Indexer(store or house.store, house.embedder, reader, settings)


def test_documents_are_read_once_and_what_it_took_is_counted(house: Any) -> None:
    corpus = [house.document(n, house.text(n)) for n in range(3)]
    model = ScriptedLanguageModel(answer)
    report = indexer(house, model).index(corpus)
    assert Counter(call.stage for call in model.calls) == {"passages": 3, "units": 9}
    assert (report.tokens, report.cost, report.units) == (12, 1.5, 18)
    assert report.model_faults == {}
    assert report.ok
    counts = house.entry(corpus[0]).counts
    assert (counts.tokens, counts.cost, counts.read_passages) == (4, 0.5, 3)
    silent = ScriptedLanguageModel([])
    assert indexer(house, silent).index(corpus).unchanged == 3
    assert silent.calls == []


def test_one_changed_sentence_takes_two_calls(house: Any) -> None:
    corpus = [house.document(n) for n in range(3)]
    indexer(house, ScriptedLanguageModel(answer)).index(corpus)
    model = ScriptedLanguageModel(answer)
    changed = house.document(1, house.text(1).replace("street 2", "street 22"))
    report = indexer(house, model).index([corpus[0], changed, corpus[2]])
    assert [call.stage for call in model.calls] == ["passages", "units"]
    assert (report.changed, report.unchanged, report.tokens) == (1, 2, 2)


def test_faults_are_counted_and_end_with_their_passage(house: Any) -> None:
    def faulty(call: ModelCall) -> Answer:
        if call.stage == "units" and "S1: Elm" in call.user:
            return ModelError("the server said 500")
        said = answer(call)
        if call.stage == "passages":
            return {"passages": said.data["passages"][1:]}  # type: ignore[union-attr]
        return said

    one = house.document(1)
    report = indexer(house, ScriptedLanguageModel(faulty)).index([one])
    assert report.model_faults == {"call-failed": 1, "repaired-passages": 1}
    assert report.partial == 1
    ((where, reason),) = report.failures
    assert where == one.external_id
    assert reason.startswith("units: passage ")
    assert "the server said 500" in reason
    records = house.records()
    assert (len(records["sentences"]), len(records["units"])) == (6, 4)
    assert report.to_dict()["model_faults"] == dict(report.model_faults)


def test_the_money_ends_and_the_rest_is_read_with_more(house: Any) -> None:
    corpus = [house.document(n) for n in range(8)]
    whole = ScriptedLanguageModel(answer)
    indexer(house, whole).index(corpus)
    expected, calls = house.records(), len(whole.calls)
    house.indexer().delete("s", [one.external_id for one in corpus])
    _forget(house)

    def until(limit: int) -> ScriptedLanguageModel:
        paid = 0

        def script(call: ModelCall) -> Answer:
            nonlocal paid
            paid += 1
            if paid > limit:
                return BudgetSpent("no more", spent=1.0, cap=1.0)
            return answer(call)

        return ScriptedLanguageModel(script)

    poor = until(calls // 2)
    with pytest.raises(BudgetSpent):
        indexer(house, poor).index(corpus)
    rich = ScriptedLanguageModel(answer)
    report = indexer(house, rich).index(corpus)
    assert report.ok
    assert len(rich.calls) == calls - calls // 2, "nothing was paid for twice"
    assert house.records() == expected


def _forget(house: Any) -> None:
    """Empty the cache: what follows reads as if for the first time."""
    index = f"{house.prefix}-cache"
    house.es.indices.refresh(index=index)
    for hit in house.es.search(index=index, size=10_000, source=False)["hits"]["hits"]:
        house.es.delete(index=hit["_index"], id=hit["_id"])


class Killed(BaseException):
    """The process died."""


@pytest.mark.parametrize("seed", range(2))
def test_a_crash_costs_no_more_than_the_calls_under_way(house: Any, seed: int) -> None:
    corpus = [house.document(n, house.text(n, 4)) for n in range(6)]
    whole = ScriptedLanguageModel(answer)
    indexer(house, whole).index(corpus)
    expected = house.records()
    house.indexer().delete("s", [one.external_id for one in corpus])
    _forget(house)
    last = random.Random(seed).randrange(1, len(whole.calls))

    def dying(call: ModelCall) -> Answer:
        if len(mortal.calls) > last:
            raise Killed
        return answer(call)

    mortal = ScriptedLanguageModel(dying)
    with pytest.raises(Killed):
        indexer(house, mortal, lanes=2).index(corpus)
    again = ScriptedLanguageModel(answer)
    assert indexer(house, again).index(corpus).ok
    paid = Counter(call.id for call in (*mortal.calls, *again.calls))
    assert sum(paid.values()) - len(whole.calls) <= 2, "at most one more for each lane"
    assert house.records() == expected
    assert all(house.entry(one).status is DocumentStatus.INDEXED for one in corpus)
