"""Everything that is wired from settings, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.embedding import OFF, embedder_spec, make_embedder, second_encoder
from resin_es.bootstrap.stages import (
    connection_options,
    index_settings,
    local_settings,
    query_settings,
    store_settings,
)
from resin_es.errors import (
    AccessError,
    ModelError,
    ResinError,
    SettingsError,
    StoreNotInstalled,
)
from resin_es.model import Principal, Sentence
from resin_es.ports import (
    Composer,
    Embedder,
    Ledger,
    Planner,
    Progress,
    Reader,
    ReadingWindow,
    UnitStore,
)
from resin_es.settings import Settings

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.adapters.elasticsearch import Check, InstallReport, UninstallReport
    from resin_es.adapters.elasticsearch.rebuild import Rebuild
    from resin_es.bootstrap.language import LaterModel
    from resin_es.index.embedders import EmbedderBook
    from resin_es.index.indexer import Indexer
    from resin_es.index.multilingual import SecondEncoder
    from resin_es.llm.metered import MeteredModel, Spending
    from resin_es.llm.solver import HopSolver
    from resin_es.query.engine import QueryEngine


class Services:
    """Adapters and stages for one set of settings. Nothing is imported or connected before
    its property is read. ``progress`` hears of a download or start of the local node."""

    def __init__(self, settings: Settings, *, progress: Progress | None = None) -> None:
        self.settings = settings
        self._progress = progress
        self._making = Lock()

    def under(self, prefix: str, **changes: Any) -> Services:
        """The same cluster and embedder under another index prefix, settings changed."""
        settings = self.settings.model_copy(update={"prefix": prefix, **changes})
        other = Services(settings, progress=self._progress)
        kept = {name: getattr(self, name) for name in ("url", "client", "embedder", "embedders")}
        other.__dict__.update(kept)
        return other

    # ------------------------------------------------------------ who asks

    @property
    def on_local_node(self) -> bool:
        """Whether Elasticsearch is the node that resin-es starts itself."""
        return self.settings.es_url is None

    def principal(self, groups: Iterable[str] | None = None) -> Principal:
        """Who asks: the groups given, else RESIN_GROUPS, else admin on the own local node.

        An empty list is somebody without groups, who may read public documents alone; None is
        nobody named. Raises AccessError (exit 2) where none is named, or a name is no name.
        """
        if groups is not None:
            return Principal(groups=_names(groups))
        if self.settings.groups is not None:
            if not self.settings.groups:
                raise AccessError(
                    "RESIN_GROUPS is set but names no group.", hint="Name one, or unset it."
                )
            return Principal(groups=_names(self.settings.groups))
        if self.on_local_node:
            return Principal(admin=True)
        raise AccessError(
            "Nobody is named as the one who asks, so nothing may be read.",
            hint="Give --group NAME, or set RESIN_GROUPS (comma-separated).",
        )

    # ------------------------------------------------------------ Elasticsearch

    @cached_property
    def url(self) -> str:
        """Where Elasticsearch listens; starts the local node if that is what is used."""
        if self.settings.es_url is not None:
            return self.settings.es_url
        from resin_es.local import up

        return up(local_settings(self.settings), self._progress).url

    @cached_property
    def client(self) -> Elasticsearch:
        from resin_es.adapters.elasticsearch import connect

        return connect(connection_options(self.settings, self.url))

    @cached_property
    def store(self) -> UnitStore:
        from resin_es.adapters.elasticsearch import ElasticsearchStore

        return ElasticsearchStore(self.client, store_settings(self.settings), self.embedders)

    def ensure_installed(self, *, anywhere: bool = False) -> bool:
        """On the own local node, lay the indices out if they are missing; elsewhere (unless
        told) that is for ``resin-es install``, with whoever's rights that takes. Returns
        whether it did.

        Raises StoreNotInstalled, IndexMismatch.
        """
        try:
            self.store.check(self.embedder.identity)
        except StoreNotInstalled:
            if not (self.on_local_node or anywhere):
                raise
        else:
            return False
        self.install()
        return True

    def install(self, *, index_only: bool = False, create_role: bool = False) -> InstallReport:
        """Lay templates, indices and aliases out. Raises StoreError."""
        from resin_es.adapters.elasticsearch import install

        return install(
            self.client,
            store_settings(self.settings),
            self.embedder.identity,
            index_only=index_only,
            create_role=create_role,
            embedder=embedder_spec(self.settings),
            second=self.second,
        )

    def rebuild(self, *, progress: Progress | None = None) -> Rebuild:
        """What builds the evidence indices anew for these settings, beside those that answer."""
        from resin_es.adapters.elasticsearch.rebuild import Rebuild

        return Rebuild(
            self.client,
            store_settings(self.settings),
            self.embedders,
            embedder_spec(self.settings),
            second=lambda: self.second,
            may_drop_second=self.settings.multilingual == OFF,
            progress=progress or self._progress,
        )

    def uninstall(self) -> UninstallReport:
        """Take all of it away again. Raises StoreError."""
        from resin_es.adapters.elasticsearch import uninstall

        return uninstall(self.client, store_settings(self.settings))

    def role(self) -> dict[str, Any]:
        """The least-privilege role of the run time, as Elasticsearch takes it."""
        from resin_es.adapters.elasticsearch import role

        return role(store_settings(self.settings))

    def doctor(self) -> list[Check]:
        """Every check, those of the models last."""
        from resin_es.adapters.elasticsearch import doctor
        from resin_es.bootstrap.background_checks import background_checks
        from resin_es.bootstrap.language_check import other_languages

        rows = [self._embedder_check(), self._reader_check(), self._llm_check()]
        rows += background_checks(self.settings)
        return doctor(
            self.client,
            store_settings(self.settings),
            self.embedder.identity,
            rows,
            languages=lambda meta: other_languages(meta, self),
        )

    def _embedder_check(self) -> Check:
        from resin_es.adapters.elasticsearch import Check

        identity = self.embedder.identity
        try:
            self.embedder.embed(["one sentence"])
        except ModelError as error:
            return Check(name="embedder", ok=False, detail=error.message, hint=error.hint)
        return Check(name="embedder", ok=True, detail=f"{identity.name} ({identity.runtime}) runs")

    def _reader_check(self) -> Check:
        from resin_es.adapters.elasticsearch import Check

        if self.settings.llm != "none":
            return Check(name="reader", ok=None, detail="not tried: a call costs money")
        window = ReadingWindow(
            title="", sentences=(Sentence(id="0", text="It is.", start=0, end=6),)
        )
        try:
            self.reader.passages(window)
        except ResinError as error:
            return Check(name="reader", ok=False, detail=error.message, hint=error.hint)
        return Check(name="reader", ok=True, detail=f"{self.reader.identity.model} runs")

    def _llm_check(self) -> Check:
        from resin_es.adapters.elasticsearch import Check
        from resin_es.bootstrap.language import KEY_HINT, key_without_choice

        name, settings = "language model", self.settings
        if settings.llm == "none":
            hint = KEY_HINT if key_without_choice(settings) else ""
            return Check(name=name, ok=None, detail="none (RESIN_LLM=none)", hint=hint)
        try:
            _ = self.language
        except ResinError as error:
            return Check(name=name, ok=False, detail=error.message, hint=error.hint)
        models = f"{settings.llm_read_model} reads, {settings.llm_answer_model} answers"
        return Check(name=name, ok=True, detail=f"{models} (not asked: a call costs money)")

    # ------------------------------------------------------------ models

    @cached_property
    def embedder(self) -> Embedder:
        return make_embedder(embedder_spec(self.settings), self.settings.embedder_threads)

    @cached_property
    def second(self) -> SecondEncoder | None:
        """The encoder of what is in another language, for indices that are made or rebuilt; those
        that stand say themselves which they have. Raises SettingsError."""
        return second_encoder(self.settings, self.embedder)

    @cached_property
    def embedders(self) -> EmbedderBook:
        """The settings' model, and those that an index names once it was rebuilt."""
        from resin_es.index.embedders import EmbedderBook

        threads = self.settings.embedder_threads
        return EmbedderBook(lambda: self.embedder, lambda spec: make_embedder(spec, threads))

    @cached_property
    def ledger(self) -> Ledger:
        """What this process spent."""
        from resin_es.adapters.ledger import MemoryLedger

        return MemoryLedger()

    @cached_property
    def language(self) -> MeteredModel:
        """The language model of all stages. Raises SettingsError, ModelUnavailable."""
        if self.settings.llm == "none":
            raise SettingsError(
                "This needs a language model, and none is chosen.", hint="Set RESIN_LLM=claude."
            )
        from resin_es.bootstrap.language import metered_model

        return metered_model(self.settings, self.ledger)

    def _later(self, name: str) -> LaterModel:
        """The language model, which is asked as ``name``, once it is asked."""
        from resin_es.bootstrap.language import LaterModel

        return LaterModel(lambda: self._priced(name))

    def _priced(self, name: str) -> MeteredModel:
        """Raises SettingsError also where there is a cap and no price."""
        from resin_es.bootstrap.estimating import check_priced

        with self._making:  # asked by several threads, it is still one, with one ledger
            model = self.language
        check_priced(self.settings, [name])
        return model

    def ready_to_read(self) -> None:
        """To be called before documents are read: the language model, where there is one, is
        made. Raises SettingsError, ModelUnavailable before anything is claimed or agreed to."""
        if self.settings.llm != "none":
            self._priced(self.settings.llm_read_model)

    @property
    def spending(self) -> Spending:
        """What the language model was asked, by stage; empty where it was not even made."""
        made: MeteredModel | None = self.__dict__.get("language")
        return {} if made is None else made.spending

    @cached_property
    def reader(self) -> Reader:
        if self.settings.llm == "none":
            from resin_es.adapters.syntax.reader import SyntaxReader

            return SyntaxReader()
        from resin_es.llm.reader import ModelReader

        settings = self.settings
        return ModelReader(
            self._later(settings.llm_read_model),
            self.store,
            name=settings.llm_read_model,
            lanes=settings.llm_lanes,
        )

    @cached_property
    def planner(self) -> Planner:
        if self.settings.llm == "none":
            from resin_es.query.planner import RulePlanner

            return RulePlanner()
        from resin_es.llm.planner import ModelPlanner

        name = self.settings.llm_answer_model
        return ModelPlanner(self._later(name), name=name)

    @cached_property
    def composer(self) -> Composer:
        if self.settings.llm == "none":
            from resin_es.query.compose import ExtractiveComposer

            return ExtractiveComposer()
        from resin_es.llm.composer import ModelComposer

        name = self.settings.llm_answer_model
        return ModelComposer(self._later(name), name=name)

    @cached_property
    def solver(self) -> HopSolver:
        """Local answers for traces. Raises SettingsError without a language model."""
        from resin_es.llm.solver import HopSolver

        name = self.settings.llm_answer_model
        return HopSolver(self._priced(name), name=name)

    # ------------------------------------------------------------ stages

    @cached_property
    def indexer(self) -> Indexer:
        from resin_es.index.indexer import Indexer

        return Indexer(self.store, self.embedder, self.reader, index_settings(self.settings))

    @cached_property
    def engine(self) -> QueryEngine:
        from resin_es.query.engine import QueryEngine

        return QueryEngine(
            self.store,
            self.embedder,
            self.planner,
            self.composer,
            query_settings(self.settings),
        )


def _names(groups: Iterable[str]) -> frozenset[str]:
    """Group names, stripped. A lone string would be taken letter by letter: refused."""
    if isinstance(groups, str):
        raise AccessError(f"groups is the string {groups!r}, not a list.", hint=f"[{groups!r}]")
    names = list(groups)
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise AccessError("a group name is empty or no string.", hint="Name a group with --group.")
    return frozenset(name.strip() for name in names)
