"""How the SDK's client is made from options, and what of them may be shown."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.anthropic import connection
from resin_es.adapters.anthropic.client import AnthropicModel
from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.errors import ModelUnavailable, SettingsError

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

KEY = SecretStr("sk-a-secret-key")


def opened(**fields: Any) -> Connection:
    return Connection(AnthropicOptions(**{"key": KEY, "url": "http://127.0.0.1:9", **fields}))


def test_fields_reach_the_client() -> None:
    client = opened(timeout=3.5, retries=7).client
    assert (str(client.base_url).rstrip("/"), client.timeout, client.max_retries) == (
        "http://127.0.0.1:9",
        3.5,
        7,
    )
    assert client.api_key == "sk-a-secret-key"


def test_options_win_over_fields() -> None:
    given = {"timeout": 9, "max_retries": 1, "base_url": "http://127.0.0.1:8", "api_key": "other"}
    client = opened(options=given).client
    assert (client.timeout, client.max_retries, client.api_key) == (9, 1, "other")
    assert str(client.base_url).rstrip("/") == "http://127.0.0.1:8"


def test_other_credentials_stand_instead_of_the_key() -> None:
    client = opened(options={"auth_token": "a-token-that-is-long"}).client
    assert (client.api_key, client.auth_token) == (None, "a-token-that-is-long")


def test_no_option_is_missed() -> None:
    given = {
        "default_headers": {"x-team": "blue"},
        "default_query": {"v": "2"},
        "proxy": "http://user:pass@127.0.0.1:3128",
        "trust_env": False,
        "verify": False,
        "extra_body": {"thinking": {"type": "disabled"}},
        "extra_headers": {"x-a": "b"},
    }
    made = opened(options=given)
    assert made.client.default_headers["x-team"] == "blue"
    assert made.client.default_query == {"v": "2"}
    assert made.extras == {
        "extra_body": {"thinking": {"type": "disabled"}},
        "extra_headers": {"x-a": "b"},
    }
    made.close()


def test_an_unknown_option_is_named_with_a_near_one() -> None:
    with pytest.raises(SettingsError, match=r"no option 'proxi' \(did you mean 'proxy'\?\)") as no:
        opened(options={"proxi": "secret-value"})
    assert "default_headers" in no.value.hint
    assert "secret-value" not in str(no.value)


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": "a-secret-one", "auth_token": "a-secret-two"},
        {"verify": "/no/such/file.pem"},
        {"middleware": 5},
    ],
)
def test_options_that_the_client_refuses(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="cannot be made") as refused:
        _ = opened(options=options).client
    assert "a-secret" not in str(refused.value)
    assert "RESIN_ANTHROPIC_OPTIONS" in refused.value.hint


def test_no_key_is_an_error_at_anthropics_own_address_alone() -> None:
    with pytest.raises(ModelUnavailable, match="no key") as missing:
        AnthropicModel(AnthropicOptions())
    assert "ANTHROPIC_API_KEY" in missing.value.hint
    AnthropicModel(AnthropicOptions(url="http://127.0.0.1:9"))
    AnthropicModel(AnthropicOptions(options={"auth_token": "x"}))
    AnthropicModel(AnthropicOptions(options={"default_headers": {"X-Api-Key": "x"}}))


@pytest.mark.parametrize("key", ["sk-…", "sk a", "sk\x00-secret", "sk-secret\nmore"])
def test_a_key_that_cannot_be_one(key: str) -> None:
    with pytest.raises(ModelUnavailable, match="characters that no key has") as wrong:
        opened(key=SecretStr(key))
    assert key not in str(wrong.value)


def test_the_sdk_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="not installed") as missing:
        opened()
    assert "resin-es[anthropic]" in missing.value.hint


def test_nothing_secret_is_shown() -> None:
    options = AnthropicOptions(
        key=KEY,
        url="http://ann:pass-word@host/path",
        options={
            "default_headers": {"Authorization": "Bearer header-secret"},
            "proxy": "http://bob:proxy-secret@127.0.0.1:1",
            "extra_body": {"deep": [{"token": "body-secret"}]},
        },
    )
    shown = f"{options!r} {options} {options.address} {AnthropicModel(options)!r}"
    hidden = {one.get_secret_value() for one in options.secrets}
    for secret in ("sk-a-secret-key", "pass-word", "header-secret", "proxy-secret", "body-secret"):
        assert secret not in shown
        assert secret in hidden
    assert options.address == "http://********@host/path"
    assert not {one for one in hidden if "127.0.0.1" in one or "host" in one}


def test_threads_share_one_client_and_a_forked_process_has_its_own() -> None:
    made = opened()
    clients = []
    threads = [threading.Thread(target=lambda: clients.append(made.client)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in clients}) == 1
    ours = id(made.client)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - the child's lines are not counted
        os.write(writes, b"own" if id(made.client) != ours else b"shared")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reads, 10) == b"own"
    os.close(reads)
    os.close(writes)
    assert id(made.client) == ours


def test_the_sdk_is_imported_at_first_use(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from resin_es.adapters.anthropic.client import AnthropicModel\n"
        "from resin_es.adapters.anthropic.options import AnthropicOptions\n"
        "model = AnthropicModel(AnthropicOptions(url='http://127.0.0.1:9'))\n"
        "assert not {'anthropic', 'httpx2', 'json_repair'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
