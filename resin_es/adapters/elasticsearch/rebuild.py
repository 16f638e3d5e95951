"""A new generation of units, sentences and passages beside the old one, then in its place.

::

    begin      own alias for the old, templates, indices of the new with the token ``…-next``
    catch up   passes of comparison, until one finds little
    swap       one ``_aliases`` call, which takes the token
    finish     what the registry lists and the new lacks, the check, the old indices deleted

Each step can be broken off anywhere and is picked up from what stands on the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import templates as on_cluster
from resin_es.adapters.elasticsearch.copying import Copier, Pass
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.generations import look
from resin_es.adapters.elasticsearch.laying_out import (
    bring_up_others,
    lay_out,
    put_templates_back,
)
from resin_es.adapters.elasticsearch.store import ElasticsearchStore
from resin_es.errors import (
    IndexMismatch,
    StoreConflict,
    StoreError,
    StoreNotInstalled,
    StoreRejected,
    UsageError,
)
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import (
    Generation,
    Generations,
    built_as,
    cancel_actions,
    fits,
    own_actions,
    swap_actions,
    unmark_actions,
)
from resin_es.index.multilingual import SecondEncoder, second_of
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.rebuilt import (
    RebuildReport,
    RebuildStatus,
    State,
    built_with,
    described,
    multilingual_of,
)
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import SCHEMA_VERSION, Schema, meta
from resin_es.ports import Progress

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

QUIET = 0.01
"""Share of records that a pass may still find when the aliases are swapped: writers bring the
rest themselves, and the finish looks once more."""
FEW = 100
"""The same in records, for small indices."""
MOST_PASSES = 20
CHECKS = 3


class Rebuild:
    """Rebuilds to what ``settings`` and the native model of ``embedders`` say. ``how`` goes into
    the new ``_meta``: how other processes load the same model; so does what ``second`` gives, the
    encoder of what is in another language. Where that is none and the indices have one, nothing is
    built unless ``may_drop_second``. Not meant to run twice at a time; if it does, both do the same
    work, and no harm."""

    def __init__(
        self,
        client: Elasticsearch,
        settings: StoreSettings,
        embedders: EmbedderBook,
        how: Mapping[str, Any],
        *,
        second: Callable[[], SecondEncoder | None] = lambda: None,
        may_drop_second: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._client, self._settings, self._how = client, settings, how
        self._second, self._may_drop_second = second, may_drop_second
        self._embedders, self._progress = embedders, progress
        self._store = ElasticsearchStore(client, settings)
        self._names = self._store.names
        self._passes: list[Pass] = []

    # ------------------------------------------------------------ what is asked of it

    def run(self, *, force: bool = False) -> RebuildReport:
        """All of it, from wherever it stands. ``force`` builds anew what fits already.

        Raises UsageError where another rebuild is under way, or this one would lose the second
        vectors; StoreConflict where it is cancelled meanwhile, StoreError, ModelError: run again,
        it goes on.
        """
        self._passes = []
        schema = self._schema()
        before = self._store.generations()
        dropped = self.finish() if before.left else ()
        resumed = bool(before.begun or dropped)
        if not before.begun and fits(before.live, schema) and not (force and not dropped):
            return self._report(bool(dropped), resumed, dropped)
        now = self.begin(schema)
        self.catch_up(now)
        self.swap(now)
        return self._report(True, resumed, (*dropped, *self.finish()))

    def plan(self) -> dict[str, Any]:
        """What a run would build, as ``status`` tells what stands. Raises StoreError, UsageError
        where it would lose the second vectors."""
        return built_with(meta(self._schema(), "units")["resin"])

    def reports_to(self, progress: Progress) -> None:
        """Where the next run tells how far it is."""
        self._progress = progress

    def status(self) -> RebuildStatus:
        """Only looks. Raises StoreError."""
        now = self._store.generations()
        metas = [self._meta_of(name) for name in now.begun]
        new: Mapping[str, Any] = next((m for m in metas if "model" in m), {})
        state: State = "building" if now.begun else "none"
        old = now.live.meta
        older = self._older(now)
        if not now.begun and older and now.live.replaces:
            state, old, new = "swapped", now.live.replaces[0], now.live.meta
        names = [*now.live.indices.values(), *now.begun, *(older if state == "swapped" else ())]
        return RebuildStatus(
            state=state,
            old=built_with(old),
            new=built_with(new),
            began=str(new.get("rebuild", {}).get("began", "")),
            records=self._counts(dict.fromkeys(names)),
        )

    def cancel(self) -> tuple[str, ...]:
        """Take away what is under construction, and every trace of it. Returns the indices that
        went. Raises UsageError once the aliases are swapped, StoreError."""
        now = self._store.generations()
        if now.begun:
            try:
                self._alias(cancel_actions(self._names, now.begun), "cancelling the rebuild")
            except (StoreRejected, StoreNotInstalled):
                if self._store.generations().begun == now.begun:
                    raise
                return self.cancel()  # a swap, or another cancel, came first
            now = self._store.generations()
        elif self._older(now) and now.live.replaces:
            raise UsageError(
                "the new indices answer already; there is nothing left to cancel.",
                hint="`resin-es rebuild` finishes: it checks and drops the old ones.",
            )
        gone = tuple(one for one in now.left if one not in self._older(now))
        if gone:
            self._drop(gone)
            put_templates_back(self._client, self._names, now.live, self._settings)
            if actions := unmark_actions(self._names, now.live):
                self._alias(actions, "taking the marks away")
        return gone

    # ------------------------------------------------------------ steps

    def begin(self, schema: Schema | None = None) -> Generations:
        """Lay the new generation out, or find it laid out. Raises UsageError where what is under
        construction is something else."""
        schema = schema or self._schema()
        now = self._store.generations()
        if now.begun:
            self._refuse_other(now, schema)
        if stray := tuple(one for one in now.left if one not in self._older(now)):
            self._drop(stray)  # what a begin or a cancel that was broken off has left
            now = self._store.generations()
        if actions := own_actions(self._names, now.live):
            self._alias(actions, "marking the indices that answer")
        if now.next is None:
            lay_out(self._client, self._names, now, schema)
        return self._under_construction()

    def catch_up(self, now: Generations) -> None:
        """Passes until one finds little to do. Raises StoreConflict where it is cancelled."""
        if now.next is None:
            raise ValueError("nothing is under construction")
        copier = self._copier(now.next, now.live.indices, now.live.meta)
        while len(self._passes) < MOST_PASSES:
            self._refresh([*now.live.indices.values(), *now.next.indices.values()])
            total = sum(self._counts(dict.fromkeys(now.live.indices.values())).values())
            bar = _Bar(self._progress, total, "records" if not self._passes else "compared again")
            try:
                self._passes.append(copier.catch_up(bar.add))
            except StoreError as error:
                self._raise_cancelled(now, error)
                if self._store.generations().live.name == now.next.name:
                    return  # another run swapped
                raise
            last = self._passes[-1]
            quiet = last.found <= max(FEW, QUIET * last.seen)
            if not last.found or (quiet and len(self._passes) > 1):
                return

    def swap(self, now: Generations) -> None:
        """All families in one call. Raises StoreConflict where it is cancelled first."""
        try:
            self._alias(swap_actions(self._names, now), "swapping the aliases")
        except (StoreRejected, StoreNotInstalled) as error:
            self._raise_cancelled(now, error)
            after = self._store.generations()
            if now.next is None or after.live.name != now.next.name:
                raise

    def finish(self) -> tuple[str, ...]:
        """Settle, check, drop the old indices; returns their names. Raises StoreError, with the
        old ones kept, where the new ones lack what the registry lists."""
        now = self._store.generations()
        older = self._older(now)
        if not older or not now.live.replaces:
            return ()
        by_family = {self._names.family(one) or "": one for one in older}
        if set(by_family) == set(EVIDENCE_FAMILIES):
            self._settle(now.live, by_family)
        bring_up_others(self._client, self._names)
        self._drop(older)
        return older

    # ------------------------------------------------------------ parts of steps

    def _settle(self, live: Generation, old: Mapping[str, str]) -> None:
        # its schema does not count: title and rights come from the registry anyway
        built = {**live.replaces[0], "schema": SCHEMA_VERSION}
        copier = self._copier(live, old, built)
        for _ in range(CHECKS):
            self._refresh([*old.values(), *live.indices.values()])
            last = copier.settle()
            self._passes.append(last)
            if not last.absent:
                return
        raise StoreError(
            f"the new indices lack {last.absent} records that the registry lists; the old ones are "
            "kept.",
            hint="Run `resin-es rebuild` again.",
        )

    def _copier(self, new: Generation, old: Mapping[str, str], built: Mapping[str, Any]) -> Copier:
        """``built``: what the old generation was built with."""
        restate = str(built.get("statement_version", "")) != new.statement_version
        if restate and new.statement_version != self._settings.statement_version:
            raise IndexMismatch(
                f"the new indices have statements of version {new.statement_version}, this version "
                f"of resin-es writes {self._settings.statement_version}.",
                hint="Run it with the version of resin-es that began it.",
            )
        return Copier(
            self._store,
            self._embedders.embedder(new.meta),
            new,
            old,
            second=partial(self._embedders.second, new.meta) if second_of(new.meta) else None,
            restate=restate,
            complete=built.get("schema") == SCHEMA_VERSION,
        )

    def _refuse_other(self, now: Generations, schema: Schema) -> None:
        for name in now.begun:
            family = self._names.family(name) or ""
            has = self._meta_of(name)
            if not built_as(has, schema, family):
                wanted = meta(schema, family)["resin"]
                raise UsageError(
                    f"another rebuild is under way: {name} is built with {described(has)}, asked "
                    f"for is {described(wanted)}.",
                    hint="Run it with the settings it began with, or `resin-es rebuild --cancel`.",
                )

    def _under_construction(self) -> Generations:
        now = self._store.generations()
        if now.next is None:
            raise StoreConflict("the rebuild was cancelled while it began.", hint="Run it again.")
        return now

    def _raise_cancelled(self, now: Generations, error: StoreError) -> None:
        after = self._store.generations()
        if after.next is None and after.live.name == now.live.name:
            raise StoreConflict(
                "the rebuild was cancelled by somebody else.", hint="Run it again to start anew."
            ) from error

    # ------------------------------------------------------------ small things

    def _schema(self) -> Schema:
        live, second = self._store.generations().live, self._second()
        if second is None and not self._may_drop_second and (told := second_of(live.meta)):
            raise UsageError(
                "the indices have second vectors of what is in another language, by "
                f"{told.get('model')}; these settings name no encoder for them, so that they would "
                "be lost.",
                hint="RESIN_MULTILINGUAL=off builds without them. To keep them: pip install "
                "'resin-es[multilingual]'; beside a model of your own, RESIN_MULTILINGUAL=FOLDER.",
            )
        known = on_cluster.has_analyzer(self._client, self._settings.language)
        if known is None:  # not allowed to ask; a cluster has all languages' analyzers or none
            known = bool(live.meta.get("stemming", True))
        schema = Schema(
            model=self._embedders.native.identity,
            settings=self._settings,
            stemming=known,
            embedder=self._how,
            second=second,
        )
        schema.check()
        return schema

    def _older(self, now: Generations) -> tuple[str, ...]:
        """Indices without use that came before those that answer."""
        names = self._names
        live = {f: names.generation(f, one) or 0 for f, one in now.live.indices.items()}
        return tuple(
            one
            for one in now.left
            if (family := names.family(one)) and (names.generation(family, one) or 0) < live[family]
        )

    def _meta_of(self, index: str) -> Mapping[str, Any]:
        told = look(self._client, self._names).get(index, {})
        found: Mapping[str, Any] = told.get("mappings", {}).get("_meta", {}).get("resin", {})
        return found

    def _alias(self, actions: Sequence[Mapping[str, Any]], doing: str) -> None:
        with translated(doing, self._client):
            self._client.indices.update_aliases(actions=list(actions))

    def _drop(self, indices: Sequence[str]) -> None:
        with translated("deleting indices", self._client):
            self._client.indices.delete(index=list(indices), ignore_unavailable=True)

    def _refresh(self, indices: Sequence[str]) -> None:
        with translated("refreshing", self._client):
            self._client.indices.refresh(index=list(indices), ignore_unavailable=True)

    def _counts(self, indices: Mapping[str, Any]) -> dict[str, int]:
        with translated("counting", self._client):
            return {one: int(self._client.count(index=one).body["count"]) for one in indices}

    def _report(self, done: bool, resumed: bool, dropped: tuple[str, ...]) -> RebuildReport:
        live = self._store.generations().live
        self._refresh(list(live.indices.values()))
        counts = self._counts(dict.fromkeys(live.indices.values()))
        return RebuildReport(
            done=done,
            resumed=resumed,
            generation=live.label,
            model=live.model.name,
            multilingual=multilingual_of(live.meta) or "",
            copied=sum(one.copied for one in self._passes),
            deleted=sum(one.deleted for one in self._passes),
            passes=len(self._passes),
            records={family: counts[index] for family, index in live.indices.items()},
            dropped=dropped,
        )


class _Bar:
    def __init__(self, progress: Progress | None, total: int, name: str) -> None:
        self._progress, self._total, self._name, self._done = progress, total, name, 0

    def add(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress.update(self._done, max(self._total, self._done), self._name)
