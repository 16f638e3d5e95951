"""The data set into indices of its own, under a prefix where nothing else is touched.

Every data set has its own prefix: the statistics that BM25 rests on and the vector graph are then
those of its documents alone, whatever else was measured on the same cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from resin_es._version import __version__
from resin_es.bootstrap.services import Services
from resin_es.evaluation.values import EvalDataset
from resin_es.index.multilingual import META
from resin_es.model import EVERYONE, Document, Principal
from resin_es.model.base import content_id
from resin_es.ports import Progress
from resin_es.query.pinned import pinned, second_encoder
from resin_es.settings import Settings

READER_OF_ROWS = Principal()
"""Evaluation documents are public: whoever asks may read them."""


SOURCE = "evaluation"
"""The one source under a data set's prefix."""

NAME = 40
"""Longest part of an index name that a data set's name may take."""


def evaluation_services(services: Services, prefix: str) -> Services:
    """Services on the indices of one data set, laid out if need be. Raises StoreError."""
    own = services.under(prefix, traces=False)
    own.ensure_installed(anywhere=True)
    return own


def root_of(settings: Settings) -> str:
    """First part of the names of everything that evaluations make."""
    return f"{settings.prefix}-eval"


def prefix_of(settings: Settings, dataset: EvalDataset, format_name: str, data: Path) -> str:
    """Where a data set is indexed. The name tells slices of the same set apart, since an index
    over fewer documents is another corpus, and sets of one name in two folders, which would
    overwrite each other."""
    name = format_name if dataset.name == format_name else f"{format_name}-{dataset.name}"
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:NAME] or "set"
    place = content_id("data", str(data.resolve()), format_name, dataset.name, length=8)
    return f"{root_of(settings)}-{slug}-{len(dataset.documents)}-{place}"


def index_dataset(
    services: Services,
    dataset: EvalDataset,
    progress: Progress | None,
    say: Callable[[str], None],
) -> None:
    """Index what changed, then merge segments, so that a run gives the same figures twice.

    Raises StoreError, ModelError.
    """
    from resin_es.adapters.elasticsearch.corpus import merge_families
    from resin_es.bootstrap.stages import store_settings

    services.ready_to_read()
    report = services.indexer.index(
        (_document(one.id, one.title, one.text) for one in dataset.documents),
        progress=progress,
        total=len(dataset.documents),
    )
    say(
        f"{dataset.name}: {report.documents} documents, {report.units} units read in "
        f"{report.seconds:.0f} s"
    )
    merge_families(services.client, store_settings(services.settings))


def _document(external_id: str, title: str, text: str) -> Document:
    return Document(
        source=SOURCE, external_id=external_id, title=title, text=text, access=(EVERYONE,)
    )


def facts(services: Services, dataset: EvalDataset) -> dict[str, str]:
    """What the run stands on, for the report and for telling whether findings still hold."""
    counts = services.store.kind_counts(READER_OF_ROWS, (SOURCE,))
    told = {
        "resin-es": __version__,
        "embedder": services.embedder.identity.name,
        "runtime": services.embedder.identity.runtime,
        "multilingual": _second(services),
        "reader": _identity(services.reader.identity),
        "planner": _identity(services.planner.identity),
        "composer": _identity(services.composer.identity),
        "documents": f"{len(dataset.documents):,}",
        "units": f"{sum(n for kind, n in counts.items() if kind != 'sentence'):,}",
        "sentences": f"{counts.get('sentence', 0):,}",
        "client": f"elasticsearch {version('elasticsearch')}",
    }
    return {name: value for name, value in told.items() if value}


def _second(services: Services) -> str:
    """The encoder of what the index holds in other languages; what to do where it could have
    one and was built before there was any."""
    store, _ = pinned(services.store, services.embedder)
    found = second_encoder(store, READER_OF_ROWS)
    if found is not None:
        return found.identity.name
    if services.second is None or services.rebuild().status().old.get(META):
        return ""
    prefix = services.settings.prefix
    return f"none: the index is older (RESIN_PREFIX={prefix} resin-es rebuild adds it)"


def _identity(identity: object) -> str:
    model = getattr(identity, "model", "")
    return f"{model}/{getattr(identity, 'prompt_version', '')}"
