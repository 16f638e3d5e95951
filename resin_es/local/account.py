"""Which user the node runs as. Elasticsearch refuses to run as root."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from resin_es.errors import LocalNodeError, SettingsError

#: The uid that stands for nobody on Linux; used where no user of that name exists.
_NOBODY = 65534


@dataclass(frozen=True)
class Account:
    """A user id and its group id."""

    uid: int
    gid: int


def node_account(data_dir: Path, run_as: str | None, *, uid: int | None = None) -> Account | None:
    """The account to switch to, or None when this process isn't root and the node runs as it.

    ``run_as`` decides if given; else whoever owns ``data_dir`` (a user's folder stays the user's);
    else the system's ``elasticsearch`` or ``nobody``.
    """
    if (os.getuid() if uid is None else uid) != 0:
        return None
    if run_as:
        return _named(run_as)
    if data_dir.exists() and (stat := data_dir.stat()).st_uid != 0:
        return Account(stat.st_uid, stat.st_gid)
    for name in ("elasticsearch", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid)
    return Account(_NOBODY, _NOBODY)


def _named(name: str) -> Account:
    try:
        entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
        found = Account(entry.pw_uid, entry.pw_gid)
    except KeyError as error:
        if not name.isdigit():
            raise SettingsError(
                f"There is no user {name!r} for the local node to run as.",
                hint="Name a user of this system other than root, or its number.",
            ) from error
        found = Account(int(name), int(name))
    if found.uid == 0:
        raise SettingsError(
            "The local node cannot run as root: Elasticsearch refuses to.",
            hint="Name another user of this system.",
        )
    return found


def check_open(path: Path, account: Account, *, what: str) -> None:
    """LocalNodeError when ``account`` cannot reach ``path``."""
    from resin_es.local.files import closed_to

    shut = closed_to(path, account.uid, account.gid)
    if shut is not None:
        raise LocalNodeError(
            f"Elasticsearch refuses to run as root, so it runs as uid {account.uid}, which may "
            f"not enter {shut}, on the way to {what} {path}.",
            hint="Set RESIN_LOCAL_DIR to a folder that every user can enter, e.g. "
            "/var/lib/resin-es, or start it as an ordinary user.",
        )
