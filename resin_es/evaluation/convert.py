"""Benchmark folders to records that ``resin-es index`` takes. No gold passes through here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from resin_es.errors import InputError
from resin_es.evaluation.datasets import EvalDocument, domain_folders, load_documents

_OWN = frozenset({"article_id", "title", "publication_date", "openalex_id"})
"""Fields of an article that become fields of the record itself."""
_LOCAL = frozenset({"abstract_path"})
"""Fields that mean something only where the data set was made."""


def convert_holisqa(domain_dir: Path) -> Iterator[dict[str, Any]]:
    """The articles of one HolisQA domain as records: id, title, text, metadata, url (at
    OpenAlex), updated_at (the publication date). Questions and gold are not read.

    Raises InputError where ``domain_dir`` is not one domain: ids repeat between domains, so
    each goes into a source of its own. Raises RecordError on a broken line.
    """
    folders = domain_folders(domain_dir)
    if folders != (domain_dir,):
        names = ", ".join(path.name for path in folders)
        raise InputError(
            f"{domain_dir} holds several domains ({names}), whose ids repeat.",
            hint=f"Name one of them, for example {folders[0]}.",
        )
    return (_record(document) for document in load_documents(domain_dir))


def _record(document: EvalDocument) -> dict[str, Any]:
    fields = document.record
    record: dict[str, Any] = {
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "metadata": {
            name: value
            for name, value in fields.items()
            if name not in _OWN | _LOCAL and value not in (None, "")
        },
    }
    if fields.get("openalex_id"):
        record["url"] = fields["openalex_id"]
    if fields.get("publication_date"):
        record["updated_at"] = f"{fields['publication_date']}T00:00:00Z"
    return record
