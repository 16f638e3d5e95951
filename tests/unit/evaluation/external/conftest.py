from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from resin_es.evaluation.systems.external.environment import ExternalEnvironments
from resin_es.evaluation.systems.external.jobs import ModelEndpoint
from resin_es.evaluation.systems.external.packages import ExternalPackage, ExternalRow
from resin_es.evaluation.systems.external.running import Limits
from resin_es.evaluation.systems.external.systems import ExternalSetup, ExternalSystem
from resin_es.evaluation.values import EvalDocument, SourceSentence, Span
from resin_es.testing.hash_embedder import HashEmbedder

SECRET = "sk-not-for-any-file"
FAKE = ExternalPackage(
    name="fake",
    version="1.0",
    steps=(("fake==1.0",),),
    proof="import fake",
    runner=str(Path(__file__).parent / "fake_runner.py"),
    megabytes=1,
)
TEXTS = {
    "sea/kelp": ("Kelp", "Giant kelp grows fast. Urchins graze on kelp. Otters eat urchins."),
    "sea/otter": ("Otters", "Otters keep warm by fur. The “fur” is dense."),
    "land/moss": ("Moss", "Moss has no roots."),
}
QUESTIONS = ("what do otters eat", "what has no roots", "how does kelp grow")


def document(id: str, title: str, text: str) -> EvalDocument:
    places = [(match.start(), match.end()) for match in re.finditer(r"\S[^.]*\.", text)]
    return EvalDocument(
        id=id,
        title=title,
        text=text,
        sentences=tuple(
            SourceSentence(
                id=f"{id}:{number}",
                span=Span(document_id=id, start=start, end=end),
                text=text[start:end],
            )
            for number, (start, end) in enumerate(places)
        ),
    )


class ThisPython(ExternalEnvironments):
    """Every package is installed: in the Python of the tests."""

    def available(self, name: str) -> str:
        return ""

    def python(self, name: str) -> Path:
        return Path(sys.executable)


@pytest.fixture
def documents() -> tuple[EvalDocument, ...]:
    return tuple(document(id, title, text) for id, (title, text) in TEXTS.items())


@pytest.fixture
def make(tmp_path: Path, documents: tuple[EvalDocument, ...]) -> Callable[..., ExternalSystem]:
    """A row by the fake package: how it behaves, and what else of the setup is set."""

    def made(behave: str = "well", **changes: object) -> ExternalSystem:
        values: dict[str, object] = {
            "corpus": "sea",
            "documents": documents,
            "questions": QUESTIONS,
            "folder": tmp_path / "run",
            "model": ModelEndpoint(
                url="http://127.0.0.1:9/v1",
                model="m",
                key=SecretStr(SECRET),
                input_price=2.0,
                output_price=10.0,
            ),
            "embedder": HashEmbedder(8),
            "environments": ThisPython(tmp_path / "envs", packages={"fake": FAKE}),
            "limits": Limits(idle=20, total=40),
        }
        row = ExternalRow(
            name="fake", label="Fake", about="By rule.", package="fake", options={"behave": behave}
        )
        return ExternalSystem(row, ExternalSetup(**(values | changes)))

    return made
