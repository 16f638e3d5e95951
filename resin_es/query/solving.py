"""Local answers of a kept trace's hops: for who checks a search, never for the composer [A.5].

Each hop of the plan is solved from its own candidates as the trace names them, fetched and
fenced with the rights of whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.model import Hop, ModelUse, ReaderIdentity, Trace
from resin_es.model.base import Frozen
from resin_es.model.trace import TracedCandidate, TracedCitation, TracedHop, TracedSolution
from resin_es.query.fence import Fenced
from resin_es.query.use import paid

NO_CANDIDATES = "No candidate of this hop can be read."


class SolverCandidate(Frozen):
    """What stands at one place that the hop's search hit: the source's own sentences, and which
    kinds of records point at them."""

    kinds: tuple[str, ...]
    title: str = ""
    text: str


class SolverInput(Frozen):
    """All that a hop solver sees: the hop's number (from 1), what it asks, its target and
    reasoning type, the numbers of the hops it depends on (not what they found), and its own
    candidates, best first."""

    number: int
    subquestion: str
    target: tuple[str, ...] = ()
    reasoning_type: str = ""
    depends_on: tuple[int, ...] = ()
    candidates: tuple[SolverCandidate, ...] = ()


class LocalAnswer(Frozen):
    """A hop's own answer. ``records`` are positions of the candidates it rests on, from 0;
    ``rejected`` what it named that was not given."""

    text: str
    found: bool
    records: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()
    use: ModelUse | None = None


class Solver(Protocol):
    """One hop to its local answer."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def solve(self, item: SolverInput) -> LocalAnswer:
        """Raises ModelUnavailable, BudgetSpent, ModelError."""
        ...


class _Record(NamedTuple):
    """A candidate as it is given, and where it stands."""

    shown: SolverCandidate
    at: TracedCandidate


def solved(trace: Trace, fenced: Fenced, solver: Solver) -> Iterator[Trace]:
    """The trace with one more local answer each time: hops of the plan, in its order. One that
    this solver answered before from what may still be read is left as it is. A hop that fails
    says so in its own place.

    Raises ModelUnavailable, BudgetSpent: every further hop would fail.
    """
    numbers = {hop.id: number for number, hop in enumerate(trace.plan.hops, start=1)}
    name = f"{solver.identity.model}/{solver.identity.prompt_version}"
    for traced in trace.hops:
        number = numbers.get(traced.hop.id)
        if number is None or _stands(traced, name, fenced):
            continue
        records = _records(traced, fenced)
        item = _input(number, traced.hop, numbers, records)
        solution = _solution(item, records, solver, name)
        trace = _with(trace, traced.model_copy(update={"solution": solution}))
        yield trace


def _stands(traced: TracedHop, solver: str, fenced: Fenced) -> bool:
    one = traced.solution
    return one is not None and one.solver == solver and not one.problem and readable(one, fenced)


def readable(solution: TracedSolution, fenced: Fenced) -> bool:
    """Whether everything that a local answer was made from may be read, and stands."""
    return all(ref.passage_id in fenced.sources for ref in solution.rests_on)


def _records(traced: TracedHop, fenced: Fenced) -> list[_Record]:
    """Each place once, at its best rank, with the kinds of all records that point at it."""
    kinds: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    first: dict[tuple[str, tuple[str, ...]], TracedCandidate] = {}
    for one in traced.candidates:
        if one.passage_id in fenced.sources:
            place = (one.passage_id, one.sentence_ids)
            kinds.setdefault(place, {})[one.kind] = None
            first.setdefault(place, one)
    found = []
    for place, one in first.items():
        source = fenced.sources[one.passage_id]
        texts = [s.text for s in source.sentences if s.id in one.sentence_ids]
        if texts:
            shown = SolverCandidate(
                kinds=tuple(kinds[place]), title=source.entry.title, text=" ".join(texts)
            )
            found.append(_Record(shown, one))
    return found


def _input(
    number: int, hop: Hop, numbers: Mapping[str, int], records: Sequence[_Record]
) -> SolverInput:
    return SolverInput(
        number=number,
        subquestion=hop.subquestion,
        target=hop.target_terms,
        reasoning_type=hop.reasoning_type.value,
        depends_on=tuple(numbers[other] for other in hop.depends_on),
        candidates=tuple(record.shown for record in records),
    )


def _solution(
    item: SolverInput, records: Sequence[_Record], solver: Solver, name: str
) -> TracedSolution:
    if not records:
        return TracedSolution(solver=name, problem=NO_CANDIDATES)
    given = [_reference(n, record.at) for n, record in enumerate(records, start=1)]
    try:
        answer = solver.solve(item)
    except (ModelUnavailable, BudgetSpent):
        raise
    except ModelError as error:
        use = paid(error, solver.identity)
        return TracedSolution(solver=name, problem=error.message, rests_on=tuple(given), use=use)
    rests_on = [given[position] for position in answer.records] or given
    return TracedSolution(
        solver=name,
        text=answer.text,
        found=answer.found,
        records=tuple(position + 1 for position in answer.records),
        rests_on=tuple(rests_on),
        rejected=answer.rejected,
        use=answer.use,
    )


def _reference(number: int, candidate: TracedCandidate) -> TracedCitation:
    return TracedCitation(
        number=number,
        passage_id=candidate.passage_id,
        document_key=candidate.document_key,
        sentence_ids=candidate.sentence_ids,
    )


def _with(trace: Trace, changed: TracedHop) -> Trace:
    hops = tuple(changed if hop.hop.id == changed.hop.id else hop for hop in trace.hops)
    return trace.model_copy(update={"hops": hops})
