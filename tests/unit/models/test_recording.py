"""A recording keeps every exchange; the replay gives the same and says what it does not hold."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.adapters.recording import RecordingModel, ReplayModel
from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.ports import ModelCall, ModelReply, Usage

SCHEMA = {"type": "object", "properties": {"hops": {"type": "array"}}}


def call(**changed: Any) -> ModelCall:
    said = {
        "stage": "plan",
        "model": "m-1",
        "prompt_version": "1-aaaaaaaa",
        "system": "Plan it.",
        "user": "QUESTION: <<<\nWho owns the mill?\n>>>",
        "output": SCHEMA,
    }
    return ModelCall(**{**said, **changed})


def reply(n: int = 1) -> ModelReply:
    return ModelReply(
        text=f'{{"hops": [{n}]}}',
        data={"hops": [n]},
        model="m-1",
        stop_reason="end_turn",
        route="tool",
        usage=Usage(input_tokens=10, cache_read_tokens=900, output_tokens=5),
        dollars=0.25,
        calls=2,
    )


class Told:
    """A language model that says what it was given, in order."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[ModelCall] = []

    def call(self, call: ModelCall) -> ModelReply:
        self.asked.append(call)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, ModelReply)
        return outcome

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        self.asked.append(call)
        for piece in self.outcomes.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece


def recorded(folder: Path, *pairs: tuple[ModelCall, Any]) -> ReplayModel:
    model = RecordingModel(Told(*(outcome for _, outcome in pairs)), folder)
    for asked, outcome in pairs:
        if isinstance(outcome, Exception):
            with pytest.raises(type(outcome)):
                model.call(asked)
        else:
            assert model.call(asked) == outcome
    return ReplayModel(folder)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def test_the_same_reply_at_no_cost(tmp_path: Path) -> None:
    replay = recorded(tmp_path, (call(), reply()))
    assert replay.call(call()) == reply().model_copy(update={"dollars": 0.0})
    assert replay.recorded_dollars == 0.25


def test_room_for_the_answer_does_not_count(tmp_path: Path) -> None:
    replay = recorded(tmp_path, (call(), reply()))
    assert replay.call(call(max_tokens=9)).data == {"hops": [1]}


def test_one_file_per_call_with_what_was_asked_and_told(tmp_path: Path) -> None:
    recorded(tmp_path, (call(), reply(1)), (call(stage="units"), reply(2)), (call(), reply(3)))
    names = [path.name for path in files(tmp_path)]
    assert names == [f"plan-{call().id}.json", f"units-{call(stage='units').id}.json"]
    held = json.loads(files(tmp_path)[0].read_text(encoding="utf-8"))
    assert held["call"] == call().model_dump(mode="json")
    assert [one["reply"]["data"] for one in held["exchanges"]] == [{"hops": [1]}, {"hops": [3]}]


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    recorded(tmp_path, (call(), reply()))
    assert files(tmp_path)[0].stat().st_mode & 0o077 == 0


def test_replies_to_one_call_come_in_order_the_last_again(tmp_path: Path) -> None:
    replay = recorded(tmp_path, (call(), reply(1)), (call(), reply(2)))
    told = [replay.call(call()).data["hops"][0] for _ in range(4)]
    assert told == [1, 2, 2, 2]


def test_a_later_run_adds_to_the_recording(tmp_path: Path) -> None:
    recorded(tmp_path, (call(), reply(1)))
    replay = recorded(tmp_path, (call(), reply(2)))
    assert [replay.call(call()).data["hops"][0] for _ in range(2)] == [1, 2]


def test_a_failed_call_fails_again_with_the_same_words(tmp_path: Path) -> None:
    failed = ModelError("The model answered 500.", hint="Try later.")
    replay = recorded(tmp_path, (call(), failed), (call(), reply()))
    with pytest.raises(ModelError) as caught:
        replay.call(call())
    assert (caught.value.message, caught.value.hint) == ("The model answered 500.", "Try later.")
    assert caught.value.reply is None
    assert replay.call(call()).data == {"hops": [1]}


def test_what_a_failed_call_had_cost_is_kept(tmp_path: Path) -> None:
    failed = ModelError("The model answered 500 to the second request.")
    failed.reply = reply()
    replay = recorded(tmp_path, (call(), failed))
    with pytest.raises(ModelError) as caught:
        replay.call(call())
    assert caught.value.reply == reply().model_copy(update={"dollars": 0.0})
    assert replay.recorded_dollars == 0.25


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("No key."), BudgetSpent("Spent.", spent=1.0, cap=1.0)],
    ids=["no-key", "no-money"],
)
def test_what_no_call_is_to_blame_for_is_not_kept(tmp_path: Path, error: ModelError) -> None:
    recorded(tmp_path, (call(), error))
    assert files(tmp_path) == []


# ---------------------------------------------------------------- streams

WORDS = ("The mill ", "is Ada's ", "[1.1].")


