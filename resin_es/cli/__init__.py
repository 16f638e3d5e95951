"""The command line. Importing this pulls in nothing heavy; commands import what they run."""

from __future__ import annotations

import gc

COLLECTED_AFTER = 100_000
"""Objects made before cycles among them are looked for. Python's own 700 or so suits a program that
keeps little: here each question makes tens of thousands of small values that die by themselves,
beside a model and a data set that stay, and looking took a sixth of the time."""


def main() -> None:
    """Entry point of ``resin-es``."""
    gc.set_threshold(COLLECTED_AFTER, 20, 50)

    from resin_es.cli.app import app

    app()
