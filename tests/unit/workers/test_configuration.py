"""Celery's options, each of them; queues, lanes, names."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.celery_app import (
    LANES,
    QUEUE_OF,
    BrokerOptions,
    celery_app,
    configuration,
    lanes,
)
from resin_es.errors import QueueUnavailable, SettingsError
from resin_es.settings import Settings
from resin_es.workers.app import make_app

URL = "redis://:sesame@redis.test:6380/7"
OPTIONS = BrokerOptions(url=SecretStr(URL), space="resin:kb:", task_s=100.0)


def test_every_option_is_set_on_purpose() -> None:
    assert configuration(OPTIONS) == {
        "broker_url": URL,
        "broker_use_ssl": False,
        "broker_transport_options": {
            "visibility_timeout": 260,
            "global_keyprefix": "resin:kb:",
            "priority_steps": [0],
            "queue_order_strategy": "resin_es.adapters.queue_order:Turns",
            "socket_connect_timeout": 5.0,
            "socket_timeout": 30.0,
            "socket_keepalive": True,
            "health_check_interval": 25,
        },
        "broker_connection_timeout": 5.0,
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
        "result_backend": None,
        "result_backend_transport_options": {"visibility_timeout": 260},
        "visibility_timeout": 260,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        "task_acks_late": True,
        "task_acks_on_failure": True,
        "task_acks_on_timeout": True,
        "task_reject_on_worker_lost": False,
        "task_retry_on_worker_lost": False,
        "task_soft_time_limit": 90.0,
        "task_time_limit": 100.0,
        "task_default_queue": "resin.sync",
        "task_create_missing_queues": False,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_proc_alive_timeout": 60.0,
        "worker_soft_shutdown_timeout": 10.0,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "enable_utc": True,
        "timezone": "UTC",
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_max_loop_interval": 5,
    }


def test_celery_knows_every_option_and_takes_it_as_given() -> None:
    from celery.app.defaults import NAMESPACES, flatten

    known = {name for name, _ in flatten(NAMESPACES)}
    given = configuration(OPTIONS)
    assert given.keys() - known == {"visibility_timeout"}, "named by Celery's page on Redis alone"
    conf = celery_app(OPTIONS).conf
    assert {name: conf[name] for name in given} == given


@pytest.mark.parametrize("task_s", [0.5, 60.0, 900.0, 86_400.0])
def test_a_message_stays_hidden_longer_than_any_task_runs(task_s: float) -> None:
    given = configuration(OPTIONS.model_copy(update={"task_s": task_s}))
    hidden = [
        given["broker_transport_options"]["visibility_timeout"],
        given["result_backend_transport_options"]["visibility_timeout"],
        given["visibility_timeout"],
    ]
    assert given["task_soft_time_limit"] < given["task_time_limit"] == task_s
    assert min(hidden) > task_s


def test_tls_is_checked() -> None:
    options = OPTIONS.model_copy(update={"url": SecretStr("rediss://redis.test:6380/7")})
    assert configuration(options)["broker_use_ssl"] == {"ssl_cert_reqs": "required"}


def test_no_result_is_kept_anywhere() -> None:
    from celery.backends.base import DisabledBackend

    assert isinstance(celery_app(OPTIONS).backend, DisabledBackend)


def test_queues_are_apart_and_have_lanes() -> None:
    conf = celery_app(OPTIONS).conf
    names = [queue.name for queue in conf.task_queues]
    assert names == [
        "resin.sync",
        *(f"resin.read.{n}" for n in range(8)),
        *(f"resin.read.{n}.first" for n in range(8)),
        *(f"resin.index.{n}" for n in range(8)),
    ]
    assert {queue.routing_key for queue in conf.task_queues} == set(names)
    assert {queue.exchange.name for queue in conf.task_queues} == {""}


def test_every_task_has_its_queue() -> None:
    assert dict(QUEUE_OF) == {
        "sync_source": "sync",
        "reconcile": "sync",
        "retention": "sync",
        "embed_and_commit": "index",
        "purge_document": "index",
        "read_document": "read",
    }
    routes = celery_app(OPTIONS).conf.task_routes
    assert {name: route["queue"] for name, route in routes.items()} == {
        f"resin_es.{task}": lanes(queue)[0] for task, queue in QUEUE_OF.items()
    }
    assert set(QUEUE_OF.values()) == set(LANES)


def test_the_application_has_our_tasks_and_no_others() -> None:
    app = make_app(Settings(redis_url=URL))
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert ours == {f"resin_es.{task}" for task in QUEUE_OF}
    for name in ours:
        task = app.tasks[name]
        assert (task.ignore_result, task.acks_late) == (True, True)
        assert not task.reject_on_worker_lost
        assert (task.time_limit, task.soft_time_limit) == (900.0, 810.0)


def test_an_address_is_told_without_its_password() -> None:
    assert OPTIONS.address == "redis.test:6380/7"
    assert OPTIONS.password == "sesame"
    assert "sesame" not in repr(OPTIONS)
    bare = BrokerOptions(url=SecretStr("redis://redis.test"), space="s")
    assert (bare.address, bare.password) == ("redis.test:6379/0", "")


def test_what_is_not_redis_is_refused() -> None:
    with pytest.raises(SettingsError, match="RESIN_REDIS_URL") as told:
        celery_app(OPTIONS.model_copy(update={"url": SecretStr("amqp://me:sesame@rabbit/")}))
    assert "sesame" not in str(told.value)


def test_without_celery_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "celery":
            raise ModuleNotFoundError("No module named 'celery'", name="celery")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(QueueUnavailable, match="celery") as told:
        celery_app(OPTIONS)
    assert "resin-es[workers]" in told.value.hint
