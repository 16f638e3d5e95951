"""Clauses: who (subject), what of it (predicate group) and the rest, from one parse."""

from __future__ import annotations

from dataclasses import dataclass, field

from resin_es.adapters.syntax.lexicon import table, words
from resin_es.adapters.syntax.phrases import has_subject, is_finite, phrase, trim
from resin_es.adapters.syntax.tree import Tok, Tree

SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass")
_CHAIN_DEPS = ("xcomp", "acomp", "oprd")
_REST_SKIP = frozenset(
    "nsubj nsubjpass csubj csubjpass aux auxpass neg mark punct cc conj parataxis advcl expl "
    "dep meta intj preconj".split()
)


@dataclass
class Clause:
    """``chain`` is the verbs from the finite one to the one that carries the content;
    ``group`` the predicate's tokens; ``rest`` the complements' tokens; ``pieces`` the
    complements one by one (head token, tokens)."""

    tree: Tree
    kind: str
    subject: Tok
    subject_tokens: list[Tok]
    chain: list[Tok]
    group: list[Tok]
    pieces: list[tuple[Tok, list[Tok]]] = field(default_factory=list)
    borrowed: list[Tok] = field(default_factory=list)
    modality: str = "asserted"
    shared_subject: bool = False

    @property
    def verb(self) -> Tok:
        """The verb (or predicate adjective) that carries the content."""
        return self.chain[-1]

    @property
    def rest(self) -> list[Tok]:
        return sorted({tok.i: tok for _, part in self.pieces for tok in part}.values(),
                      key=lambda tok: tok.i)  # fmt: skip

    @property
    def passive(self) -> bool:
        return any(child.dep == "auxpass" for verb in self.chain for child in verb.children) or (
            any(tok.dep == "auxpass" for tok in self.borrowed)
        )

    def tokens(self) -> list[Tok]:
        """Everything the clause says, in text order."""
        own = self.subject_tokens if self.subject_tokens[0].i < len(self.tree.tokens) else []
        every = {tok.i: tok for tok in (*own, *self.group, *self.rest)}
        return [every[index] for index in sorted(every)]


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
            if reported:
                _visit(child, tree, "content", reported, None, found)
        elif child.dep == "advcl" and _contrast(child):
            _visit(child, tree, "contrast", modality, None, found)
    if verb.is_verb:
        _relatives(verb, tree, found)


def _relatives(verb: Tok, tree: Tree, found: list[Clause]) -> None:
    """Non-restrictive relative clauses on nouns of this clause: claims about those nouns."""
    from resin_es.adapters.syntax.phrases import comma_before

    for tok in verb.subtree(lambda child: child.is_verb and child.dep != "xcomp"):
        for child in tok.kids("relcl"):
            if tok.pos in ("NOUN", "PROPN") and child.is_verb and comma_before(child, tree):
                clause = _relative(tok, child, tree)
                if clause is not None:
                    found.append(clause)


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
    if reporting != "asserted":
        return reporting
    subject = verb.kid("nsubj", "nsubjpass")
    own = words("reporting", "own_reporters")
    if subject is not None and subject.lemma in own | {"result"} and not _previous(subject):
        return "asserted"
    return "reported" if subject is not None and subject.dep == "nsubj" else "asserted"


def _previous(subject: Tok) -> bool:
    """Whether a reporter is someone else: "previous studies", "other authors"."""
    return any(
        child.lower in ("previous", "earlier", "prior", "other", "recent", "past", "several")
        for child in subject.kids("amod")
    )


def build(
    verb: Tok, tree: Tree, kind: str, modality: str, parent: Clause | None
) -> Clause | None:
    """The clause headed by ``verb``; None where no subject can be told."""
    subject = verb.kid(*SUBJECTS)
    shared = False
    if subject is not None:
        tokens = phrase(subject, tree)
        head = subject
    elif parent is not None and verb.dep == "conj":
        head, tokens, shared = parent.subject, parent.subject_tokens, True
    elif (there := verb.kid("expl")) is not None:
        head, tokens = there, [there]
    else:
        return None
    chain = _chain(verb)
    borrowed = _borrowed(verb, parent) if shared and parent is not None else []
    clause = Clause(tree, kind, head, tokens, chain, [], modality=modality)
    clause.borrowed, clause.shared_subject = borrowed, shared
    clause.group = _group(clause)
    clause.pieces = _pieces(clause)
    _share_object(clause)
    return clause


