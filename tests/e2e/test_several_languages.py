"""English questions about documents in other languages, with the real encoders; a tiny corpus."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from resin_es.bootstrap import embedding, services
from resin_es.cli.render_trace import ACROSS
from resin_es.testing.command import CommandLine

FOREIGN = {
    "tr": "Köydeki arıcılar kovanlarını ilk dondan önce samanla sarar. Kovanların girişini ince "
    "bir tahtayla daraltırlar. Arılar böylece bütün kış birbirine sokulup ısınır.",
    "es": "Una maestra jubilada enseña a leer a los pastores en la montaña. Las clases empiezan "
    "cuando cae la primera nieve. A cambio, ellos le traen queso y leña.",
    "id": "Pada malam bulan purnama para nelayan di teluk tidak melaut. Mereka memperbaiki jaring "
    "di beranda dan menjemur ikan asin. Cumi-cumi hanya ditangkap pada malam yang gelap.",
    "ar": "يصلح عازف العود أوتاره بخيوط من الحرير. يشتري الحرير من نسّاج عجوز في السوق القديم. "
    "ويعزف كل مساء أمام المخبز.",
    "fr": "Le train de nuit ne s'arrête plus à la gare des salines. On y vend maintenant des "
    "vélos d'occasion. Le chef de gare a gardé sa casquette.",
    "ru": "Прошлой весной паводок смыл старый деревянный мост. Теперь жители переправляются на "
    "лодке. Новый мост построят из камня.",
    "de": "Die Orgel von Steinbach wurde im Krieg im Keller der Schule versteckt. Der Lehrer hatte "
    "jede Pfeife in eine Decke gewickelt. Nach zwei Jahren kam sie heil in die Kirche zurück.",
}
ENGLISH = {
    "passport": "A passport is valid for ten years. The form asks for two photographs. It costs "
    "sixty crowns.",
    "printer": "The printer on the third floor needs new toner. Its tray holds two hundred sheets.",
    "tax": "The property tax rose by two per cent. It is due in May.",
    "form": "Version 2 of the form replaces version 1. Both have eleven fields.",
    "invoice": "An invoice is paid within thirty days. Reminders are sent by post.",
    "parking": "A parking ticket is displayed behind the windscreen. It is valid for four hours.",
}
PRIVATE = "Belediye eski iskeleyi gizlice bir otele sattı. Sözleşme mart ayında imzalandı."
QUESTIONS = {
    "tr": "How do the beekeepers in the village get their hives through the winter?",
    "es": "Who gives reading lessons to the shepherds?",
    "id": "What do the fishermen of the bay do on nights of full moon?",
    "ar": "With what does the lute player repair his strings?",
    "de": "Where was the organ of the church hidden during the war?",
}
GERMAN = "Wo hat der Lehrer die Pfeifen während des Krieges aufbewahrt?"
SECRET = "To whom did the council sell the old pier?"
BOARD = ("--group", "board")


class Asked(NamedTuple):
    """Ids of the documents of the evidence, the trace, and whether the second encoder ran."""

    documents: list[str]
    trace: Any
    second: bool

    @property
    def clauses(self) -> set[int]:
        """How many kNN clauses the hops have."""
        found = [hop["body"]["knn"] for hop in self.trace["hops"]]
        return {len(knn) if isinstance(knn, list) else 1 for knn in found}


@dataclass(frozen=True)
class House:
    line: CommandLine
    ran: list[int]
    folder: Path

    def index(self, records: Mapping[str, str], *access: str) -> None:
        lines = ({"id": k, "text": text, "access": access} for k, text in records.items())
        path = self.folder / "records.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.line.run("index", path)

    def ask(self, question: str, *options: str) -> Asked:
        self.ran.clear()
        told = self.line.run("ask", question, *options, "--json").json
        ran = bool(self.ran)
        trace = self.line.run("trace", told["trace_id"], *options, "--json").json
        return Asked([p["document_id"] for p in told["evidence"]], trace, ran)

    def retrieve(self, questions: Mapping[str, str]) -> dict[str, list[str]]:
        """Documents of each question's evidence, in one run of the command."""
        path = self.folder / "questions.jsonl"
        rows = ({"id": key, "question": text} for key, text in questions.items())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = self.line.run("retrieve", "--questions", path, "--json").lines
        return {row["id"]: [p["document_id"] for p in row["evidence"]] for row in found}


