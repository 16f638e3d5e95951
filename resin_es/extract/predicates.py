"""Surface predicates to canonical ones: ``costs``, ``is priced at`` → ``price``.

A small lexicon of synonyms first; what it does not know becomes the slug of its own words,
without auxiliaries, articles and adverbs, its verb uninflected, so that "increased",
"has increased" and "significantly increases" meet. Passives keep their participle
("is caused by" → ``caused-by``): they turn the direction. Other languages than English only get
the slug.
"""

from __future__ import annotations

import re
from functools import lru_cache

from resin_es.extract.folding import fold
from resin_es.model import UnitKind

LEXICON: dict[str, tuple[str, ...]] = {
    "is-a": ("is a", "is an", "is one of", "is a type of", "is a kind of", "is a form of",
             "is a member of", "is classified as", "is an example of", "are types of", "a"),
    "name": ("is called", "is named", "is known as", "is termed", "is referred to as",
             "has the name", "name"),
    "price": ("costs", "is priced at", "sells for", "fare", "price", "cost", "charges", "fee",
              "has a price of", "has a cost of", "is charged at"),
    "located-in": ("is located in", "lies in", "is in", "is situated in", "is based in",
                   "stands in", "is found in", "is at", "is located at", "sits in", "location",
                   "lives in", "resides in", "is headquartered in", "occurs in", "inhabits"),
    "part-of": ("is part of", "is a part of", "belongs to", "is a component of", "is included in",
                "is a section of", "is a branch of"),
    "has-part": ("consists of", "comprises", "is composed of", "contains", "includes", "is made of",
                 "is made up of", "is comprised of", "encompasses"),
    "cause": ("causes", "leads to", "results in", "brings about", "gives rise to", "triggers",
              "induces", "is responsible for", "provokes"),
    "caused-by": ("is caused by", "results from", "is due to", "stems from", "arises from",
                  "is triggered by", "is induced by", "is a result of", "is attributed to"),
    "increase": ("increases", "raises", "enhances", "boosts", "elevates", "upregulates",
                 "improves", "promotes", "stimulates", "lengthens", "strengthens"),
    "decrease": ("decreases", "reduces", "lowers", "diminishes", "suppresses", "inhibits", "cuts",
                 "downregulates", "shortens", "weakens", "slows"),
    "prevent": ("prevents", "blocks", "stops", "avoids", "precludes", "forbids", "prohibits"),
    "enable": ("enables", "allows", "permits", "lets", "makes possible", "facilitates"),
    "require": ("requires", "needs", "demands", "depends on", "relies on", "necessitates"),
    "affect": ("affects", "influences", "impacts", "has an effect on", "alters", "modulates",
               "regulates", "changes"),
    "associated-with": ("is associated with", "correlates with", "is correlated with",
                        "is linked to", "is linked with", "is related to", "relates to"),
    "use": ("uses", "utilizes", "utilises", "employs", "makes use of", "applies"),
    "produce": ("produces", "generates", "yields", "makes up", "manufactures", "creates"),
    "show": ("shows", "exhibits", "displays", "demonstrates", "reveals", "presents"),
    "find": ("finds", "identifies", "detects", "observes", "discovers", "reports"),
    "aim": ("aims to", "is intended to", "seeks to", "has the aim of", "is designed to"),
    "duration": ("lasts", "has a duration of", "ride time", "travel time", "duration"),
    "length": ("measures", "spans", "has a length of", "length", "is long"),
    "begin": ("starts", "begins", "commences", "opens", "is opened", "starts at", "starts in"),
    "end": ("ends", "finishes", "closes", "ceases", "terminates", "ends at", "ends in"),
    "operate": ("operates", "runs", "is in service", "is in operation"),
    "connect": ("connects", "links", "joins", "connects to", "runs between", "runs from"),
    "founded-in": ("was founded in", "was established in", "was created in", "dates from"),
    "made-by": ("is made by", "is produced by", "is built by", "is manufactured by",
                "is written by"),
    "owned-by": ("is owned by", "is run by", "is operated by", "is managed by", "is led by"),
    "own": ("owns", "possesses"),
    "lead": ("leads", "manages", "heads", "directs", "is the head of", "is the manager of"),
    "differ-from": ("differs from", "is different from", "contrasts with", "is distinct from"),
    "same-as": ("equals", "is equal to", "is the same as", "is identical to", "amounts to"),
    "replace": ("replaces", "supersedes", "takes the place of", "substitutes for"),
}  # fmt: skip
"""Canonical predicate → wordings. Data, in the project's own words; extend it freely."""

