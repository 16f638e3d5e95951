"""One log line for every attempt at a document and how it failed: id, attempt, state.

Silent where nobody set logging up: a library writes to nobody's terminal unasked.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from resin_es.model import DocumentStatus, RegistryEntry

logger = logging.getLogger("resin_es.documents")
logger.addHandler(logging.NullHandler())


def taken(task: str, entries: Sequence[RegistryEntry]) -> None:
    """Work begins: the attempt that begins is told, not those before."""
    for entry in entries:
        fields = _fields(entry) | {"task": task, "attempt": entry.attempts + 1}
        logger.info("document taken", extra=fields)


def failed(entries: Sequence[RegistryEntry]) -> None:
    """An attempt failed: the document waits for another, or is a dead letter."""
    for entry in entries:
        dead = entry.status is DocumentStatus.FAILED
        error = entry.error
        fields = _fields(entry) | {
            "attempt": entry.attempts,
            "status": entry.status.value,
            "error": error.type if error else "",
        }
        logger.log(
            logging.ERROR if dead else logging.WARNING,
            "document failed%s: %s",
            " for the last time" if dead else "",
            error.message if error else "no reason was kept",
            extra=fields,
        )


def _fields(entry: RegistryEntry) -> dict[str, object]:
    return {"source": entry.source, "document": entry.external_id}
