"""What all online stages share: the schema of an output, and what a reply is good for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict

from resin_es.errors import ModelError
from resin_es.llm.data import line
from resin_es.ports import ModelReply

_CLIPPED = 60


class Wire(BaseModel):
    """Base of the outputs as they are asked for: closed, every field required. Only their
    schemas are used; what comes back is read field by field, since no endpoint's word is taken
    for having kept to one."""

    model_config = ConfigDict(extra="forbid")


def schema_of(wire: type[Wire]) -> dict[str, Any]:
    """The JSON schema of ``wire``, without the titles and descriptions that pydantic adds."""
    schema: dict[str, Any] = _bare(wire.model_json_schema())
    return schema


def _bare(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {
            key: {name: _bare(one) for name, one in value.items()}
            if key in ("properties", "$defs")
            else _bare(value)
            for key, value in node.items()
            if key not in ("title", "description")
        }
    return [_bare(one) for one in node] if isinstance(node, list) else node


def structured(reply: ModelReply, what: str) -> Any:
    """The reply's data. Raises ModelError, naming ``what`` was asked for, where the model
    declined, said nothing, was cut off or wrote no JSON."""
    usable(reply, what)
    if reply.truncated:
        raise ModelError(f"{what} was cut off at its length limit.")
    if reply.data is None:
        raise ModelError(f"{what} is not JSON: {clipped(reply.text)!r}.")
    return reply.data


def usable(reply: ModelReply, what: str) -> None:
    """Raises ModelError where the model declined or said nothing."""
    if reply.refused:
        raise ModelError(f"{what}: the model declined to write it.")
    if reply.data is None and not reply.text.strip():
        raise ModelError(f"{what} came back empty.")


@contextmanager
def paid_for(reply: ModelReply) -> Iterator[None]:
    """A ModelError raised within carries ``reply``: what could not be used was paid for."""
    try:
        yield
    except ModelError as error:
        error.reply = reply
        raise


def clipped(text: object) -> str:
    """Words of a model, short enough for a message."""
    shown = line(str(text))
    return shown if len(shown) <= _CLIPPED else shown[: _CLIPPED - 1] + "…"


def word(value: Any) -> str:
    """A text field on one line, without what nobody sees; empty where it is neither text nor
    number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return line(str(value))


def words(value: Any) -> tuple[str, ...]:
    """A field of several texts: those that say something, each once. One text alone counts as
    a list of one."""
    many = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return tuple(dict.fromkeys(text for one in many if (text := word(one))))
