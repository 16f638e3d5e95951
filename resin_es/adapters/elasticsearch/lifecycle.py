"""Install and uninstall. Touches nothing but this prefix's own names, and those only if ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import templates as on_cluster
from resin_es.adapters.elasticsearch.corpus import drop_corpora
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.installed import (
    InstalledIndex,
    installed,
    mismatch,
    refuse_mismatch,
)
from resin_es.errors import StoreRefused, StoreRejected
from resin_es.index.multilingual import SecondEncoder, second_encoder_of
from resin_es.index.names import ADDRESS_FAMILIES, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import Schema, index_body, role_body
from resin_es.model.base import Frozen
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

NOT_ALLOWED = "not allowed to look"


class InstallReport(Frozen):
    """What an install made and found. ``multilingual`` names the encoder of what is in another
    language, empty where there is none; ``role`` says what became of the role; ``bodies`` holds,
    for a dry run, what would be sent, by request line."""

    prefix: str
    created: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    analyzer: str = ""
    vector_index: str = ""
    model: str = ""
    dims: int = 0
    multilingual: str = ""
    role: str = ""
    bodies: Mapping[str, Any] = {}


class UninstallReport(Frozen):
    """What was deleted; ``kept`` names what bears one of our names but is not ours, or what we
    were not allowed to look at."""

    prefix: str
    indices: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    role: str = ""
    kept: tuple[str, ...] = ()


def install(
    client: Elasticsearch,
    settings: StoreSettings,
    model: ModelIdentity,
    *,
    index_only: bool = False,
    create_role: bool = False,
    dry_run: bool = False,
    embedder: Mapping[str, Any] | None = None,
    second: SecondEncoder | None = None,
) -> InstallReport:
    """Templates, concrete indices with their aliases, and, if asked, the run-time role. Running
    it again makes only what is missing.

    ``index_only`` needs no cluster privilege (mappings go inline). Raises StoreRefused without
    the privileges, IndexMismatch where indices stand that another model or schema built,
    StoreRejected where a name is taken by something that is not ours. Nothing has been made
    then, but for an error in the middle, after which it can be run again. ``embedder`` says how
    other processes load the model, ``second`` the same of the encoder of what is in another
    language; both are kept in the indices. Where units or sentences stand, theirs counts in place
    of ``second``: only a rebuild changes it.
    """
    names = Names(prefix=settings.prefix)
    found = installed(client, names)
    _refuse_foreign(names, found, settings, model)
    live = {one.family: one.name for one in found if one.live}
    known = on_cluster.has_analyzer(client, settings.language)
    schema = Schema(
        model=model,
        settings=settings,
        stemming=known is not False,
        embedder=embedder,
        second=_standing_second(found, second),
    )
    schema.check()
    targets = {
        family: names.concrete(family, 1 + _last_generation(found, family))
        for family in FAMILIES
        if family not in live
    }
    if dry_run:
        return _report(schema, live, {}, bodies=_bodies(names, schema, targets, index_only))
    try:
        put, created = _lay_out(client, names, schema, targets, index_only)
    except StoreRejected as error:
        if known is not None or "analyzer" not in error.message:
            raise
        # Not allowed to ask for the analyzer, and it turns out that there is none.
        schema = schema.model_copy(update={"stemming": False})
        put, created = _lay_out(client, names, schema, targets, index_only)
    refuse_mismatch(client, settings, model)
    role = _create_role(client, names) if create_role else ""
    return _report(schema, live, created, templates=put, role=role)


def _report(
    schema: Schema, live: Mapping[str, str], created: Mapping[str, str], **rest: Any
) -> InstallReport:
    settings = schema.settings
    analyzer: str = settings.language
    if not schema.stemming:
        analyzer = f"standard + lowercase + {settings.language} stop words"
    return InstallReport(
        prefix=settings.prefix,
        created=tuple(created.values()),
        existing=tuple(live.values()),
        analyzer=analyzer,
        vector_index=settings.vector_index,
        model=schema.model.name,
        dims=schema.model.dims,
        multilingual=schema.second.model.name if schema.second else "",
        **rest,
    )


def _refuse_foreign(
    names: Names,
    found: Sequence[InstalledIndex],
    settings: StoreSettings,
    model: ModelIdentity,
) -> None:
    for one in found:
        if not one.live:
            continue
        if not one.ours:
            raise StoreRejected(
                f"alias {names.alias(one.family)!r} leads to {one.name!r}, which resin-es did not "
                "make.",
                hint="Choose another RESIN_PREFIX.",
            )
        mismatch(one.family, one.meta, settings, model)


def _standing_second(
    found: Sequence[InstalledIndex], asked: SecondEncoder | None
) -> SecondEncoder | None:
    """An index of units and one of sentences have the same vectors, or writes to one fail."""
    standing = [one for one in found if one.live and one.family in ADDRESS_FAMILIES]
    return second_encoder_of(standing[0].meta) if standing else asked


def _last_generation(found: Sequence[InstalledIndex], family: str) -> int:
    return max((one.generation for one in found if one.family == family), default=0)


def _bodies(
    names: Names, schema: Schema, targets: Mapping[str, str], index_only: bool
) -> dict[str, Any]:
    bodies = {} if index_only else on_cluster.requests(names, schema)
    for family, index in targets.items():
        bodies[f"PUT /{index}"] = index_body(names, family, schema, inline=index_only)
    return bodies


def _lay_out(
    client: Elasticsearch,
    names: Names,
    schema: Schema,
    targets: Mapping[str, str],
    index_only: bool,
) -> tuple[tuple[str, ...], dict[str, str]]:
    put: tuple[str, ...] = ()
    if not index_only:
        put = on_cluster.put(client, names, schema)
    created = {}
    for family, index in targets.items():
        body = index_body(names, family, schema, inline=index_only)
        if _create(client, index, body):
            created[family] = index
    return put, created


def _create(client: Elasticsearch, index: str, body: Mapping[str, Any]) -> bool:
    """Whether it was us who made it: somebody else may be installing at the same time."""
    try:
        with translated(f"creating index {index}", client):
            client.indices.create(index=index, **body)
    except StoreRejected as error:
        if "already exists" in error.message and "alias" not in error.message:
            return False
        raise
    return True


def _create_role(client: Elasticsearch, names: Names) -> str:
    role = names.role("runtime")
    body = {**role_body(names, "runtime"), "metadata": on_cluster.OURS}
    try:
        with translated(f"creating role {role}", client):
            client.security.put_role(name=role, **body)
    except (StoreRefused, StoreRejected) as error:
        return f"{role} not created: {error.message}"
    return f"{role} created"


def role(settings: StoreSettings, name: str = "runtime") -> dict[str, Any]:
    """The role as JSON, to print: ``runtime``, ``index-only`` or ``install``."""
    return role_body(Names(prefix=settings.prefix), name)


def uninstall(client: Elasticsearch, settings: StoreSettings) -> UninstallReport:
    """Delete this prefix's indices, templates and role. An index or template with one of our
    names that does not say it is ours stays, and is reported."""
    names = Names(prefix=settings.prefix)
    found = installed(client, names)
    gone = tuple(one.name for one in found if one.ours)
    kept = [one.name for one in found if not one.ours]
    if gone:
        with translated("deleting indices", client):
            # By name and in one request: wildcards are refused, single requests are slow.
            client.indices.delete(index=list(gone), ignore_unavailable=True)
    try:
        gone += drop_corpora(client, settings)
    except StoreRefused:
        kept.append(f"baseline corpora of an evaluation: {NOT_ALLOWED}")
    try:
        templates, foreign = on_cluster.delete(client, names)
        kept += foreign
    except StoreRefused:
        templates = ()
        kept.append(f"templates: {NOT_ALLOWED}")
    return UninstallReport(
        prefix=settings.prefix,
        indices=gone,
        templates=templates,
        role=_delete_role(client, names),
        kept=tuple(kept),
    )


def _delete_role(client: Elasticsearch, names: Names) -> str:
    role = names.role("runtime")
    try:
        with translated(f"deleting role {role}", client):
            told = client.options(ignore_status=404).security.get_role(name=role).body
            if told.get(role, {}).get("metadata", {}) != on_cluster.OURS:
                return ""
            client.security.delete_role(name=role)
    except StoreRefused:
        return f"{role}: {NOT_ALLOWED}"
    except StoreRejected:  # a cluster without security has no roles at all
        return ""
    return f"{role} deleted"
