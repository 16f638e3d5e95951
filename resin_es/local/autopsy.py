"""Why a node died: its last words, and what the well-known ones among them mean."""

from __future__ import annotations

from pathlib import Path

from resin_es.errors import LocalNodeError, NodeStartError
from resin_es.local.http import port_in_use

#: What Elasticsearch or Java say, what it means, what to do.
_REASONS = (
    (
        ("No space left on device", "Disk quota exceeded"),
        "the disk is full",
        "Free about 500 MB, or set RESIN_LOCAL_DIR to a folder on another disk.",
    ),
    (
        (
            "insufficient memory",
            "Could not reserve enough space",
            "Cannot allocate memory",
            "exit code 137",
        ),
        "this machine has too little memory left",
        "Free some, or set RESIN_LOCAL_HEAP to less, e.g. 256m.",
    ),
    (
        ("OutOfMemoryError", "Too small maximum heap", "Too small initial heap"),
        "its heap is too small",
        "Set RESIN_LOCAL_HEAP to more, e.g. 1g.",
    ),
    (
        ("failed to obtain node locks", "obtain_node_locks"),
        "another Elasticsearch uses its data folder",
        "Stop that one (it may run in a container, or under another user), or set RESIN_LOCAL_DIR "
        "to another folder.",
    ),
)
_BUSY = ("Address already in use", "BindHttpException")


def died(start_log: Path, port: int) -> LocalNodeError:
    """The error for a node that ended while starting: PortInUse or NodeStartError."""
    text = read(start_log)
    if any(words in text for words in _BUSY):
        return port_in_use(port)
    known = (
        (meaning, hint)
        for patterns, meaning, hint in _REASONS
        if any(words in text for words in patterns)
    )
    meaning, hint = next(known, ("", ""))
    return NodeStartError(
        f"Elasticsearch ended while it was starting{f': {meaning}' if meaning else ''}. Its last "
        f"words:\n{last_words(text)}\n",
        hint=f"{hint} The whole log is in {start_log}.".strip(),
    )


def silent(start_log: Path, waited_s: float) -> NodeStartError:
    """The error for a node that never answered."""
    return NodeStartError(
        f"Elasticsearch did not answer within {waited_s:.0f} s and was stopped. Its last words:\n"
        f"{last_words(read(start_log))}\n",
        hint=f"The whole log is in {start_log}. On a busy machine, try again.",
    )


def read(start_log: Path) -> str:
    """What the node printed while starting; empty if that cannot be read."""
    try:
        return start_log.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def last_words(text: str, lines: int = 10) -> str:
    """The end of what the node printed: no stack traces, long lines cut, and no mere information
    where there are warnings or errors.
    """
    told = [line.rstrip()[:240] for line in text.splitlines()]
    told = [line for line in told if line and not line.lstrip().startswith(("at ", "... "))]
    graver = [line for line in told if "][INFO ]" not in line]
    return "\n".join((graver or told)[-lines:]) or "(none)"