_DEFAULTS: dict[UnitKind, str] = {
    "entity-type": "is-a",
    "causal-edge": "cause",
    "rule": "if-then",
    "relation": "related-to",
    "entity-fact": "property",
    "type-property": "property",
}
_DROPPED = frozenset(
    """not never no n't cannot can could may might must shall should will would do does did also
    often usually always then only still already the its their his her our this that these
    those very most more generally therefore thus however both been being""".split()
)
_IRREGULAR = {
    **dict.fromkeys("is are was were am be been being 's 're".split(), "be"),
    **dict.fromkeys("has had having have".split(), "have"),
    **dict.fromkeys("does did done doing".split(), "do"),
    **dict.fromkeys("goes went gone going".split(), "go"),
    "led": "lead", "ran": "run", "rose": "rise", "risen": "rise", "fell": "fall",
    "grew": "grow", "grown": "grow", "gave": "give", "given": "give", "made": "make",
    "took": "take", "taken": "take", "became": "become", "began": "begin", "begun": "begin",
    "built": "build", "brought": "bring", "bought": "buy", "came": "come", "drew": "draw",
    "drove": "drive", "driven": "drive", "found": "find", "held": "hold", "kept": "keep",
    "knew": "know", "known": "know", "left": "leave", "lost": "lose", "met": "meet",
    "paid": "pay", "sent": "send", "sold": "sell", "showed": "show", "shown": "show",
    "spent": "spend", "stood": "stand", "lay": "lie", "lain": "lie", "lying": "lie",
    "taught": "teach", "told": "tell", "won": "win", "wrote": "write", "written": "write",
    "saw": "see", "seen": "see", "said": "say", "underwent": "undergo", "arose": "arise",
    "bound": "bind", "fed": "feed", "felt": "feel", "got": "get", "meant": "mean",
    "lies": "lie", "dies": "die", "ties": "tie", "focused": "focus", "used": "use",
}  # fmt: skip
_SILENT_E = tuple(
    """c v u z dg rg ang ang eng ag iz yz at et ut id ud ad od ir ur ar or in un am im om as es is
    os us ib ub op ap ip ok ak yp ul tl bl pl gl cl dl fl kl zl""".split()
)
_NO_E = (
    "treat", "repeat", "heat", "seat", "eat", "float", "avoid", "aid", "load", "lead", "read",
    "spread", "need", "proceed", "exceed", "appear", "hear", "bear", "clear", "repair", "pair",
    "ain", "oin", "ean", "een", "ein", "limit", "inhibit", "exhibit", "permit", "edit", "visit",
    "focus", "process", "monitor", "honor", "factor", "target", "market", "interpret", "meet",
    "develop", "offer", "open", "happen", "seem", "claim", "aim", "team", "room", "group",
    "keep", "help", "ask", "break", "speak", "soak", "peak", "output", "input", "put", "out",
    "ess", "iss", "ass", "oss", "uss", "harbour", "colour", "our", "oor", "eer", "ear", "oir",
    "air", "begin", "plan", "cook", "look", "book", "reveal",
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_REGULATED = re.compile(r"\b(up|down)-(?=regulat)")
_ARTICLES = frozenset({"a", "an"})
_MAX_SLUG = 60


def canonical_predicate(surface: str, kind: UnitKind) -> str:
    """The canonical form of ``surface`` for a unit of ``kind``: lower case, hyphens, at most 60
    characters; the kind's own default where nothing is left of the wording."""
    key = _key(surface)
    found = _index().get(key) or _index().get(fold(surface).replace(" ", "-"))
    if kind == "entity-type" and (found is None or key in ("be", "be-a")):
        return "is-a"
    return found or key[:_MAX_SLUG].strip("-") or _DEFAULTS[kind]


@lru_cache(maxsize=1)
def _index() -> dict[str, str]:
    index: dict[str, str] = {}
    for canonical, wordings in LEXICON.items():
        index[canonical] = canonical
        for wording in wordings:
            index.setdefault(_key(wording), canonical)
    return index


@lru_cache(maxsize=8192)
def _key(surface: str) -> str:
    """The slug by which wordings are compared."""
    words = _WORD.findall(_REGULATED.sub(r"\1", fold(surface)))
    kept = [word for word in words if not _droppable(word)] or words[-1:]
    if not kept:
        return ""
    first = _IRREGULAR.get(kept[0], kept[0])
    if first == "be" and len(kept) > 1:
        return _after_be(kept[1:])
    kept = [word for word in kept if word not in _ARTICLES] or kept
    if first == "have" and len(kept) > 1:
        return _after_have(kept[1:])
    passive = kept[1:2] == ["by"]
    return "-".join([kept[0] if passive else lemma(kept[0]), *kept[1:]])


def _after_have(words: list[str]) -> str:
    """A property ("has a fare of" → fare) or a perfect ("has risen" → rise)."""
    if len(words) > 1 and words[-1] == "of":
        words = words[:-1]
    return "-".join([lemma(words[0]) if len(words) == 1 else words[0], *words[1:]])


def _after_be(words: list[str]) -> str:
    """What follows a form of "be": a type ("is a"), a participle or an adjective, kept."""
    if words[0] in _ARTICLES:
        return "-".join(["be-a", *words[1:]])
    if len(words) == 1 and words[0].endswith("ing") and len(words[0]) > 5:
        return lemma(words[0])
    return "-".join(words)


def _droppable(word: str) -> bool:
    return word in _DROPPED or (word.endswith("ly") and len(word) > 4 and word != "supply")


@lru_cache(maxsize=8192)
def lemma(word: str) -> str:
    """The uninflected form of an English verb or noun, well enough to make inflections meet."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s"):
        return word if word.endswith(("ss", "us", "is")) else word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2 and re.search("[aeiouy]", stem):
            return _restored(stem)
    return word


def _restored(stem: str) -> str:
    """A stem that lost its ending, with the double consonant or the silent e put right."""
    if stem.endswith(_NO_E):
        return stem
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsfz":
        return stem[:-1]
    if stem.endswith("ll") and len(stem) > 5:
        return stem[:-1]
    return stem + "e" if stem.endswith(_SILENT_E) else stem