def streamed(folder: Path, *pieces: Any) -> ReplayModel:
    list(RecordingModel(Told(pieces), folder).stream(call(output=None)))
    return ReplayModel(folder)


def test_a_stream_comes_in_the_same_pieces(tmp_path: Path) -> None:
    whole = ModelReply(text="".join(WORDS), dollars=0.5)
    replay = streamed(tmp_path, *WORDS, whole)
    told = list(replay.stream(call(output=None)))
    assert told == [*WORDS, whole.model_copy(update={"dollars": 0.0})]
    assert replay.call(call(output=None)).text == "".join(WORDS)


def test_what_was_recorded_whole_is_streamed_in_one_piece(tmp_path: Path) -> None:
    replay = recorded(tmp_path, (call(output=None), ModelReply(text="Ada's.")))
    assert list(replay.stream(call(output=None))) == ["Ada's.", ModelReply(text="Ada's.")]


def test_a_stream_breaks_off_where_it_broke_off(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        streamed(tmp_path, *WORDS[:2], ModelError("The connection broke."))
    pieces = ReplayModel(tmp_path).stream(call(output=None))
    assert [next(pieces), next(pieces)] == list(WORDS[:2])
    with pytest.raises(ModelError, match="The connection broke"):
        next(pieces)


def test_a_stream_that_nobody_read_to_its_end_is_not_kept(tmp_path: Path) -> None:
    pieces = RecordingModel(Told((*WORDS, ModelReply())), tmp_path).stream(call(output=None))
    assert next(pieces) == WORDS[0]
    del pieces
    assert files(tmp_path) == []


# ---------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompt_version": "2-bbbbbbbb"}, "the prompt is version 2-bbbbbbbb, not 1-aaaaaaaa"),
        ({"model": "m-2"}, "the model is m-2, not m-1"),
        ({"output": {"type": "object"}}, "the schema of the answer differs"),
        ({"system": "Plan."}, "the system prompt differs under the same version"),
        (
            {"user": "QUESTION: <<<\nWho owns the farm?\n>>>"},
            "the text differs from character 27 on: 'farm?\\n>>>', not 'mill?\\n>>>'",
        ),
        ({"stage": "solve"}, "it holds no call of this stage"),
    ],
)
def test_an_unknown_call_is_named_with_what_differs(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    other = call(user="something else", model="m-3", prompt_version="0-cccccccc")
    replay = recorded(tmp_path, (other, reply()), (call(), reply()))
    asked = call(**changed)
    with pytest.raises(ModelUnavailable) as caught:
        replay.call(asked)
    message = caught.value.message
    assert f"call {asked.id} of the stage {asked.stage}" in message
    assert str(tmp_path) in message
    assert message.endswith(f"{said}.")
    with pytest.raises(ModelUnavailable):
        next(replay.stream(asked))


def test_no_recording_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="RESIN_RECORD"):
        ReplayModel(tmp_path / "none")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    replay = recorded(tmp_path, (call(), reply()))
    files(tmp_path)[0].write_text('{"call": {}', encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=f"plan-{call().id}.json is not the recording"):
        replay.call(call())
    with pytest.raises(ModelUnavailable, match="is not the recording") as caught:
        RecordingModel(Told(reply(2)), tmp_path).call(call())
    assert caught.value.reply == reply(2), "it was paid for"


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelUnavailable, match="cannot be written"):
        RecordingModel(Told(), tmp_path / "file" / "folder")


# ---------------------------------------------------------------- whole or not at all


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay = recorded(tmp_path, (call(), reply(1)))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ModelUnavailable, match="No space left on device") as caught:
        RecordingModel(Told(reply(2)), tmp_path).call(call())
    assert caught.value.reply == reply(2), "it was paid for"
    assert replay.call(call()).data == {"hops": [1]}
    assert [path.name for path in tmp_path.glob(".new-*")] == []


def test_threads_lose_nothing(tmp_path: Path) -> None:
    class Counts:
        def call(self, call: ModelCall) -> ModelReply:
            return ModelReply(text=call.user, dollars=1.0)

        def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
            yield self.call(call)

    calls = [call(user=f"{n % 5}") for n in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(RecordingModel(Counts(), tmp_path).call, calls))
        replay = ReplayModel(tmp_path)
        told = list(pool.map(replay.call, calls))
    assert [one.text for one in told] == [one.user for one in calls]
    assert replay.recorded_dollars == 60.0
    held = [json.loads(path.read_text(encoding="utf-8")) for path in files(tmp_path)]
    assert sorted(len(one["exchanges"]) for one in held) == [12] * 5


@given(text=st.text(st.characters(exclude_categories=())), user=st.text())
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: str, user: str
) -> None:
    told = ModelReply(text=text, data={"said": [text]})
    replay = recorded(tmp_path_factory.mktemp("any"), (call(user=user), told))
    assert replay.call(call(user=user)) == told
