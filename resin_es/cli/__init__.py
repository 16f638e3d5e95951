"""The command line. Importing this pulls in nothing heavy; commands import what they run."""

from __future__ import annotations


def main() -> None:
    """Entry point of ``resin-es``."""
    from resin_es.cli.app import app

    app()
