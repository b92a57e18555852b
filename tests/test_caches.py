"""One contract for the cache in files and the one in Redis: counts must be shared, and nothing be pickled."""

import threading
from pathlib import Path

import environ
import pytest
from django.core.cache.backends.redis import RedisCache
from django.core.exceptions import ImproperlyConfigured

from jetsonlab.caches import JsonFileCache
from jetsonlab.env import cache_settings, email_settings
from tests.servers import redis_server


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["files", "redis"])
def cache(request, tmp_path):
    if request.param == "files":
        return JsonFileCache(str(tmp_path), {})
    url = request.getfixturevalue("redis_url")
    cache = RedisCache(url, {"OPTIONS": {"serializer": "jetsonlab.caches.JsonSerializer"}})
    cache.clear()
    return cache


@pytest.mark.parametrize("value", [3, [1.5, 2], "y", True, None, {"a": 1}])
def test_it_gives_back_what_it_was_given(cache, value):
    cache.set("key", value)
    assert cache.get("key", "nothing") == value


def test_what_has_expired_is_gone(cache):
    cache.set("key", 1, timeout=0)
    assert cache.get("key") is None
    assert cache.add("key", 2)


def test_it_counts(cache):
    cache.set("key", 1)
    assert cache.incr("key") == 2
    assert cache.touch("key")
    assert not cache.touch("another")


def test_of_many_who_add_one_wins(cache):
    won: list[bool] = []
    threads = [threading.Thread(target=lambda: won.append(cache.add("lock", True))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 7 + [True]


def test_another_process_sees_it(tmp_path):
    JsonFileCache(str(tmp_path), {}).set("key", [1.5])
    assert JsonFileCache(str(tmp_path), {}).get("key") == [1.5]
    assert oct(Path(tmp_path).stat().st_mode)[-3:] == "700"


def test_the_broker_s_redis_serves_as_cache_too(monkeypatch, tmp_path):
    monkeypatch.setenv("BROKER_URL", "redis://broker:6379/0")
    assert cache_settings(environ.Env(), tmp_path)["LOCATION"] == "redis://broker:6379/0"
    monkeypatch.setenv("CACHE_URL", "redis://cache:6379/0")
    assert cache_settings(environ.Env(), tmp_path)["LOCATION"] == "redis://cache:6379/0"


@pytest.mark.parametrize(
    ("name", "value"), [("CACHE_URL", "memcached://x"), ("EMAIL_URL", "http://me:hunter2@x")]
)
def test_a_bad_address_is_refused_without_showing_its_password(name, value, monkeypatch, tmp_path):
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"{name} must start with") as refused:
        cache_settings(environ.Env(), tmp_path), email_settings(environ.Env())
    assert "hunter2" not in str(refused.value)
