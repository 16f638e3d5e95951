"""What all runners share: the job, the replies, the counting. Standard library alone."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class Spend:
    """Model calls and tokens; over the limit the process ends at once, whoever catches what.

    Some packages swallow a failed call and go on with nothing, which would pass for a weak
    result. ``lost`` tells of these.
    """

    def __init__(self, job: Job, limit: int) -> None:
        self.calls = self.input_tokens = self.output_tokens = 0
        self._job, self._limit, self._lock = job, limit, threading.Lock()
        self._lost: dict[str, str] = {}

    def returned(self, messages: object, usage: Any) -> None:
        """A call came back; ``usage`` as the OpenAI protocol has it, or None."""
        with self._lock:
            self._lost.pop(repr(messages), None)
        self.add(getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0))

    def failed(self, messages: object, error: BaseException) -> None:
        """A call failed. Packages may try it again, or go on without its answer."""
        with self._lock:
            self._lost[repr(messages)] = shown(error, self._job)

    def lost(self) -> list[str]:
        """Why calls failed that never came back since this was last asked."""
        with self._lock:
            reasons, self._lost = list(self._lost.values()), {}
        return reasons

    def add(self, input_tokens: int | None, output_tokens: int | None) -> None:
        with self._lock:
            self.calls += 1
            self.input_tokens += input_tokens or 0
            self.output_tokens += output_tokens or 0
            total = self.input_tokens + self.output_tokens
        if self._limit and total > self._limit:
            self._job.fatal(f"{total} model tokens were spent, over the limit of {self._limit}.")

    def add_usage(self, usage: dict[str, Any]) -> None:
        """As LightRAG calls its token tracker."""
        self.add(usage.get("prompt_tokens"), usage.get("completion_tokens"))

    def now(self) -> tuple[int, int, int]:
        return self.calls, self.input_tokens, self.output_tokens


class Job:
    """The job file named on the command line, and the file of replies."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        self.documents: list[dict[str, str]] = job["documents"]
        self.questions: list[dict[str, str]] = job["questions"]
        self.model: dict[str, str] = job["model"]
        self.embeddings: dict[str, Any] = job["embeddings"]
        self.options: dict[str, str] = job["options"]
        self.answers: bool = job["answers"]
        self.work = Path(job["work"])
        self.work.mkdir(parents=True, exist_ok=True)
        # taken out of the environment, so that no package finds it there unasked
        self.key = os.environ.pop("RESIN_EXTERNAL_KEY", "") or "none"
        self._replies = Path(job["replies"])
        self._lock = threading.Lock()
        self.spend = Spend(self, int(job["max_tokens"]))
        threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()

    def open_questions(self) -> list[dict[str, str]]:
        """Questions that no earlier run of the job answered."""
        done = {reply["question"] for reply in self._lines() if reply.get("kind") == "answered"}
        return [question for question in self.questions if question["id"] not in done]

    def replied(self, kind: str) -> bool:
        """Whether any run of the job has said so before."""
        return any(reply.get("kind") == kind for reply in self._lines())

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self._replies.exists():
            return
        with self._replies.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with suppress(ValueError):  # half a line of a run that was broken off
                    yield json.loads(line)

    def reply(self, kind: str, **fields: Any) -> None:
        """Append one line. Where a broken run left half a line, it is ended first."""
        line = json.dumps({"kind": kind, **fields}, ensure_ascii=True)
        with self._lock, self._replies.open("ab+") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(line.encode() + b"\n")
            file.flush()

    def require_all(self) -> None:
        """Raises RuntimeError where a call of the question failed and the package hid it."""
        if reasons := self.spend.lost():
            raise RuntimeError(f"{len(reasons)} model calls failed: {reasons[0]}")

    def progress(self, done: int, total: int, stage: str) -> None:
        self.reply("progress", done=done, total=total, stage=stage)

    def fatal(self, reason: str) -> None:
        """Say why the whole job cannot be done, and end the process."""
        self.reply("failed", reason=reason)
        sys.stderr.write(reason + "\n")
        sys.stderr.flush()
        os._exit(3)

    @contextmanager
    def measured(self) -> Iterator[dict[str, Any]]:
        """A dict that holds seconds, calls and tokens of the block when it has ended."""
        before, started = self.spend.now(), time.perf_counter()
        cost: dict[str, Any] = {}
        try:
            yield cost
        finally:
            names = ("calls", "input_tokens", "output_tokens")
            after = self.spend.now()
            cost.update({name: new - old for name, new, old in zip(names, after, before)})  # noqa: B905
            cost["seconds"] = time.perf_counter() - started


def end_with(parent: int) -> None:
    """End this process soon after its parent: nobody would read what it goes on paying for."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(4)


def shown(error: BaseException, job: Job) -> str:
    """An error in one line, without the key that it might quote. One that says nothing tells
    where it was raised."""
    said = str(error)
    if not said and error.__traceback__ is not None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        said = f"in {frame.name}, {Path(frame.filename).name} line {frame.lineno}"
    text = " ".join(f"{type(error).__name__}: {said}".split())[:400]
    return text.replace(job.key, "********") if job.key != "none" else text


class FourCharacters:
    """Tokens of four characters, the yardstick of the evaluation; exact both ways, and no
    vocabulary to download. A token is its own characters, as one number."""

    def encode(self, content: str) -> list[int]:
        pieces = (content[at : at + 4] for at in range(0, len(content), 4))
        return [self._number(piece) for piece in pieces]

    def decode(self, tokens: list[int]) -> str:
        return "".join(self._piece(token) for token in tokens)

    @staticmethod
    def _number(piece: str) -> int:
        return int.from_bytes(b"\x01" + piece.encode("utf-32-be", "surrogatepass"), "big")

    @staticmethod
    def _piece(token: int) -> str:
        raw = token.to_bytes((token.bit_length() + 7) // 8, "big")[1:]
        return raw.decode("utf-32-be", "surrogatepass")
