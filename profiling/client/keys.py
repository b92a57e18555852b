"""Where the server's address and the token are kept: the environment, or a file only its owner reads."""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from profiling.errors import InvalidInput


def key_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "jetsonlab" / "client.json"


def keep_key(server: str, token: str) -> Path:
    path = key_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")  # a full disk shall not take the old one away
    try:
        part.touch(mode=0o600)
        part.chmod(0o600)
        part.write_text(json.dumps({"server": server, "token": token}))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def find_key(server: str | None = None, token: str | None = None) -> tuple[str, str]:
    """What is given, else what the environment says, else what `jetsonlab login` kept for that server."""
    kept = _kept()
    server = server or os.environ.get("JETSONLAB_SERVER") or kept.get("server")
    if not server:
        raise InvalidInput("Which lab? Run `jetsonlab login https://…`, or set JETSONLAB_SERVER.")
    if not server.startswith(("http://", "https://")) or not is_address(server):
        raise InvalidInput(f"A server's address looks like https://lab.example:8000, not {server!r}.")
    mine = kept.get("token") if kept.get("server", "").rstrip("/") == server.rstrip("/") else None
    token = token or os.environ.get("JETSONLAB_TOKEN") or mine
    if not token:
        raise InvalidInput(f"No token for {server}. Run `jetsonlab login {server}`, or set JETSONLAB_TOKEN.")
    if not (token.isascii() and token.isprintable()):
        raise InvalidInput("A token begins with jl_ and has neither spaces nor accents. Copy it again.")
    return server, token


def is_address(server: str) -> bool:
    try:
        return bool(urlsplit(server).hostname) and urlsplit(server).port != 0 and server.isprintable()
    except ValueError:
        return False


def _kept() -> dict[str, str]:
    path = key_file()
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text()))
    except ValueError as error:
        raise InvalidInput(f"{path} is damaged: {error}. Remove it and log in again.") from error
