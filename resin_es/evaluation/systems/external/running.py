"""Starting a runner in its own environment and watching it until it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from resin_es.errors import ModelError
from resin_es.evaluation.systems.external.jobs import KEY, Job, job_json, read_replies

if TYPE_CHECKING:
    from pydantic import SecretStr

    from resin_es.ports import Progress

RUNNERS = Path(__file__).parent / "runners"
POLL = 0.2
TAIL = 2000
"""Bytes at the end of the replies that are looked at for progress; its line is short."""
KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "SYSTEMROOT",
)
"""All that a runner inherits. Whatever else stands in our environment is not its business."""


class Limits:
    """``idle``: seconds without a sign of life (a reply or a line in the log) after which a
    runner is ended; ``total``: seconds that a whole job may take."""

    def __init__(self, idle: float = 900.0, total: float = 86_400.0) -> None:
        self.idle, self.total = idle, total


def run_job(
    python: Path,
    runner: str | Path,
    job: Job,
    key: SecretStr | None,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> None:
    """Run ``job`` to its end; its replies are then in ``job.replies``.

    ``python`` is the environment's interpreter, ``runner`` a script of ``runners`` or a path.
    The key is in the child's environment and nowhere else. Raises ModelError where the runner
    cannot start, fails as a whole or is silent for too long; what it replied stays.
    """
    replies = Path(job.replies)
    path, log = replies.with_suffix(".job.json"), replies.with_suffix(".log")
    try:
        replies.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(job_json(job), "utf-8")
        with log.open("ab") as output:
            process = subprocess.Popen(
                [str(python), "-I", str(RUNNERS / runner), str(path)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=child_environment(replies.parent, key),
                cwd=replies.parent,
                start_new_session=True,
            )
    except OSError as error:
        raise ModelError(f"The runner of {job.system} cannot start: {error}.") from error
    begun = replies.stat().st_size if replies.exists() else 0
    try:
        _watch(process, job, log, limits or Limits(), progress)
    finally:
        end_group(process)
    if process.returncode:
        raise ModelError(_why(job, log, process.returncode, begun))


def child_environment(home: Path, key: SecretStr | None) -> dict[str, str]:
    """What the child sees: ``KEPT``, a home of its own, no proxy for our own encoder, the key."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    kept |= {
        "HOME": str(home),
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    kept |= {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0"}
    return kept | ({KEY: key.get_secret_value()} if key else {})


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End ``process`` and what it started, should anything of it still run."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            process.kill()
    process.wait()


def _watch(
    process: subprocess.Popen[bytes],
    job: Job,
    log: Path,
    limits: Limits,
    progress: Progress | None,
) -> None:
    started = alive = time.monotonic()
    replies, sizes = Path(job.replies), (-1, -1)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL)
            return
        now, seen = time.monotonic(), (_size(replies), _size(log))
        if seen != sizes:
            sizes, alive = seen, now
            _tell(job, replies, progress)
        if now - alive > limits.idle:
            raise ModelError(f"{job.system} was silent for {limits.idle:g} s and was ended.")
        if now - started > limits.total:
            raise ModelError(f"{job.system} took longer than {limits.total:g} s and was ended.")


def _tell(job: Job, replies: Path, progress: Progress | None) -> None:
    if progress is None or not replies.exists():
        return
    last = read_replies(_text(replies, max(0, _size(replies) - TAIL)).splitlines()).progress
    if last is not None:
        progress.update(last.done, last.total, f"{job.system}: {last.stage}")


def _why(job: Job, log: Path, code: int, begun: int) -> str:
    fatal = read_replies(_text(Path(job.replies), begun).splitlines()).fatal
    lines = [line.strip() for line in _text(log, 0).splitlines() if line.strip()]
    said = fatal or (lines[-1][:300] if lines else "no output")
    return f"The runner of {job.system} ended with {code}: {said}"


def _text(path: Path, start: int) -> str:
    try:
        return path.read_bytes()[start:].decode("utf-8", "replace")
    except OSError:
        return ""


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0
