"""The compose file and the image, as far as they can be judged without a Docker engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from resin_es.settings import Settings
from resin_es.workers.app import QUEUES

ROOT = Path(__file__).resolve().parents[3]
DOCKER = ROOT / "docker"
ONE_SHOT = {"install", "cli"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yml").read_text())
    return found


def variables() -> dict[str, str]:
    """``.env.example``, by name."""
    lines = (DOCKER / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_it_is_a_compose_file() -> None:
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", "vendor.compose-spec", str(DOCKER / "compose.yml")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_image_is_pinned(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert re.search(r":(local|\d+\.\d+\.\d+)(-\w+)?$", service["image"]), name
    bases = re.findall(r"^FROM (\S+)", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.search(r":3\.\d+\.\d+-", bases[0])


def test_elasticsearch_is_the_one_that_the_suite_runs_on(compose: dict[str, Any]) -> None:
    [tested] = re.findall(r"^ES_8 := (\S+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert compose["services"]["elasticsearch"]["image"].endswith(f":{tested}")


def test_what_runs_on_says_whether_it_works(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        if name in ONE_SHOT:
            continue
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
        assert service["restart"] == "unless-stopped", name
    for name in ("worker", "reader"):
        test = compose["services"][name]["healthcheck"]["test"]
        assert test == ["CMD", "resin-es", "worker", "--check"]


def test_every_queue_is_worked_on(compose: dict[str, Any]) -> None:
    worked_on = [
        compose["services"][name]["command"][-1].split(",") for name in ("worker", "reader")
    ]
    assert sorted(queue for queues in worked_on for queue in queues) == sorted(QUEUES)


def test_nobody_is_root(compose: dict[str, Any]) -> None:
    last = (DOCKER / "Dockerfile").read_text().rpartition("FROM ")[2]
    [user] = re.findall(r"^USER (\d+):(\d+)$", last, re.MULTILINE)
    assert "0" not in user
    for name, service in compose["services"].items():
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged"), name
    assert compose["services"]["redis"]["user"] == "redis"


def test_ports_are_open_to_this_machine_alone(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_every_variable_stands_in_the_example(compose: dict[str, Any]) -> None:
    text = (DOCKER / "compose.yml").read_text()
    used = set(re.findall(r"\$\{(\w+)", re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)))
    assert used == set(variables())


def test_passwords_have_no_default(compose: dict[str, Any]) -> None:
    text = (DOCKER / "compose.yml").read_text()
    for name in ("ELASTIC_PASSWORD", "REDIS_PASSWORD"):
        assert variables()[name] == ""
        assert set(re.findall(rf"\$\{{{name}(.)", text)) == {":"}
        assert f"${{{name}:-" not in text


def test_settings_are_settings(compose: dict[str, Any]) -> None:
    for name in compose["services"]["worker"]["environment"]:
        assert name.removeprefix("RESIN_").lower() in Settings.model_fields, name


def test_redis_may_not_forget_messages_when_it_is_full(compose: dict[str, Any]) -> None:
    command = " ".join(compose["services"]["redis"]["command"])
    assert "--maxmemory-policy noeviction" in command


def test_the_image_gets_every_package(compose: dict[str, Any]) -> None:
    dockerfile = (DOCKER / "Dockerfile").read_text()
    let_in = (DOCKER / "Dockerfile.dockerignore").read_text()
    for folder in ("resin_es", "workers", "api", "mappings"):
        assert f"COPY {folder} {folder}" in dockerfile
        assert f"!{folder}\n" in let_in
