"""Documents from JSONL, text, Markdown and HTML files, folders of them, and standard input."""

from resin_es.adapters.files.records import Rights, document_from
from resin_es.adapters.files.source import FileSource
from resin_es.adapters.files.spool import DocumentSpool

__all__ = ["DocumentSpool", "FileSource", "Rights", "document_from"]
