"""One Protocol per outside thing. Adapters implement them; ``bootstrap`` chooses."""

from typing import TYPE_CHECKING

from resin_es.ports.language import (
    BatchBook,
    BatchItem,
    BatchModel,
    BatchRecord,
    BatchState,
    BatchStatus,
    LanguageModel,
    Ledger,
    ModelCall,
    ModelReply,
    OutputCache,
    RateLimiter,
    Spend,
    Usage,
)
from resin_es.ports.progress import DocumentSource, Progress
from resin_es.ports.stages import (
    Composer,
    Embedder,
    ModelIdentity,
    PassageInput,
    PassageReading,
    Planner,
    Reader,
    ReadingWindow,
    UnitReading,
    UnreadSpan,
)
from resin_es.ports.store import (
    AddressRecord,
    BulkReport,
    FetchedEvidence,
    GenerationalStore,
    MultilingualStore,
    RecordRef,
    SearchHit,
    SearchResponse,
    StoredEntry,
    UnitStore,
)
from resin_es.ports.text import Completion, TextModel

if TYPE_CHECKING:
    from resin_es.ports.stages import Vectors

__all__ = [
    "AddressRecord",
    "BatchBook",
    "BatchItem",
    "BatchModel",
    "BatchRecord",
    "BatchState",
    "BatchStatus",
    "BulkReport",
    "Completion",
    "Composer",
    "DocumentSource",
    "Embedder",
    "FetchedEvidence",
    "GenerationalStore",
    "LanguageModel",
    "Ledger",
    "ModelCall",
    "ModelIdentity",
    "ModelReply",
    "MultilingualStore",
    "OutputCache",
    "PassageInput",
    "PassageReading",
    "Planner",
    "Progress",
    "RateLimiter",
    "Reader",
    "ReadingWindow",
    "RecordRef",
    "SearchHit",
    "SearchResponse",
    "Spend",
    "StoredEntry",
    "TextModel",
    "UnitReading",
    "UnitStore",
    "UnreadSpan",
    "Usage",
    "Vectors",
]
