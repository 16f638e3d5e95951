"""Passages without a model, by stated rules (see docs/reader.md).

Sentences that lean on what was said, keep to an entity or take the same step of a report stay
together; a section label, a new step and a new subject part them.
"""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.adapters.syntax.passages_cuts import cut
from resin_es.adapters.syntax.passages_entities import entity_type, focus, main_entity
from resin_es.adapters.syntax.passages_look import Look, look
from resin_es.adapters.syntax.passages_roles import role, scored
from resin_es.adapters.syntax.tree import Tree
from resin_es.model import PassageDraft
from resin_es.ports import ReadingWindow


def construct(window: ReadingWindow, trees: Sequence[Tree]) -> list[PassageDraft]:
    """Drafts that partition ``window.sentences`` in order."""
    seen = [
        look(tree, len(sentence.text))
        for sentence, tree in zip(window.sentences, trees, strict=True)
    ]
    looks = scored(seen, opens_document=not window.before)
    return [
        _draft(looks[first : last + 1], first, last, window.title) for first, last in cut(looks)
    ]


def _draft(looks: Sequence[Look], first: int, last: int, title: str) -> PassageDraft:
    entity, lemma = main_entity(looks, title)
    return PassageDraft(
        first=first,
        last=last,
        main_entity=entity,
        entity_type=entity_type(looks, lemma),
        focus=focus(looks, lemma),
        role=role(looks),
    )
