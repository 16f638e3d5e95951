"""The flat settings → one small object per stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from resin_es.errors import SettingsError
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.settings import StoreSettings
from resin_es.query.settings import QuerySettings
from resin_es.settings import Settings, java_homes
from resin_es.sync.settings import SyncSettings

if TYPE_CHECKING:
    from resin_es.adapters.elasticsearch.client import ConnectionOptions
    from resin_es.local.settings import LocalSettings


def store_settings(settings: Settings) -> StoreSettings:
    """Raises SettingsError naming the setting that Elasticsearch could not take."""
    try:
        return StoreSettings.model_validate(
            {
                "prefix": settings.prefix,
                "language": settings.language,
                "vector_index": settings.vector_index,
                "bulk_bytes": settings.bulk_bytes,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = f"RESIN_{str(first['loc'][0]).upper()}" if first["loc"] else "a setting"
        raise SettingsError(
            f"{name} is {first['input']!r}: {first['msg']}.",
            hint="`resin-es settings` lists every setting.",
        ) from error


def index_settings(settings: Settings) -> IndexSettings:
    return IndexSettings(
        batch_documents=settings.batch_documents,
        lease_s=settings.lease_seconds,
        cache_vectors=settings.cache_vectors,
    )


def sync_settings(settings: Settings) -> SyncSettings:
    return SyncSettings(
        lease_s=settings.lease_seconds,
        max_attempts=settings.max_attempts,
        backoff_s=settings.backoff_seconds,
        chunk=settings.task_documents,
        queue_bound=settings.queue_bound,
        orphan_age_s=settings.orphan_seconds,
    )


def query_settings(settings: Settings) -> QuerySettings:
    """Raises SettingsError where k, budget or num_candidates are out of bounds."""
    chosen: dict[str, Any] = {
        "k": settings.k,
        "fill_on": "k" not in settings.model_fields_set,  # a k that somebody names is a limit
        "budget": settings.budget,
        "max_hops": settings.max_hops,
        "bridging": settings.bridging,
        "keep_traces": settings.traces,
    }
    if settings.pool is not None:
        chosen["pool"] = settings.pool
    if settings.num_candidates is not None:
        chosen["num_candidates"] = settings.num_candidates
    return QuerySettings(**chosen)


def local_settings(settings: Settings) -> LocalSettings:
    from resin_es.local.settings import default_settings

    environ = java_homes() | {
        "RESIN_LOCAL_PORT": str(settings.local_port),
        "RESIN_LOCAL_HEAP": settings.local_heap,
    }
    if settings.local_version:
        environ["RESIN_LOCAL_VERSION"] = settings.local_version
    if settings.local_repository:
        environ["RESIN_LOCAL_REPOSITORY"] = settings.local_repository
    if settings.local_dir:
        environ["RESIN_LOCAL_DIR"] = str(settings.local_dir)
    return default_settings(environ)


def connection_options(settings: Settings, url: str) -> ConnectionOptions:
    from resin_es.adapters.elasticsearch.client import ConnectionOptions

    basic: tuple[str, str] | None = None
    if settings.es_basic_auth is not None:
        user, colon, password = settings.es_basic_auth.get_secret_value().partition(":")
        if not colon:
            raise SettingsError("RESIN_ES_BASIC_AUTH is not of the form user:password.")
        basic = (user, password)
    given: dict[str, Any] = {
        "url": url,
        "api_key": settings.es_api_key,
        "basic_auth": basic,
        "bearer_auth": settings.es_bearer_auth,
        "ca_certs": settings.es_ca_certs,
        "verify_certs": settings.es_verify_certs,
        "ssl_fingerprint": settings.es_ssl_fingerprint,
        "request_timeout": settings.es_request_timeout,
        "headers": settings.es_headers,
        "options": settings.es_options,
    }
    return ConnectionOptions(**{name: value for name, value in given.items() if value is not None})
