"""What is right and wrong, one row each. A refused look is a row too, never an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import templates
from resin_es.adapters.elasticsearch.client import ServerInfo, server_info
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.installed import InstalledIndex, installed, mismatch
from resin_es.adapters.elasticsearch.lifecycle import NOT_ALLOWED
from resin_es.errors import (
    ClientTooNew,
    IndexMismatch,
    StoreError,
    StoreRefused,
    StoreRejected,
)
from resin_es.index.names import ADDRESS_FAMILIES, COMPONENTS, FAMILIES, Names
from resin_es.index.packed import packs
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import SCHEMA_VERSION, role_body
from resin_es.model.base import Frozen
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FLOOR = (8, 17)
"""Oldest server version that the tests run against."""


class Check(Frozen):
    """One row. ``ok`` is None where we could not or may not look."""

    name: str
    ok: bool | None
    detail: str
    hint: str = ""


class FamilyStatus(Frozen):
    """One index family as it stands. ``records`` is None where counting was refused."""

    family: str
    alias: str
    indices: tuple[str, ...]
    records: int | None = None
    meta: Mapping[str, Any] = {}


def doctor(
    client: Elasticsearch,
    settings: StoreSettings,
    model: ModelIdentity | None = None,
    extra: Sequence[Check] = (),
    *,
    languages: Callable[[Mapping[str, Any]], Check] | None = None,
) -> list[Check]:
    """All rows, in the order in which they depend on each other. Without ``model`` the row on
    it is left out; ``languages`` makes the one on second vectors, of what the index says of
    itself. ``extra`` rows (Redis, worker, language model) come last."""
    try:
        info = server_info(client)
    except ClientTooNew as error:
        return [
            Check(name="reachable", ok=True, detail="yes"),
            Check(name="client", ok=False, detail=error.message, hint=error.hint),
            *extra,
        ]
    except StoreError as error:
        return [Check(name="reachable", ok=False, detail=error.message, hint=error.hint), *extra]
    names = Names(prefix=settings.prefix)
    checks = [
        Check(name="reachable", ok=True, detail=info.cluster or "yes"),
        version_check(info),
        client_check(info),
        _look("licence", lambda: _licence(client)),
        _look("privileges", lambda: _privileges(client, names)),
        _look("templates", lambda: _templates(client, names)),
    ]
    return [*checks, *_index_checks(client, names, settings, model, languages), *extra]


def _look(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except StoreRefused as error:
        return Check(name=name, ok=None, detail=NOT_ALLOWED, hint=error.message)
    except StoreRejected:
        return Check(name=name, ok=None, detail="not available on this cluster")
    except StoreError as error:
        return Check(name=name, ok=False, detail=error.message, hint=error.hint)


def version_check(info: ServerInfo) -> Check:
    """Whether the server is new enough. Serverless has no version of its own."""
    if info.flavor == "serverless":
        return Check(name="version", ok=None, detail="serverless: untested")
    parts = info.version.split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return Check(name="version", ok=None, detail=NOT_ALLOWED)
    if (int(parts[0]), int(parts[1])) < FLOOR:
        floor = ".".join(map(str, FLOOR))
        return Check(
            name="version", ok=False, detail=info.version, hint=f"At least {floor} is needed."
        )
    return Check(name="version", ok=True, detail=info.version)


def client_check(info: ServerInfo, client: str = "") -> Check:
    """Whether the client library may speak to the server: never a newer major version."""
    from elasticsearch._version import __versionstr__

    client = client or __versionstr__
    detail = f"elasticsearch-py {client}"
    if info.major is None:
        return Check(name="client", ok=None, detail=detail)
    if int(client.split(".")[0]) > info.major:
        return Check(
            name="client",
            ok=False,
            detail=f"{detail} is too new for server {info.version}",
            hint="pip install 'resin-es[es8]'",
        )
    return Check(name="client", ok=True, detail=detail)


def _licence(client: Elasticsearch) -> Check:
    with translated("asking for the licence", client):
        told = client.license.get().body["license"]
    active = told.get("status") == "active"
    return Check(
        name="licence",
        ok=active,
        detail=f"{told.get('type')}, {told.get('status')}",
        hint="" if active else "Basic is enough, but it must be active.",
    )


def _privileges(client: Elasticsearch, names: Names) -> Check:
    wanted = role_body(names, "runtime")["indices"]
    with translated("asking for the privileges", client):
        told = client.security.has_privileges(index=wanted).body
    if told.get("has_all_requested"):
        return Check(name="privileges", ok=True, detail="all that run time needs")
    lacking = sorted(
        {
            f"{privilege} on {index}"
            for index, held in told.get("index", {}).items()
            for privilege, has in held.items()
            if not has and "*" not in index
        }
    )
    return Check(
        name="privileges",
        ok=False,
        detail=f"missing: {', '.join(lacking[:6])}{' …' if len(lacking) > 6 else ''}",
        hint="`resin-es install --print-role` shows the role.",
    )


def _templates(client: Elasticsearch, names: Names) -> Check:
    found = templates.standing(client, names)
    total = len(FAMILIES) + len(COMPONENTS)
    if not found:
        return Check(name="templates", ok=None, detail="none (right after --index-only)")
    return Check(
        name="templates",
        ok=len(found) == total,
        detail=f"{len(found)} of {total}",
        hint="" if len(found) == total else "Run `resin-es install` again.",
    )


def _index_checks(
    client: Elasticsearch,
    names: Names,
    settings: StoreSettings,
    model: ModelIdentity | None,
    languages: Callable[[Mapping[str, Any]], Check] | None,
) -> list[Check]:
    found: list[InstalledIndex] = []

    others: list[InstalledIndex] = []

    def indices() -> Check:
        for one in installed(client, names):
            (found if one.live else others).append(one)
        return _all_there(names, found)

    first = _look("indices", indices)
    by_family = {one.family: one for one in found}
    if not set(ADDRESS_FAMILIES) <= set(by_family):
        return [first]
    units = by_family["units"]
    rows = [first, _schema(found), _analyzer(units), _vector(units, settings)]
    if model is not None:
        rows.append(_model(by_family, settings, model))
    if languages is not None:
        rows.append(languages(units.meta))
    return [*rows, *_rebuild(others, units)]


def _all_there(names: Names, live: Sequence[InstalledIndex]) -> Check:
    missing = [names.alias(f) for f in FAMILIES if f not in {one.family for one in live}]
    foreign = [one.name for one in live if not one.ours]
    doubled = {one.family for one in live if sum(o.family == one.family for o in live) > 1}
    if foreign:
        return Check(
            name="indices",
            ok=False,
            detail=f"not made by resin-es: {', '.join(foreign)}",
            hint="Choose another RESIN_PREFIX.",
        )
    if missing:
        detail = "not installed" if len(missing) == len(FAMILIES) else f"no {', '.join(missing)}"
        return Check(name="indices", ok=False, detail=detail, hint="Run `resin-es install`.")
    if doubled:
        return Check(
            name="indices",
            ok=False,
            detail=f"several indices behind one alias: {', '.join(sorted(doubled))}",
            hint="Leave each alias on one index.",
        )
    return Check(name="indices", ok=True, detail=f"{len(live)} behind prefix {names.prefix}")


def _schema(live: Sequence[InstalledIndex]) -> Check:
    versions = sorted({str(one.meta.get("schema")) for one in live})
    ok = versions == [str(SCHEMA_VERSION)]
    detail = f"version {', '.join(versions)}"
    if not ok:
        hint = f"This resin-es needs {SCHEMA_VERSION}: run `resin-es rebuild`."
        return Check(name="schema", ok=False, detail=detail, hint=hint)
    if all(packs(one.meta) for one in live if one.family in ADDRESS_FAMILIES):
        return Check(name="schema", ok=True, detail=detail)
    slower = f"{detail}, made before hits were packed: each search costs more than it must"
    return Check(name="schema", ok=True, detail=slower, hint="Run `resin-es rebuild` at leisure.")


def _analyzer(units: InstalledIndex) -> Check:
    language = units.meta.get("language")
    detail = str(language)
    if not units.meta.get("stemming") and language != "standard":
        detail = f"standard + lowercase + {language} stop words (no {language} analyzer here)"
    return Check(name="analyzer", ok=True, detail=detail)


def _vector(units: InstalledIndex, settings: StoreSettings) -> Check:
    has = units.meta.get("vector_index")
    detail = f"{has}, {units.meta.get('dims')} dims, cosine"
    if has != settings.vector_index:
        return Check(
            name="vectors",
            ok=None,
            detail=f"{detail}; the setting says {settings.vector_index}",
            hint="RESIN_VECTOR_INDEX counts at install only.",
        )
    return Check(name="vectors", ok=True, detail=detail)


def _model(
    live: Mapping[str, InstalledIndex], settings: StoreSettings, model: ModelIdentity
) -> Check:
    try:
        for family in ADDRESS_FAMILIES:
            mismatch(family, live[family].meta, settings, model)
    except IndexMismatch as error:
        followed = _followed(live["units"].meta, settings, model)
        return Check(
            name="model",
            ok=None if followed else False,
            detail=followed or error.message,
            hint="Name it in the settings before the next start (RESIN_EMBEDDER, "
            "RESIN_EMBEDDER_MODEL)."
            if followed
            else error.hint,
        )
    return Check(name="model", ok=True, detail=f"{model.name}, {model.dims} dims")


def _followed(meta: Mapping[str, Any], settings: StoreSettings, model: ModelIdentity) -> str:
    """Where a rebuild replaced the settings' model: what is used instead of it."""
    replaced = [one.get("model") for one in meta.get("rebuild", {}).get("replaces", ())]
    same_statements = meta.get("statement_version") == settings.statement_version
    if model.name not in replaced or "embedder" not in meta or not same_statements:
        return ""
    return f"the indices were rebuilt from {model.name} to {meta.get('model')}, which is used"


