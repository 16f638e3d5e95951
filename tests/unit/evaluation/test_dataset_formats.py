"""The public formats, on made-up files of their shape, and the table of formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es.errors import DocumentTooLarge, InputError, RecordError
from resin_es.evaluation.convert import convert
from resin_es.evaluation.datasets import DATASETS, load
from resin_es.evaluation.values import EvalDataset, EvalQuestion

Fields = dict[str, Any]


def write_lines(path: Path, *rows: Fields) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def only(name: str, path: Path) -> EvalDataset:
    (dataset,) = load(name, path)
    return dataset


def gold_texts(dataset: EvalDataset, question: EvalQuestion) -> list[list[str]]:
    texts = {document.id: document.text for document in dataset.documents}
    return [
        [texts[place.document_id][place.start : place.end] for place in gold.places]
        for gold in question.gold
    ]


# ------------------------------------------------------------------ HotpotQA, a selection


def selection(folder: Path, **question: Any) -> Path:
    write_lines(
        folder / "documents.jsonl",
        {"id": "H1", "title": "Eel", "sentences": ["Eels swim.", "", " They live long. "]},
        {"id": "H2", "title": "Carp", "sentences": ["Carp swim too."]},
    )
    row = {
        "id": "q1",
        "type": "bridge",
        "level": "easy",
        "question": "Who swims?",
        "answer": "eels",
        "gold_sentences": [["H1", 2], ["H2", 0]],
    }
    write_lines(folder / "qa.jsonl", {**row, **question})
    return folder


def test_a_hotpotqa_selection(tmp_path: Path) -> None:
    dataset = only("hotpotqa", selection(tmp_path / "hot"))
    assert dataset.name == "hot"
    assert [d.text for d in dataset.documents] == ["Eels swim. They live long.", "Carp swim too."]
    assert [s.id for s in dataset.documents[0].sentences] == ["H1#0", "H1#2"], "blank ones go"
    (question,) = dataset.questions
    assert (question.id, question.kind, question.answer) == ("q1", "bridge", "eels")
    assert question.gold_sentence_ids == ("H1#2", "H2#0")
    assert gold_texts(dataset, question) == [["They live long."], ["Carp swim too."]]


def test_gold_that_nobody_can_find_is_none(tmp_path: Path) -> None:
    pairs = [["H1", 0], ["H1", 1], ["H1", 9], ["H1", 0]]
    (question,) = only("hotpotqa", selection(tmp_path, gold_sentences=pairs)).questions
    assert question.gold_sentence_ids == ("H1#0",)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([["H7", 0]], r"qa\.jsonl, line 1: gold document 'H7' is not in documents\.jsonl"),
        ([["H1"]], "gold_sentences is no list of pairs"),
        ("H1", "gold_sentences is no list"),
    ],
)
def test_broken_gold_of_a_selection(tmp_path: Path, pairs: Any, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        load("hotpotqa", selection(tmp_path, gold_sentences=pairs))


# ------------------------------------------------------------------ HotpotQA, distractor files

EEL = ["Eel", ["Eels swim.", " They live long."]]
HOTPOT: list[Fields] = [
    {
        "_id": "q1",
        "question": "Who swims?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["Eel", 1], ["Carp", 0], ["Carp", 7]],
        "context": [EEL, ["Carp", ["Carp swim too."]]],
    },
    {
        "_id": "q2",
        "question": "And who else?",
        "answer": "eels",
        "type": "bridge",
        "supporting_facts": [["Eel", 0]],
        "context": [["Eel", ["Another eel."]], EEL][::-1],
    },
]


def test_hotpotqa_distractor_files_become_one_corpus(tmp_path: Path) -> None:
    dataset = only("hotpotqa", write_json(tmp_path / "hotpot_dev_v1.json", HOTPOT))
    assert dataset.name == "hotpot_dev_v1"
    assert [(d.title, d.text) for d in dataset.documents] == [
        ("Eel", "Eels swim. They live long."),
        ("Carp", "Carp swim too."),
        ("Eel", "Another eel."),
    ]
    first, second = dataset.questions
    assert gold_texts(dataset, first) == [["They live long."], ["Carp swim too."]]
    assert (second.kind, gold_texts(dataset, second)) == ("bridge", [["Eels swim."]])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"supporting_facts": [["Pike", 0]]}, "question 1: .*'Pike' is not in its context.*fullw"),
        ({"context": [["Eel", "Eels swim."]]}, "question 1: context is no list of pairs"),
        ({"_id": None}, "question 1: _id is missing"),
    ],
)
def test_a_broken_distractor_question_is_named(tmp_path: Path, change: Fields, reason: str) -> None:
    path = write_json(tmp_path / "hotpot.json", [HOTPOT[0], {**HOTPOT[1], **change}])
    with pytest.raises(RecordError, match=reason):
        load("hotpotqa", path)


# ------------------------------------------------------------------ MuSiQue

POND = {"idx": 0, "title": "Pond", "paragraph_text": "A pond. Eels live there."}
RIVER = {"idx": 1, "title": "River", "paragraph_text": "The river ends in the pond."}
MUSIQUE: Fields = {
    "id": "2hop__1_2",
    "question": "What lives where the river ends?",
    "answer": "eels",
    "answer_aliases": ["the eel"],
    "answerable": True,
    "paragraphs": [{**POND, "is_supporting": True}, {**RIVER, "is_supporting": True}],
    "question_decomposition": [{"id": 1, "question": "#1", "answer": "pond"}],
}


def test_musique_folds_paragraphs_and_counts_them_as_gold(tmp_path: Path) -> None:
    other = {**MUSIQUE, "id": "3hop1__3", "paragraphs": [{**RIVER, "is_supporting": False}]}
    dataset = only("musique", write_lines(tmp_path / "musique_ans_dev.jsonl", MUSIQUE, other))
    assert [d.title for d in dataset.documents] == ["Pond", "River"]
    assert [s.text for s in dataset.documents[0].sentences] == ["A pond.", "Eels live there."]
    first, second = dataset.questions
    assert (first.kind, first.aliases, second.kind) == ("2hop", ("the eel",), "3hop1")
    assert gold_texts(dataset, first) == [[POND["paragraph_text"]], [RIVER["paragraph_text"]]]
    assert second.gold == ()


def test_musique_without_an_answer_has_no_gold(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "full.jsonl", {**MUSIQUE, "answerable": False})
    (question,) = only("musique", path).questions
    assert (question.answer, question.aliases, question.gold) == ("", (), ())


def test_musique_test_files_lack_answers_and_gold(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", {"id": "x", "question": "?", "paragraphs": [POND]})
    (question,) = only("musique", path).questions
    assert (question.kind, question.answer, question.gold) == ("", "", ())


# ------------------------------------------------------------------ QASC

QASC: Fields = {
    "id": "s1",
    "question": {
        "stem": "What swims?",
        "choices": [{"label": "A", "text": "eels"}, {"label": "B", "text": "stones"}],
    },
    "answerKey": "A",
    "fact1": "eels have fins.",
    "fact2": "fins  are for swimming",
    "combinedfact": "eels are for swimming",
}


def test_qasc_facts_are_documents_and_choices_are_asked(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "dev.jsonl", QASC)
    dataset = only("qasc", path)
    assert [d.text for d in dataset.documents] == [QASC["fact1"], QASC["fact2"]]
    (question,) = dataset.questions
    assert question.question == "What swims? (A) eels (B) stones"
    assert (question.answer, question.aliases) == ("eels", ("A", "(A) eels"))
    assert gold_texts(dataset, question) == [[QASC["fact1"]], [QASC["fact2"]]]


def test_qasc_corpus_file_comes_first_and_lacking_facts_are_added(tmp_path: Path) -> None:
    (tmp_path / "QASC_Corpus.txt").write_text(
        "stones sink\n\nfins are for swimming\n", encoding="utf-8"
    )
    dataset = only("qasc", write_lines(tmp_path / "dev.jsonl", QASC))
    assert [d.text for d in dataset.documents] == [
        "stones sink",
        "fins are for swimming",
        "eels have fins.",
    ]
    assert gold_texts(dataset, dataset.questions[0])[1] == ["fins are for swimming"]


def test_qasc_test_files_have_no_key(tmp_path: Path) -> None:
    bare = {"id": "t", "question": QASC["question"]}
    dataset = only("qasc", write_lines(tmp_path / "test.jsonl", bare))
    assert dataset.documents == ()
    assert (dataset.questions[0].answer, dataset.questions[0].gold) == ("", ())


def test_a_qasc_key_that_is_no_choice_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="line 1: answerKey 'Z' is none of its choices"):
        load("qasc", write_lines(tmp_path / "dev.jsonl", {**QASC, "answerKey": "Z"}))


# ------------------------------------------------------------------ MS MARCO


def passage(text: str, selected: int, url: str = "https://fish.example/") -> Fields:
    return {"passage_text": text, "is_selected": selected, "url": url}


MARCO: list[Fields] = [
    {
        "query_id": 7,
        "query": "what swims",
        "query_type": "ENTITY",
        "answers": ["eels"],
        "wellFormedAnswers": ["Eels swim."],
        "passages": [passage("Eels swim. So do carp.", 1), passage("Stones sink.", 0)],
    },
    {
        "query_id": 8,
        "query": "what flies",
        "query_type": "ENTITY",
        "answers": ["No Answer Present."],
        "wellFormedAnswers": "[]",
        "passages": [passage("Stones sink.", 0)],
    },
]
COLUMNS = {name: {str(n): row[name] for n, row in enumerate(MARCO)} for name in MARCO[0]}


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: write_json(folder / "dev_v2.1.json", COLUMNS),
        lambda folder: write_lines(folder / "dev_v2.1.jsonl", *MARCO),
        lambda folder: write_lines(folder / "dev_v2.1.json", *MARCO),
    ],
    ids=["columns", "lines", "lines in a .json file"],
)
def test_ms_marco_in_each_of_its_shapes(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    dataset = only("msmarco", write(tmp_path))
    assert dataset.name == "dev_v2.1"
    assert [d.text for d in dataset.documents] == ["Eels swim. So do carp.", "Stones sink."]
    first, second = dataset.questions
    assert (first.id, first.question, first.kind) == ("7", "what swims", "ENTITY")
    assert (first.answer, first.aliases) == ("eels", ("Eels swim.",))
    assert gold_texts(dataset, first) == [["Eels swim. So do carp."]]
    assert (second.answer, second.aliases, second.gold) == ("", (), ())


def test_one_ms_marco_line_in_a_json_file(tmp_path: Path) -> None:
    dataset = only("msmarco", write_lines(tmp_path / "one.json", MARCO[0]))
    assert [question.id for question in dataset.questions] == ["7"]


def test_an_ms_marco_row_without_passages_is_named(tmp_path: Path) -> None:
    broken = {**COLUMNS, "passages": {"0": MARCO[0]["passages"]}}
    with pytest.raises(RecordError, match=r"dev\.json, row 1: lacks passages"):
        load("msmarco", write_json(tmp_path / "dev.json", broken))


# ------------------------------------------------------------------ the table


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown data set 'squad'.*holisqa, hotpotqa, musique"):
        load("squad", tmp_path)
    with pytest.raises(InputError, match="unknown data set"):
        convert("squad", tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_a_folder_without_any_is_refused(tmp_path: Path, name: str) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(InputError):
            load(name, path)
    assert DATASETS[name].about.endswith(".")


def test_several_files_are_several_data_sets(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.jsonl", QASC)
    write_lines(tmp_path / "dev.jsonl", QASC)
    assert [dataset.name for dataset in load("qasc", tmp_path)] == ["dev", "train"]
    with pytest.raises(InputError, match=r"holds several data sets \(dev\.jsonl, train\.jsonl\)"):
        convert("qasc", tmp_path)


def test_ids_that_repeat_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "dev.jsonl", QASC, QASC)
    with pytest.raises(InputError, match="several questions have the id 's1'"):
        load("qasc", path)


def test_records_to_index_hold_documents_and_nothing_of_the_questions(tmp_path: Path) -> None:
    (first, _) = convert("msmarco", write_json(tmp_path / "dev.json", COLUMNS))
    assert set(first) == {"id", "title", "text", "url"}
    assert (first["text"], first["url"]) == ("Eels swim. So do carp.", "https://fish.example/")
    records = list(convert("hotpotqa", selection(tmp_path / "hot")))
    assert records[1] == {"id": "H2", "title": "Carp", "text": "Carp swim too."}
    (tmp_path / "hot" / "qa.jsonl").write_text("not even JSON\n", encoding="utf-8")
    assert list(convert("hotpotqa", tmp_path / "hot")) == records


@pytest.mark.parametrize(
    ("name", "write", "kept"),
    [
        ("hotpotqa", selection, ["Carp swim too."]),
        ("musique", lambda path: write_lines(path / "a.jsonl", MUSIQUE), []),
        ("qasc", lambda path: write_lines(path / "a.jsonl", QASC), ["eels have fins."]),
        ("msmarco", lambda path: write_lines(path / "a.jsonl", *MARCO), ["Stones sink."]),
    ],
)
def test_in_every_format_a_document_over_the_limit_is_left_out_with_its_reason(
    tmp_path: Path, name: str, write: Callable[[Path], Path], kept: list[str]
) -> None:
    write(tmp_path)
    if not kept:
        with pytest.raises(DocumentTooLarge, match="over the limit of 20"):
            load(name, tmp_path, max_bytes=20)
        return
    (dataset,) = load(name, tmp_path, max_bytes=20)
    assert [one.text for one in dataset.documents] == kept
    [reason] = dataset.left_out
    assert "over the limit of 20 (RESIN_MAX_DOCUMENT_BYTES)" in reason
    assert dataset.questions == load(name, tmp_path)[0].questions, "their gold counts"


def test_ids_are_made_of_the_content(tmp_path: Path) -> None:
    one = only("musique", write_lines(tmp_path / "a.jsonl", MUSIQUE))
    changed = {**MUSIQUE, "paragraphs": MUSIQUE["paragraphs"][::-1]}
    two = only("musique", write_lines(tmp_path / "b.jsonl", changed))
    assert {d.id for d in one.documents} == {d.id for d in two.documents}
