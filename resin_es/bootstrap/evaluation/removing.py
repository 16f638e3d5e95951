"""What evaluations made on a cluster, taken away again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from resin_es.adapters.elasticsearch import UninstallReport, uninstall
from resin_es.adapters.elasticsearch.installed import prefixes
from resin_es.bootstrap.evaluation.indexing import root_of
from resin_es.bootstrap.services import Services
from resin_es.bootstrap.stages import store_settings


def evaluated(services: Services) -> list[str]:
    """Prefixes that evaluations under these settings made, sorted. A name counts only if it has
    the form that ``prefix_of`` gives: whoever took a prefix that begins alike keeps it."""
    root = root_of(services.settings)
    form = re.compile(rf"{re.escape(root)}(?:-[a-z0-9-]+-\d+-[0-9a-f]{{8}})?")
    return [name for name in prefixes(services.client, root) if form.fullmatch(name)]


def remove_evaluations(services: Services, names: Sequence[str]) -> list[UninstallReport]:
    """Delete all that stands under each prefix. Raises StoreError."""
    settings = store_settings(services.settings)
    return [
        uninstall(services.client, settings.model_copy(update={"prefix": name})) for name in names
    ]
