"""What a question asks for: its answer type, and the reasoning a need calls for, by cue words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
        r"\bpopulation\b|\bpercent|\b(more|(?<!at )most|fewer|larger|largest|bigger)\b",
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

SHOWS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, flags)
    for name, pattern, flags in (
        (
            "money",
            r"[$€£¥]|\b(crowns?|dollars?|euros?|cents?|pounds?|fares?|costs?|prices?|fees?|free|"
            r"discount|pays?|half)\b",
            re.I,
        ),
        (
            "duration",
            r"\b(\d[\d.,]*|one|two|three|half an) (seconds?|minutes?|hours?|days?|weeks?|months?|"
            r"years?)\b",
            re.I,
        ),
        (
            "number",
            r"\b\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b",
            re.I,
        ),
        (
            "time",
            r"\b(1[0-9]|20)\d\d\b|\b\d{1,2}:\d\d\b|\b(january|february|march|april|may|june|july|"
            r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|"
            r"saturday|sunday|midnight|noon|century)\b",
            re.I,
        ),
        ("place", r"\b(in|at|near|on|from|to|between) (the )?[^\W\d_a-z]", 0),
        ("person", r"[^\W\d_a-z]\w+ [^\W\d_a-z]\w+|\b([Hh]e|[Ss]he)\b", 0),
        (
            "reason",
            r"\b(because|caus(e|es|ed|ing)|due to|led to|leads to|result(s|ed)? (in|from)|"
            r"therefore|since|reduced|raised|failed|owing|so that|stopped|blocked|damaged)\b",
            re.I,
        ),
        ("procedure", r"\b(first|then|must|by \w+ing|step|using|need to)\b", re.I),
        ("definition", r"\b(is|are|means|refers to|was) (an?|the)\b", re.I),
        (
            "yes-no",
            r"\b(not|no|never|only|must|may|can|cannot|allow\w*|let|lets|requires?|both)\b",
            re.I,
        ),
    )
}
"""What a sentence shows that holds an answer of a type."""


def asked_types(text: str, limits: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Types of answer that a need calls for, and which of them its limits call for: ``within
    40 minutes`` calls for durations, whatever the words of the need are."""
    bare = text
    for limit in limits:
        bare = bare.replace(limit, " ")
    found = [name for name, pattern in _ANSWER_TYPES if re.search(pattern, bare.casefold())]
    limited = [
        name for name in ("duration", "money") for limit in limits if SHOWS[name].search(limit)
    ]
    if limited:
        found = [name for name in found if name != "yes-no"]
    if {"money", "duration"} & {*found, *limited}:
        found = [name for name in found if name != "number"]
    return tuple(dict.fromkeys([*found, *limited]))[:3] or ("text",), frozenset(limited)


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
