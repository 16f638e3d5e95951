"""What ``doctor`` says of texts in other languages than English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.embedding import OFF, reads_english_alone
from resin_es.errors import IndexMismatch, ModelError, SettingsError
from resin_es.index.multilingual import second_encoder_of
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from resin_es.adapters.elasticsearch import Check
    from resin_es.bootstrap.services import Services

NAME = "other languages"
WITHOUT = "no second vectors: what is in another language than English is found by words mostly"
PACKAGE = "pip install 'resin-es[multilingual]', then `resin-es rebuild`."


def other_languages(meta: Mapping[str, Any], services: Services) -> Check:
    """The row on an index whose ``_meta`` is given. That there is no encoder is nothing wrong;
    that there is one which this process cannot use, is."""
    from resin_es.adapters.elasticsearch import Check

    try:
        held = second_encoder_of(meta)
        if held is not None:
            services.embedders.second(meta).embed(["eine Zeile"])
            return _held(held.model, services)
        return _none(services)
    except (ModelError, IndexMismatch, SettingsError) as error:
        return Check(name=NAME, ok=False, detail=error.message, hint=error.hint)


def _held(model: ModelIdentity, services: Services) -> Check:
    from resin_es.adapters.elasticsearch import Check

    hint, detail = "", f"second vectors by {model.name}, {model.dims} dims, which runs"
    if services.settings.multilingual == OFF:
        hint = "RESIN_MULTILINGUAL=off counts at install and rebuild only."
    elif services.second is not None and services.second.model.name != model.name:
        hint = f"`resin-es rebuild` makes them by {services.second.model.name}."
    return Check(name=NAME, ok=True, detail=detail, hint=hint)


def _none(services: Services) -> Check:
    from resin_es.adapters.elasticsearch import Check

    settings, detail = services.settings, WITHOUT
    if settings.multilingual == OFF:
        detail, hint = "no second vectors (RESIN_MULTILINGUAL=off)", ""
    elif services.second is not None:
        hint = f"`resin-es rebuild` makes them by {services.second.model.name}."
    elif reads_english_alone(settings):
        hint = PACKAGE
    else:
        detail = "no second vectors beside a model of your own"
        hint = "If it reads English alone: RESIN_MULTILINGUAL=FOLDER, then `resin-es rebuild`."
    return Check(name=NAME, ok=None, detail=detail, hint=hint)
