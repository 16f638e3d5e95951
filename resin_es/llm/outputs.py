"""Validated outputs, kept by the call that asked for them: what was paid for is not paid again.

The key is the call's id: stage, model, prompt version, both messages and the schema. A changed
prompt or model therefore misses only its own stage.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from resin_es.ports import ModelCall, OutputCache
from resin_es.ports.language import Stage


def output_key(call: ModelCall) -> str:
    """The cache key of a call's validated output."""
    return _output_key(call.stage, call.id)


def _output_key(stage: Stage, call_id: str) -> str:
    return f"output-{stage}-{call_id}"


def split_key(call: ModelCall) -> str:
    """The cache key of the fact that the answer to ``call`` does not fit its room."""
    return f"split-{call.stage}-{call.max_tokens}-{call.id}"


def kept_outputs(cache: OutputCache, calls: Iterable[ModelCall]) -> dict[str, Any]:
    """The kept data of ``calls`` by call id; calls without any are absent. A value that is no
    JSON is damaged and counts as absent: the cache is expendable."""
    by_key = {output_key(call): call.id for call in calls}
    found: dict[str, Any] = {}
    for key, value in cache.cache_get(list(by_key)).items() if by_key else ():
        try:
            found[by_key[key]] = json.loads(value)
        except ValueError:
            continue
    return found


def kept_ids(cache: OutputCache, stage: Stage, call_ids: Iterable[str]) -> set[str]:
    """Those of ``call_ids`` whose output is kept: for calls known by their id alone."""
    by_key = {_output_key(stage, one): one for one in call_ids}
    return {by_key[key] for key in cache.cache_get(list(by_key))} if by_key else set()


def keep_output(cache: OutputCache, call: ModelCall, data: Any) -> None:
    """Keep ``data``, which must have been validated, as the answer to ``call``."""
    cache.cache_put({output_key(call): _packed(data)})


def known_splits(cache: OutputCache, calls: Iterable[ModelCall]) -> set[str]:
    """Ids of those ``calls`` whose answer was cut off before, in the same room: asking them
    again would be paid for and cut off again."""
    by_key = {split_key(call): call.id for call in calls}
    return {by_key[key] for key in cache.cache_get(list(by_key))} if by_key else set()


def keep_split(cache: OutputCache, call: ModelCall) -> None:
    """Remember that the answer to ``call`` was cut off."""
    cache.cache_put({split_key(call): b"1"})


def _packed(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
