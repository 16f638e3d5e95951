"""Evaluation sets to records that ``resin-es index`` takes. No gold passes through here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resin_es.errors import InputError
from resin_es.evaluation.datasets import dataset_format


def convert(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The documents of one data set of format ``name`` as records: id, title, text, and where
    known metadata, url and updated_at. Of questions only the paragraphs are read that come with
    them, where a format has its corpus there.

    Raises InputError where the format is unknown or ``folder`` holds several data sets (ids may
    repeat between them, so each goes into a source of its own), RecordError on a broken line.
    """
    known = dataset_format(name)
    found = known.find(folder)
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError(
            f"{folder} holds several domains ({names}), whose ids repeat."
            if name == "holisqa"
            else f"{folder} holds several data sets ({names}).",
            hint=f"Name one of them, for example {found[0]}.",
        )
    return (
        {
            "id": document.id,
            "title": document.title,
            "text": document.text,
            **known.index_fields(document),
        }
        for document in known.documents(found[0])
    )


def convert_holisqa(domain_dir: Path) -> Iterator[dict[str, Any]]:
    """``convert`` for one domain of HolisQA."""
    return convert("holisqa", domain_dir)
