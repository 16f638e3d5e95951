"""A reader that does what a document's text tells it to: fall dead, hang, say something else."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from resin_es.model import EntityFact, ReaderIdentity, UnitDraft
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading
from resin_es.testing.scripted import ScriptedReader, one_unit_per_sentence

FOLDER = "RESIN_TEST_READINGS"
"""Environment variable: a folder where every reading call is noted, by document."""

DEADLY = "This record kills its worker."
HANGS = re.compile(r"The first look at this record takes (\d+) seconds\.")
LATE = "said too late"


class MarkedReader:
    """A scripted reader for worker processes. Texts with :data:`DEADLY` end the process as the
    kernel does; those that match :data:`HANGS` block it once, and what it then says is
    recognizable. Every call is one line in ``calls``."""

    lanes = 1

    def __init__(self) -> None:
        self._inner = ScriptedReader(languages=None)
        self.identity: ReaderIdentity = self._inner.identity
        folder = os.environ.get(FOLDER)
        self._folder = Path(folder) if folder else None

    def languages(self) -> frozenset[str] | None:
        return self._inner.languages()

    def passages(self, window: ReadingWindow) -> PassageReading:
        self._note("passages", window.title)
        return self._inner.passages(window)

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        return [self._units(item) for item in passages]

    def _units(self, item: PassageInput) -> UnitReading:
        text = " ".join(sentence.text for sentence in item.sentences)
        self._note("units", text[:60])
        if DEADLY in text:
            os.kill(os.getpid(), signal.SIGKILL)
        hangs = HANGS.search(text)
        if hangs and self._first("hung"):
            time.sleep(int(hangs[1]))
            self._first("spoken")
            return UnitReading(drafts=(late(item),))
        return one_unit_per_sentence(item)

    def _first(self, name: str) -> bool:
        """Whether this is the first process to ask; its id is noted."""
        if self._folder is None:
            return False
        try:
            with (self._folder / name).open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True

    def _note(self, stage: str, what: str) -> None:
        if self._folder is None:
            return
        # one write to a file opened for appending: lines of several processes do not mix
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = os.open(self._folder / "calls", flags, 0o644)
        try:
            os.write(file, f"{stage}\t{what}\n".encode())
        finally:
            os.close(file)


def late(item: PassageInput) -> UnitDraft:
    """What a reader says that was away too long."""
    first = item.sentences[0]
    words = first.text.split()
    claim = EntityFact(subject=words[0], surface_predicate=LATE, object=words[1])
    return UnitDraft(claim=claim, quote=first.text, sentence_ids=(first.id,))


def calls(folder: Path) -> list[str]:
    """Every reading call so far."""
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []
