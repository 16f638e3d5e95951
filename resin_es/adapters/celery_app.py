"""The Celery application: where messages go, and how long one may take (extra ``workers``).

A message carries ids alone and may be lost, doubled or late: the registry says what is to be
done. So nothing is redelivered soon, nothing is retried by Celery, nothing waits in the broker
for its time, and no result is kept.

Options by the documentation of Celery 5.7 (userguide/configuration, Using Redis).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr

from resin_es.adapters.queue_order import FIRST
from resin_es.errors import QueueUnavailable, SettingsError
from resin_es.model.base import Frozen
from resin_es.ports.sync import QueueName
from resin_es.sync.dispatch import QUEUE_OF as WORK_QUEUES

if TYPE_CHECKING:
    from celery import Celery

INSTALL = "Install it with: pip install 'resin-es[workers]'"
SCHEMES = ("redis://", "rediss://")

QUEUE_OF: Mapping[str, QueueName] = {
    **{str(task): queue for task, queue in WORK_QUEUES.items()},
    "retention": "sync",
}
"""Every task and its queue."""

LANES: Mapping[QueueName, int] = {"sync": 1, "read": 8, "index": 8}
"""Redis lists of a queue. A source's messages keep to one, and a queue's lists are served in turn:
a source with a hundred thousand documents does not stand in front of one with three."""


HURRIED: tuple[QueueName, ...] = ("read",)
"""Queues with a second list for each lane, which goes before the first: a document that changed
since it was read does not wait behind a hundred thousand that were never read."""


class BrokerOptions(Frozen):
    """``url`` may hold a password. ``space`` begins every key, so that installations under
    several index prefixes share a database. ``task_s``: hard limit of one task, in seconds.
    ``connect_s``: seconds for a connection."""

    url: SecretStr
    space: str
    task_s: float = Field(default=900.0, gt=0)
    connect_s: float = Field(default=5.0, gt=0)

    @property
    def address(self) -> str:
        """Host, port and database, without user and password."""
        parts = urlsplit(self.url.get_secret_value())
        return f"{parts.hostname or 'localhost'}:{parts.port or 6379}{parts.path or '/0'}"

    @property
    def password(self) -> str:
        """Empty where the address has none."""
        return unquote(urlsplit(self.url.get_secret_value()).password or "")

    @property
    def soft_s(self) -> float:
        """When a task is asked to stop: soon enough to give its documents back."""
        return self.task_s * 0.9

    @property
    def visible_s(self) -> int:
        """How long an unacknowledged message stays hidden: longer than any task runs, since what
        comes back while its task is still at work would only be done twice."""
        return int(2 * self.task_s) + 60


def lanes(queue: QueueName) -> tuple[str, ...]:
    """The names of a queue's lists; those that go before come last."""
    count = LANES[queue]
    names = tuple(f"resin.{queue}.{n}" if count > 1 else f"resin.{queue}" for n in range(count))
    return names + tuple(f"{name}{FIRST}" for name in names if queue in HURRIED)


def task_name(task: str) -> str:
    """The name under which Celery knows a task."""
    return f"resin_es.{task}"


def configuration(options: BrokerOptions) -> dict[str, Any]:
    """Every option that differs from Celery's default or must not depend on it, the queues
    apart. Pure."""
    return {
        **_broker(options),
        # no results, and no message that is anything but JSON
        "result_backend": None,
        "result_backend_transport_options": {"visibility_timeout": options.visible_s},
        "visibility_timeout": options.visible_s,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        # acknowledged when done, however it ended: what is left is found by reconcile. A message
        # whose worker was killed is not put back (it would kill the next one).
        "task_acks_late": True,
        "task_acks_on_failure": True,
        "task_acks_on_timeout": True,
        "task_reject_on_worker_lost": False,
        "task_retry_on_worker_lost": False,
        "task_soft_time_limit": options.soft_s,
        "task_time_limit": options.task_s,
        "task_default_queue": lanes("sync")[0],
        "task_create_missing_queues": False,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_proc_alive_timeout": 60.0,
        "worker_soft_shutdown_timeout": 10.0,
        # logs are set up by the worker; nothing is broadcast
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "enable_utc": True,
        "timezone": "UTC",
        # beat's timetable is made anew at every start: nothing to write to a disk
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_max_loop_interval": 5,
    }


def _broker(options: BrokerOptions) -> dict[str, Any]:
    url = options.url.get_secret_value()
    return {
        "broker_url": url,
        "broker_use_ssl": {"ssl_cert_reqs": "required"} if url.startswith("rediss://") else False,
        "broker_transport_options": {
            "visibility_timeout": options.visible_s,
            "global_keyprefix": options.space,
            "priority_steps": [0],  # no priorities, so one list a lane
            "queue_order_strategy": "resin_es.adapters.queue_order:Turns",
            "socket_connect_timeout": options.connect_s,
            "socket_timeout": 30.0,
            "socket_keepalive": True,
            "health_check_interval": 25,
        },
        "broker_connection_timeout": options.connect_s,
        "broker_connection_retry": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": 100,
        "task_publish_retry": True,
        "task_publish_retry_policy": {
            "max_retries": 2,
            "interval_start": 0,
            "interval_step": 0.2,
            "interval_max": 0.5,
        },
    }


def missing(error: ImportError) -> QueueUnavailable:
    """A package of the extra is not installed."""
    package = (error.name or "celery").partition(".")[0]
    return QueueUnavailable(f"The package {package} is missing.", hint=INSTALL)


def celery_app(options: BrokerOptions) -> Celery:
    """An application with its queues and without tasks. It connects when it is first used.

    Raises QueueUnavailable where Celery is not installed, SettingsError for an address that is
    not Redis.
    """
    if not options.url.get_secret_value().startswith(SCHEMES):
        raise SettingsError(
            "RESIN_REDIS_URL is not the address of a Redis server.",
            hint="It looks like redis://HOST:6379/7, or rediss:// for TLS.",
        )
    try:
        import redis  # noqa: F401
        from celery import Celery
        from kombu import Exchange, Queue
    except ImportError as error:
        raise missing(error) from error
    app = Celery("resin_es", set_as_current=False)
    app.conf.update(configuration(options))
    # The nameless exchange needs no binding, which an emptied Redis would have lost.
    nameless = Exchange("")
    app.conf.task_queues = [
        Queue(name, nameless, routing_key=name) for queue in LANES for name in lanes(queue)
    ]
    app.conf.task_routes = {
        task_name(task): {"queue": lanes(queue)[0]} for task, queue in QUEUE_OF.items()
    }
    return app
