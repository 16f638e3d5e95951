"""The demo corpus: an invented city, Orvane, and questions that need two or more documents.

``documents.jsonl`` holds one record a line as ``resin-es index`` takes it (id, title, text,
metadata, access, url, updated_at); all of them are public. ``questions.jsonl`` holds id,
question, answer (reference), documents (ids that the answer needs), kinds (unit kinds that
carry it), note, facts (document id and verbatim quote, the gold evidence) and, on those that
``make demo`` asks, ``headline``. Questions, answers and facts are for people and tests: they
are never indexed.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def demo_documents_path() -> Path:
    """The file of the demo documents, as installed."""
    return _path("documents.jsonl")


def demo_questions_path() -> Path:
    """The file of the demo questions, as installed."""
    return _path("questions.jsonl")


def _path(name: str) -> Path:
    """resin-es installs unpacked, so a resource is a file of its own."""
    return Path(str(files(__name__) / name))


__all__ = ["demo_documents_path", "demo_questions_path"]
