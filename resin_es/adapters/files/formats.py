"""Files of prose → title and text."""

from __future__ import annotations

import re
from pathlib import Path

JSONL_SUFFIXES = frozenset({".jsonl", ".ndjson"})
TEXT_SUFFIXES = frozenset({".txt", ".text"})
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
PROSE_SUFFIXES = TEXT_SUFFIXES | MARKDOWN_SUFFIXES | HTML_SUFFIXES
SUFFIXES = JSONL_SUFFIXES | PROSE_SUFFIXES

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


def read_prose(path: Path, content: str) -> tuple[str, str]:
    """(title, text) of a text, Markdown or HTML file."""
    suffix = path.suffix.lower()
    if suffix in HTML_SUFFIXES:
        return _html(content, path.stem)
    if suffix in MARKDOWN_SUFFIXES:
        heading = _HEADING.search(content)
        return (heading.group(1) if heading else path.stem), content
    return path.stem, content


def _html(content: str, fallback: str) -> tuple[str, str]:
    """Visible text, block elements on lines of their own."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(content, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    if not title:
        heading = soup.find(["h1", "h2"])
        title = heading.get_text(" ", strip=True) if heading else fallback
    for hidden in soup(["script", "style", "template", "noscript", "head"]):
        hidden.decompose()
    for block in soup.find_all(_BLOCKS):
        block.insert_after("\n\n")
    for line_break in soup.find_all("br"):
        line_break.replace_with("\n")
    lines = (re.sub(r"[ \t\r\f\v]+", " ", line).strip() for line in soup.get_text().split("\n"))
    return title, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


_BLOCKS = [
    "p", "div", "section", "article", "header", "footer", "li", "ul", "ol", "table", "tr", "td",
    "th", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "dt", "dd", "figcaption",
]  # fmt: skip
