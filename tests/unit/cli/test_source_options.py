"""What `source add` refuses before anything is asked."""

from __future__ import annotations

import pytest

from resin_es.cli.app import app
from resin_es.testing.command import CommandLine

CLI = CommandLine(app, {"RESIN_ES_URL": "http://127.0.0.1:1"})
FIELDS = ("--index", "kb", "--text", "body")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("kb", *FIELDS), "Nothing says who may read these documents"),
        (("kb", *FIELDS, "--public", "--private"), "exclude each other"),
        (("kb", *FIELDS, "--public", "--access", "groups"), "exclude each other"),
        (("--public", *FIELDS), "NAME is missing"),
        (("kb", "--public", "--text", " , "), "--index, --text is missing"),
        (("kb", *FIELDS, "--public", "--slices", "0"), "slices: "),
        (("kb", *FIELDS, "--public", "--overlap", "-1"), "overlap_seconds: "),
        (("kb", "--file", "sources.yml", "--public"), "--file says all of a source"),
        (("kb", "--file", "sources.yml", "--url", "u"), "--file says all of a source"),
        (("kb", "--file", "sources.yml", "--slices", "2"), "--file says all of a source"),
        (("kb", "--file", "not-there.yml"), "not-there.yml cannot be read"),
        (("kb", *FIELDS, "--public", "--cluster", "x"), "no cluster 'x' in RESIN_CLUSTERS"),
    ],
)
def test_refused_with_a_reason(options: tuple[str, ...], told: str) -> None:
    assert told in CLI.run("source", "add", *options, code=2).stderr


def test_in_json_the_error_is_told_on_stdout() -> None:
    found = CLI.run("source", "add", "kb", *FIELDS, "--json", code=2).json
    assert found["error"]["type"] == "AccessError"
