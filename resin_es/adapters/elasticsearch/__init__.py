"""Elasticsearch: client, store, install, doctor."""

from resin_es.adapters.elasticsearch.client import ConnectionOptions, connect, server_info
from resin_es.adapters.elasticsearch.doctor import Check, FamilyStatus, doctor, status
from resin_es.adapters.elasticsearch.lifecycle import (
    InstallReport,
    UninstallReport,
    install,
    role,
    uninstall,
)
from resin_es.adapters.elasticsearch.store import ElasticsearchStore

__all__ = [
    "Check",
    "ConnectionOptions",
    "ElasticsearchStore",
    "FamilyStatus",
    "InstallReport",
    "UninstallReport",
    "connect",
    "doctor",
    "install",
    "role",
    "server_info",
    "status",
    "uninstall",
]
