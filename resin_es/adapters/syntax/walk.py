"""The walk through a parse that finds the clauses worth a claim."""

from __future__ import annotations

from resin_es.adapters.syntax.clauses import Clause, build, complements, share_object
from resin_es.adapters.syntax.lexicon import table, words
from resin_es.adapters.syntax.phrases import comma_before, has_subject, is_finite, phrase, trim
from resin_es.adapters.syntax.tree import Tok, Tree


def clauses(tree: Tree) -> list[Clause]:
    """All clauses worth a claim, main ones first."""
    found: list[Clause] = []
    for root in tree.roots():
        _visit(root, tree, "main", "asserted", None, found)
    return found


def _visit(
    verb: Tok, tree: Tree, kind: str, modality: str, parent: Clause | None, found: list[Clause]
) -> None:
    """Collect the clause at ``verb``, then those it coordinates, reports or contains."""
    current: Clause | None = None
    if verb.is_verb:
        current = build(verb, tree, kind, modality, parent)
        if current is not None:
            found.append(current)
    last = current or parent
    for child in verb.children:
        if child.dep == "conj" and child.is_verb:
            _visit(child, tree, kind, modality, last if verb.is_verb else None, found)
        elif child.dep in ("ccomp", "parataxis") and child.is_verb:
            reported = reported_modality(verb, child)
            if reported and (child.i > verb.i or _set_off(child, tree)):
                _visit(child, tree, "content", reported, None, found)
            elif child.i < verb.i and _set_off(child, tree) and child.kid("mark") is None and (
                has_subject(child) and is_finite(child)
            ):  # fmt: skip
                _visit(child, tree, "contrast", modality, None, found)
        elif child.dep == "advcl" and _contrast(child):
            _visit(child, tree, "contrast", modality, None, found)
    if current is not None:
        _further_infinitives(current, tree, modality, found)
    if verb.is_verb:
        _relatives(verb, tree, found)


def _further_infinitives(clause: Clause, tree: Tree, modality: str, found: list[Clause]) -> None:
    """ "is known to promote A and (to) regulate B": the second infinitive shares what leads."""
    if len(clause.chain) < 2:
        return
    last, lead = clause.chain[-1], clause.chain[:-1]
    queue = [child for child in last.kids("conj") if child.is_verb]
    for verb in queue:
        queue.extend(child for child in verb.kids("conj") if child.is_verb)
        if verb.tag != last.tag or has_subject(verb) or is_finite(verb):
            continue
        further = Clause(tree, clause.kind, clause.subject, clause.subject_tokens,
                         [*lead, verb], [], modality=modality)  # fmt: skip
        further.shared_subject = True
        further.borrowed = [tok for tok in clause.group if tok.i < last.i]
        own = [tok for tok in verb.children
               if tok.dep in ("aux", "advmod", "prt") and tok.i < verb.i]  # fmt: skip
        if any(tok.lower == "to" for tok in own):
            further.borrowed = [tok for tok in further.borrowed
                                if not (tok.lower == "to" and tok.head is last)]  # fmt: skip
        further.group = [*further.borrowed, *own, verb]
        further.pieces = complements(verb, verb.i, {tok.i for tok in further.group}, tree)
        share_object(further)
        found.append(further)


def _relatives(verb: Tok, tree: Tree, found: list[Clause]) -> None:
    """Non-restrictive relative clauses on nouns of this clause: claims about those nouns."""
    for tok in verb.subtree(lambda child: child.is_verb and child.dep != "xcomp"):
        for child in tok.kids("relcl"):
            if child.is_verb and _antecedent(tok, verb) and comma_before(child, tree):
                clause = _relative(tok, child, tree)
                if clause is not None:
                    found.append(clause)


def _antecedent(noun: Tok, verb: Tok) -> bool:
    """Whether a relative clause on ``noun`` is likely to be about it and not the clause."""
    if noun.pos not in ("NOUN", "PROPN"):
        return False
    placed = noun.dep == "pobj" and noun.head.lower in ("in", "at", "from", "during", "under")
    return (
        noun.head is verb
        or (noun.tag in ("NNP", "NNPS") and not placed)
        or noun.kid("appos") is not None
        or (any(child.lower in ("a", "an") for child in noun.kids("det")))
    )


def _relative(noun: Tok, verb: Tok, tree: Tree) -> Clause | None:
    pronoun = verb.kid("nsubj", "nsubjpass")
    if pronoun is None or pronoun.lower not in ("which", "who", "that") or pronoun.kid("prep"):
        return None
    clause = build(verb, tree, "relative", "asserted", None)
    if clause is None:
        return None
    tokens = [tok for tok in phrase(noun, tree) if tok.i < pronoun.i]
    clause.subject, clause.subject_tokens = noun, trim(tokens)
    return clause if clause.subject_tokens else None


def _set_off(child: Tok, tree: Tree) -> bool:
    """Whether a clause before its reporter ends in a comma: "Fares rise, officials say"."""
    last = child.subtree()[-1]
    after = tree.tokens[last.i + 1 : last.i + 2]
    return last.text == "," or (bool(after) and after[0].text == ",")


def _contrast(child: Tok) -> bool:
    mark = child.kid("mark")
    return (
        mark is not None
        and mark.lower in words("words", "contrast_marks")
        and has_subject(child)
        and is_finite(child)
    )


def reported_modality(verb: Tok, content: Tok) -> str:
    """How firmly a that-clause under ``verb`` is stated; "" where it is no statement."""
    if not has_subject(content) or not is_finite(content):
        return ""
    mark = content.kid("mark")
    opener = content.subtree()[0]
    skip = words("reporting", "skip_marks")
    if (mark is not None and mark.lower in skip) or (opener.lower in skip):
        return ""
    if verb.kid("neg") is not None:
        return ""
    reporting = table("reporting", "verbs").get(verb.lemma, "")
    if not reporting:
        adjective = verb.kid("acomp")
        if adjective is not None and verb.kid("expl", "nsubj") is not None:
            reporting = table("reporting", "adjectives").get(adjective.lemma, "")
    subject = verb.kid("nsubj", "nsubjpass")
    if reporting == "asserted" and subject is not None and _someone_else(subject):
        return "reported"
    return reporting


def _someone_else(subject: Tok) -> bool:
    """Whether a reporter is not the text's own study: "previous studies", "the police"."""
    if subject.dep == "nsubjpass":
        return False
    if any(child.lower in ("our", "these", "this", "the") for child in subject.children
           if child.dep in ("det", "poss")):  # fmt: skip
        return subject.lemma in words("reporting", "other_reporters")
    marked = any(child.lower in words("reporting", "other_marks") for child in subject.children)
    return (
        marked
        or subject.lemma in words("reporting", "other_reporters")
        or (subject.lemma == "study" and subject.tag == "NNS")
        or subject.lemma == "et"
        or (subject.tag == "NNP" and subject.kid("compound") is None)
    )
