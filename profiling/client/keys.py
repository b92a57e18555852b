"""Where the server's address and the token are kept: the environment, or a file only its owner reads."""

import json
import os
from pathlib import Path

from profiling.errors import InvalidInput


def key_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "jetsonlab" / "client.json"


def keep_key(server: str, token: str) -> Path:
    path = key_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(json.dumps({"server": server, "token": token}))
    return path


def find_key(server: str | None = None, token: str | None = None) -> tuple[str, str]:
    """What is given, else what the environment says, else what `jetsonlab login` kept for that server."""
    kept = _kept()
    server = server or os.environ.get("JETSONLAB_SERVER") or kept.get("server")
    if not server:
        raise InvalidInput("Which lab? Run `jetsonlab login https://…`, or set JETSONLAB_SERVER.")
    if not server.startswith(("http://", "https://")):
        raise InvalidInput(f"A server's address starts with https:// or http://, not {server!r}.")
    mine = kept.get("token") if kept.get("server", "").rstrip("/") == server.rstrip("/") else None
    token = token or os.environ.get("JETSONLAB_TOKEN") or mine
    if not token:
        raise InvalidInput(f"No token for {server}. Run `jetsonlab login {server}`, or set JETSONLAB_TOKEN.")
    return server, token


def _kept() -> dict[str, str]:
    path = key_file()
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text()))
    except ValueError as error:
        raise InvalidInput(f"{path} is damaged: {error}. Remove it and log in again.") from error
