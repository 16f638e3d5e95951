"""Environment and file → settings. The one place that reads either.

Order: environment (``RESIN_*``), then the settings file, then the default. The file is TOML
with the same names in lower case and without the prefix (``budget = 1000``); it is the first
that exists of ``$RESIN_SETTINGS``, ``./resin.toml`` and ``settings.toml`` in the user's
configuration folder.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as SourceError

from resin_es.errors import SettingsError
from resin_es.model.base import Frozen

PREFIX = "RESIN_"
FOREIGN = ("RESIN_TEST_", "RESIN_SHARED_DATA", "RESIN_SETTINGS")
"""Variables that belong to the tests or say where the file is."""
PRICES = "[input, output] or [input, output, cache write, cache read], each 0 or more"


class Settings(BaseSettings):
    """All settings, flat; ``bootstrap`` hands every stage its own small object."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    # Elasticsearch
    es_url: str | None = Field(None, description="Elasticsearch; unset: the local node")
    es_api_key: SecretStr | None = Field(None, description="API key (encoded)")
    es_basic_auth: SecretStr | None = Field(None, description="user:password")
    es_bearer_auth: SecretStr | None = Field(None, description="bearer token")
    es_ca_certs: str | None = Field(None, description="CA certificates of the cluster (PEM)")
    es_verify_certs: bool = Field(True, description="check the cluster's certificate")
    es_ssl_fingerprint: str | None = Field(None, description="SHA-256 of the certificate")
    es_request_timeout: float = Field(60.0, gt=0, description="seconds for one request")
    es_headers: dict[str, SecretStr] = Field(default_factory=dict, description="extra headers")
    es_options: dict[str, Any] = Field(
        default_factory=dict, description="any other option of the client, as JSON"
    )
    prefix: str = Field("resin", description="first part of all index names")
    language: str = Field("english", description="analyzer of text fields")
    vector_index: str = Field("int8_hnsw", description="index type of the vector field")
    bulk_bytes: int = Field(5_000_000, gt=0, description="largest bulk request")

    # who asks
    groups: Annotated[tuple[str, ...] | None, NoDecode] = Field(
        None, description="groups of the asker, comma-separated"
    )

    # models
    llm: Literal["none", "claude"] = Field("none", description="who reads, plans and writes")
    embedder: Literal["onnx", "sentence-transformers", "hash"] = Field(
        "onnx", description="runtime of the vectors"
    )
    embedder_model: str | None = Field(None, description="folder or hub name of the model")
    multilingual: str = Field(
        "auto",
        description="encoder of what is in another language than English: auto (the one in a "
        "package, beside the default model), off, or a folder",
    )
    embedder_threads: int | None = Field(None, description="threads of the vector runtime")

    # indexing
    max_document_bytes: int = Field(10_000_000, gt=0, description="largest single document")
    batch_documents: int = Field(64, gt=0, description="documents that are read together")
    lease_seconds: float = Field(600.0, gt=0, description="how long a silent owner holds on")
    cache_vectors: bool = Field(True, description="keep vectors by content")

    # asking
    max_hops: int = Field(4, ge=1, le=8, description="hops of a plan")
    k: int = Field(10, description="distinct passages kept per hop")
    pool: int | None = Field(None, description="hits that one search returns")
    num_candidates: int | None = Field(None, description="candidates per shard of the kNN")
    budget: int = Field(2000, gt=0, description="evidence budget in tokens (4 characters)")
    bridging: bool = Field(True, description="complete bridge terms from earlier hops")
    traces: bool = Field(True, description="keep a trace of every answer")

    # models by key: a key alone switches nothing on
    anthropic_key: SecretStr | None = Field(
        None, description="key for Claude; unset: ANTHROPIC_API_KEY"
    )
    anthropic_url: str | None = Field(None, description="address instead of Anthropic's own")
    anthropic_options: dict[str, Any] = Field(
        default_factory=dict, description="any other option of Anthropic's client, as JSON"
    )
    llm_read_model: str = Field("claude-haiku-5-5", description="model that reads documents")
    llm_answer_model: str = Field("claude-sonnet-5-5", description="model that plans and composes")
    llm_read_effort: Literal["", "low", "medium", "high"] = Field(
        "low", description="how hard the reading model thinks; empty: as it is made"
    )
    llm_timeout: float = Field(120.0, gt=0, description="seconds for one call of a model")
    llm_retries: int = Field(4, ge=0, description="further attempts of a call that failed")
    llm_lanes: int = Field(4, ge=1, le=64, description="calls of a model at a time")
    llm_requests_per_minute: int | None = Field(None, gt=0, description="most calls a minute")
    llm_tokens_per_minute: int | None = Field(None, gt=0, description="most tokens a minute")
    max_cost: float | None = Field(None, ge=0, description="most US dollars one run may spend")
    record: Path | None = Field(None, description="folder that keeps every model exchange")
    replay: Path | None = Field(
        None, description="folder whose exchanges answer instead of a model"
    )
    prices: dict[str, tuple[float, float] | tuple[float, float, float, float]] = Field(
        default_factory=dict,
        description="dollars per million tokens, as JSON: model to [input, output] or [input, "
        "output, cache write, cache read]",
    )

    # background work
    redis_url: str = Field(
        "redis://127.0.0.1:6379/7", description="broker, with a database of its own"
    )
    clusters: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="other clusters that sources live on, as JSON: name to {url, api_key, …}",
    )
    max_attempts: int = Field(5, ge=1, description="tries before a document is a dead letter")
    backoff_seconds: float = Field(30.0, ge=0, description="pause after a first failed try")
    task_documents: int = Field(16, ge=1, description="documents in one task")
    task_seconds: float = Field(900.0, gt=0, description="hard limit of one task")
    queue_bound: int = Field(1000, ge=1, description="most messages that a sync leaves waiting")
    sync_seconds: float = Field(60.0, gt=0, description="pause between syncs of a source")
    reconcile_seconds: float = Field(60.0, gt=0, description="pause between reconciliations")
    orphan_seconds: float = Field(
        3600.0, ge=0, description="age at which a record that belongs to no document is swept"
    )
    trace_days: float = Field(90.0, gt=0, description="how long traces are kept")
    cost_window: Literal["day", "month", "total"] = Field(
        "day", description="span in which max_cost holds for all workers together (UTC)"
    )
    concurrency: int | None = Field(
        None, ge=1, description="tasks of a worker at a time; unset: one per processor"
    )
    log_format: Literal["text", "json"] = Field("text", description="how workers and beat log")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least that workers and beat log"
    )
    metrics_port: int | None = Field(
        None, ge=1, le=65535, description="port of a worker's Prometheus metrics; unset: none"
    )
    metrics_host: str = Field("127.0.0.1", description="address of a worker's Prometheus metrics")
    otel: bool = Field(
        False, description="a span per task; OTEL_EXPORTER_OTLP_ENDPOINT says where to"
    )

    # evaluation
    eval_model: str | None = Field(None, description="Claude model of the rows that need one")
    external_url: str | None = Field(
        None, description="OpenAI-compatible endpoint of other people's systems, up to /v1"
    )
    external_model: str | None = Field(None, description="model of other people's systems")
    external_key: SecretStr | None = Field(None, description="key of that endpoint")
    judge_provider: Literal["openai", "anthropic", "gemini"] = Field(
        "openai", description="API that the judge speaks"
    )
    judge_model: str | None = Field(None, description="model that judges answers")
    judge_url: str | None = Field(None, description="address instead of the provider's own")
    judge_key: SecretStr | None = Field(
        None, description="key of the judge; unset, without judge_url: the provider's usual one"
    )
    judge_timeout: float = Field(180.0, gt=0, description="seconds for one judgement")
    judge_options: dict[str, Any] = Field(
        default_factory=dict,
        description="options of the judge's calls, as JSON; null leaves one out",
    )

    # local node
    local_version: str | None = Field(None, description="8.17.4, 8.19.21 or 9.5.3")
    local_port: int = Field(9250, description="port of the local node")
    local_dir: Path | None = Field(None, description="where the local node lives")
    local_heap: str = Field("1g", description="heap of the local node")
    local_repository: str | None = Field(None, description="Maven mirror of the local node")

    @field_validator("groups", mode="before")
    @classmethod
    def _split_groups(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("prices", mode="before")
    @classmethod
    def _prices(cls, value: Any) -> Any:
        """A price below 0, or that is no number, would never reach a cap."""
        table = value if isinstance(value, dict) else {"a model": None}
        for model, price in table.items():
            if not _is_price(price):
                raise ValueError(f"{model!r} must have {PRICES}")
        return value

    @field_validator("record", "replay", mode="before")
    @classmethod
    def _folder(cls, value: Any) -> Any:
        return None if value == "" else value  # not the folder one happens to be in

    @field_validator("es_url", "anthropic_url", "judge_url", "external_url")
    @classmethod
    def _url(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value or None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        path = settings_file()
        if path is not None:
            sources.append(TomlConfigSettingsSource(settings_cls, toml_file=path))
        return tuple(sources)


def _is_price(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) in (2, 4)
        and all(type(one) in (int, float) and 0 <= one < math.inf for one in value)
    )


def java_homes() -> dict[str, str]:
    """What the environment says of Java, for the local node: ES_JAVA_HOME, JAVA_HOME, PATH."""
    return {
        name: os.environ[name]
        for name in ("ES_JAVA_HOME", "JAVA_HOME", "PATH")
        if os.environ.get(name)
    }


def anthropic_key(settings: Settings) -> SecretStr | None:
    """The key for Claude: ``RESIN_ANTHROPIC_KEY``, else ``ANTHROPIC_API_KEY``."""
    return settings.anthropic_key or _key_variable("ANTHROPIC_API_KEY")


def judge_key(settings: Settings) -> SecretStr | None:
    """The judge's key: ``RESIN_JUDGE_KEY``, else, unless ``RESIN_JUDGE_URL`` leads elsewhere,
    the one that the provider's own tools use. A key goes to no address it was not meant for."""
    if settings.judge_key or settings.judge_url:
        return settings.judge_key
    if settings.judge_provider == "anthropic":
        return anthropic_key(settings)
    return _key_variable(f"{settings.judge_provider.upper()}_API_KEY")


def judge_address(settings: Settings) -> str | None:
    """Where the judge is asked; None for the provider's own address."""
    own = settings.anthropic_url if settings.judge_provider == "anthropic" else None
    return settings.judge_url or own


def _key_variable(name: str) -> SecretStr | None:
    value = os.environ.get(name)
    return SecretStr(value) if value else None


class SettingRow(Frozen):
    """One line of ``resin-es settings``."""

    name: str
    value: str
    origin: str
    description: str


def settings_file() -> Path | None:
    """The settings file in force, None if there is none. Raises SettingsError if
    ``RESIN_SETTINGS`` names one that is not there."""
    named = os.environ.get("RESIN_SETTINGS")
    if named:
        path = Path(named)
        if not path.is_file():
            raise SettingsError(
                f"RESIN_SETTINGS names {named}, which is not a file.", hint="Mend or unset it."
            )
        return path
    import platformdirs

    candidates = (
        Path("resin.toml"),
        Path(platformdirs.user_config_dir("resin-es")) / "settings.toml",
    )
    return next((path for path in candidates if path.is_file()), None)


def load_settings(**overrides: Any) -> Settings:
    """Settings in force. ``overrides`` (by field name) win over everything.

    Raises SettingsError naming each setting that is wrong, and where it came from.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        lines = [_explain(one) for one in error.errors()]
        raise SettingsError(
            "; ".join(lines) + ".", hint="`resin-es settings` lists every setting."
        ) from error
    except SourceError as error:
        raise SettingsError(_no_json(error), hint="Write it as JSON, in double quotes.") from error
    except ValueError as error:  # a file that is not TOML
        raise SettingsError(f"Settings cannot be read: {error}.", hint="Mend the value.") from error


def _explain(error: Mapping[str, Any]) -> str:
    name = str(error["loc"][0]) if error["loc"] else "?"
    where = PREFIX + name.upper()
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, Settings.model_fields, n=1)
        return f"there is no setting {name!r}" + (f" (did you mean {near[0]!r}?)" if near else "")
    return f"{where}: {str(error['msg']).removeprefix('Value error, ')}"


def _no_json(error: SourceError) -> str:
    """Names the variable; what it holds may be secret, and is not shown."""
    named = re.search(r'field "(\w+)"', str(error))
    cause = f": {error.__cause__}" if isinstance(error.__cause__, json.JSONDecodeError) else ""
    name = f"{PREFIX}{named[1].upper()}" if named else "A setting"
    return f"{name} is not JSON{cause}."


def setting_rows(settings: Settings) -> list[SettingRow]:
    """Every setting with its value (secrets masked), origin and meaning."""
    path = settings_file()
    in_file = set(_file_names(path)) if path else set()
    rows = []
    for name, field in Settings.model_fields.items():
        variable = PREFIX + name.upper()
        if variable in os.environ:
            origin = f"environment {variable}"
        elif name in in_file:
            origin = f"file {path}"
        else:
            origin = f"default ({variable})"
        rows.append(
            SettingRow(
                name=name,
                value=_shown(getattr(settings, name)),
                origin=origin,
                description=field.description or "",
            )
        )
    return rows


def unknown_variables() -> list[str]:
    """``RESIN_*`` variables that are no setting: most likely misspelt."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(
        name
        for name in os.environ
        if name.startswith(PREFIX) and name not in known and not name.startswith(FOREIGN)
    )


def _file_names(path: Path) -> list[str]:
    source = TomlConfigSettingsSource(Settings, toml_file=path)
    return list(source.toml_data)


def without_credentials(url: str) -> str:
    """An address, or several separated by commas, without the user and password it may hold."""
    return re.sub(r"//(?:(?!,https?://)\S)*@", "//********@", url)


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, dict) and value and all(isinstance(v, tuple) for v in value.values()):
        shown = ((key, "/".join(f"{one:g}" for one in value[key])) for key in sorted(value))
        return ", ".join(f"{key}={prices}" for key, prices in shown)
    if isinstance(value, dict):
        # header values and free client options may hold credentials: show names alone
        return ", ".join(f"{key}=********" for key in sorted(value)) or "-"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return "-" if value is None else without_credentials(str(value))
