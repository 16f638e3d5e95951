"""HTTPS that trusts what the system trusts, beside the list that comes with ``requests``.

Company networks often put a certificate of their own into the system's store; ``pip`` and
``curl`` heed it, ``requests`` alone does not.
"""

from __future__ import annotations

import ssl
from typing import Any

import requests
from requests.adapters import HTTPAdapter


def session() -> requests.Session:
    """A session that accepts both. The caller closes it."""
    web = requests.Session()
    web.mount("https://", _SystemTrust())
    return web


class _SystemTrust(HTTPAdapter):
    """``requests`` adds its own list (or REQUESTS_CA_BUNDLE) to the context handed in here."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=ssl.create_default_context(), **kwargs)

    def proxy_manager_for(self, proxy: Any, **kwargs: Any) -> Any:
        context = ssl.create_default_context()
        return super().proxy_manager_for(proxy, ssl_context=context, **kwargs)
