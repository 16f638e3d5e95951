"""The queue on a real Redis: what is put, how much waits, whose database it is."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from resin_es.errors import ModelUnavailable, QueueUnavailable
from resin_es.testing.nodes import free_port

if TYPE_CHECKING:
    from redis import Redis

    from resin_es.adapters.celery_app import BrokerOptions
    from resin_es.adapters.celery_queue import CeleryQueue
    from resin_es.testing.redis_server import TemporaryRedis


@pytest.fixture
def options(redis_server: TemporaryRedis) -> BrokerOptions:
    from resin_es.adapters.celery_app import BrokerOptions

    space = f"resin:t-{uuid.uuid4().hex[:8]}:"
    return BrokerOptions(url=SecretStr(redis_server.url(7)), space=space, connect_s=1.0)


@pytest.fixture
def queue(options: BrokerOptions) -> Iterator[CeleryQueue]:
    from resin_es.adapters.celery_queue import CeleryQueue

    made = CeleryQueue(options)
    yield made
    made.broker.close()


@pytest.fixture
def raw(redis_server: TemporaryRedis) -> Iterator[Redis]:
    """Database 7, behind the product's back; database 8 is emptied afterwards."""
    from redis import Redis

    with Redis.from_url(redis_server.url(7), decode_responses=True) as client:
        yield client


def messages(raw: Any, options: BrokerOptions, queue: str) -> list[Any]:
    from resin_es.adapters.celery_app import lanes

    names = [options.space + lane for lane in lanes(queue)]  # type: ignore[arg-type]
    return [json.loads(one) for name in names for one in raw.lrange(name, 0, -1)]


def test_a_message_carries_ids_and_nothing_else(
    queue: CeleryQueue, raw: Any, options: BrokerOptions
) -> None:
    queue.put("read_document", "kb", ["key-1", "key-2"])
    [message] = messages(raw, options, "read")
    assert message["headers"]["task"] == "resin_es.read_document"
    assert (message["content-type"], message["properties"]["body_encoding"]) == (
        "application/json",
        "base64",
    )
    arguments, named, embedded = json.loads(base64.b64decode(message["body"]))
    assert (arguments, named) == (["kb", ["key-1", "key-2"]], {})
    assert {value for value in embedded.values() if value} == set()
    headers = message["headers"]
    assert (headers["eta"], headers["expires"], headers["retries"]) == (None, None, 0)
    assert abs(headers["put_at"] - time.time()) < 60


def test_tasks_go_to_queues_of_their_own_and_are_counted(queue: CeleryQueue) -> None:
    queue.put("sync_source", "kb")
    queue.put("reconcile")
    queue.put("embed_and_commit", "kb", ["a"])
    queue.put("purge_document", "kb", ["a"])
    queue.put("purge_document", "wiki", ["a"])
    queue.put("read_document", "kb", ["a"])
    assert {name: queue.depth(name) for name in ("sync", "read", "index")} == {  # type: ignore[arg-type]
        "sync": 2,
        "read": 1,
        "index": 3,
    }
    assert queue.broker.depths() == {"sync": 2, "read": 1, "index": 3}


def test_sources_wait_in_lanes_of_their_own(
    queue: CeleryQueue, raw: Any, options: BrokerOptions
) -> None:
    from resin_es.adapters.celery_queue import CeleryQueue

    for number in range(8):
        queue.put("read_document", f"source {number}", ["a"])
        queue.put("read_document", f"source {number}", ["b"])
    CeleryQueue(options).put("read_document", "source 3", ["c"])  # another process
    lengths = sorted(raw.llen(f"{options.space}resin.read.{n}") for n in range(8))
    assert lengths == [2, 2, 2, 2, 2, 2, 2, 3]


def test_the_age_of_what_waits_longest(queue: CeleryQueue, options: BrokerOptions) -> None:
    from resin_es.adapters.redis_broker import RedisBroker

    assert queue.broker.age("read") == 0.0
    queue.put("read_document", "kb", ["a"])
    queue.put("read_document", "wiki", ["b"])
    later = RedisBroker(options, now=lambda: time.time() + 100.0)
    assert 100.0 <= later.age("read") < 160.0


def test_an_emptied_redis_takes_messages_again(
    queue: CeleryQueue, raw: Any, options: BrokerOptions
) -> None:
    queue.put("read_document", "kb", ["a"])
    for key in raw.scan_iter(match=f"{options.space}*"):
        raw.delete(key)
    assert queue.depth("read") == 0
    queue.put("read_document", "kb", ["b"])
    assert queue.depth("read") == 1


