"""The schema, as JSON: component templates, one index template per family, roles.

The only place where a mapping is written down. ``resin_es.index.templates`` turns these files
into request bodies (prefix, dims, language and vector type filled in); nothing here is sent as
it stands. Installs as ``resin_es.mappings``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

_HERE = Path(__file__).parent


@cache
def _text(folder: str, name: str) -> str:
    return (_HERE / folder / f"{name}.json").read_text(encoding="utf-8")


def load(folder: str, name: str) -> dict[str, Any]:
    """The file ``folder/name.json``, parsed anew, so that a caller may change what it gets."""
    return cast("dict[str, Any]", json.loads(_text(folder, name)))


def names(folder: str) -> tuple[str, ...]:
    """Names of the files of a folder (``component``, ``index`` or ``roles``), sorted."""
    return tuple(sorted(path.stem for path in (_HERE / folder).glob("*.json")))
