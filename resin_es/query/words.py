"""Words of questions and sentences: what carries meaning, what names something.

No model and no language data beyond a short English list: other scripts pass through whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")
"""A word: letters and digits of any script, with inner hyphens, apostrophes, dots."""

STOPWORDS = frozenset(
    "a about after all also although am an and any are as at be because been before being between "
    "both but by can could did do does doing done during each either for from further had has have "
    "having he her here hers him his how i if in into is it its itself just may me might more most "
    "must my no nor not of off on once one only or other our out over own per shall she should so "
    "some such than that the their them then there these they this those through to too under "
    "until up upon us very via was we were what when where whether which while who whom whose why "
    "will with within without would you your".split()
)

GENERIC = frozenset(
    "approach approaches aspect aspects author authors benefit benefits broader changes "
    "characteristics conclude conclusion conclusions considering context contribute "
    "contributes contribution data describe described detail details difference differences "
    "discovered discovery effect effects evidence example explain explored factor factors "
    "finding findings focus fundamental future gain gained general given help highlight "
    "highlighted identified identify impact impacts implicated implication implications "
    "importance important improve indicate indicated infer inferred influence inform "
    "information insight insights interpretation investigated involve involved involves key "
    "kind knowledge main major mean means mechanism mechanisms method methods molecular "
    "observed occur overall paper pathway pathways perspective possible potential potentially "
    "primary proposed provide provides reason reasons regarding relate related relation "
    "relationship reported research result results reveal role roles significance significant "
    "specific specifically strategies strategy studied studies study suggest suggested "
    "suggests support supports terms therapeutic understand understanding use used work".split()
)
"""Words that questions are asked with, not asked about: alone they make no need."""

ANAPHORS = frozenset(
    "it its this that these those they them their he she his her there one".split()
)


def fold(text: str) -> str:
    """Case and compatibility forms folded, for comparing words."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def words(text: str) -> list[str]:
    """Words in order, as written."""
    return WORD.findall(text)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A rough stem: plurals, the commonest English endings and agents (``director``) cut off.
    Never shorter than 3; only for comparing words with each other."""
    text = fold(word).removesuffix("'s")
    for ending in ("ies", "ied"):
        if text.endswith(ending) and len(text) > 5:
            return text[:-3] + "y"
    for ending in ("ing", "ed", "s"):
        if text.endswith(ending) and len(text) - len(ending) >= 3 and not text.endswith("ss"):
            text = text[: -len(ending)]
            doubled = ending != "s" and text[-1] == text[-2] and text[-1] not in "aeiouls"
            if doubled or (ending == "s" and text.endswith(("she", "che", "xe", "sse"))):
                text = text[:-1]
            break
    if len(text) > 6 and text.endswith(("er", "or")):
        text = text[:-2]
    return text.removesuffix("e") if len(text) > 4 else text


def content(text: str) -> list[str]:
    """Words that are no stop words, as written, each once."""
    return unique(word for word in words(text) if fold(word) not in STOPWORDS)


def specific(text: str) -> list[str]:
    """Content words that say what the question is about."""
    return [word for word in content(text) if fold(word) not in GENERIC]


def unique(items: Iterable[str]) -> list[str]:
    """Each once, by folded form, in order."""
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(fold(item), item)
    return list(seen.values())


def capped(text: str, limit: int) -> str:
    """``text`` with at most ``limit`` distinct words, stop words going first.

    Scripts without spaces count by character runs, which an analyzer may cut into one term a
    character: those are capped by characters too.
    """
    found = words(text)
    if _weight(found) <= limit:
        return text
    kept: list[str] = []
    room = limit
    for word in unique(w for w in found if fold(w) not in STOPWORDS):
        cost = _weight([word])
        if cost > room:
            piece = word[:room] if _dense_script(word) else ""
            kept.extend([piece] if piece else [])
            break
        kept.append(word)
        room -= cost
    return " ".join(kept)


def _weight(found: Sequence[str]) -> int:
    return sum(len(w) if _dense_script(w) else 1 + len(re.findall(r"[-'’.&]", w)) for w in found)


def _dense_script(word: str) -> bool:
    return any("぀" <= char <= "鿿" or "가" <= char <= "힯" for char in word)


_NAME = re.compile(
    r"[\"“«]([^\"”»]{2,80})[\"”»]"
    r"|((?:[^\W\d_a-zß-ÿ][\w'’.&-]*)(?:\s+(?:(?:of(?:\s+the)?|de|van|von|der|al|du|la)\s+)*"
    r"(?:[^\W\d_a-zß-ÿ][\w'’.&-]*|\d[\w.-]*))*)"
)
_CODE = re.compile(r"^(?=.*\d)(?=.*[^\W\d_])[\w.-]+$|^[^\W\d_]*[^\W\d_a-z][^\W\d_]*[A-Z][\w-]*$")


def names(text: str) -> list[str]:
    """What a text names: quoted titles, capitalised runs, codes such as ``DPP-4``.

    A capital at the start of a sentence counts only where the word is no stop word.
    """
    found: list[str] = []
    for match in _NAME.finditer(text):
        name = (match.group(1) or _without_opening(match.group(2))).strip(" .,;:-")
        if len(name) > 1:
            found.append(name)
    found.extend(word for word in words(text) if _CODE.match(word))
    kept = unique(found)
    return [n for n in kept if not any(n != m and fold(n) in fold(m) for m in kept)]


def _without_opening(name: str) -> str:
    """``name`` without leading question and stop words (``Which``, ``The``, ``In 2020``)."""
    parts = name.split()
    opened = False
    while parts and (
        fold(parts[0].strip(".,")) in STOPWORDS | GENERIC | _OPENERS
        or (opened and parts[0].strip(".,").isdigit())
    ):
        parts.pop(0)
        opened = True
    return " ".join(parts)


_OPENERS = frozenset(
    "are is was were compare based according name list tell give show find explain describe "
    "discuss summarize let suppose assume".split()
)