# ---------------------------------------------------------------- whose database


def test_a_database_of_somebody_else_is_refused_by_name(
    redis_server: TemporaryRedis, options: BrokerOptions
) -> None:
    from redis import Redis

    from resin_es.adapters.redis_broker import RedisBroker

    url = redis_server.url(8)
    broker = RedisBroker(options.model_copy(update={"url": SecretStr(url)}))
    broker.check()
    with Redis.from_url(url) as client:
        client.set("resin:another-prefix:worker:a", "ours as well")
        client.set("LIMITS:LIMITER/resin-llm/x", "1")
        broker.check()
        client.set("session:9", "x")
        try:
            with pytest.raises(QueueUnavailable, match="'session:9'") as told:
                broker.check()
        finally:
            client.flushdb()
    assert "RESIN_REDIS_URL" in told.value.hint
    assert redis_server.password not in str(told.value)


def test_the_keys_that_we_make_are_known_as_ours(queue: CeleryQueue) -> None:
    queue.put("read_document", "kb", ["a"])
    queue.put("sync_source", "kb")
    queue.broker.tell("w", {"at": 1.0}, 60.0)
    queue.broker.check()


# ---------------------------------------------------------------- away


def test_a_redis_that_is_away_is_told_without_its_password(options: BrokerOptions) -> None:
    from resin_es.adapters.celery_queue import CeleryQueue

    port = free_port()
    url = SecretStr(f"redis://:sesame-open@127.0.0.1:{port}/7")
    away = CeleryQueue(options.model_copy(update={"url": url}))
    for act in (
        lambda: away.put("sync_source", "kb"),
        lambda: away.put("read_document", "kb", ["a"]),
        lambda: away.depth("read"),
        away.broker.check,
        lambda: away.broker.wait(tries=2, pause=0.0),
    ):
        with pytest.raises(QueueUnavailable, match=f"127.0.0.1:{port}/7") as told:
            act()
        assert "sesame" not in str(told.value)
        assert "RESIN_REDIS_URL" in told.value.hint


def test_a_wrong_password_is_told_without_it(
    redis_server: TemporaryRedis, options: BrokerOptions
) -> None:
    from resin_es.adapters.celery_queue import CeleryQueue

    url = redis_server.url(7).replace(redis_server.password, "wrong-sesame")
    refused = CeleryQueue(options.model_copy(update={"url": SecretStr(url)}))
    with pytest.raises(QueueUnavailable, match="password") as told:
        refused.put("sync_source", "kb")
    assert "wrong-sesame" not in str(told.value)


def test_waiting_for_a_redis_is_bounded(options: BrokerOptions) -> None:
    from resin_es.adapters.redis_broker import RedisBroker

    pauses: list[float] = []
    url = SecretStr(f"redis://127.0.0.1:{free_port()}/7")
    broker = RedisBroker(options.model_copy(update={"url": url}), sleep=pauses.append)
    with pytest.raises(QueueUnavailable):
        broker.wait(tries=4, pause=1.5)
    assert pauses == [1.5, 1.5, 1.5]


def test_what_workers_say_is_forgotten(queue: CeleryQueue, raw: Any) -> None:
    queue.broker.tell("host-1", {"at": 1.0}, 60.0)
    queue.broker.tell("host-2", {"at": 2.0}, 0.001)
    time.sleep(0.01)
    assert queue.broker.told() == {"host-1": {"at": 1.0}}
    queue.broker.forget("host-1")
    assert queue.broker.told() == {}


# ---------------------------------------------------------------- limits


def test_several_workers_keep_one_limit_together(redis_server: TemporaryRedis) -> None:
    from resin_es.adapters.limits import LimitsRateLimiter

    class Elsewhere(Exception):
        """The limiter would wait."""

    def no_sleep(_: float) -> None:
        raise Elsewhere

    name = f"t-{uuid.uuid4().hex[:8]}"
    workers = [
        LimitsRateLimiter(5, None, storage=redis_server.url(7), name=name, sleep=no_sleep)
        for _ in range(2)
    ]
    for number in range(5):
        workers[number % 2].wait(1)
    for worker in workers:
        with pytest.raises(Elsewhere):
            worker.wait(1)


