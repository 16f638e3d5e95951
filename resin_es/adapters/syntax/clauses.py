"""A clause: who (subject), what of it (predicate group) and the rest, from one parse."""

from __future__ import annotations

from dataclasses import dataclass, field

from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.phrases import has_subject, phrase, trim
from resin_es.adapters.syntax.tails import subject_tail
from resin_es.adapters.syntax.tree import Tok, Tree, refill

SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass")
_CHAIN_DEPS = ("xcomp", "acomp", "oprd")
_BOUND = ("to", "as", "with", "on", "into", "for", "of")
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


def build(verb: Tok, tree: Tree, kind: str, modality: str, parent: Clause | None) -> Clause | None:
    """The clause headed by ``verb``; None where no subject can be told."""
    subject = verb.kid(*SUBJECTS)
    shared = False
    if subject is not None:
        tokens = refill(phrase(subject, tree), tree)
        if len(tokens) > 1 and tokens[0].lower in ("that", "which") and kind == "content":
            tokens = tokens[1:]
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
    while not shared and len(clause.group) > 1 and _ends_subject(clause):
        tokens = [*tokens, clause.group.pop(0)]
        clause.subject_tokens = tokens
    if not shared and clause.group and subject is not None and subject.dep in SUBJECTS[:2]:
        clause.subject_tokens = subject_tail(tokens, clause.group[0].i, tree)
    clause.pieces = _pieces(clause)
    share_object(clause)
    return clause


def _ends_subject(clause: Clause) -> bool:
    """ "dimethyl | sulfoxide acted": a noun that was taken for an adverb of the verb."""
    first = clause.group[0]
    return first.pos in ("NOUN", "PROPN") and first.i == clause.subject_tokens[-1].i + 1


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
        if step is None or (step.tag == "VBG" and last.lemma not in ("start", "begin", "continue")):
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
    if (
        verb.tag in ("VBN", "VBD")
        and verb.kid("dobj") is not None
        and any(tok.dep == "auxpass" for tok in helpers)
    ):
        return []
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
            denies = child.dep == "neg" and (close or verb.lemma in ("be", "do", "have"))
            if denies or child.dep in ("aux", "auxpass", "prt"):
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
        pieces.extend(complements(verb, clause.chain[-1].i, taken, clause.tree))
    pieces.sort(key=lambda piece: piece[1][0].i)
    if len(pieces) > 1 and pieces[-1][0].dep == "advmod":
        if pieces[-1][1][0].i > pieces[-2][1][-1].i + 2:  # an adverb of something further on
            pieces.pop()
    return pieces


def complements(verb: Tok, after: int, taken: set[int], tree: Tree) -> list[tuple[Tok, list[Tok]]]:
    """A verb's complements behind token ``after``, but for the tokens ``taken``."""
    pieces: list[tuple[Tok, list[Tok]]] = []
    for child in verb.children:
        if child.i < after or child.i in taken:
            continue
        if child.dep in _REST_SKIP and not _kept_adverbial(child, tree):
            continue
        tokens = trim(phrase(child, tree))
        if tokens and tokens[0].i > after:
            pieces.append((child, tokens))
    return pieces


def _kept_adverbial(child: Tok, tree: Tree) -> bool:
    """Adverbial clauses that complete the statement: "using X", "to assess Y"."""
    if child.dep != "advcl" or has_subject(child) or child.kid("mark") is not None:
        return False
    if child.lemma in words("words", "kept_advcl_verbs"):
        return True
    infinitive = any(tok.lower == "to" for tok in child.kids("aux"))
    return infinitive


def share_object(clause: Clause) -> None:
    """ "X inhibits and degrades Y": the first verb takes the object of the second."""
    verb = clause.chain[-1]
    if clause.pieces or clause.kind == "relative":
        return
    for other in verb.kids("conj"):
        between = [tok for tok in clause.tree.tokens[verb.i + 1 : other.i]
                   if tok.dep not in ("cc", "advmod", "aux", "auxpass")]  # fmt: skip
        if other.is_verb and not between and not has_subject(other):
            for child in other.children:
                bound = child.dep == "prep" and child.lower in _BOUND
                if child.i > other.i and child.dep not in _REST_SKIP and not bound:
                    clause.pieces.append((child, trim(phrase(child, clause.tree))))
            return
