"""A script for :class:`~resin_es.testing.model_server.ModelServer` that answers all five stages
sensibly and deterministically, from the request alone."""

from __future__ import annotations

from resin_es.testing.model_server import Asked, Reply


class ScriptedClaude:
    """Use it as the script of a ModelServer."""

    def __call__(self, asked: Asked) -> Reply:
        raise NotImplementedError
