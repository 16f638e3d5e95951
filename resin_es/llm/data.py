"""Text that others wrote, made ready to stand in a message as data.

A delimiter inside the data is broken, what nobody would see is taken out, and every sentence
stands on a line of its own behind a label that only we write. What a document says can so
neither end its own block nor speak in the voice of the message around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from resin_es.extract.invisible import visible

OPEN = "<<<"
CLOSE = ">>>"

_LESS = "<\ufe64\uff1c"
_MORE = ">\ufe65\uff1e"
_RUNS = re.compile(f"[{_LESS}]{{3,}}|[{_MORE}]{{3,}}")
_SPACED_RUNS = re.compile(f"[{_LESS}](?: [{_LESS}]){{2,}}|[{_MORE}](?: [{_MORE}]){{2,}}")
_TOKEN = re.compile(f"([{_LESS}])(?=[|\uff5c])")
"""How the tokens of chat templates begin."""
_SPACED_TOKEN = re.compile(f"(?<=[{_LESS}]) (?=[|\uff5c])")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BREAKS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")


def plain(text: str) -> str:
    """``text`` without invisible and control characters, and with what looks like one of our
    delimiters, or like a chat template's token, broken by spaces. Line ends become ``\\n``."""
    shown = _BREAKS.sub("\n", text)
    shown = visible(_CONTROL.sub("", _SURROGATE.sub("\ufffd", shown)))
    shown = _RUNS.sub(lambda run: " ".join(run.group()), shown)
    return _TOKEN.sub(r"\1 ", shown)


def line(text: str) -> str:
    """:func:`plain` on one line: white space is one space, none outside."""
    return " ".join(plain(text).split())


def delimited(text: str) -> str:
    """``text`` between our delimiters, each on a line of its own, so that neither a ``<`` at
    its start nor a ``>`` at its end runs into them."""
    return f"{OPEN}\n{plain(text)}\n{CLOSE}"


def labelled(rows: Iterable[tuple[str, str]]) -> str:
    """``label: text`` lines, one per row; the texts cannot start a line."""
    return "\n".join(f"{label}: {line(text)}" for label, text in rows)


def metadata(fields: Mapping[str, str]) -> str:
    """One line of JSON with the fields that say something."""
    said = {name: text for name, value in fields.items() if (text := line(value))}
    return json.dumps(said, ensure_ascii=False)


def as_written(said: str, source: str = "") -> str:
    """What a model wrote, on one line and with nothing invisible in it. What it copied from
    ``source`` as it was shown has its broken delimiters put together again, so that it can be
    looked up; a source without any ("0 < |x|") is taken at its word."""
    if _RUNS.search(source):
        said = _SPACED_RUNS.sub(lambda run: run.group().replace(" ", ""), said)
    if _TOKEN.search(source):
        said = _SPACED_TOKEN.sub("", said)
    clean = _CONTROL.sub("", _SURROGATE.sub("\ufffd", _BREAKS.sub("\n", said)))
    return " ".join(visible(clean).split())
