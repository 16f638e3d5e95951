"""Sources: added after a look at the real index, listed, paused, removed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from resin_es.errors import InputError, StoreConflict
from resin_es.index.lease import silent
from resin_es.model import Coverage, DocumentStatus, Principal
from resin_es.model.base import Frozen
from resin_es.model.source import Source, SourceSpec
from resin_es.sync.check import SourceCheck
from resin_es.sync.spec import near, spec_from

if TYPE_CHECKING:
    from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
    from resin_es.bootstrap.services import Services
    from resin_es.ports import Progress
    from resin_es.ports.sync import EntryListing, SourceBook, StoredSource

_DELETED_TOGETHER = 500
_TRIES = 5
"""Writes of a source's state before a conflict is told."""
_LOOKS, _LOOK_S = 60, 0.5
"""Looks whether a sync has stopped, and seconds between two of them."""
_ROUNDS = 20
"""Times that the documents of a removed source are looked for again."""
_ALIVE = tuple(status for status in DocumentStatus if status is not DocumentStatus.DELETED)


class SourceView(Frozen):
    """A source and where its documents stand."""

    source: Source
    coverage: Coverage


def source_book(services: Services) -> SourceBook:
    """Where sources are kept: beside the units."""
    from resin_es.adapters.elasticsearch.sources import ElasticsearchSources
    from resin_es.bootstrap.stages import store_settings

    return ElasticsearchSources(services.client, store_settings(services.settings))


def entry_listing(services: Services) -> EntryListing:
    """Registry listings."""
    from resin_es.adapters.elasticsearch.listing import ElasticsearchListing
    from resin_es.bootstrap.stages import store_settings

    return ElasticsearchListing(services.client, store_settings(services.settings))


def foreign_index(services: Services, cluster: str = "") -> ElasticsearchIndex:
    """Indices of one cluster: an entry of RESIN_CLUSTERS, or the units' own (empty).

    Raises SettingsError.
    """
    from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
    from resin_es.bootstrap.clusters import cluster_client

    client = cluster_client(services, cluster)
    return ElasticsearchIndex(client, max_bytes=services.settings.max_document_bytes)


