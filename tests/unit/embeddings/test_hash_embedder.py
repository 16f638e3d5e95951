"""The shipped fake: what tests of others may rely on."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.testing.hash_embedder import HashEmbedder

PROGRAM = (
    "from resin_es.testing.hash_embedder import HashEmbedder as H;"
    "print(H(16).embed(['the night bus']).tobytes().hex())"
)


def test_the_same_in_every_process() -> None:
    seeds = ("1", "2")
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert outputs == {HashEmbedder(16).embed(["the night bus"]).tobytes().hex() + "\n"}


def test_case_and_punctuation_do_not_matter_but_order_does_a_little() -> None:
    plain, loud, turned = HashEmbedder().embed(["night bus", "NIGHT, bus!", "bus night"])
    assert plain @ loud == pytest.approx(1)
    assert 0.5 < plain @ turned < 0.999


@given(st.text(), st.integers(1, 200))
def test_any_text_has_a_vector_of_length_one(text: str, dims: int) -> None:
    vectors = HashEmbedder(dims).embed([text])
    assert vectors.shape == (1, dims)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-5)


def test_dims_are_part_of_the_name() -> None:
    assert HashEmbedder(8).identity.name != HashEmbedder(9).identity.name
    with pytest.raises(ValueError, match="at least 1"):
        HashEmbedder(0)
