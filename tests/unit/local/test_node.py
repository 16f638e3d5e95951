"""up, down and status, with a stand-in for Elasticsearch."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from resin_es.errors import JavaNotFound, LocalNodeError, NodeStartError, PortInUse, SettingsError
from resin_es.local import process
from resin_es.local.autopsy import died
from resin_es.local.config import NodeFolders, write_config
from resin_es.local.node import down, status, up
from resin_es.local.settings import LocalSettings
from resin_es.testing.nodes import free_port

MakeJava = Callable[..., Path]


def with_(settings: LocalSettings, **changes: object) -> LocalSettings:
    return settings.model_copy(update=changes)


def starts(settings: LocalSettings) -> int:
    written = settings.data_dir / "starts"
    return len(written.read_text()) if written.exists() else 0


def nothing_runs(settings: LocalSettings) -> bool:
    return process.find(settings.data_dir, []) is None


class Told:
    def __init__(self) -> None:
        self.descriptions: list[str] = []

    def update(self, done: int, total: int | None, description: str) -> None:
        self.descriptions.append(description)


def test_up_status_down(settings: LocalSettings) -> None:
    assert not status(settings).running

    told = Told()
    node = up(settings, told)

    assert node.running
    assert node.ready
    assert node.url == f"http://127.0.0.1:{settings.port}"
    assert node.version == "8.19.21"
    assert node.pid is not None
    assert status(settings) == node
    assert "Starting Elasticsearch" in told.descriptions
    assert up(settings) == node
    assert starts(settings) == 1

    assert down(settings) is True
    assert nothing_runs(settings)
    assert down(settings) is False
    assert not status(settings).running


def test_status_and_down_leave_no_trace(settings: LocalSettings) -> None:
    assert not status(settings).running
    assert down(settings) is False
    assert not settings.data_dir.exists()


def test_the_node_outlives_its_starter_and_is_no_child_of_its_session(
    settings: LocalSettings,
) -> None:
    node = up(settings)
    assert node.pid is not None
    assert os.getsid(node.pid) != os.getsid(0)


def test_two_at_once_start_one_node(settings: LocalSettings) -> None:
    with ThreadPoolExecutor(4) as pool:
        nodes = list(pool.map(lambda _: up(settings), range(4)))
    assert len({node.pid for node in nodes}) == 1
    assert starts(settings) == 1


def test_a_node_that_dies_is_quoted_and_leaves_nothing(settings: LocalSettings) -> None:
    with pytest.raises(NodeStartError) as caught:
        up(with_(settings, jvm_options=("-Dfake=dies",)))
    assert "the disk is on fire" in caught.value.message
    assert "Thing.java" not in caught.value.message
    assert "start.log" in caught.value.hint
    assert nothing_runs(settings)
    assert up(settings).ready  # and the next start is not in its way


@pytest.mark.parametrize(
    ("words", "meaning", "hint"),
    [
        ("java.io.IOException: No space left on device", "the disk is full", "RESIN_LOCAL_DIR"),
        ("There is insufficient memory for Java", "too little memory", "RESIN_LOCAL_HEAP"),
        ("failed to obtain node locks, tried [/d]", "another Elasticsearch", "container"),
        ("OutOfMemoryError: Java heap space", "heap is too small", "1g"),
    ],
)
def test_well_known_deaths_are_explained(
    tmp_path: Path, words: str, meaning: str, hint: str
) -> None:
    log = tmp_path / "start.log"
    log.write_text(f"[now][INFO ] a long story\n[now][ERROR] {words}\n\tat java.Thing\n")
    error = died(log, 9250)
    assert meaning in error.message
    assert words in error.message
    assert "long story" not in error.message
    assert hint in error.hint
    assert str(log) in error.hint


def test_a_node_without_last_words(tmp_path: Path) -> None:
    assert "(none)" in died(tmp_path / "missing", 9250).message


def test_a_node_that_dies_after_its_launcher_is_noticed(settings: LocalSettings) -> None:
    with pytest.raises(NodeStartError, match="ended while it was starting"):
        up(with_(settings, jvm_options=("-Dfake=late-death",)))
    assert nothing_runs(settings)


def test_a_node_that_never_answers_is_killed(settings: LocalSettings) -> None:
    with pytest.raises(NodeStartError, match="did not answer within 1 s"):
        up(with_(settings, jvm_options=("-Dfake=silent",), start_timeout_s=1.0))
    assert nothing_runs(settings)


def test_an_interrupted_start_leaves_nothing(
    settings: LocalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("resin_es.local.node.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        up(with_(settings, jvm_options=("-Dfake=silent",)))
    monkeypatch.undo()
    assert nothing_runs(settings)


def killed_up(settings: LocalSettings) -> psutil.Process:
    """What is left of an ``up`` killed before its launcher has started the node."""
    folders = NodeFolders(settings.data_dir / "8.19.21")
    home = settings.cache_dir / "elasticsearch-8.19.21"
    slow = with_(settings, jvm_options=("-Dfake=slow",))
    write_config(slow, folders, home, (), process.node_option(settings.data_dir, 1, "8.19.21"))
    launch = process.Launch(home, Path("/java"), folders.home, folders.config, None)
    while starts(settings) == 0:
        time.sleep(0.02)
    return psutil.Process(launch._process.pid)


def ended(each: psutil.Process) -> bool:
    return not each.is_running() or each.status() == psutil.STATUS_ZOMBIE


def test_the_launcher_of_a_killed_up_starts_no_second_node(settings: LocalSettings) -> None:
    left = killed_up(settings)
    node = up(settings)
    assert node.ready
    assert ended(left)


def test_down_ends_the_launcher_of_a_killed_up(settings: LocalSettings) -> None:
    left = killed_up(settings)
    assert down(settings) is True
    assert ended(left)
    assert down(settings) is False


def test_indices_not_yet_searchable_are_told(settings: LocalSettings) -> None:
    node = up(with_(settings, jvm_options=("-Dfake=red",), start_timeout_s=3.0))
    assert node.running
    assert not node.ready
    assert "cannot be searched yet" in node.notes[0]


def test_a_busy_port_is_named_before_anything_is_fetched(settings: LocalSettings) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=str(port)) as caught:
            up(with_(settings, port=port, cache_dir=settings.cache_dir / "empty"))
    assert "RESIN_LOCAL_PORT" in caught.value.hint
    assert f"pid {os.getpid()}" in caught.value.message
    assert not (settings.cache_dir / "empty").exists()


def test_a_port_lost_while_starting_is_the_same_error(settings: LocalSettings) -> None:
    with pytest.raises(PortInUse, match=str(settings.port)):
        up(with_(settings, jvm_options=("-Dfake=bind",)))


def test_a_dead_pid_file_is_no_node(settings: LocalSettings) -> None:
    first = up(settings)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    while process.find(settings.data_dir, []) is not None:
        time.sleep(0.02)
    pid_file = settings.data_dir / "8.19.21" / "node.pid"
    assert pid_file.exists()

    assert not status(settings).running
    second = up(settings)
    assert second.ready
    assert second.pid != first.pid


@pytest.mark.parametrize("content", [str(os.getpid()), "999999999", "-5", "", "not a number"])
def test_a_pid_file_that_lies_is_not_believed(settings: LocalSettings, content: str) -> None:
    config = settings.data_dir / "8.19.21" / "config"
    config.mkdir(parents=True)
    (config / "elasticsearch.yml").write_text("")
    pid_file = settings.data_dir / "8.19.21" / "node.pid"
    pid_file.write_text(content)

    assert not status(settings).running
    assert down(settings) is False  # above all: nothing foreign is killed
    assert up(settings).ready


def test_a_node_without_its_pid_file_is_found(settings: LocalSettings) -> None:
    node = up(settings)
    (settings.data_dir / "8.19.21" / "node.pid").unlink()
    assert status(settings) == node
    assert down(settings) is True


def test_the_node_of_another_folder_is_not_ours(settings: LocalSettings, tmp_path: Path) -> None:
    up(settings)
    other = with_(settings, data_dir=tmp_path / "other", port=free_port())
    assert not status(other).running
    assert down(other) is False
    assert status(settings).running


def test_a_running_node_of_another_version_is_not_replaced(settings: LocalSettings) -> None:
    up(settings)
    with pytest.raises(NodeStartError, match=r"8\.19\.21.*asks for 9\.5\.3") as caught:
        up(with_(settings, version="9.5.3"))
    assert "resin-es down" in caught.value.hint
    assert status(settings).version == "8.19.21"


def test_a_running_node_on_another_port_says_where(settings: LocalSettings) -> None:
    node = up(settings)
    again = up(with_(settings, port=free_port()))
    assert again.url == node.url
    assert str(settings.port) in again.notes[0]


def test_an_unknown_version_is_refused(settings: LocalSettings) -> None:
    with pytest.raises(SettingsError, match=r"8\.0\.0.*9\.5\.3, 8\.19\.21, 8\.17\.4"):
        up(with_(settings, version="8.0.0"))


def test_without_an_index_the_java_decides(
    settings: LocalSettings, tmp_path: Path, make_java: MakeJava
) -> None:
    up(settings)
    down(settings)
    node = up(with_(settings, java_home=str(make_java(tmp_path / "java25", 25))))
    assert node.version == "9.5.3"
    assert node.notes == ()


def test_data_whose_java_is_gone_are_left_alone_and_told(
    settings: LocalSettings, tmp_path: Path, make_java: MakeJava
) -> None:
    newer = with_(settings, java_home=str(make_java(tmp_path / "java25", 25)))
    up(newer)
    (settings.data_dir / "9.5.3" / "data" / "indices" / "abc").mkdir(parents=True)
    down(newer)

    node = up(settings)

    if node.version != "9.5.3":  # else this machine has a Java of its own for it
        assert node.version == "8.19.21"
        assert "ES_JAVA_HOME" in node.notes[0]
    assert (settings.data_dir / "9.5.3" / "data" / "indices" / "abc").is_dir()


def test_another_java_does_not_make_the_data_vanish(
    settings: LocalSettings, tmp_path: Path, make_java: MakeJava
) -> None:
    up(settings)
    (settings.data_dir / "8.19.21" / "data" / "indices" / "abc").mkdir(parents=True)
    down(settings)

    node = up(with_(settings, java_home=str(make_java(tmp_path / "java25", 25))))

    assert node.version == "8.19.21"
    assert "RESIN_LOCAL_VERSION=9.5.3" in node.notes[0]


def test_no_java_names_what_was_tried(
    settings: LocalSettings,
    tmp_path: Path,
    make_java: MakeJava,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("resin_es.local.java.find_spec", lambda name: None)
    old = make_java(tmp_path / "java8", 8)
    with pytest.raises(JavaNotFound, match="Java 8") as caught:
        up(with_(settings, java_home=str(old)))
    assert len(caught.value.tried) == 1
    assert "ES_JAVA_HOME" in caught.value.hint


def test_a_folder_that_cannot_be_made_is_named(settings: LocalSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalNodeError, match="file"):
        up(with_(settings, data_dir=tmp_path / "file" / "node"))


def test_the_callers_environment_does_not_reach_the_node(
    settings: LocalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    node = up(settings)
    assert node.pid is not None
    assert "ANTHROPIC_API_KEY" not in psutil.Process(node.pid).environ()


def test_the_lock_of_a_killed_starter_is_free_again(settings: LocalSettings) -> None:
    settings.data_dir.mkdir()
    code = (
        "import sys, time; from filelock import FileLock; "
        "lock = FileLock(sys.argv[1]); lock.acquire(); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(settings.data_dir / "node.lock")], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with ThreadPoolExecutor(1) as pool:
        told = Told()
        waiting = pool.submit(up, settings, told)
        while not any("Waiting for another" in words for words in told.descriptions):
            assert not waiting.done()
            time.sleep(0.02)
        holder.kill()
        holder.wait()
        holder.stdout.close()
        assert waiting.result().ready
