"""What a question asks for: its answer type, and the reasoning a need calls for, by cue words."""

from __future__ import annotations

import re

from resin_es.model import ReasoningType, UnitKind

_ANSWER_TYPES: tuple[tuple[str, str], ...] = (
    (
        "money",
        r"\bhow much\b.*\b(cost|pay|charge|fare|price|spend)|\b(cost|price|fare|fee)s?\b|"
        r"\bhow (expensive|cheap)|\bcheaper\b|\bwhat does\b.*\bpay\b",
    ),
    (
        "duration",
        r"\bhow (long|quick|quickly|fast)\b|\bhow many (minutes|hours|days|years)\b|"
        r"\bduration\b|\bfaster\b|\bslower\b",
    ),
    (
        "number",
        r"\bhow (many|much|far|often|large|big|high|tall|heavy)\b|\bnumber of\b|"
        r"\bpopulation\b|\bpercent|\b(more|most|fewer|larger|largest|bigger)\b",
    ),
    (
        "time",
        r"\bwhen\b|\bwhat (time|date|year|day|month|century)\b|\bwhich year\b|\bhow old\b|"
        r"\b(first|earlier|later|older|oldest)\b",
    ),
    ("place", r"\bwhere\b|\b(what|which) (city|town|country|state|county|place|district|street)"),
    ("person", r"\bwho(m|se)?\b|\b(what|which) (person|director|author|singer|actor|actress)"),
    ("reason", r"\bwhy\b|\bwhat (caused|causes|led|leads|made)\b|\breasons?\b"),
    ("definition", r"^\W*what (is|are) (an?|the)?\s*[\w -]{2,30}\?*$|\bdefine\b|\bmeaning of\b"),
    ("procedure", r"\bhow (do|can|should|to)\b"),
    ("yes-no", r"^\W*(is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b"),
)

CAUSAL: tuple[UnitKind, ...] = ("causal-edge", "rule")
FACTUAL: tuple[UnitKind, ...] = ("entity-fact", "relation")
TYPED: tuple[UnitKind, ...] = ("entity-type", "type-property")

_REASONING: tuple[tuple[ReasoningType, str, tuple[UnitKind, ...]], ...] = (
    (
        ReasoningType.CAUSE,
        r"\bwhy\b|\bcaus(e|es|ed|ing)\b|\breasons?\b|\bresponsible for\b|\bled to\b|"
        r"\bbecause\b|\bwhat made\b|\bmechanisms?\b",
        CAUSAL,
    ),
    (
        ReasoningType.EFFECT,
        r"\beffects?\b|\baffect|\bimpacts?\b|\bconsequences?\b|\binfluenc|\bimplications?\b|"
        r"\bwhat happens\b|\blead(s|ing)? to\b|\bresult(s|ed)? in\b|\bprevent",
        CAUSAL,
    ),
    (
        ReasoningType.CONDITION,
        r"\bif\b|\ballow(s|ed)?\b|\bpermit|\bforbidden\b|\bmay\b|\bmust\b|\bhave to\b|"
        r"\bneeds? (a|an|to)\b|\brequire|\bunder what\b|\bvalid\b|\bentitled\b|^\W*can\b|"
        r"\bunless\b|\brefund|\bpay(s)?\b",
        ("rule", "type-property", "entity-fact"),
    ),
    (
        ReasoningType.MEMBERSHIP,
        r"\b(what|which) (kind|type|sort|class) of\b|\bbelongs? to\b|^\W*(is|are) [^?]* an? \w|"
        r"\bclassif|\bboth\b",
        ("entity-type", "relation"),
    ),
    (
        ReasoningType.TYPE_PROPERTY,
        r"\b(in general|generally|usually|typical|typically|all|every|any)\b",
        ("type-property", "entity-type"),
    ),
    (
        ReasoningType.RELATION,
        r"\bwho(m|se)?\b|\brelat|\bconnect|\b(make|makes|made|owns?|operates?|runs?|built|founded|"
        r"directed|wrote|produced|published|developed|linked|interact)\b|\bbetween\b",
        ("relation", "entity-fact"),
    ),
    (
        ReasoningType.ATTRIBUTE,
        r"\bhow (much|many|long|far|old|often|large|big|high|fast)\b|\bwhen\b|\bwhere\b|"
        r"\bwhat (time|year|date)\b|\b(cost|price|fare|speed|size|length|number|population)s?\b",
        FACTUAL,
    ),
)


def answer_type(question: str) -> str:
    """``money``, ``duration``, ``number``, ``time``, ``place``, ``person``, ``reason``,
    ``definition``, ``procedure``, ``yes-no``, or ``text`` where no cue stands."""
    lowered = question.casefold()
    for name, pattern in _ANSWER_TYPES:
        if re.search(pattern, lowered):
            return name
    return "text"


def reasoning(text: str) -> tuple[ReasoningType, tuple[UnitKind, ...]]:
    """What a need looks for and the kinds that may hold it (they boost, they never filter)."""
    lowered = text.casefold()
    for kind, pattern, kinds in _REASONING:
        if re.search(pattern, lowered):
            return kind, kinds
    return ReasoningType.OTHER, ()
