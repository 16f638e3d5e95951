"""Fetching the Elasticsearch distribution from Maven Central, checked against its pinned hash.

The file grows as ``….zip.part`` and gets its name only when the hash is right. An interrupted
download goes on where it stopped; a part that turns out wrong is thrown away and fetched anew.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from resin_es.errors import DownloadError
from resin_es.local.files import disk_errors, is_full
from resin_es.local.settings import Progress
from resin_es.local.versions import Distribution

_CHUNK = 256 * 1024
_ATTEMPTS = 4
#: Seconds to connect, and between two chunks.
_TIMEOUT_S = (15, 60)


class ConnectionLostError(Exception):
    """The connection failed; ``args[0]`` says how. What has arrived may be continued."""


@dataclass(frozen=True)
class Stream:
    """The bytes of the file from ``offset`` on (0 if the server did not agree to continue)."""

    offset: int
    chunks: Iterator[bytes]


#: Opens the distribution's zip at a byte offset. Raises ConnectionLostError.
Opener = Callable[[Distribution, int], AbstractContextManager[Stream]]


def maven_opener(repository: str | None = None) -> Opener:
    """An opener for ``repository``, or for the one that ``maven-artifact`` has as its default."""

    @contextmanager
    def opened(dist: Distribution, offset: int) -> Iterator[Stream]:
        try:
            import requests
            from maven_artifact import Artifact, Downloader

            from resin_es.local.trust import session
        except ImportError as error:
            raise DownloadError(
                f"Fetching Elasticsearch {dist.version} needs the Python package {error.name}.",
                hint="pip install 'resin-es[local]'",
            ) from error
        downloader = Downloader(repository) if repository else Downloader()
        url = downloader.resolver.uri_for_artifact(Artifact.parse(dist.coordinates))
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        try:
            with (
                session() as web,
                web.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer,
            ):
                answer.raise_for_status()
                start = offset if answer.status_code == 206 else 0
                yield Stream(start, answer.iter_content(_CHUNK))
        except requests.RequestException as error:
            raise ConnectionLostError(str(error)) from error

    return opened


def fetch(
    dist: Distribution, target: Path, opener: Opener, progress: Progress, *, pause_s: float = 1.0
) -> Path:
    """``target``, holding the zip of ``dist`` with the right hash.

    A file that stands there already (put there by hand, or by an earlier run) is used if its hash
    is right. Raises DownloadError: no connection, wrong hash twice, full disk.
    """
    part = target.with_name(target.name + ".part")
    with disk_errors(f"downloading Elasticsearch {dist.version}", target.parent, DownloadError):
        try:
            return _fetch(dist, target, part, opener, progress, pause_s)
        except OSError as problem:
            if is_full(problem):  # whoever needs the space shall have it back
                part.unlink(missing_ok=True)
            raise


def _fetch(
    dist: Distribution, target: Path, part: Path, opener: Opener, progress: Progress, pause_s: float
) -> Path:
    if target.exists():
        if sha256(target) == dist.sha256:
            return target
        target.replace(part)
    for fresh in (False, True):
        if fresh or (part.exists() and part.stat().st_size > dist.size):
            part.unlink(missing_ok=True)
        _complete(dist, part, opener, progress, pause_s)
        found = sha256(part)
        if found == dist.sha256:
            part.replace(target)
            return target
    part.unlink()
    raise DownloadError(
        f"What was downloaded as Elasticsearch {dist.version} is not what it should be: "
        f"its sha256 is {found}, expected {dist.sha256}. It was removed.",
        hint="A proxy may have put its own page in place of the file. Fetch the file by other "
        f"means, check it, and put it at {target}; or set RESIN_ES_URL to a cluster.",
    )


def _complete(
    dist: Distribution, part: Path, opener: Opener, progress: Progress, pause_s: float
) -> None:
    """Fetch what is missing of ``part``, in several attempts if the connection breaks."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _append(dist, part, opener, progress)
        except ConnectionLostError as error:
            if attempt == _ATTEMPTS:
                raise _unreachable(dist, part, error) from error
            time.sleep(pause_s * attempt)
        else:
            return


def _unreachable(dist: Distribution, part: Path, error: ConnectionLostError) -> DownloadError:
    return DownloadError(
        f"Elasticsearch {dist.version} could not be downloaded, in {_ATTEMPTS} attempts: {error}.",
        hint="Check the connection or the proxy settings (HTTPS_PROXY) and run the command again; "
        f"it goes on where it stopped. Or put the file at {part.with_suffix('')}, or set "
        "RESIN_ES_URL to a cluster.",
    )


def _append(dist: Distribution, part: Path, opener: Opener, progress: Progress) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have == dist.size:
        return
    description = f"Downloading Elasticsearch {dist.version}"
    with opener(dist, have) as stream, part.open("ab") as out:
        if stream.offset == 0:
            out.truncate(0)
        done = stream.offset
        progress.update(done, dist.size, description)
        for chunk in stream.chunks:
            out.write(chunk)
            done += len(chunk)
            if done > dist.size:
                break  # not our file: the hash will say so
            progress.update(done, dist.size, description)
    if done < dist.size:
        raise ConnectionLostError(f"the connection ended after {done:,} of {dist.size:,} bytes")


def sha256(path: Path) -> str:
    """Hex digest of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while piece := source.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