def test_limits_whose_redis_is_away_let_nothing_out() -> None:
    from resin_es.adapters.limits import LimitsRateLimiter

    url = f"redis://:sesame-open@127.0.0.1:{free_port()}/7"
    with pytest.raises(ModelUnavailable) as told:
        LimitsRateLimiter(5, None, storage=url).wait(1)
    assert "sesame" not in str(told.value)


# ---------------------------------------------------------------- turns


def drained(options: BrokerOptions, count: int) -> list[str]:
    """The first key (or the source) of ``count`` messages, as a worker of all queues takes them."""
    from resin_es.adapters.celery_app import celery_app

    served: list[str] = []

    def taken(message: Any) -> None:
        [source, keys], _, _ = json.loads(message.body)
        served.append(keys[0] if keys else source)
        message.ack()

    with celery_app(options) as app, app.connection_for_read() as connection:
        consumer = app.amqp.TaskConsumer(connection, on_message=taken)
        consumer.qos(prefetch_count=1)
        with consumer:
            for _ in range(count):
                connection.drain_events(timeout=20)
    return served


def test_a_large_source_does_not_stand_before_a_small_one(
    queue: CeleryQueue, options: BrokerOptions
) -> None:
    for number in range(40):
        queue.put("read_document", "large", [f"large-{number}"])
    queue.put("read_document", "small", ["small-0"])
    queue.put("sync_source", "small")
    served = drained(options, 42)
    assert {"small-0", "small"} < set(served[:5]), served[:5]
    assert [one for one in served if one.startswith("large")] == [f"large-{n}" for n in range(40)]


def test_all_documents_answer_before_any_is_read(
    queue: CeleryQueue, options: BrokerOptions
) -> None:
    for number in range(3):
        queue.put("read_document", "old", [f"read-{number}"])
    for number in range(4):
        queue.put("embed_and_commit", "large", [f"large-{number}"])
    for number in range(2):
        queue.put("embed_and_commit", "small", [f"small-{number}"])
    served = drained(options, 9)
    assert served[6:] == ["read-0", "read-1", "read-2"], served
    assert {"small-0", "small-1"} < set(served[:4]), served


def test_a_change_does_not_wait_behind_what_was_never_read(
    queue: CeleryQueue, options: BrokerOptions
) -> None:
    for number in range(5):
        queue.put("read_document", "large", [f"large-{number}"])
    queue.put("read_document", "large", ["changed"], first=True)
    queue.put("read_document", "small", ["changed too"], first=True)
    queue.put("embed_and_commit", "large", ["new"], first=True)
    assert queue.broker.depths() == {"sync": 0, "read": 7, "index": 1}
    served = drained(options, 8)
    assert served[0] == "new"
    assert set(served[1:3]) == {"changed", "changed too"}, served


# ---------------------------------------------------------------- doctor


def test_doctor_tells_of_redis_and_workers(
    redis_server: TemporaryRedis, queue: CeleryQueue, options: BrokerOptions
) -> None:
    from redis import Redis

    from resin_es.bootstrap.background_checks import background_checks, workers_at_work
    from resin_es.settings import Settings

    settings = Settings(redis_url=redis_server.url(7), prefix=options.space.split(":")[1])
    redis, workers = background_checks(settings)
    assert (redis.name, redis.ok, workers.name, workers.ok) == ("Redis", True, "workers", None)
    assert workers_at_work(settings) == []
    queue.put("sync_source", "kb")
    queue.broker.tell("host-1", {"at": time.time()}, 60.0)
    queue.broker.tell("host-2", {"at": time.time() - 40.0}, 60.0)
    redis, workers = background_checks(settings)
    assert "1 sync, " in redis.detail
    assert (workers.ok, workers.detail) == (True, "1 at work: host-1")
    assert workers_at_work(settings) == ["host-1"]
    assert workers_at_work(Settings(redis_url=f"redis://127.0.0.1:{free_port()}/7")) is None
    [away] = background_checks(Settings(redis_url=f"redis://127.0.0.1:{free_port()}/7"))
    assert (away.ok, "--here" in away.hint) == (None, True)
    url = redis_server.url(9)
    with Redis.from_url(url) as client:
        client.set("session:9", "x")
        [foreign] = background_checks(Settings(redis_url=url))
        client.flushdb()
    assert (foreign.ok, "session:9" in foreign.detail) == (False, True)