@pytest.fixture(scope="module")
def ran() -> Iterator[list[int]]:
    """How often the second encoder was asked for vectors. Every command wires its own services;
    the weights of both encoders are loaded once."""
    encoder = pytest.importorskip("resin_es.adapters.multilingual.encoder")
    if not encoder.installed():
        pytest.skip("needs resin-es[multilingual]")
    calls: list[int] = []
    make = functools.cache(lambda spec: embedding.make_embedder(dict(spec)))

    def counted(embed: Any) -> Any:
        def call(*args: Any) -> Any:
            calls.append(1)
            return embed(*args)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "make_embedder", lambda spec, _: make(tuple(spec.items())))
        for name in ("embed", "embed_queries"):
            one = getattr(encoder.MultilingualE5, name)
            patch.setattr(encoder.MultilingualE5, name, counted(one))
        yield calls


@pytest.fixture(scope="module")
def house(
    cli: CommandLine, ran: list[int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    line = cli.under(RESIN_EMBEDDER="onnx", RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-real")
    line.run("install")
    yield House(line, ran, tmp_path_factory.mktemp("languages"))
    line.run("uninstall", "--yes")


@pytest.fixture(scope="module")
def english(house: House) -> Asked:
    """What is asked while there is English alone."""
    house.index(ENGLISH, "*")
    assert not house.ran, "nothing was embedded by it"
    return house.ask(QUESTIONS["es"])


@pytest.fixture(scope="module")
def kept(house: House, english: Asked) -> tuple[Asked, Asked]:
    """What two people are told while the one document in another language is the board's."""
    house.index({"pier": PRIVATE}, "board")
    assert house.ran
    return house.ask(SECRET), house.ask(SECRET, *BOARD)


@pytest.fixture(scope="module")
def full(house: House, kept: Any) -> House:
    house.index(FOREIGN, "*")
    return house


@pytest.fixture(scope="module")
def off(house: House, full: House) -> Iterator[dict[str, list[str]]]:
    """Evidence of the same questions about the same documents with RESIN_MULTILINGUAL=off."""
    prefix = house.line.environ["RESIN_PREFIX"]
    line = house.line.under(RESIN_MULTILINGUAL="off", RESIN_PREFIX=f"{prefix}-off")
    line.run("install")
    without = House(line, house.ran, house.folder)
    house.ran.clear()
    without.index({**ENGLISH, **FOREIGN}, "*")
    found = without.retrieve(QUESTIONS)
    assert not house.ran
    yield found
    line.run("uninstall", "--yes")


@pytest.fixture(scope="module")
def on(full: House) -> dict[str, list[str]]:
    return full.retrieve({**QUESTIONS, "german": GERMAN, "secret": SECRET})


def test_english_alone_never_needs_the_second_encoder(english: Asked) -> None:
    assert english.documents
    assert not english.second
    assert english.clauses == {1}
    assert "multilingual" not in english.trace["models"]


def test_who_may_not_read_it_is_told_nothing_of_another_language(
    kept: tuple[Asked, Asked], on: dict[str, list[str]]
) -> None:
    outside, board = kept
    assert board.documents[0] == "pier", "two sentences are enough to be found"
    assert board.clauses == {2}
    assert board.second
    assert "e5" in board.trace["models"]["multilingual"]
    assert "pier" not in outside.documents
    assert outside.clauses == {1}
    assert not outside.second
    assert "multilingual" not in outside.trace["models"]
    assert "pier" not in on["secret"], "nor once there are others that they may read"


@pytest.mark.parametrize("language", QUESTIONS)
def test_what_only_a_document_in_another_language_says(
    language: str, on: dict[str, list[str]], off: dict[str, list[str]]
) -> None:
    assert on[language][0] == language
    assert off[language][0] != language, "the first encoder alone does not know it"


def test_a_question_in_another_language(on: dict[str, list[str]]) -> None:
    assert on["german"][0] == "de"


def test_an_answer_and_its_trace_tell_what_the_second_vector_brought(full: House) -> None:
    told = full.ask(QUESTIONS["tr"])
    assert told.documents[0] == "tr"
    assert told.clauses == {2}
    (hop, *_) = told.trace["hops"]
    across = {c["evidence"]["document_id"] for c in hop["candidates"] if c["multilingual"]}
    assert "tr" in across
    assert not across & set(ENGLISH)
    shown = full.line.run("trace", told.trace["id"]).stdout
    assert ACROSS.strip() in " ".join(shown.split())
    again = full.line.run("trace", told.trace["id"], "--replay", "--json").json
    assert {row["overlap"] for row in again} == {1.0}


def test_a_plain_search_finds_it_too(full: House) -> None:
    first = full.line.run("search", QUESTIONS["tr"], "--json").json["hits"][0]["candidate"]
    assert (first["document_id"], first["multilingual"]) == ("tr", True)
