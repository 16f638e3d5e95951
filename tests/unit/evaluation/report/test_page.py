"""The page: one file without network, every row and number, nothing of a data set runs."""

from __future__ import annotations

import builtins
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from resin_es.errors import UsageError
from resin_es.evaluation.report import Report, as_page, build_report
from resin_es.evaluation.report import page as page_module
from resin_es.evaluation.report.words import interval, percent
from tests.unit.evaluation.report.made_up import ROWS, made_up, without_gold

HOSTILE = "</td></script><script>alert(1)</script><img src=x onerror=alert(2)>\"' {{ 7*7 }}"


class Reader(HTMLParser):
    """Tags, attributes, visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(
        [
            made_up("biology", questions=15, answers=True),
            made_up("hotpotqa", questions=15, kinds=("bridge", "comparison")),
        ]
    )


@pytest.fixture(scope="module")
def small() -> Report:
    """BM25 and RESIN on one data set."""
    run = made_up(questions=5)
    rows = tuple(row for row in run.systems if row.system in ("bm25", "resin"))
    return build_report([run.model_copy(update={"systems": rows})])


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return as_page(report)


def test_every_row_with_its_exact_numbers(report: Report, page: str) -> None:
    text = Reader(page).text
    for section in report.sections:
        for row in section.rows:
            # k and kinds stand in the table of the ablations, by their variant's words
            if row.group != "ablation":
                assert row.label in text
            for budget in section.budgets:
                assert row.skipped or percent(row.gold_recall[budget]) in text
                if row.against_resin:
                    assert interval(row.against_resin[budget]) in text
    assert "not run: needs a model endpoint" in text
    assert all(label in text or label.startswith("no ") for _, label, _, _ in ROWS)


def test_what_a_stranger_needs(report: Report, page: str) -> None:
    text = Reader(page).text
    assert "30 questions over 2,222 documents (2 data sets)" in text
    assert "at most 500, 1,000 or 2,000 tokens" in text
    assert "best baseline" in text
    assert "published, not measured here" in text
    assert "another metric, with a language model" in text
    assert "resin-es eval holisqa --data ../shared/holisqa/biology --systems all" in text
    assert "11,051 sentences, 23,310 units, 4,870 passages" in text
    example = report.datasets[0].examples[0]
    for words in (example.question, example.gold, example.taken, example.detail, example.trace_id):
        assert words in text


def test_a_tab_for_each_data_set_and_the_mean(page: str, small: Report) -> None:
    assert re.findall(r'<label for="tab-\d">([^<]+)</label>', page) == [
        "Mean of 2 data sets",
        "biology",
        "hotpotqa",
    ]
    alone = as_page(small)
    assert "<label" not in alone
    assert 'class="pane only"' in alone


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    read = Reader(page)
    assert not {"script", "iframe", "object", "embed", "link", "img"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    addressed = [v for n, v in read.attributes if n in ("src", "href", "xlink:href") and v]
    assert all(value.startswith("#") for value in addressed)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page


def test_ids_are_unique_over_all_plots(page: str) -> None:
    ids = [value for name, value in Reader(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_a_data_set_s_text_is_data() -> None:
    run = made_up("fish", questions=6, kinds=(f"a{HOSTILE}", "b"), answers=True, hostile=HOSTILE)
    rows = tuple(
        row.model_copy(update={"label": f"{row.label}{HOSTILE}", "about": HOSTILE})
        for row in run.systems
    )
    text = as_page(build_report([run.model_copy(update={"systems": rows})]), title=HOSTILE)
    read = Reader(text)
    assert not {"script", "img"} & set(read.tags)
    assert "onerror" not in {name for name, _ in read.attributes}
    assert "{{ 7*7 }}" in read.text
    assert "alert(1)" in read.text


def test_the_same_report_gives_the_same_page(small: Report) -> None:
    assert as_page(small) == as_page(small)


def test_a_run_of_one_row_has_a_page() -> None:
    run = made_up(questions=4)
    run = run.model_copy(update={"budgets": (500,)})
    for kept in (run.systems[1:2], run.systems[8:9], run.systems[-1:]):
        bare = run.model_copy(update={"systems": kept, "published": (), "facts": {}})
        assert "resin-es eval … --systems" in as_page(build_report([bare]))


def test_without_jinja_the_error_says_what_to_install(
    small: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(UsageError, match=r"resin-es\[eval\]"):
        page_module.render_page(small)


def test_without_gold_there_is_a_dash_for_every_share_and_no_plot_of_it() -> None:
    bare = without_gold(made_up("bare", questions=4, kinds=("bridge", "comparison")))
    page = as_page(build_report([bare]))
    text = Reader(page).text
    assert "bare 4 questions, 0 with gold; 1,111 documents" in text
    assert text.count("None comes with gold sentences") == 2, "at the top and in the section"
    assert "come with the sentences" not in text
    assert re.findall(r"<td[^>]*><span>([^<]*)</span>", page) == ["–"] * 3 * 9, "the main table"
    assert "Share of the gold sentences" not in text
    assert 'id="s1-budget' not in page
    assert 'class="best"' not in page
    assert "bridge (2, 0 with gold)" in text


def test_counts_on_the_page_are_of_the_questions_that_recall_is_over() -> None:
    some = without_gold(made_up("some", questions=4, kinds=("bridge", "comparison")), "q0")
    text = Reader(as_page(build_report([some]))).text
    assert "3 of 4 questions over 1,111 documents (one data set) come with the sentences" in text
    assert "some 4 questions, 3 with gold; 1,111 documents" in text
    assert "bridge (2, 1 with gold) comparison (2)" in text
