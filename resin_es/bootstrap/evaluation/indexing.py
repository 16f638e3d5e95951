"""The data set into the product's own index, under a prefix where nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from resin_es._version import __version__
from resin_es.bootstrap.services import Services
from resin_es.evaluation.values import EvalDataset
from resin_es.model import EVERYONE, Document, Principal
from resin_es.model.base import content_id
from resin_es.ports import Progress
from resin_es.settings import Settings

READER_OF_ROWS = Principal()
"""Evaluation documents are public: whoever asks may read them."""


def evaluation_services(settings: Settings, progress: Progress | None) -> Services:
    """Services on indices of their own. Raises StoreError."""
    changed = settings.model_copy(update={"prefix": f"{settings.prefix}-eval", "traces": False})
    services = Services(changed, progress=progress)
    services.ensure_installed(anywhere=True)
    return services


def source_of(dataset: EvalDataset, format_name: str, data: Path) -> str:
    """The source that a data set's documents stand in. It tells slices of the same set apart,
    since an index over fewer documents is another corpus, and sets of one name in two folders,
    which would overwrite each other."""
    name = format_name if dataset.name == format_name else f"{format_name}-{dataset.name}"
    place = content_id("data", str(data.resolve()), length=8)
    return f"{name}-{len(dataset.documents)}-{place}"


def index_dataset(
    services: Services,
    dataset: EvalDataset,
    source: str,
    progress: Progress | None,
    say: Callable[[str], None],
) -> None:
    """Index what changed, then merge segments, so that a run gives the same figures twice.

    Raises StoreError, ModelError.
    """
    from resin_es.adapters.elasticsearch.corpus import merge_families
    from resin_es.bootstrap.stages import store_settings

    report = services.indexer.index(
        (_document(one.id, one.title, one.text, source) for one in dataset.documents),
        progress=progress,
        total=len(dataset.documents),
    )
    say(
        f"{dataset.name}: {report.documents} documents, {report.units} units read in "
        f"{report.seconds:.0f} s"
    )
    merge_families(services.client, store_settings(services.settings))


def _document(external_id: str, title: str, text: str, source: str) -> Document:
    return Document(
        source=source, external_id=external_id, title=title, text=text, access=(EVERYONE,)
    )


def facts(services: Services, dataset: EvalDataset, source: str) -> dict[str, str]:
    """What the run stands on, for the report and for telling whether findings still hold."""
    counts = services.store.kind_counts(READER_OF_ROWS, (source,))
    told = {
        "resin-es": __version__,
        "embedder": services.embedder.identity.name,
        "runtime": services.embedder.identity.runtime,
        "reader": _identity(services.reader.identity),
        "planner": _identity(services.planner.identity),
        "composer": _identity(services.composer.identity),
        "documents": f"{len(dataset.documents):,}",
        "units": f"{sum(n for kind, n in counts.items() if kind != 'sentence'):,}",
        "sentences": f"{counts.get('sentence', 0):,}",
        "client": f"elasticsearch {version('elasticsearch')}",
    }
    return {name: value for name, value in told.items() if value}


def _identity(identity: object) -> str:
    model = getattr(identity, "model", "")
    return f"{model}/{getattr(identity, 'prompt_version', '')}"