def _chain(verb: Tok) -> list[Tok]:
    """Follow "was found to be", "is likely to", "aims to": to the verb that carries it."""
    chain = [verb]
    while len(chain) < 5:
        last = chain[-1]
        step = None
        for child in last.kids(*_CHAIN_DEPS):
            if child.is_verb and child.i > last.i and _follows(last, child):
                step = child
            elif child.dep == "acomp":
                inner = child.kid("xcomp")
                if inner is not None and inner.is_verb and _follows(child, inner):
                    chain.append(child)
                    step = inner
        if step is None or step.tag == "VBG" and last.lemma not in ("start", "begin", "continue"):
            break
        chain.append(step)
    return chain


def _follows(last: Tok, child: Tok) -> bool:
    """Whether an infinitive follows directly: only its own to, negation and adverbs between."""
    before = [tok.i for tok in child.children if tok.i < child.i
              and tok.dep in ("aux", "neg", "advmod", "auxpass")]  # fmt: skip
    adverbs = [tok.i for tok in last.children if last.i < tok.i < child.i
               and tok.dep in ("advmod", "neg")]  # fmt: skip
    return child.i - last.i - 1 == len(before) + len(adverbs) and not has_subject(child)


def _borrowed(verb: Tok, parent: Clause) -> list[Tok]:
    """Auxiliaries a coordinated verb shares: "was isolated and characterised"."""
    if verb.kid("aux", "auxpass") is not None:
        return []
    owner = parent.chain[0]
    helpers = owner.kids("aux", "auxpass") or parent.borrowed
    same = verb.tag == owner.tag or {verb.tag, owner.tag} <= {"VBN", "VBD"}
    if not helpers or not same or verb.tag not in ("VB", "VBN", "VBG", "VBD"):
        return []
    linker = next((tok.lower for tok in owner.kids("cc") if tok.i < verb.i), "")
    negated = owner.kids("neg") if linker in ("or", "nor") else []
    return sorted([*helpers, *negated], key=lambda tok: tok.i)


def _group(clause: Clause) -> list[Tok]:
    """The predicate's own words: auxiliaries, negation, close adverbs, verbs, particles."""
    found: dict[int, Tok] = {tok.i: tok for tok in clause.borrowed}
    opening = words("words", "discourse_adverbs")
    last = clause.chain[-1].i
    for verb in clause.chain:
        found[verb.i] = verb
        for child in verb.children:
            close = child.i < last or child.i < verb.i
            if child.dep in ("aux", "auxpass", "neg", "prt"):
                found[child.i] = child
            elif child.dep == "advmod" and close and child.lower not in opening:
                if child.i > clause.subject.i or clause.shared_subject:
                    found.update({tok.i: tok for tok in child.subtree()})
    tokens = [found[index] for index in sorted(found)]
    return trim(tokens)


def _pieces(clause: Clause) -> list[tuple[Tok, list[Tok]]]:
    """Complements right of the content verb, each with its tokens."""
    taken = {tok.i for tok in clause.group} | {tok.i for tok in clause.chain}
    pieces: list[tuple[Tok, list[Tok]]] = []
    for verb in clause.chain:
        for child in verb.children:
            if child.i < clause.chain[-1].i or child.i in taken:
                continue
            if child.dep in _REST_SKIP and not _kept_adverbial(child, clause.tree):
                continue
            tokens = trim(phrase(child, clause.tree))
            if tokens and tokens[0].i > clause.chain[-1].i:
                pieces.append((child, tokens))
    pieces.sort(key=lambda piece: piece[1][0].i)
    return pieces


def _kept_adverbial(child: Tok, tree: Tree) -> bool:
    """Adverbial clauses that complete the statement: "using X", "to assess Y"."""
    if child.dep != "advcl" or has_subject(child) or child.kid("mark") is not None:
        return False
    if child.lemma in words("words", "kept_advcl_verbs"):
        return True
    infinitive = any(tok.lower == "to" for tok in child.kids("aux"))
    return infinitive


def _share_object(clause: Clause) -> None:
    """"X inhibits and degrades Y": the first verb takes the object of the second."""
    verb = clause.chain[-1]
    if clause.pieces or clause.kind == "relative":
        return
    for other in verb.kids("conj"):
        between = [tok for tok in clause.tree.tokens[verb.i + 1 : other.i]
                   if tok.dep not in ("cc", "advmod", "aux", "auxpass")]  # fmt: skip
        if other.is_verb and not between and not has_subject(other):
            for child in other.children:
                if child.i > other.i and child.dep not in _REST_SKIP:
                    clause.pieces.append((child, trim(phrase(child, clause.tree))))
            return