def specs_from_file(path: str | Path, name: str | None = None) -> list[SourceSpec]:
    """The specs of a YAML file: one mapping, or a list of them; keys are SourceSpec's fields.
    ``name`` chooses one of several, or names one that has no name.

    Raises InputError naming file and field.
    """
    import yaml

    try:
        content = yaml.safe_load(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    given = content if isinstance(content, list) else [content]
    if not given or not all(isinstance(one, dict) for one in given):
        raise InputError(
            f"{path} holds neither a source nor a list of sources.",
            hint=f"The fields: {', '.join(SourceSpec.model_fields)}.",
        )
    several = len(given) > 1
    if name is not None and not several:
        given = [{"name": name, **given[0]}]
    specs = [
        spec_from(one, f"{path}, source {number}" if several else str(path))
        for number, one in enumerate(given, 1)
    ]
    chosen = [spec for spec in specs if name in (None, spec.name)]
    if not chosen:
        raise InputError(f"{path} holds no source {name!r}{near(str(name), _names(specs))}.")
    return chosen


def _names(specs: Sequence[SourceSpec]) -> list[str]:
    return [spec.name for spec in specs]


def add_source(
    services: Services,
    spec: SourceSpec,
    dry_run: bool = False,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> SourceCheck:
    """Look at the index, then keep the source: from then on it is synced. ``dry_run`` keeps
    nothing, reads sample units where that is free, and prices reading by Claude. ``replace``
    changes a source, or takes over documents that were indexed under its name.

    Raises InputError for mistakes in the spec (all of them at once) and a name that is taken,
    SettingsError for an unknown cluster, StoreError.
    """
    from resin_es.bootstrap.source_checks import check_source

    index = foreign_index(services, spec.cluster)
    if dry_run:
        return check_source(services, index, spec, dry_run=True, progress=progress)
    check = check_source(services, index, spec)
    known = _known(services, spec.name, replace=replace)
    _keep(services, spec, known)
    return check


def list_sources(services: Services) -> Sequence[Source]:
    """All sources, by name. Raises StoreError."""
    return [stored.source for stored in source_book(services).sources()]


def show_source(services: Services, name: str) -> SourceView:
    """Raises InputError where there is no such source, StoreError."""
    source = _stored(services, name).source
    found = services.store.coverage(Principal(admin=True), [name])
    return SourceView(source=source, coverage=next(iter(found), Coverage(source=name)))


def pause_source(services: Services, name: str, paused: bool = True) -> Source:
    """Stop syncing a source, or go on. Its documents stay answerable. Raises InputError,
    StoreConflict, StoreError."""
    for _ in range(_TRIES - 1):
        # a sync at work writes its heartbeat there
        with suppress(StoreConflict):
            return _paused(services, name, paused)
    return _paused(services, name, paused)


def remove_source(services: Services, name: str, *, keep_documents: bool = False) -> int:
    """Forget a source and delete what was indexed from it; the team's index is not touched.
    Returns how many documents were deleted; from then on no answer carries them.

    The source is paused first and forgotten last, so that a removal that was interrupted can be
    run again. A sync that is at work notices the pause and is waited for: what it marked after
    the last look would be left over. Raises InputError, StoreError.
    """
    pause_source(services, name)
    _wait_for_sync(services, name)
    deleted = 0 if keep_documents else _delete_documents(services, name)
    source_book(services).remove_source(name)
    return deleted


# ---------------------------------------------------------------- inside


def _wait_for_sync(services: Services, name: str) -> None:
    lease = timedelta(seconds=services.settings.lease_seconds)
    for _ in range(_LOOKS):
        state = _stored(services, name).source.state
        if silent(state.lease, state.heartbeat, now=datetime.now(timezone.utc), lease=lease):
            return
        time.sleep(_LOOK_S)
    raise StoreConflict(
        f"a sync of source {name!r} is still at work.",
        hint="The source is paused, and the sync stops at its next batch: run it again.",
    )


def _delete_documents(services: Services, name: str) -> int:
    """Until none is left: one may have been written while others were deleted."""
    deleted = 0
    for _ in range(_ROUNDS):
        services.store.refresh()
        ids = [brief.external_id for brief in entry_listing(services).briefs(name, _ALIVE)]
        if not ids:
            return deleted
        for start in range(0, len(ids), _DELETED_TOGETHER):
            report = services.indexer.delete(name, ids[start : start + _DELETED_TOGETHER])
            deleted += report.deleted
            if report.problems:
                where, reason = report.problems[0]
                raise StoreConflict(f"{where} was not deleted: {reason}.", hint="Run it again.")
    raise StoreConflict(
        f"documents of source {name!r} are still being written.",
        hint="Wait for the workers to notice that it is paused, and run it again.",
    )


def _paused(services: Services, name: str, paused: bool) -> Source:
    stored = _stored(services, name)
    state = stored.source.state.model_copy(update={"paused": paused})
    source = stored.source.model_copy(update={"state": state})
    source_book(services).put_source(source, stored.guard)
    return source


def _stored(services: Services, name: str) -> StoredSource:
    book = source_book(services)
    stored = book.source(name)
    if stored is None:
        names = [one.source.spec.name for one in book.sources()]
        raise InputError(
            f"There is no source {name!r}{near(name, names)}.",
            hint="`resin-es source list` shows them all.",
        )
    return stored


def _known(services: Services, name: str, *, replace: bool) -> StoredSource | None:
    """The source of that name, to be replaced. Refuses one that is there, and documents that
    came another way: the first sync would delete them, since the index does not have them."""
    services.ensure_installed()
    stored = source_book(services).source(name)
    if replace:
        return stored
    if stored is not None:
        raise InputError(
            f"There is a source {name!r} already.", hint="Give --replace to change it."
        )
    services.store.refresh()
    if next(iter(entry_listing(services).briefs(name, _ALIVE)), None) is not None:
        raise InputError(
            f"Documents were indexed under the name {name!r} already, and a sync would delete "
            "those that the index does not have.",
            hint="Choose another name, or give --replace to have them taken over.",
        )
    return None


def _keep(services: Services, spec: SourceSpec, known: StoredSource | None) -> None:
    """A changed source starts with a full sync: what was seen so far was seen otherwise."""
    now = datetime.now(timezone.utc)
    if known is None:
        source_book(services).put_source(Source(spec=spec, created_at=now), None)
        return
    anew = {"watermark": None, "full_at": None, "error": None}
    state = known.source.state.model_copy(update=anew)
    source = Source(spec=spec, state=state, created_at=known.source.created_at or now)
    source_book(services).put_source(source, known.guard)
