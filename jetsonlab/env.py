"""Reading the environment with refusals that name the variable, its value and what it may be."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured

FLAGS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
# The most SQLite maps: a page beyond it is copied at each read, which triples what a list costs.
SQLITE_PRAGMAS = ";".join(
    f"PRAGMA {pragma}"
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-65536", "mmap_size=2147418112")
)
# On today's disks an index is cheaper than PostgreSQL believes. Compiling a query costs more than it saves.
# It expects far more groups than facets have, which would keep several workers from counting them.
POSTGRES_OPTIONS = "-c random_page_cost=1.1 -c jit=off -c work_mem=32MB -c parallel_tuple_cost=0.01"


def flag(env: environ.Env, name: str, *, default: bool) -> bool:
    """django-environ reads any unknown word as False; a safety switch must not."""
    text = env.str(name, default=str(default)).lower()
    if text not in FLAGS:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(FLAGS)}, not {text!r}")
    return FLAGS[text]


def count(env: environ.Env, name: str, *, default: int, least: int = 0) -> int:
    text = env.str(name, default=str(default))
    if not (text.isascii() and text.isdecimal()) or int(text) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number, {least} or more, not {text!r}")
    return int(text)


def matching(env: environ.Env, name: str, pattern: str, *, default: str, such_as: str) -> str:
    """Text that would else be found to be wrong only when it is first needed."""
    text = env.str(name, default=default)
    if not re.fullmatch(pattern, text):
        raise ImproperlyConfigured(f"{name} must be {such_as}, not {text!r}")
    return text


def time_zone(env: environ.Env, name: str, *, default: str) -> str:
    text = env.str(name, default=default)
    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ImproperlyConfigured(f"{name} must be a zone such as Europe/Berlin, not {text!r}") from error


def database_settings(env: environ.Env, data_dir: Path) -> dict[str, Any]:
    """SQLite in the data folder, or the PostgreSQL that DATABASE_URL names."""
    url = env.str("DATABASE_URL", default="") or f"sqlite:///{data_dir / 'db.sqlite3'}"
    scheme = urlsplit(url).scheme
    if scheme in ("postgres", "postgresql"):
        found = env.db_url_config(url)
        options = {"options": POSTGRES_OPTIONS, **found.get("OPTIONS", {})}
        return {**found, "OPTIONS": options, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    if scheme != "sqlite":
        raise ImproperlyConfigured(
            f"DATABASE_URL must start with postgresql:// or sqlite:///, not {scheme or url!r}"
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    options = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_PRAGMAS}
    return {**env.db_url_config(url), "OPTIONS": options}


def broker_settings(env: environ.Env, data_dir: Path) -> tuple[str, dict[str, Any]]:
    """A folder on disk, or the Redis that BROKER_URL names."""
    url = env.str("BROKER_URL", default="filesystem://")
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss"):
        return url, {"visibility_timeout": 3600}
    if scheme != "filesystem":
        raise ImproperlyConfigured(f"BROKER_URL must start with redis:// or be filesystem://, not {url!r}")
    folder = data_dir / "broker"
    for name in ("messages", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    messages = str(folder / "messages")
    return url, {
        "data_folder_in": messages,
        "data_folder_out": messages,
        "control_folder": str(folder / "control"),
    }


def cache_settings(env: environ.Env, data_dir: Path) -> dict[str, Any]:
    """What all web processes see: the Redis of CACHE_URL or of BROKER_URL, else a folder on disk."""
    name = "CACHE_URL" if env.str("CACHE_URL", default="") else "BROKER_URL"
    url = env.str(name, default="")
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss"):
        return {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "KEY_PREFIX": "jetsonlab",
            "OPTIONS": {"serializer": "jetsonlab.caches.JsonSerializer"},
        }
    if scheme not in ("", "filesystem"):
        raise ImproperlyConfigured(f"{name} must start with redis:// or be filesystem://, not {url!r}")
    return {
        "BACKEND": "jetsonlab.caches.JsonFileCache",
        "LOCATION": str(data_dir / "cache"),
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }


def email_settings(env: environ.Env) -> dict[str, Any]:
    """The server of EMAIL_URL; without one nothing is sent, and pages show what a mail would have said."""
    url = env.str("EMAIL_URL", default="")
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    if urlsplit(url).scheme not in env.EMAIL_SCHEMES:
        raise ImproperlyConfigured(
            f"EMAIL_URL must start with one of {', '.join(env.EMAIL_SCHEMES)}, as in smtp+tls://me:secret@host:587"
        )
    return env.email_url_config(url)
