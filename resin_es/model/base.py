"""The one base of all values that pass between stages."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value. Unknown fields are errors, so a misspelt one cannot vanish."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def content_id(*parts: str, length: int = 32) -> str:
    """Hash ``parts`` into a hex id of ``length`` characters.

    Each part is length-prefixed, so ``("ab", "c")`` and ``("a", "bc")`` differ.
    """
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()[:length]


CHARS_PER_TOKEN = 4
"""Budgets count one token as four characters, for every language and model."""


def token_count(text: str) -> int:
    """Tokens of ``text`` by the project's yardstick: ceil(characters / 4)."""
    return -(-len(text) // CHARS_PER_TOKEN)
