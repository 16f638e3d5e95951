"""The packaged multilingual encoder: the embedder contract, its name, and what it is there for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from resin_es.adapters.multilingual import IDENTITY, MultilingualE5, folder, installed
from resin_es.adapters.onnx import OnnxEmbedder
from resin_es.testing.embedder_contract import EmbedderContract
from tests.conftest import missing

if TYPE_CHECKING:
    from resin_es.ports import Embedder


@pytest.fixture(scope="module")
def packaged() -> Embedder:
    if not installed():
        missing(f"resin-es[multilingual]: {', '.join(folder.lacking())}")
    return MultilingualE5()


class TestMultilingualE5(EmbedderContract):
    margin = 0.15  # E5's cosines lie between .7 and 1

    @pytest.fixture
    def embedder(self, packaged: Embedder) -> Embedder:
        return packaged


def test_the_identity_is_what_the_built_folder_says(packaged: Embedder) -> None:
    """Also where the folder is named as a model of one's own."""
    assert packaged.embed(["ready?"]).shape == (1, IDENTITY.dims)
    assert packaged.identity == IDENTITY == OnnxEmbedder(folder.ready()).identity


def test_other_languages_stand_beside_what_they_say(packaged: Embedder) -> None:
    passages = packaged.embed(
        [
            "Der Nachtbus zum Hafen fährt um Viertel nach eins.",
            "Impfungen schulen das Immunsystem.",
            "La cathédrale a été bâtie au treizième siècle.",
            "细胞从葡萄糖中获得能量。",
        ]
    )
    questions = packaged.embed_queries(
        [
            "When does the bus to the harbour leave at night?",
            "What do vaccines do to the body's defences?",
            "In which century was the church built?",
            "Where do cells get their energy from?",
        ]
    )
    assert list((questions @ passages.T).argmax(axis=1)) == [0, 1, 2, 3]
