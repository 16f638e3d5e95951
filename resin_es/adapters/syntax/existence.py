"""What there is: "there was no difference in X between A and B"."""

from __future__ import annotations

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.phrases import phrase, trim, without_article
from resin_es.adapters.syntax.qualify import leading_scope, modality, polarity
from resin_es.adapters.syntax.tree import Tok, torn
from resin_es.model import Claim, EntityFact


def existential(clause: Clause) -> Claim | None:
    """What exists is the subject; where, when or of what kind it is, is the value."""
    head = next((tok for tok, _ in clause.pieces if tok.dep in ("attr", "dobj")), None)
    if clause.subject.dep != "expl" or clause.subject.lower != "there" or head is None:
        return None
    tree = clause.tree
    whole = phrase(head, tree)
    cut = _cut(head)
    rest = [tok for _, part in clause.pieces for tok in part if tok.i > whole[-1].i]
    first = [tok for tok in whole if tok.i < cut]
    rest = sorted({tok.i: tok for tok in [*(t for t in whole if t.i >= cut), *rest]}.values(),
                  key=lambda tok: tok.i)  # fmt: skip
    name, value = tree.text(without_article(trim(first))), tree.text(trim(rest))
    if not name or not value or torn([*first, *rest], tree):
        return None
    return EntityFact(
        subject=name, surface_predicate=tree.text([clause.subject, *clause.group]), object=value,
        modality=modality(clause), polarity=polarity(clause), confidence=0.75,
        scope="; ".join(tree.text(part) for part in leading_scope(clause)),
    )  # fmt: skip


def _cut(head: Tok) -> int:
    """Where the value starts: behind the name's "of …", at the last other modifier."""
    cuts = [
        child.subtree()[0].i
        for child in head.children
        if child.i > head.i and (
            child.dep in ("acl", "relcl") or (child.dep == "prep" and child.lower != "of")
        )
    ]  # fmt: skip
    names = [cut for cut in cuts if cut > head.i]
    return names[-1] if names else head.subtree()[-1].i + 1
