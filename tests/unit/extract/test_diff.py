"""The diff: what stands is kept at no cost, the rest is read again, nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.diff import Diff, changed_regions
from resin_es.extract.passages import build
from resin_es.extract.sentences import sentences_of
from resin_es.model import Document, PassageDraft, PassageRef

SENTENCES = st.lists(st.sampled_from([f"Thing {name} is." for name in "abcdefgh"]), max_size=14)


def document(parts: list[str], joint: str = " ") -> Document:
    return Document(source="s", external_id="1", text=joint.join(parts), access=())


def refs(base: Document, size: int) -> list[PassageRef]:
    sentences = sentences_of(base)
    drafts = [
        PassageDraft(first=first, last=min(first + size, len(sentences)) - 1)
        for first in range(0, len(sentences), size)
    ]
    return [
        PassageRef(id=passage.id, start=0, sentence_ids=passage.sentence_ids)
        for passage in build(base.key, base.text, sentences, drafts)
    ]


def diff(old: Document, new: Document, size: int = 3) -> Diff:
    return changed_regions(refs(old, size), sentences_of(new), new.key, new.text)


ABC = [f"Thing {letter} is." for letter in "abcdefghi"]


@given(SENTENCES, SENTENCES, st.integers(1, 4))
def test_every_new_sentence_is_kept_or_read(old: list[str], new: list[str], size: int) -> None:
    before, after = document(old), document(new)
    found = diff(before, after, size)
    sentences = sentences_of(after)
    held = [
        index
        for first, last in [*((one.first, one.last) for one in found.kept), *found.regions]
        for index in range(first, last + 1)
    ]
    assert sorted(held) == list(range(len(sentences)))
    by_id = {ref.id: ref for ref in refs(before, size)}
    for one in found.kept:
        ids = tuple(sentence.id for sentence in sentences[one.first : one.last + 1])
        assert by_id[one.id].sentence_ids == ids
        (rebuilt,) = build(
            after.key, after.text, sentences, [PassageDraft(first=one.first, last=one.last)]
        )
        assert rebuilt.id == one.id
    ends = {last for _, last in found.regions}
    assert not any(first - 1 in ends for first, _ in found.regions)


@given(SENTENCES, st.integers(1, 4))
def test_an_unchanged_text_is_kept_whole(parts: list[str], size: int) -> None:
    assert diff(document(parts), document(parts), size).regions == ()


@given(st.permutations(ABC), st.integers(0, 9), st.integers(1, 4))
def test_an_insertion_costs_one_passage_at_most(parts: list[str], at: int, size: int) -> None:
    """Distinct sentences: only the passage that the new one breaks up is read again."""
    found = diff(document(parts), document([*parts[:at], "New is this.", *parts[at:]]), size)
    (region,) = found.regions
    inside = at % size != 0 and at < len(parts)
    assert region[1] - region[0] <= (size if inside else 0)


@given(st.permutations(ABC), st.integers(0, 8), st.integers(1, 4))
def test_a_deletion_costs_the_rest_of_its_passage(parts: list[str], at: int, size: int) -> None:
    found = diff(document(parts), document([*parts[:at], *parts[at + 1 :]]), size)
    assert sum(last - first + 1 for first, last in found.regions) <= size - 1


def test_an_insertion_at_the_top_leaves_all_passages() -> None:
    found = diff(document(ABC), document(["New is this.", *ABC]))
    assert found.regions == ((0, 0),)
    assert [(one.first, one.last) for one in found.kept] == [(1, 3), (4, 6), (7, 9)]


def test_a_changed_sentence_costs_its_passage() -> None:
    changed = [*ABC[:4], "Thing e was.", *ABC[5:]]
    assert diff(document(ABC), document(changed)).regions == ((3, 5),)


def test_a_moved_passage_is_kept() -> None:
    found = diff(document(ABC), document([*ABC[6:], *ABC[:6]]))
    assert found.regions == ()
    assert [one.first for one in found.kept] == [0, 3, 6]


def test_a_copy_of_a_kept_sentence_is_read_alone() -> None:
    found = diff(document(ABC), document([*ABC, ABC[0]]))
    assert found.regions == ((9, 9),)


def test_other_white_space_inside_is_another_passage() -> None:
    assert diff(document(ABC), document(ABC, "  ")).kept == ()


def test_white_space_between_passages_does_not_matter() -> None:
    apart = document([" ".join(ABC[:3]), " ".join(ABC[3:6]), " ".join(ABC[6:])], "\n\n")
    assert diff(document(ABC), apart).regions == ()


def test_a_doubled_reference_is_kept_once() -> None:
    base = document(ABC)
    twice = refs(base, 3) * 2
    found = changed_regions(twice, sentences_of(base), base.key, base.text)
    assert [one.first for one in found.kept] == [0, 3, 6]


def test_an_emptied_document() -> None:
    assert diff(document(ABC), document([])) == Diff()
