"""Print the encoder's folder, built where it wasn't: for ``RESIN_EMBEDDER_MODEL``, and for images
that are to hold it before the first text comes."""

from __future__ import annotations

import sys

from resin_es.adapters.multilingual.folder import ready
from resin_es.errors import ModelUnavailable


def main() -> int:
    try:
        print(ready())
    except ModelUnavailable as error:
        print(f"{error.message} {error.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
