"""Two minutes of trouble; `make chaos` makes ten of it."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

from tests.chaos.run import Options, run
from tests.chaos.schedule import OFTEN
from tests.conftest import missing

SECONDS = float(os.environ.get("RESIN_TEST_CHAOS_SECONDS", "120"))


@pytest.mark.slow
def test_nothing_is_lost_doubled_left_or_mixed(capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("redis-server") is None:
        missing("redis-server")
    if importlib.util.find_spec("celery") is None:
        missing("resin-es[workers]")
    options = Options(
        seconds=SECONDS,
        records=500,
        seed=int(os.environ.get("RESIN_TEST_CHAOS_SEED", "7")),
        pause=8.0,
        es_version=os.environ.get("RESIN_TEST_ES_VERSION"),
    )
    outcome = run(options)
    with capsys.disabled():
        print(f"\nchaos: {outcome.to_dict()}")
    assert outcome.figures.wrong == {}, outcome.figures.samples
    assert outcome.settled_s is not None
    # and it was no idyll
    assert set(OFTEN) <= set(outcome.troubles)
    assert outcome.answers["answers"] > 20
    assert outcome.answers["cited"] > 0
    assert outcome.changes["delete and tell"] > 0
    assert outcome.changes["edit"] > 0
