"""What is looked at before a source is kept: fields, counts, samples, price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from resin_es.errors import InputError
from resin_es.index.names import Names
from resin_es.model import Document
from resin_es.sync.check import Lacking, Price, Sample, SourceCheck, warnings_of
from resin_es.sync.spec import check_spec

if TYPE_CHECKING:
    from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
    from resin_es.bootstrap.services import Services
    from resin_es.model.source import SourceSpec
    from resin_es.ports import Progress
    from resin_es.ports.sync import FieldInfo, Unreadable

LOOKED_AT = 50
SAMPLES = 3
SAMPLE_TEXT = 400
"""Characters of a sample that are shown; ``SAMPLE_READ`` of them are read for sample units."""
SAMPLE_READ = 4_000
SAMPLE_UNITS = 5
PRICED = 200
"""Documents whose reading is priced; a larger source is multiplied up from them."""


def check_source(
    services: Services,
    index: ElasticsearchIndex,
    spec: SourceSpec,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SourceCheck:
    """Writes nothing. ``dry_run`` looks closer: sample units where that is free, and the price
    of reading by Claude. Raises InputError, StoreError."""
    fields = index.fields(spec.index)
    indices = index.indices(spec.index)
    check_spec(spec, fields, Names(prefix=services.settings.prefix), indices)
    count = index.count(spec)
    documents, unreadable = _looked_at(index, spec)
    lacking = _lacking(index, spec, fields)
    texts = [one for one in documents if one.text.strip()]
    return SourceCheck(
        spec=spec,
        kept=not dry_run,
        indices=tuple(indices),
        documents=count,
        lacking=lacking,
        looked_at=len(documents) + len(unreadable),
        samples=_samples(services, texts or documents, with_units=dry_run),
        unreadable=tuple(unreadable),
        price=_price(services, index, spec, count, progress) if dry_run and count else None,
        warnings=tuple(warnings_of(spec, count, lacking, len(texts))),
    )


def _looked_at(
    index: ElasticsearchIndex, spec: SourceSpec
) -> tuple[list[Document], list[Unreadable]]:
    documents: list[Document] = []
    unreadable: list[Unreadable] = []
    for one in islice(index.documents(spec), LOOKED_AT):
        if isinstance(one, Document):
            documents.append(one)
        else:
            unreadable.append(one)
    if unreadable and not documents:
        raise InputError(
            f"None of the first {len(unreadable)} records of {spec.index!r} makes a document: "
            f"{unreadable[0].external_id!r}: {unreadable[0].reason}.",
            hint="Check the fields that were named.",
        )
    return documents, unreadable


def _lacking(
    index: ElasticsearchIndex, spec: SourceSpec, fields: Mapping[str, FieldInfo]
) -> Lacking:
    def count(*names: str) -> int | None:
        infos: list[FieldInfo | None] = [fields.get(name) for name in names]
        known = all(info is not None and not info.nested for info in infos)
        return index.lacking(spec, *names) if all(names) and known else None

    return Lacking(
        text=count(*spec.text_fields),
        access=count(spec.access_field),
        updated=count(spec.updated_field),
    )


def _samples(
    services: Services, documents: Sequence[Document], *, with_units: bool
) -> tuple[Sample, ...]:
    chosen = documents[:SAMPLES]
    free = with_units and services.settings.llm == "none"
    units = _units(services, chosen) if free and chosen else [() for _ in chosen]
    return tuple(
        Sample(
            external_id=one.external_id,
            title=one.title,
            text=one.text[:SAMPLE_TEXT],
            access=one.access,
            url=one.url,
            updated_at=one.updated_at,
            metadata=tuple(f"{name}={value}" for name, value in one.metadata.items()),
            units=found,
        )
        for one, found in zip(chosen, units, strict=True)
    )


def _units(services: Services, documents: Sequence[Document]) -> list[tuple[str, ...]]:
    from resin_es.extract.read import read_many

    beginnings = [
        Document(
            source=one.source, external_id=one.external_id, text=one.text[:SAMPLE_READ], access=()
        )
        for one in documents
    ]
    readings = read_many([(one, None) for one in beginnings], services.reader)
    return [tuple(unit.statement for unit in one.new_units[:SAMPLE_UNITS]) for one in readings]


def _price(
    services: Services,
    index: ElasticsearchIndex,
    spec: SourceSpec,
    count: int,
    progress: Progress | None,
) -> Price:
    from resin_es.bootstrap.estimating import estimate_documents

    measured = 0

    def documents() -> Iterator[Document]:
        nonlocal measured
        readable = (one for one in index.documents(spec) if isinstance(one, Document))
        for one in islice(readable, PRICED):
            measured += 1
            yield one

    found = estimate_documents(services, documents(), progress=progress)
    factor = max(1.0, count / measured) if measured == PRICED else 1.0
    return Price(
        measured=measured,
        calls=round(found.calls * factor),
        dollars=None if found.dollars is None else found.dollars * factor,
        batch_dollars=None if found.batch_dollars is None else found.batch_dollars * factor,
        model=services.settings.llm_read_model,
    )
