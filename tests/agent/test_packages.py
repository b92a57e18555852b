import hashlib
from contextlib import contextmanager

import pytest

from profiling.agent.packages import KEPT, PackageCache
from profiling.errors import InvalidInput
from tests.packages import zipped


class Shelf:
    """The server's end: files by their hash, and what was asked for."""

    def __init__(self):
        self.files, self.asked = {}, []

    def put(self, content, filename="mine.zip"):
        sha256 = hashlib.sha256(content).hexdigest()
        self.files[sha256] = content
        return {"sha256": sha256, "filename": filename, "size": len(content)}

    @contextmanager
    def download(self, sha256):
        self.asked.append(sha256)
        content = self.files[sha256]
        yield iter([content[:10], content[10:]])


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def cache(shelf, tmp_path):
    return PackageCache(tmp_path / "packages", shelf.download)


def test_a_package_is_fetched_once_and_unpacked(cache, shelf):
    told = shelf.put(zipped())
    assert (cache.place(told) / "workload.py").read_text().startswith("\nimport torch")
    assert cache.place(told) == cache.place(told)
    assert len(shelf.asked) == 1


def test_an_onnx_file_is_what_the_runner_takes(cache, shelf):
    assert cache.place(shelf.put(b"onnx", "net.onnx")).name == "workload.onnx"


@pytest.mark.parametrize("change", [b"!", b"\0" * 5000, None])
def test_a_file_that_is_not_the_one_told_of_is_not_run(cache, shelf, change):
    told = shelf.put(zipped())
    good = shelf.files[told["sha256"]]
    shelf.files[told["sha256"]] = good + change if change else good[:-1]
    with pytest.raises(InvalidInput, match="otherwise than the server told"):
        cache.place(told)
    assert list(cache.folder.iterdir()) == []
    shelf.files[told["sha256"]] = good
    assert cache.place(told).is_dir()


def test_it_is_checked_again_on_the_board(cache, shelf):
    with pytest.raises(InvalidInput, match="outside its folder"):
        cache.place(shelf.put(zipped(name="../../etc/workload.py")))
    assert list(cache.folder.iterdir()) == []


def test_half_a_package_of_an_agent_that_was_killed_is_no_matter(cache, shelf):
    told = shelf.put(zipped())
    (cache.folder / f"{told['sha256']}.unpacking").mkdir(parents=True)
    assert (cache.place(told) / "workload.py").exists()


def test_old_packages_make_room(cache, shelf):
    tolds = [shelf.put(zipped(more=str(number))) for number in range(KEPT + 2)]
    places = [cache.place(told) for told in tolds]
    assert len(list(cache.folder.iterdir())) == KEPT
    assert places[-1].exists()
    assert not places[0].exists()
