"""The rows of a run, made from settings; a row that cannot run says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from resin_es.bootstrap.evaluation.indexing import READER_OF_ROWS, SOURCE
from resin_es.bootstrap.services import Services
from resin_es.bootstrap.stages import query_settings, store_settings
from resin_es.errors import ModelUnavailable, SettingsError
from resin_es.evaluation.corpus import corpus_of
from resin_es.evaluation.runner.runner import Lane
from resin_es.evaluation.systems.baselines import BASELINES, make_baselines
from resin_es.evaluation.systems.external.packages import ROWS
from resin_es.evaluation.systems.remembered import Remembered
from resin_es.evaluation.systems.resin import VARIANTS, ResinSystem, Variant
from resin_es.evaluation.systems.selection import Entry
from resin_es.evaluation.systems.system import EvalSystem
from resin_es.evaluation.values import EvalDataset, SystemResult

if TYPE_CHECKING:
    from resin_es.evaluation.systems.corpus_index import CorpusIndex
    from resin_es.evaluation.systems.external.systems import ExternalSystem
    from resin_es.evaluation.systems.ranked import RankedSystem
    from resin_es.ports import Progress

MODEL = "a language model by key"
PACKAGE = "its own package and a model endpoint"

IRCOT = Entry(
    name="ircot",
    label="IRCoT-style",
    group="baseline",
    about="Search, one sentence of reasoning, search again with it.",
    needs=MODEL,
)
CLAUDE = Entry(
    name="claude-units",
    label="RESIN, units read by Claude",
    group="ablation",
    about="The same engine over units that Claude read.",
    needs=MODEL,
)


def catalogue() -> list[Entry]:
    """Every row that can be asked for, in the order of a report."""
    return [
        *(Entry(name=b.name, label=b.label, group=b.group, about=b.about) for b in BASELINES),
        IRCOT,
        *(Entry(name=v.name, label=v.label, group=v.group, about=v.about) for v in VARIANTS),
        CLAUDE,
        *(
            Entry(name=row.name, label=row.label, group="external", about=row.about, needs=PACKAGE)
            for row in ROWS.values()
        ),
    ]


class Rows(NamedTuple):
    """Systems to run, rows that cannot run (with their reason), and what the systems share."""

    systems: list[EvalSystem]
    skipped: list[SystemResult]
    memory: Remembered

    @property
    def lane(self) -> Lane:
        return Lane(self.systems, self.memory.forget, self.memory.lent)


def alone(wanted: Sequence[Entry]) -> bool:
    """Whether some row has to be asked one question at a time: a model by key, or a package
    that did its work beforehand."""
    return any(entry.needs for entry in wanted)


def make_lanes(
    services: Services,
    dataset: EvalDataset,
    wanted: Sequence[Entry],
    folder: Path,
    progress: Progress | None,
    *,
    lanes: int,
) -> list[Rows]:
    """The rows ``wanted``, once a lane, over one data set that is indexed; the baselines'
    corpus is built once for all. ``folder`` keeps what other people's systems build. Raises
    StoreError, ModelError."""
    needed = {IRCOT.name, *(b.name for b in BASELINES)}
    index = None
    if any(entry.name in needed for entry in wanted):
        index = _corpus_index(services, dataset, progress)
    count = 1 if alone(wanted) else lanes
    return [_make_rows(services, dataset, wanted, folder, index, progress) for _ in range(count)]


def _make_rows(
    services: Services,
    dataset: EvalDataset,
    wanted: Sequence[Entry],
    folder: Path,
    index: CorpusIndex | None,
    progress: Progress | None,
) -> Rows:
    memory = Remembered()
    rows = Rows([], [], memory)
    names = {entry.name for entry in wanted}
    made: dict[str, EvalSystem] = {}
    if index is not None:
        ranked = make_baselines(index, services.embedder.embed_queries, memory=memory)
        made.update({row.name: row for row in ranked if row.name in names})
        if IRCOT.name in names:
            _try(rows, made, IRCOT, lambda: _ircot(services, ranked))
    for variant in VARIANTS:
        if variant.name in names:
            made[variant.name] = _resin(services, variant, memory)
    if CLAUDE.name in names:
        _try(rows, made, CLAUDE, lambda: _claude(services))
    external = [entry.name for entry in wanted if entry.name in ROWS]
    for system in _external(services, dataset, external, folder) if external else ():
        if system.prepare(progress):
            rows.skipped.append(system.skipped_row())
        else:
            made[system.name] = system
    rows.systems.extend(made[entry.name] for entry in wanted if entry.name in made)
    return rows


def _try(
    rows: Rows, made: dict[str, EvalSystem], entry: Entry, make: Callable[[], EvalSystem]
) -> None:
    """Make a row that may lack what it needs; if so it is named with the reason."""
    try:
        made[entry.name] = make()
    except (SettingsError, ModelUnavailable) as error:
        reason = " ".join(part for part in (error.message, error.hint) if part)
        rows.skipped.append(skipped_row(entry, reason))


def skipped_row(entry: Entry, reason: str) -> SystemResult:
    return SystemResult(
        system=entry.name,
        label=entry.label,
        group=entry.group,
        about=entry.about,
        skipped=reason,
    )


def _corpus_index(
    services: Services, dataset: EvalDataset, progress: Progress | None
) -> CorpusIndex:
    from resin_es.adapters.elasticsearch.corpus import build_corpus

    return build_corpus(
        services.client,
        store_settings(services.settings),
        corpus_of(dataset),
        services.embedder,
        services.store.cache_get,
        services.store.cache_put,
        progress=progress,
    )


def _ircot(services: Services, ranked: Sequence[RankedSystem]) -> EvalSystem:
    from resin_es.bootstrap.models import make_text_model
    from resin_es.evaluation.systems.iterative import IterativeSystem

    model = make_text_model(services.settings)
    fused = next(row for row in ranked if row.name == "rrf")
    return IterativeSystem(fused.pieces, model, SOURCE)


def _resin(services: Services, variant: Variant, memory: Remembered) -> ResinSystem:
    return ResinSystem(
        variant,
        services.store,
        services.embedder,
        services.planner,
        services.composer,
        query_settings(services.settings),
        READER_OF_ROWS,
        (SOURCE,),
        memory,
    )


def _external(
    services: Services, dataset: EvalDataset, names: Sequence[str], folder: Path
) -> Sequence[ExternalSystem]:
    from resin_es.evaluation.systems.external.jobs import ModelEndpoint
    from resin_es.evaluation.systems.external.systems import ExternalSetup, external_systems

    settings, model = services.settings, None
    if settings.external_url and settings.external_model:
        model = ModelEndpoint(
            url=settings.external_url, model=settings.external_model, key=settings.external_key
        )
    setup = ExternalSetup(
        corpus=dataset.name,
        documents=dataset.documents,
        questions=tuple(question.question for question in dataset.questions),
        folder=folder / "external",
        model=model,
        embedder=services.embedder,
        install=True,
    )
    return external_systems(setup, names)


def _claude(services: Services) -> Any:
    raise SettingsError(
        "The Claude reader is not in this version.", hint="The row needs RESIN_LLM=claude."
    )
