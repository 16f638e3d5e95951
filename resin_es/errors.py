"""Every error resin-es raises on purpose.

::

    ResinError                        exit 1   it went wrong while doing what was asked
    ├── UsageError                    exit 2   what was asked cannot be done; nothing was started
    │   ├── SettingsError                      a setting is missing, malformed or at odds
    │   ├── InputError                         a file, record, question or option is not acceptable
    │   │   ├── RecordError                    one record of an input; carries where it stood
    │   │   └── DocumentTooLarge               one document over RESIN_MAX_DOCUMENT_BYTES
    │   ├── FilterError                        unknown kind, filter field or metadata key
    │   ├── AccessError                        no principal, or a source without rights
    │   └── PlanError                          a plan handed in does not fit the plan model
    ├── StoreError                             Elasticsearch answered, but not as needed
    │   ├── StoreUnavailable                   it cannot be reached
    │   ├── StoreTimeout                       it did not answer in time, or answered in part only
    │   ├── StoreRefused                       it said no: authentication or missing privileges
    │   ├── StoreConflict                      a guarded write lost against a newer one
    │   ├── StoreRejected                      it turned a request or items down
    │   ├── StoreNotInstalled                  indices or templates are missing
    │   ├── ClientTooNew                       the client is newer than the server
    │   ├── GenerationGone                     the indices that were searched were replaced
    │   └── IndexMismatch                      the index was built by another model, dims or schema
    ├── ModelError                             an embedder or a language model failed
    │   ├── ModelUnavailable                   its package, weights, key or endpoint are not there
    │   └── BudgetSpent                        the cap on money is reached; finished work is kept
    ├── QueueUnavailable                       the broker of background work cannot be reached
    ├── ReadingError                           a document could not be read; names the stage
    └── LocalNodeError                         the local Elasticsearch node
        ├── DownloadError                      fetching or checking the distribution failed
        ├── JavaNotFound                       no Java fits
        ├── PortInUse                          something else listens on the port
        └── NodeStartError                     the node died, or did not become ready

A message says what was wrong and where; ``hint`` says what to do next. Foreign exceptions are
translated in adapters only, and kept as ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class ResinError(Exception):
    """Root of all errors raised on purpose.

    ``message`` says what was wrong and where, ``hint`` what to do about it (may be empty).
    """

    exit_code: int = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def to_dict(self) -> dict[str, Any]:
        """The error as the ``--json`` output shows it: type, message, hint."""
        return {"type": type(self).__name__, "message": self.message, "hint": self.hint}


class UsageError(ResinError):
    """What was asked cannot be done as asked; nothing was started."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is missing, malformed or contradicts another one."""


class InputError(UsageError):
    """A file, record, question or option is not acceptable."""


class RecordError(InputError):
    """One record of an input is not acceptable. ``where`` names file and line."""

    def __init__(self, message: str, *, where: str, hint: str = "") -> None:
        super().__init__(f"{where}: {message}", hint=hint)
        self.where = where
        self.reason = message


class DocumentTooLarge(InputError):
    """One document is over ``RESIN_MAX_DOCUMENT_BYTES``."""


class FilterError(UsageError):
    """A filter names a kind, field or metadata key that nothing has."""


class AccessError(UsageError):
    """No principal was named, or a source does not say who may read it."""


class PlanError(UsageError):
    """A plan handed in does not fit the plan model."""


class StoreError(ResinError):
    """Elasticsearch answered, but not as needed."""


class StoreUnavailable(StoreError):
    """Elasticsearch cannot be reached."""


class StoreTimeout(StoreError):
    """Elasticsearch did not answer in time, or answered only in part."""


class StoreRefused(StoreError):
    """Elasticsearch refused: authentication failed or a privilege is missing."""


class StoreConflict(StoreError):
    """A write guarded by ``if_seq_no`` lost against a newer one."""


class StoreRejected(StoreError):
    """Elasticsearch turned a request, or single items of a bulk request, down.

    ``reasons`` maps each reason to how many items it hit.
    """

    def __init__(
        self, message: str, *, hint: str = "", reasons: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.reasons: dict[str, int] = dict(reasons or {})


class StoreNotInstalled(StoreError):
    """Indices or aliases that resin-es needs are missing."""


class ClientTooNew(StoreError):
    """The installed client library is too new for the server's version."""


class GenerationGone(StoreError):
    """The generation of indices that was searched was replaced and dropped meanwhile: what was
    begun on it is to be begun again."""


class IndexMismatch(StoreError):
    """The index was built by another embedding model, other dims or another schema."""


class ModelError(ResinError):
    """An embedder or a language model failed. ``reply``: what the failed call cost all the same,
    a ModelReply; None where nothing was paid for."""

    reply: Any = None


class ModelUnavailable(ModelError):
    """A model's package, weights, key or endpoint are not there: every call would fail."""


class BudgetSpent(ModelError):
    """The cap on money is reached: no further call goes out; what is finished is kept."""

    def __init__(self, message: str, *, spent: float, cap: float, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.spent, self.cap = spent, cap


class QueueUnavailable(ResinError):
    """The broker of background work cannot be reached, or is set up wrongly."""


class ReadingError(ResinError):
    """A document could not be read. ``stage`` names the stage that failed."""

    def __init__(self, message: str, *, stage: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.stage = stage


class LocalNodeError(ResinError):
    """The local Elasticsearch node."""


class DownloadError(LocalNodeError):
    """Fetching or checking the Elasticsearch distribution failed."""


class JavaNotFound(LocalNodeError):
    """No Java was found that runs the wanted Elasticsearch version."""

    def __init__(self, message: str, *, tried: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tried = tuple(tried)


class PortInUse(LocalNodeError):
    """Something else listens on the node's port."""


class NodeStartError(LocalNodeError):
    """The node died while starting, or did not become ready in time."""
