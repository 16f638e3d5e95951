"""What :class:`~resin_es.testing.scripted_claude.ScriptedClaude` answers: for each stage a pure
function of the user's message. Plain rules, good for plain English sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from resin_es.ports.language import Stage

PER_PASSAGE = 3

_BLOCK = re.compile(r"<<<\n(.*?)\n>>>", re.DOTALL)
_SENTENCE = re.compile(r"^(S\d+): (.*)$", re.MULTILINE)
_LABELLED = re.compile(r"^\[(\d+\.\d+)\] (.*)$", re.MULTILINE)
_RECORD = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_SUBQUESTION = re.compile(r"^SUBQUESTION: <<<\n(.*)\n>>>$", re.MULTILINE)
_LIMIT = re.compile(r"^MAX_HOPS: (\d+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")

_NAME = r"(?P<s>(?:The |An? )?[A-Z][\w-]*(?: (?:of |the )?(?:[A-Z][\w-]*|\d+))*)"
_SHAPES = (
    ("rule", re.compile(r"^If (?P<c>.+?), (?P<o>.+?)[.!?]*$")),
    ("causal-edge", re.compile(r"^(?P<o>.+?) because (?P<s>.+?)[.!?]*$")),
    ("type-property", re.compile(r"^(?:All|Every) (?P<s>\w+) (?P<p>\w+) (?P<o>.+?)[.!?]*$")),
    ("entity-type", re.compile(rf"^{_NAME} (?P<p>is|are) (?P<o>an? .+?)[.!?]*$")),
    (
        "relation",
        re.compile(rf"^{_NAME} (?P<p>owns|serves|borders|runs|belongs to) (?P<o>.+?)[.!?]*$"),
    ),
    ("entity-fact", re.compile(rf"^{_NAME} (?P<p>[a-z]+) (?P<o>.+?)[.!?]*$")),
)


def passages(user: str) -> dict[str, Any]:
    """One passage for every three sentences, about the subject of its first."""
    rows = _SENTENCE.findall(user)
    groups = [rows[at : at + PER_PASSAGE] for at in range(0, len(rows), PER_PASSAGE)]
    return {
        "passages": [
            {
                "first": group[0][0],
                "last": group[-1][0],
                "main_entity": _claim(group[0][1])["subject"],
                "entity_type": "",
                "focus": "what is said of it",
                "role": "attribute",
            }
            for group in groups
        ]
    }


def units(user: str) -> dict[str, Any]:
    """One unit per sentence, of the kind that its shape suggests, quoting all of it."""
    return {
        "units": [
            {**_claim(text), "quote": text, "sentences": [label]}
            for label, text in _SENTENCE.findall(user)
        ]
    }


def _claim(sentence: str) -> dict[str, Any]:
    said = {"modality": "asserted", "polarity": "positive", "confidence": 0.95}
    for kind, shape in _SHAPES:
        found = shape.match(sentence)
        if found is not None:
            return {"kind": kind, **_fields(kind, found.groupdict()), **said}
    first, _, rest = sentence.rstrip(".!?").partition(" ")
    words = {"subject": first or sentence, "predicate": "says", "object": rest or first or sentence}
    return {"kind": "entity-fact", **words, **said}


def _fields(kind: str, parts: Mapping[str, str]) -> dict[str, Any]:
    if kind == "rule":
        subject = parts["o"].split()[0]
        return {"subject": subject, "conditions": [parts["c"]], "conclusion": parts["o"]}
    if kind == "causal-edge":
        states = {"source_state": parts["s"], "target_state": parts["o"]}
        return {"subject": parts["s"].split()[0], "predicate": "causes", **states}
    return {"subject": parts["s"], "predicate": parts["p"], "object": parts["o"]}


# ---------------------------------------------------------------- online

_ASKED: tuple[tuple[str, str, list[str]], ...] = (
    ("why", "cause", ["causal-edge"]),
    ("what happens if", "condition", ["rule"]),
    ("what is", "membership", ["entity-type"]),
    ("which", "relation", ["relation"]),
    ("all", "type-property", ["type-property"]),
    ("", "attribute", ["entity-fact"]),
)


def plan(user: str) -> dict[str, Any]:
    """One hop, or two: beside each other ("and"), set against each other ("or"), or one behind
    the other ("that")."""
    limit = _LIMIT.search(user)
    question = " ".join(_BLOCK.search(user)[1].split())  # type: ignore[index]
    mode, parts = _parts(question)
    parts = parts[: int(limit[1]) if limit else 1]
    hops = [_hop(n, part, mode) for n, part in enumerate(parts, start=1)]
    return {
        "mode": mode if len(hops) > 1 else "single",
        "answer_type": "fact",
        "entities": _names(question),
        "properties": [],
        "constraints": [],
        "hops": hops,
    }


def _parts(question: str) -> tuple[str, list[str]]:
    for word, mode in ((" or ", "comparison"), (" and ", "parallel"), (" that ", "chain")):
        before, found, after = question.partition(word)
        if found:
            return mode, [after, before] if mode == "chain" else [before, after]
    return "single", [question]


def _hop(number: int, part: str, mode: str) -> dict[str, Any]:
    lower = part.casefold()
    kind, kinds = next((kind, kinds) for cue, kind, kinds in _ASKED if lower.startswith(cue))
    chained = mode == "chain" and number > 1
    return {
        "id": f"h{number}",
        "subquestion": part.rstrip("?") + "?",
        "need": part.rstrip("?"),
        "target_terms": _names(part),
        "bridge_terms": ["that"] if chained else [],
        "reasoning_type": kind,
        "kinds": kinds,
        "depends_on": ["h1"] if chained else [],
    }


def _names(text: str) -> list[str]:
    words = text.rstrip("?").split()
    return [word for n, word in enumerate(words) if n and word[:1].isupper()]


def compose(user: str) -> str:
    """The two sentences that share most words with the question, each with its label; if none
    shares any, what is missing."""
    question = _BLOCK.search(user)[1]  # type: ignore[index]
    best = _nearest(question, _LABELLED.findall(user))[:2]
    if not best:
        return f"NOT IN THE EVIDENCE: {' '.join(question.split())}"
    return " ".join(f"{text} [{label}]" for label, text in best)


def solve(user: str) -> dict[str, Any]:
    """The record that shares most words with the subquestion."""
    asked = _SUBQUESTION.search(user)
    best = _nearest(asked[1] if asked else "", _RECORD.findall(user))
    if not best:
        return {"answer": "Nothing was found.", "found": False, "records": []}
    return {"answer": best[0][1], "found": True, "records": [int(best[0][0])]}


def _nearest(question: str, rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Rows that share a word with the question, the most first, else in their order."""
    wanted = _content(question)
    shared = {label: len(wanted & _content(text)) for label, text in rows}
    found = [row for row in rows if shared[row[0]]]
    return sorted(found, key=lambda row: -shared[row[0]])


def _content(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if len(word) > 3 or word.isdigit()}


ANSWERS: Mapping[Stage, Callable[[str], Any]] = {
    "passages": passages,
    "units": units,
    "plan": plan,
    "compose": compose,
    "solve": solve,
}
