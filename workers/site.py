"""What tasks work with, made once in each process and never carried over a fork."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resin_es.bootstrap.background import BackgroundServices
    from resin_es.llm.metered import Spending
    from resin_es.ports.sync import SourceBook, TaskQueue
    from resin_es.settings import Settings
    from resin_es.sync.service import SyncService


class Tools:
    """Clients and models of one process, each made when it is first used."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def services(self) -> BackgroundServices:
        from resin_es.bootstrap.background import BackgroundServices

        return BackgroundServices(self.settings)

    @cached_property
    def queue(self) -> TaskQueue:
        from resin_es.bootstrap.background import task_queue

        return task_queue(self.settings)

    @cached_property
    def book(self) -> SourceBook:
        from resin_es.bootstrap.sources import source_book

        return source_book(self.services)

    @cached_property
    def service(self) -> SyncService:
        from resin_es.bootstrap.background import sync_service

        return sync_service(self.services, self.queue)

    @property
    def spending(self) -> Spending:
        """What this process asked of a language model so far."""
        return self.services.spending if "services" in self.__dict__ else {}


class Site:
    """Hands every process its own tools."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._pid = 0
        self._tools: Tools | None = None

    @property
    def tools(self) -> Tools:
        if self._tools is None or self._pid != os.getpid():
            self.renew()
        assert self._tools is not None
        return self._tools

    def renew(self) -> None:
        """Begin afresh: what the process before the fork had stays with it."""
        self._pid, self._tools = os.getpid(), Tools(self.settings)
