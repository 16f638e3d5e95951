"""Subsets of questions by what they ask for.

The patterns were written down before any result was looked at, and look at the question's own
words only, so that no row is flattered by how its questions were chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from resin_es.errors import InputError
from resin_es.evaluation.values import EvalResult
from resin_es.query.words import names

_ACT = (
    r"(?:affect|influenc|impact|alter|chang|shap|driv|trigger|induc|promot|inhibit|suppress|"
    r"prevent|block|hinder|limit|constrain|enhanc|improv|increas|rais|boost|reduc|decreas|lower|"
    r"worsen|impair|accelerat|slow|delay|modulat|regulat|mediat|enabl|facilitat|contribut|"
    r"stimulat|activat|strengthen|weaken|determin|produc|generat|transform|disrupt|protect)\w*"
)
"""Verbs of one thing acting on another, by stem."""

_CAUSES = re.compile(
    r"""
    \bwhy\b | \bhow\ come\b | \bbecause\b
    | \bcaus(?:e|es|ed|ing|al|ally|ation|ality)\b
    | \b(?:lead|leads|led|leading)\ (?:\w+\ )?to\b
    | \b(?:result|results|resulted|resulting)\ (?:in|from)\b
    | \b(?:due|owing|attributed|attributable)\ to\b
    | \b(?:give|gives|gave|giving)\ rise\ to\b | \b(?:bring|brings|brought)\ about\b
    | \b(?:stem|stems|stemmed|arise|arises|arose)\ from\b
    | \b(?:reason|reasons|rationale)\ (?:for|behind|why|that)\b
    | \bcontribut(?:e|es|ed|ing)\ to\b | \bresponsible\ for\b
    | \b(?:effect|impact|influence|consequence|repercussion|aftermath)s?\ (?:\w+\ ){0,2}
      (?:of|on|upon|from)\b
    | \b(?:what|which)\b[^?]{0,40}\b(?:effect|impact|influence|consequence|repercussion)s?\b
    | \bwhat\ happen(?:s|ed)?\b
    | \bwhat\ (?:makes|made|drives|drove|triggers|triggered|explains|explained|prevents|prevented)\b
    | \bmechanisms?\ (?:\w+\ )?(?:by|through)\ which\b | \bmechanisms?\ (?:underlying|behind)\b
    | \bhow\ (?:do|does|did|can|could|may|might|will|would|has|have|is|are|was|were|strongly|
      much|far)\b [^?]* \b"""
    + _ACT
    + r"\b",
    re.IGNORECASE | re.VERBOSE,
)


def asks_for_cause(question: str) -> bool:
    """Whether a question asks for a cause or an effect: why, what caused, led to or resulted
    from, the effect, impact or consequence of, how one thing acts on another. English."""
    return _CAUSES.search(" ".join(question.split())) is not None


def has_name(question: str) -> bool:
    """Whether a question names something: a capitalised run, a quoted title, a code."""
    return bool(names(question))


@dataclass(frozen=True)
class Subset:
    """Which questions are in it."""

    about: str
    holds: Callable[[str], bool]


SUBSETS: Mapping[str, Subset] = {
    "causes": Subset("Questions that ask for a cause or an effect.", asks_for_cause),
    "names": Subset("Questions that name an entity.", has_name),
}


def subset(result: EvalResult, name: str) -> EvalResult:
    """A run with only the questions of a subset, in every row; it may have none.

    Raises InputError where no subset has that name.
    """
    if name not in SUBSETS:
        raise InputError(f"unknown subset {name!r}.", hint=f"Known: {', '.join(SUBSETS)}.")
    asked = tuple(one for one in result.asked if SUBSETS[name].holds(one.question))
    kept = {one.id for one in asked}
    systems = tuple(
        row.model_copy(
            update={"questions": tuple(one for one in row.questions if one.question_id in kept)}
        )
        for row in result.systems
    )
    return result.model_copy(update={"asked": asked, "systems": systems})
