"""A stand-in for Elasticsearch and for Java, so that every failure can be had at will.

The stand-in is unpacked in the cache folder like the real one; its launcher behaves like
Elasticsearch's (``-d -p PIDFILE``), its server answers ``_cluster/health``. A JVM option
``-Dfake=…`` tells it to misbehave.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resin_es.local import node
from resin_es.local.settings import LocalSettings
from resin_es.testing.nodes import free_port

LAUNCHER = """\
#!{python}
import json, os, pathlib, subprocess, sys, time, urllib.request
conf = pathlib.Path(os.environ["ES_PATH_CONF"])
options = (conf / "jvm.options.d" / "resin.options").read_text().splitlines()
lines = (conf / "elasticsearch.yml").read_text().splitlines()
yml = {{k: json.loads(v) for k, v in (line.split(": ", 1) for line in lines)}}
with open(conf.parent.parent / "starts", "a") as f:
    f.write("x")
print("the node says hello")
if "-Dfake=dies" in options:
    print("java.lang.IllegalStateException: the disk is on fire")
    print("\\tat org.example.Thing.run(Thing.java:1)")
    sys.exit(78)
if "-Dfake=slow" in options:
    time.sleep(600)
if "-Dfake=bind" in options:
    print("BindHttpException: Failed to bind to 127.0.0.1:9250")
    sys.exit(1)
mark = [o for o in options if o.startswith("-Dresin")]
server = subprocess.Popen(
    [sys.executable, str(pathlib.Path(__file__).with_name("server.py")), str(yml["http.port"]),
     *options], stdin=subprocess.DEVNULL)
pathlib.Path(sys.argv[3]).write_text(str(server.pid))
if "-Dfake=late-death" in options:
    server.kill()
    sys.exit(0)
while "-Dfake=silent" in options:
    time.sleep(0.1)
while True:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{{yml['http.port']}}/x").read()
        sys.exit(0)
    except OSError:
        time.sleep(0.02)
"""

SERVER = """\
import http.server, sys, time
if "-Dfake=silent" in sys.argv:
    time.sleep(600)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status": "red"}' if "-Dfake=red" in sys.argv else b'{"status": "green"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

JAVA = """\
#!/bin/sh
case "$*" in
*--list-modules*) echo "java.base@{major}"; for m in {modules}; do echo "$m@{major}"; done;;
*) echo "    java.home = {home}" >&2; echo 'openjdk version "{major}.0.1" 2025-01-01' >&2;;
esac
"""


def script(path: Path, text: str) -> Path:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


def fake_java(home: Path, major: int, modules: str = "jdk.jdi jdk.jlink") -> Path:
    """A Java home whose ``java`` answers as version ``major``."""
    script(home / "bin" / "java", JAVA.format(home=home, major=major, modules=modules))
    return home


def fake_distribution(cache: Path, version: str) -> Path:
    """An unpacked stand-in for Elasticsearch."""
    home = cache / f"elasticsearch-{version}"
    script(home / "bin" / "elasticsearch", LAUNCHER.format(python=sys.executable))
    (home / "bin" / "server.py").write_text(SERVER, "utf-8")
    (home / "config").mkdir()
    (home / "config" / "jvm.options").write_text("-XX:+UseG1GC\n", "utf-8")
    (home / "config" / "log4j2.properties").write_text("", "utf-8")
    return home


@pytest.fixture
def make_java() -> Callable[..., Path]:
    """``make_java(home, major, modules="…")`` makes a Java home and returns it."""
    return fake_java


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSettings]:
    """Settings for a stand-in on a free port; whatever it started is stopped afterwards."""
    # The stand-in is Python, which another uid could not run out of a root's home.
    monkeypatch.setattr(node, "node_account", lambda data_dir, run_as: None)
    for version in ("8.19.21", "9.5.3"):
        fake_distribution(tmp_path / "cache", version)
    made = LocalSettings(
        cache_dir=tmp_path / "cache",
        data_dir=tmp_path / "node",
        port=free_port(),
        java_home=str(fake_java(tmp_path / "java17", 17)),
        search_path=os.devnull,
        start_timeout_s=30,
    )
    yield made
    node.down(made)
