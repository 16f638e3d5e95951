"""What every Embedder must do. Subclass it, and give it an ``embedder`` fixture.

::

    class TestMyEmbedder(EmbedderContract):
        @pytest.fixture
        def embedder(self) -> Embedder: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from resin_es.ports import Embedder

if TYPE_CHECKING:
    from resin_es.ports import Vectors

TEXTS = (
    "The night bus to the harbour leaves at a quarter past one.",
    "The night bus to the harbour runs late when it snows.",
    "Vaccines train the immune system.",
    "Trams.",
    "",
    " ",
    "?!",
    "港口的夜班车一点一刻出发。",
    "🚋🚌 naïve café",
    "a broken \ud800 surrogate",
    "and\0nothing\x1f\u200b",
    "The fare is two crowns for every zone that the ride crosses. " * 40,
)
"""Short, long, empty, unreadable and foreign, in one batch."""

TOLERANCE = 1e-3
"""How far a component may move with the company a text is embedded in."""


class EmbedderContract:
    """Contract suite of ``ports.Embedder``.

    ``margin``: how much nearer (cosine) a text on the same theme has to be than one on another. An
    encoder whose vectors all point much the same way, as some are trained to, sets less.
    """

    margin = 0.2

    def test_shape_type_and_length(self, embedder: Embedder) -> None:
        import numpy as np

        vectors = embedder.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.identity.dims)
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)

    def test_identity_names_model_dims_and_runtime(self, embedder: Embedder) -> None:
        identity = embedder.identity
        assert identity.name
        assert identity.dims > 0
        assert identity.runtime
        assert embedder.identity == identity

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.identity.dims)

    def test_questions_have_vectors_of_the_same_space(self, embedder: Embedder) -> None:
        import numpy as np

        questions = embedder.embed_queries(TEXTS)
        assert questions.shape == (len(TEXTS), embedder.identity.dims)
        assert questions.dtype == np.float32
        assert np.allclose(np.linalg.norm(questions, axis=1), 1, atol=1e-4)
        passages = embedder.embed(TEXTS[:3])
        assert int((passages @ questions[0]).argmax()) == 0
        assert embedder.embed_queries([]).shape == (0, embedder.identity.dims)

    def test_rows_belong_to_their_texts(self, embedder: Embedder) -> None:
        forward = embedder.embed(TEXTS)
        backward = embedder.embed(TEXTS[::-1])
        assert _distance(forward, backward[::-1]) < TOLERANCE
        assert _distance(forward[:1], forward[2:3]) > 0.01

    def test_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        together = embedder.embed(TEXTS)
        for row, text in enumerate(TEXTS):
            assert _distance(embedder.embed([text]), together[row : row + 1]) < TOLERANCE

    def test_the_same_call_gives_the_same_bytes(self, embedder: Embedder) -> None:
        assert embedder.embed(TEXTS[:4]).tobytes() == embedder.embed(TEXTS[:4]).tobytes()

    def test_shared_words_are_nearer_than_none(self, embedder: Embedder) -> None:
        first, second, other = embedder.embed(TEXTS[:3])
        assert first @ second > first @ other + self.margin

    def test_a_very_long_text(self, embedder: Embedder) -> None:
        vectors = embedder.embed(["x" * 20_000, "harbour night bus " * 1_200])
        assert vectors.shape == (2, embedder.identity.dims)


def _distance(first: Vectors, second: Vectors) -> float:
    return float(abs(first - second).max())
