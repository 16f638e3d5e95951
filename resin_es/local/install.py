"""Having the distribution, and a Java the node's user can reach, in the cache folder.

Both appear there in one step or not at all; a file lock keeps two processes from doing it twice.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path

from resin_es.errors import DownloadError, LocalNodeError
from resin_es.local.fetch import Opener, fetch
from resin_es.local.files import disk_errors, made_whole, make_folder, remove_scratch
from resin_es.local.java import JavaRuntime
from resin_es.local.locks import locked
from resin_es.local.settings import Progress
from resin_es.local.versions import Distribution


def installed(dist: Distribution, cache: Path, opener: Opener, progress: Progress) -> Path:
    """The unpacked distribution in ``cache``, fetched if it isn't there. Raises DownloadError."""
    home = cache / dist.folder
    if home.is_dir():
        return home
    with disk_errors(f"unpacking Elasticsearch {dist.version}", cache, DownloadError):
        make_folder(cache)
        with locked(cache / "cache.lock", "fetching Elasticsearch", progress):
            if not home.is_dir():
                remove_scratch(cache, home.name)
                archive = fetch(dist, cache / f"{dist.folder}.zip", opener, progress)
                _unpack(dist, archive, home, progress)
                archive.unlink()
    return home


def _unpack(dist: Distribution, archive: Path, home: Path, progress: Progress) -> None:
    description = f"Unpacking Elasticsearch {dist.version}"
    try:
        with zipfile.ZipFile(archive) as packed, made_whole(home) as scratch:
            entries = packed.infolist()
            for count, entry in enumerate(entries, start=1):
                written = Path(packed.extract(entry, scratch))
                executable = entry.is_dir() or (entry.external_attr >> 16) & 0o111
                written.chmod(0o755 if executable else 0o644)
                progress.update(count, len(entries), description)
            # The zip has one folder; its content is what `home` shall be.
            inner = scratch / dist.folder
            for child in list(inner.iterdir()):
                child.rename(scratch / child.name)
            inner.rmdir()
    except (zipfile.BadZipFile, EOFError) as error:
        archive.unlink()
        raise DownloadError(
            f"{archive} is damaged and was removed: {error}.",
            hint="Run the command again; the file is fetched anew.",
        ) from error


def readable_java(runtime: JavaRuntime, cache: Path, progress: Progress) -> Path:
    """The home of a copy of ``runtime`` in ``cache``, open to every user."""
    key = hashlib.sha256(f"{runtime.home.resolve()} {runtime.major}".encode()).hexdigest()[:12]
    target = cache / f"java-{runtime.major}-{key}"
    if target.is_dir():
        return target
    with disk_errors("a copy of the Java runtime", cache, LocalNodeError):
        make_folder(cache)
        with locked(cache / "cache.lock", "copying Java", progress):
            if not target.is_dir():
                remove_scratch(cache, target.name)
                progress.update(0, None, f"Copying Java {runtime.major}")
                _copy_tree(runtime.home, target)
    return target


def _copy_tree(source: Path, target: Path) -> None:
    with made_whole(target) as scratch:
        shutil.copytree(source, scratch, dirs_exist_ok=True, ignore_dangling_symlinks=True)
        for path in scratch.rglob("*"):
            mode = path.stat().st_mode
            path.chmod(0o755 if path.is_dir() or mode & 0o111 else 0o644)
        scratch.chmod(0o755)