def _rebuild(others: Sequence[InstalledIndex], units: InstalledIndex) -> list[Check]:
    """A row where a rebuild is not finished."""
    aside = [one for one in others if one.ours and one.family == "units"]
    if not aside:
        return []
    last = aside[-1]
    if last.generation > units.generation:
        detail = f"under construction: {last.meta.get('model')}, {last.meta.get('dims')} dims"
        hint = "`resin-es rebuild` goes on, `resin-es rebuild --cancel` takes it away."
    else:
        detail, hint = "the old indices still stand", "`resin-es rebuild` checks and drops them."
    return [Check(name="rebuild", ok=None, detail=detail, hint=hint)]


def status(client: Elasticsearch, settings: StoreSettings) -> list[FamilyStatus]:
    """Every family as it stands, with its number of records as of the last refresh."""
    names = Names(prefix=settings.prefix)
    live = [one for one in installed(client, names) if one.live]
    rows = []
    for family in FAMILIES:
        here = [one for one in live if one.family == family]
        rows.append(
            FamilyStatus(
                family=family,
                alias=names.alias(family),
                indices=tuple(one.name for one in here),
                records=_count(client, names.alias(family)) if here else None,
                meta=here[0].meta if here else {},
            )
        )
    return rows


def _count(client: Elasticsearch, alias: str) -> int | None:
    try:
        with translated(f"counting {alias}", client):
            return int(client.count(index=alias).body["count"])
    except StoreRefused:
        return None
