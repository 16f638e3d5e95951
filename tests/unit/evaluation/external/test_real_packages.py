"""The real packages, each in its own environment, against a model whose answers are scripted.

Installing them takes minutes and up to 1.5 GB each, so this runs by hand alone:
``RESIN_TEST_EXTERNAL=FOLDER`` names where the environments are or are to be made.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from resin_es.evaluation.systems.external.environment import ExternalEnvironments
from resin_es.evaluation.systems.external.jobs import ModelEndpoint
from resin_es.evaluation.systems.external.systems import ExternalSetup, external_systems
from resin_es.evaluation.values import EvalDocument
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.model_server import Asked, ModelServer, Reply, openai_says

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("RESIN_TEST_EXTERNAL"), reason="needs RESIN_TEST_EXTERNAL=FOLDER"
    ),
]
KEY = "sk-only-for-the-child"
QUESTIONS = ("How do otters protect kelp?", "What has no roots?")
WORDS = {"Giant Kelp": "kelp", "Sea Urchin": "urchin", "Sea Otter": "otter", "Moss": "moss"}


def named(text: str) -> list[str]:
    return [name for name, word in WORDS.items() if word in text.lower()]


def lightrag(text: str, last: str) -> str:
    if "keyword extractor" in text:
        return json.dumps({"high_level_keywords": ["food"], "low_level_keywords": named(last)})
    names = named(text.rsplit("Input Text---", 1)[-1])
    rows = [f"entity<|#|>{name}<|#|>creature<|#|>{name} lives." for name in names]
    rows += [
        f"relation<|#|>{a}<|#|>{b}<|#|>food<|#|>{a} feeds {b}."
        for a, b in itertools.pairwise(names)
    ]
    return "\n".join([*rows, "<|COMPLETE|>"])


def graphrag(text: str, last: str) -> str:
    if "impact severity" in text.lower():
        finding = {"summary": "Grazing", "explanation": "Urchins graze [Data: Entities (1)]."}
        report = {"title": "Kelp", "summary": "Otters eat urchins.", "rating": 7.0}
        return json.dumps(report | {"rating_explanation": "So.", "findings": [finding]})
    if '"points"' in text:
        points = [("Urchins graze kelp.", 60), ("Otters keep urchins few.", 90), ("Nothing.", 0)]
        return json.dumps({"points": [{"description": d, "score": s} for d, s in points]})
    if "entity_types" in text.lower():
        names = [name.upper() for name in named(text.rsplit("Real Data", 1)[-1])]
        rows = [f'("entity"<|>{name}<|>PERSON<|>{name} lives.)' for name in names]
        rows += [
            f'("relationship"<|>{a}<|>{b}<|>{a} feeds {b}<|>7)'
            for a, b in itertools.pairwise(names)
        ]
        return "\n##\n".join(rows) + "\n<|COMPLETE|>"
    return "N"


def hipporag(text: str, last: str) -> str:
    if "fact_before_filter" in last:
        facts = last.split("[[ ## fact_before_filter ## ]]")[1].split("Respond with")[0].strip()
        return f"[[ ## fact_after_filter ## ]]\n{facts}\n\n[[ ## completed ## ]]"
    names = [name.lower() for name in named(last)]
    if "triple list" in last:
        pairs = itertools.pairwise(names)
        traits = [[names[-1], f"has trait {n}", f"trait {n} of {names[0]}"] for n in range(4)]
        return json.dumps({"triples": [*([a, "feeds", b] for a, b in pairs), *traits]})
    return json.dumps({"named_entities": names})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lightrag", lightrag),
        ("graphrag-local", graphrag),
        ("graphrag-global", graphrag),
        ("hipporag2", hipporag),
    ],
)
def test_the_package_indexes_and_finds(
    name: str,
    says: Callable[[str, str], str],
    documents: tuple[EvalDocument, ...],
    tmp_path: Path,
) -> None:
    def script(asked: Asked) -> Reply:
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        texts = [str(message["content"]) for message in asked.body["messages"]]
        return openai_says(says("\n".join(texts), texts[-1]))

    with ModelServer(script) as server:
        setup = ExternalSetup(
            corpus="sea",
            documents=documents,
            questions=QUESTIONS,
            folder=tmp_path / "run",
            model=ModelEndpoint(url=f"{server.url}/v1", model="scripted", key=SecretStr(KEY)),
            embedder=HashEmbedder(),
            environments=ExternalEnvironments(Path(os.environ["RESIN_TEST_EXTERNAL"])),
            install=True,
        )
        (row,) = external_systems(setup, [name])
        assert row.prepare() == ""
        calls = len(server.asked)
        (again,) = external_systems(setup, [name])
        assert again.prepare() == ""
        assert len(server.asked) == calls
    evidence = row.evidence(QUESTIONS[0], 500)
    if name == "graphrag-global":
        assert evidence.text == "Otters keep urchins few.\n\nUrchins graze kelp."
    else:
        assert "sea/kelp" in {passage.document_id for passage in evidence.passages}
        assert row.facts()[f"{name} chunks found in no document"] == "0"
    assert row.indexing().calls > 0
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path
