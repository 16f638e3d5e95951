"""What is asked of Redis itself: whether it is ours, how long queues are, who is alive."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from resin_es.adapters.celery_app import HURRIED, LANES, BrokerOptions, lanes, missing
from resin_es.errors import QueueUnavailable
from resin_es.ports.sync import QueueName

if TYPE_CHECKING:
    from redis import Redis

OURS = ("resin:", "LIMITS:")
"""How keys begin that background work makes: its own, and those of the rate limits."""

PUT_AT = "put_at"
"""Header of a message: seconds since 1970 when it was put."""

_NAMED = 5
"""Foreign keys that are named."""
_ANSWER_S = 10.0


class RedisBroker:
    """One database of Redis. Every method raises QueueUnavailable, which names the server and
    never its password."""

    def __init__(
        self,
        options: BrokerOptions,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.options = options
        self._sleep, self._now = sleep, now
        self._lanes: dict[str, int] = {}

    @cached_property
    def client(self) -> Redis:
        """Made when it is first used: after the fork."""
        from redis import Redis

        made: Redis = Redis.from_url(
            self.options.url.get_secret_value(),
            decode_responses=True,
            socket_connect_timeout=self.options.connect_s,
            socket_timeout=_ANSWER_S,
        )
        return made

    @contextmanager
    def reached(self, doing: str) -> Iterator[None]:
        """Turns what goes wrong with the broker into QueueUnavailable."""
        try:
            from kombu.exceptions import KombuError
            from redis.exceptions import RedisError
        except ImportError as error:
            raise missing(error) from error
        try:
            yield
        except (RedisError, KombuError, OSError) as error:
            told = str(error).rstrip(". ") or type(error).__name__
            if self.options.password:
                told = told.replace(self.options.password, "********")
            raise QueueUnavailable(
                f"Redis at {self.options.address} cannot be used ({doing}): {told}.",
                hint="Start it, or check RESIN_REDIS_URL. What waits to be done is in the "
                "registry; nothing is lost.",
            ) from error

    def wait(self, tries: int = 10, pause: float = 1.0) -> None:
        """Wait until it answers. Raises QueueUnavailable after ``tries``."""
        for left in range(tries - 1, -1, -1):
            try:
                with self.reached("connecting"):
                    self.client.ping()
            except QueueUnavailable:
                if not left:
                    raise
                self._sleep(pause)
            else:
                return

    def check(self) -> None:
        """Refuse a database that holds anything of somebody else's: what empties or fills it
        would meet both."""
        foreign: list[str] = []
        with self.reached("looking whose database it is"):
            for name in self.client.scan_iter(count=1000):
                if not name.startswith(OURS):
                    foreign.append(name)
                if len(foreign) > _NAMED:
                    break
        if foreign:
            named = ", ".join(repr(name) for name in foreign[:_NAMED])
            more = " and others" if len(foreign) > _NAMED else ""
            raise QueueUnavailable(
                f"Redis database {self.options.address} holds keys that are not resin-es's: "
                f"{named}{more}.",
                hint="Background work needs a database of its own: put a free number at the end "
                "of RESIN_REDIS_URL, e.g. redis://HOST:6379/8.",
            )

    def lane(self, queue: QueueName, source: str, *, first: bool = False) -> str:
        """The list that takes a source's messages. Sources are spread in the order in which they
        come; an emptied Redis spreads them anew, which changes nothing."""
        names = lanes(queue)[: LANES[queue]]
        if first and queue in HURRIED:
            names = lanes(queue)[LANES[queue] :]
        if len(names) == 1:
            return names[0]
        if source not in self._lanes:
            kept = self.options.space + "lanes"
            with self.reached("choosing a lane"):
                number = self.client.hget(kept, source)
                if number is None:
                    fresh = self.client.incr(self.options.space + "lanes-given") - 1
                    self.client.hsetnx(kept, source, fresh)
                    number = self.client.hget(kept, source)
            self._lanes[source] = int(number or 0)
        return names[self._lanes[source] % len(names)]

    def depth(self, queue: QueueName) -> int:
        """Messages waiting; those that a worker holds are not among them."""
        with self.reached(f"measuring queue {queue}"), self.client.pipeline(False) as pipe:
            for name in lanes(queue):
                pipe.llen(self.options.space + name)
            return sum(int(one) for one in pipe.execute())

    def depths(self) -> dict[QueueName, int]:
        """Messages waiting, by queue."""
        return {queue: self.depth(queue) for queue in LANES}

    def age(self, queue: QueueName) -> float:
        """Seconds that the oldest message has waited, 0 in an empty queue."""
        with self.reached(f"measuring queue {queue}"), self.client.pipeline(False) as pipe:
            for name in lanes(queue):
                pipe.lindex(self.options.space + name, -1)
            oldest = [put_at(one) for one in pipe.execute() if one]
        put = [one for one in oldest if one is not None]
        return max(self._now() - min(put), 0.0) if put else 0.0

    def tell(
        self, name: str, state: Mapping[str, Any], seconds: float, *, kind: str = "worker"
    ) -> None:
        """A worker (or beat) says how it is; forgotten after ``seconds``."""
        with self.reached(f"telling how this {kind} is"):
            key = f"{self.options.space}{kind}:{name}"
            self.client.set(key, json.dumps(state), px=int(seconds * 1000))

    def forget(self, name: str, *, kind: str = "worker") -> None:
        """A worker leaves."""
        with self.reached("leaving"):
            self.client.delete(f"{self.options.space}{kind}:{name}")

    def told(self, kind: str = "worker") -> dict[str, dict[str, Any]]:
        """How workers were when they last told, by name."""
        begin = f"{self.options.space}{kind}:"
        with self.reached(f"asking how {kind}s are"):
            names = sorted(self.client.scan_iter(match=f"{_literal(begin)}*", count=1000))
            values = self.client.mget(names) if names else []
        return {
            name.removeprefix(begin): json.loads(value)
            for name, value in zip(names, values, strict=True)
            if value
        }

    def close(self) -> None:
        if "client" in self.__dict__:
            self.client.close()
            del self.__dict__["client"]


def put_at(message: str) -> float | None:
    """When a message was put, None where it does not say. Pure."""
    try:
        return float(json.loads(message)["headers"][PUT_AT])
    except (KeyError, TypeError, ValueError):
        return None


def _literal(pattern: str) -> str:
    """Without the meaning that Redis gives to some characters."""
    return "".join(f"\\{one}" if one in r"*?[]\^" else one for one in pattern)
