"""The node's configuration, exactly; and who it runs as."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

import resin_es.local
from resin_es.errors import LocalNodeError, SettingsError
from resin_es.local.account import Account, check_open, node_account
from resin_es.local.config import (
    NodeFolders,
    elasticsearch_yml,
    jvm_options,
    own_jvm_options,
    password_hash,
    roles_file,
    users_file,
    users_roles_file,
    write_config,
)
from resin_es.local.files import closed_to, make_folder
from resin_es.local.http import read_health
from resin_es.local.process import mark, node_option, read_command_line
from resin_es.local.settings import LocalSettings, LocalUser, default_folders, default_settings

SETTINGS = LocalSettings(cache_dir=Path("/c"), data_dir=Path("/d"), port=9300)
FOLDERS = NodeFolders(Path("/d/8.19.21"))
SHIPPED = """\
## heap
-XX:+UseG1GC
-Djava.io.tmpdir=${ES_TMPDIR}
20-:--add-modules=jdk.incubator.vector
23:-XX:CompileCommand=dontinline,java/lang/invoke/MethodHandle.setAsTypeCache
-XX:+HeapDumpOnOutOfMemoryError
-XX:+ExitOnOutOfMemoryError
-XX:HeapDumpPath=data
-XX:ErrorFile=logs/hs_err_pid%p.log
-Xlog:gc*,gc+age=trace,safepoint:file=logs/gc.log:utctime,level,pid,tags:filecount=32,filesize=64m
"""


def test_elasticsearch_yml() -> None:
    assert elasticsearch_yml(SETTINGS, FOLDERS) == {
        "cluster.name": "resin-es-local",
        "node.name": "local",
        "path.data": "/d/8.19.21/data",
        "path.logs": "/d/8.19.21/logs",
        "network.host": "127.0.0.1",
        "http.port": 9300,
        "transport.port": 0,
        "discovery.type": "single-node",
        "cluster.routing.allocation.disk.threshold_enabled": False,
        "xpack.security.enabled": False,
    }


def test_security_is_the_file_realm() -> None:
    secured = elasticsearch_yml(SETTINGS.model_copy(update={"security": True}), FOLDERS)
    assert secured["xpack.security.enabled"] is True
    assert secured["xpack.security.authc.realms.file.file1.order"] == 0


def test_jvm_options_lose_what_does_not_fit() -> None:
    bare = jvm_options(SHIPPED, {"java.base"})
    assert bare.splitlines() == [
        "## heap",
        "-XX:+UseG1GC",
        "-Djava.io.tmpdir=${ES_TMPDIR}",
        "23:-XX:CompileCommand=dontinline,java/lang/invoke/MethodHandle.setAsTypeCache",
        "-XX:+ExitOnOutOfMemoryError",
    ]
    full = jvm_options(SHIPPED, {"java.base", "jdk.incubator.vector"})
    assert "20-:--add-modules=jdk.incubator.vector" in full.splitlines()


def test_own_jvm_options() -> None:
    settings = SETTINGS.model_copy(update={"heap": "1g", "jvm_options": ("-Dx=y",)})
    assert own_jvm_options(settings, FOLDERS, "-Dmark").splitlines() == [
        "-Xms1g",
        "-Xmx1g",
        "-XX:-AlwaysPreTouch",
        "-XX:ErrorFile=/d/8.19.21/logs/hs_err_pid%p.log",
        "-Dx=y",
        "-Dmark",
    ]


def test_users_and_roles_files() -> None:
    users = (
        LocalUser(name="ann", password="secret-1", roles=("reader", "writer")),
        LocalUser(name="bob", password="secret-2", roles=("reader",)),
    )
    assert users_roles_file(users) == "reader:ann,bob\nwriter:ann\n"
    lines = users_file(users).splitlines()
    assert [line.split(":")[0] for line in lines] == ["ann", "bob"]
    assert "secret-1" not in users_file(users)
    roles = {"reader": {"indices": [{"names": ["r-*"], "privileges": ["read"]}]}, "a": {}}
    assert roles_file(roles) == (
        'a: {}\nreader: {"indices": [{"names": ["r-*"], "privileges": ["read"]}]}\n'
    )


def test_the_password_hash_is_pbkdf2() -> None:
    # The key as `openssl kdf … -kdfopt digest:SHA512 -kdfopt iter:10000 PBKDF2` prints it.
    salt, key = f"{'A' * 43}=", "jGXzCUEAWQyCyy52nzCvRjSg13gTgNpjX7hf8X3c8i0="
    assert password_hash("resin", bytes(32)) == f"{{PBKDF2}}10000${salt}${key}"
    assert password_hash("resin") != password_hash("resin")


def test_the_configuration_is_written_anew_and_data_stay(tmp_path: Path) -> None:
    shipped = tmp_path / "es" / "config"
    shipped.mkdir(parents=True)
    (shipped / "jvm.options").write_text(SHIPPED)
    (shipped / "log4j2.properties").write_text("status = error\n")
    folders = NodeFolders(tmp_path / "node")
    (tmp_path / "node" / "data").mkdir(parents=True)
    (tmp_path / "node" / "data" / "kept").write_text("")
    (tmp_path / "node" / "config" / "old").mkdir(parents=True)

    write_config(SETTINGS, folders, tmp_path / "es", (), "-Dmark")

    assert (folders.data / "kept").exists()
    assert not (folders.config / "old").exists()
    assert 'node.name: "local"\n' in (folders.config / "elasticsearch.yml").read_text()
    assert (folders.config / "log4j2.properties").read_text() == "status = error\n"
    assert stat.S_IMODE((folders.config / "users").stat().st_mode) == 0o600
    assert stat.S_IMODE(folders.home.stat().st_mode) == 0o700


def test_root_runs_the_node_as_somebody_else(tmp_path: Path) -> None:
    assert node_account(tmp_path, None, uid=1000) is None
    somebody = node_account(tmp_path / "new", None, uid=0)
    assert somebody is not None
    assert somebody.uid != 0
    assert node_account(tmp_path / "new", "4711", uid=0) == Account(4711, 4711)
    for refused in ("root", "0", "no-such-user-here"):
        with pytest.raises(SettingsError):
            node_account(tmp_path, refused, uid=0)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_users_folder_stays_the_users(tmp_path: Path) -> None:
    os.chown(tmp_path, 4711, 4712)
    assert node_account(tmp_path, None, uid=0) == Account(4711, 4712)


@pytest.mark.parametrize(
    ("mode", "closed"), [(0o755, False), (0o711, False), (0o750, True), (0o700, True)]
)
def test_a_folder_closed_to_the_node_is_found_and_named(mode: int, closed: bool) -> None:
    stranger = Account(4711, 4711)
    with tempfile.TemporaryDirectory() as made:
        middle = Path(made).resolve() / "middle"
        inner = middle / "inner"
        inner.mkdir(parents=True)
        Path(made).chmod(0o755)
        middle.chmod(mode)
        if closed_to(middle.parent, stranger.uid, stranger.gid):
            pytest.skip("the folder for temporary files is closed itself")
        assert closed_to(inner, stranger.uid, stranger.gid) == (middle if closed else None)
        assert closed_to(inner, middle.stat().st_uid, 4711) is None
        if closed:
            with pytest.raises(LocalNodeError, match=str(middle)) as caught:
                check_open(inner, stranger, what="its data in")
            assert "RESIN_LOCAL_DIR" in caught.value.hint


def test_folders_are_open_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("status", "body", "health"),
    [
        (200, b'{"status": "green"}', "ready"),
        (200, b'{"status": "yellow"}', "ready"),
        (200, b'{"status": "red"}', "recovering"),
        (408, b'{"status": "yellow", "timed_out": true}', "recovering"),
        (503, b'{"error": {"type": "master_not_discovered_exception"}}', "recovering"),
        (401, b"{}", "ready"),
        (200, b"hello", "recovering"),
        (200, b"[]", "recovering"),
    ],
)
def test_health_is_read(status: int, body: bytes, health: str) -> None:
    assert read_health(status, body) == health


def test_the_mark_on_the_command_line(tmp_path: Path) -> None:
    option = node_option(tmp_path, 9251, "8.19.21")
    words = ["/usr/lib/jvm/java-17/bin/java", "-Xmx1g", option]
    found = read_command_line(7, words, mark(tmp_path))
    assert found is not None
    assert (found.pid, found.port, found.version) == (7, 9251, "8.19.21")
    assert found.java == "/usr/lib/jvm/java-17"
    assert read_command_line(7, words, mark(tmp_path / "other")) is None
    assert read_command_line(7, ["grep", f"x{option}"], mark(tmp_path)) is None
    assert read_command_line(7, [], mark(tmp_path)) is None


@pytest.mark.parametrize(("module", "said"), [("psutil", "psutil"), ("pwd", "Windows")])
def test_without_its_packages_the_node_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, module: str, said: str
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("resin_es.local.import_module", missing)
    with pytest.raises(LocalNodeError, match=said) as caught:
        _ = resin_es.local.up
    assert "RESIN_ES_URL" in caught.value.hint


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    made = default_settings(
        {
            "RESIN_LOCAL_DIR": str(tmp_path),
            "RESIN_LOCAL_PORT": "9300",
            "RESIN_LOCAL_VERSION": "9.5.3",
            "RESIN_LOCAL_HEAP": "1g",
            "JAVA_HOME": "/j",
            "ES_JAVA_HOME": "/es-j",
            "PATH": "/p",
        }
    )
    assert (made.cache_dir, made.data_dir) == (tmp_path / "cache", tmp_path / "node")
    assert (made.port, made.version, made.heap) == (9300, "9.5.3", "1g")
    assert (made.java_home, made.search_path) == ("/es-j", "/p")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RESIN_LOCAL_PORT", "many"),
        ("RESIN_LOCAL_PORT", "70000"),
        ("RESIN_LOCAL_HEAP", "lots"),
        ("RESIN_LOCAL_HEAP", "1g -Dx"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        default_settings({name: value})
    assert value in caught.value.message


def test_root_keeps_its_node_out_of_its_home() -> None:
    cache, data = default_folders(uid=0)
    assert not cache.is_relative_to("/root")
    assert not data.is_relative_to("/root")
    cache, data = default_folders(uid=1000)
    assert "resin-es" in str(cache)
    assert cache != data
