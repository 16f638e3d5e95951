"""All five stages over the real SDK on the scripted Claude: what it says is of use, whichever way
the endpoint takes a schema, and what goes wrong there is as asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.anthropic.client import AnthropicModel
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.errors import ModelError
from resin_es.extract.read import Reading, read_document
from resin_es.llm.composer import ModelComposer
from resin_es.llm.planner import ModelPlanner
from resin_es.llm.reader import ModelReader
from resin_es.llm.solver import HopSolver
from resin_es.model import (
    UNIT_KINDS,
    Answer,
    Document,
    EvidenceBuffer,
    EvidencePassage,
    EvidenceSentence,
    ReasoningMode,
)
from resin_es.query.solving import SolverCandidate, SolverInput
from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import (
    BROKEN,
    EMPTY,
    NOT_JSON,
    OVERLOADED,
    REFUSED,
    SLOW_DOWN,
    ScriptedClaude,
    each_unit,
    truncated,
)
from resin_es.testing.scripted_language import MemoryCache

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

TEXT = (
    "The Harbour Line is a tram. Ostrel Works owns the Harbour Line. The Harbour Line carries "
    "nine cars. If snow falls, trams turn round at Mill Square. Trams stopped early because ice "
    "covered the rails. All trams need a rack rail."
)
DOCUMENT = Document(source="s", external_id="1", title="Trams", text=TEXT, access=("all",))
FORMS = {"schema": ("schema", "tool"), "tool": ("tool",), "prose": ()}


@contextmanager
def model_on(claude: ScriptedClaude, **options: Any) -> Iterator[AnthropicModel]:
    with ModelServer(claude) as server:
        key = SecretStr("sk-test")
        yield AnthropicModel(
            AnthropicOptions(key=key, url=server.url, timeout=10, retries=2, **options)
        )


def read(claude: ScriptedClaude, lanes: int = 2) -> Reading:
    with model_on(claude) as model:
        return read_document(DOCUMENT, ModelReader(model, MemoryCache(), name="m", lanes=lanes))


@pytest.mark.parametrize("form", FORMS)
def test_units_of_all_six_kinds_are_accepted(form: str) -> None:
    reading = read(ScriptedClaude(forms=FORMS[form]))
    assert {unit.kind for unit in reading.new_units} == set(UNIT_KINDS)
    assert len(reading.new_units) == len(reading.sentences) == 6
    assert (dict(reading.rejected), reading.failures, reading.repairs) == ({}, (), 0)
    assert dict(reading.faults) == {}
    assert [len(one.sentence_ids) for one in reading.passages] == [3, 3]


@pytest.mark.parametrize(("form", "extra"), [("schema", 0), ("tool", 1), ("prose", 2)])
def test_an_endpoint_is_found_out_once(form: str, extra: int) -> None:
    claude = ScriptedClaude(forms=FORMS[form])
    read(claude)
    # both stages speak to one model, so only its very first call tries the ways it ignores
    assert claude.calls == {"passages": 1 + extra, "units": 2}


PLANS = {
    "What is the Harbour Line?": (ReasoningMode.SINGLE, 1),
    "Why did Trams stop and Who owns Ostrel Works?": (ReasoningMode.PARALLEL, 2),
    "Is Bus 7 or Bus 14 cheaper?": (ReasoningMode.COMPARISON, 2),
    "Who owns the line that serves Mill Square?": (ReasoningMode.CHAIN, 2),
}


@pytest.mark.parametrize("question", PLANS)
def test_plans_of_every_mode_are_accepted(question: str) -> None:
    with model_on(ScriptedClaude()) as model:
        plan = ModelPlanner(model, name="m").plan(question, 4)
    mode, hops = PLANS[question]
    assert (plan.mode, len(plan.hops), plan.fallback, plan.notes) == (mode, hops, "", ())
    assert plan.hops[-1].depends_on == (("h1",) if mode == ReasoningMode.CHAIN else ())


def buffer(*texts: str) -> EvidenceBuffer:
    sentences = tuple(
        EvidenceSentence(id=f"s{n}", start=n, end=n + 1, text=text) for n, text in enumerate(texts)
    )
    passage = EvidencePassage(
        passage_id="p", document_key="k", document_id="d", source="s", title="Trams",
        text=" ".join(texts), sentences=sentences, tokens=9,
    )  # fmt: skip
    return EvidenceBuffer(passages=(passage,), budget=99, tokens=9)


EVIDENCE = buffer("Trams stopped early because ice covered the rails.", "Ostrel Works is old.")


def test_an_answer_cites_the_sentence_that_holds_it() -> None:
    with model_on(ScriptedClaude()) as model:
        composer = ModelComposer(model, name="m")
        answer = composer.compose("Who is Ostrel?", EVIDENCE)
        pieces = list(composer.stream("Who is Ostrel?", EVIDENCE))
        missing = composer.compose("How fast are ferries?", EVIDENCE)
    assert [one.quote for one in answer.citations] == ["Ostrel Works is old."]
    assert isinstance(pieces[-1], Answer)
    assert pieces[-1].citations == answer.citations
    assert len(pieces) > 3
    assert not missing.found
    assert missing.missing == ("How fast are ferries?",)


def test_a_hop_is_solved_from_the_record_that_holds_it() -> None:
    candidates = [SolverCandidate(kinds=("relation",), text=t) for t in ("A ferry.", "Ice is old.")]
    item = SolverInput(number=1, subquestion="What of the ferry?", candidates=tuple(candidates))
    with model_on(ScriptedClaude()) as model:
        told = HopSolver(model, name="m").solve(item)
    assert (told.found, told.records) == (True, (0,))


@pytest.mark.parametrize("passing", [OVERLOADED, BROKEN, SLOW_DOWN])
def test_what_passes_is_asked_again(passing: Any) -> None:
    claude = ScriptedClaude(faults={("units", 1): passing})
    reading = read(claude)
    assert len(reading.new_units) == 6
    assert claude.calls["units"] == 3
    assert claude.asked_twice() == {}


@pytest.mark.parametrize(("fault", "calls"), [(REFUSED, 1), (EMPTY, 1), (NOT_JSON, 3)])
def test_a_bad_answer_costs_its_own_passage_alone(fault: Any, calls: int) -> None:
    """What is no JSON is asked for by a tool, then in words, before the passage is given up."""
    faults = {("units", n): fault for n in range(1, calls + 1)}
    reading = read(ScriptedClaude(faults=faults), lanes=1)
    assert len(reading.failed_passage_ids) == 1
    assert len(reading.new_units) == 3


def test_a_foreign_quote_is_a_counted_reject() -> None:
    change = each_unit(quote="The moon is made of cheese.")
    reading = read(ScriptedClaude(faults={("units", 1): change}))
    assert dict(reading.rejected) == {"quote-not-found": 3}
    assert len(reading.new_units) == 3


def test_what_is_cut_off_is_asked_in_parts() -> None:
    claude = ScriptedClaude(faults={("units", 1): truncated})
    reading = read(claude)
    assert len(reading.new_units) == 6
    assert claude.calls["units"] == 4


def test_a_request_that_is_not_resins_is_refused() -> None:
    with ModelServer(ScriptedClaude()) as server:
        from resin_es.adapters.text_model import AnthropicTextModel

        model = AnthropicTextModel(
            "m", SecretStr("k"), url=server.url, timeout=5, retries=0, prices={}
        )
        with pytest.raises(ModelError, match="no system prompt of resin-es"):
            model.complete("Something else.", "Hello", 10)
