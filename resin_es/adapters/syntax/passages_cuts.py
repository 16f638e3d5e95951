"""Where passages end: the cheapest way to part a window, by small stated costs."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.adapters.syntax.passages_look import Look

MAX_SENTENCES = 5
MAX_CHARS = 1_200

_SIZE = {1: 4.0, 2: 0.4, 3: 0.0, 4: 0.0, 5: 0.3}
"""What a passage of so many sentences costs: a sentence by itself rarely stands."""
_LEANS = 3.0
_SAME_MOVE = {"method": 2.0, "result": 0.8, "background": 0.8}
_NEW_MOVE = -1.5
_SHIFT = -1.0
_SHARED = 0.5
_NOTHING_SHARED = -1.0
_TOO_LONG = 50.0
"""Above any other cost, but finite: a single sentence may be longer than a passage should."""


def cut(looks: Sequence[Look]) -> list[tuple[int, int]]:
    """First and last index of each passage; a known section label always starts one."""
    if not looks:
        return []
    starts = [index for index, look in enumerate(looks) if index == 0 or look.known_section]
    spans: list[tuple[int, int]] = []
    for first, end in zip(starts, [*starts[1:], len(looks)], strict=True):
        spans += [(first + a, first + b) for a, b in _best(looks[first:end])]
    return spans


def _best(looks: Sequence[Look]) -> list[tuple[int, int]]:
    """The cheapest partition of one section (shortest path over the ends of passages)."""
    joints = [_joint(looks, index) for index in range(len(looks))]
    cost = [0.0]
    back = [0]
    for end in range(1, len(looks) + 1):
        options = []
        for first in range(max(0, end - MAX_SENTENCES), end):
            chars = sum(look.size for look in looks[first:end])
            own = _SIZE[end - first] + (_TOO_LONG if chars > MAX_CHARS and end - first > 1 else 0)
            options.append((cost[first] + own + joints[first], first))
        least, chosen = min(options)
        cost.append(least)
        back.append(chosen)
    spans: list[tuple[int, int]] = []
    end = len(looks)
    while end:
        spans.append((back[end], end - 1))
        end = back[end]
    return spans[::-1]


def _joint(looks: Sequence[Look], index: int) -> float:
    """What it costs to cut before a sentence: below zero where it starts something new."""
    if index == 0:
        return 0.0
    following, before = looks[index], looks[index - 1]
    if following.leans:
        return _LEANS
    cost = _SHIFT if following.shifts or following.section else 0.0
    if following.move and following.move == before.move:
        cost += _SAME_MOVE[following.move]
    elif following.move and before.move:
        cost += _NEW_MOVE
    shared = following.heads & frozenset().union(
        *(look.heads for look in looks[max(0, index - 2) : index])
    )
    return cost + (min(len(shared), 2) * _SHARED if shared else _NOTHING_SHARED)
