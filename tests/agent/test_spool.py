"""No finished run is lost: not by a crash, a full disk, a torn file or an absent server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.agent.spool import Spool, SpoolFull
from profiling.errors import InvalidInput

BODY = {"measured": {"time_ms": 1.5, "power_mw": None}}


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


@pytest.fixture
def small_disk(tmp_path: Path):
    """A real file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_run_waits_until_delivered(spool):
    spool.put(7, BODY)
    assert list(spool.waiting()) == [("7", BODY)]
    spool.delivered(7)
    assert (list(spool.waiting()), len(spool)) == ([], 0)


def test_runs_outlive_the_agent(spool):
    spool.put(7, BODY)
    assert list(Spool(spool.folder).waiting()) == [("7", BODY)]


def test_oldest_first(spool):
    for run in (30, 4, 200):
        spool.put(run, BODY)
    assert [run for run, _ in spool.waiting()] == ["30", "4", "200"]


def test_a_repeated_run_replaces_itself(spool):
    spool.put(7, BODY)
    spool.put(7, {"measured": {"time_ms": 2.0}})
    assert list(spool.waiting()) == [("7", {"measured": {"time_ms": 2.0}})]


def test_delivering_twice_is_no_error(spool):
    spool.delivered(7)
    spool.delivered(7)


def test_a_full_disk_keeps_the_run_in_memory_and_says_so(small_disk):
    spool = Spool(small_disk / "spool")
    spool.put(1, BODY)
    (small_disk / "filler").write_bytes(b"x" * 45_000)
    with pytest.raises(SpoolFull, match="run 2: No space left on device. 1 run"):
        spool.put(2, {"telemetry": ["x" * 30_000]})
    assert [run for run, _ in spool.waiting()] == ["1", "2"]
    assert not list(spool.folder.glob("*.part"))


def test_it_is_saved_once_there_is_room_again(small_disk):
    spool = Spool(small_disk / "spool")
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 45_000)
    with pytest.raises(SpoolFull):
        spool.put(2, {"telemetry": ["x" * 30_000]})
    filler.unlink()
    spool.save()
    assert [run for run, _ in Spool(spool.folder).waiting()] == ["2"]


def test_a_lost_folder_loses_no_run(spool):
    spool.aside.rmdir()
    spool.folder.rmdir()
    with pytest.raises(SpoolFull, match="No such file"):
        spool.put(7, BODY)
    assert list(spool.waiting()) == [("7", BODY)]
    assert len(spool) == 1


@pytest.mark.parametrize("damage", [b"", b"\x00\xff", b"{}", b"0" * 64 + b"\n{}"])
def test_a_damaged_file_is_set_aside_not_lost(spool, damage, caplog):
    spool.put(7, BODY)
    (spool.folder / "7.json").write_bytes(damage)
    assert list(spool.waiting()) == []
    assert (spool.aside / "7.json").read_bytes() == damage
    assert "7.json" in caplog.text


def test_two_damaged_files_of_one_run_are_both_kept(spool):
    for _ in range(2):
        (spool.folder / "7.json").write_bytes(b"torn")
        assert list(spool.waiting()) == []
    assert sorted(path.name for path in spool.aside.iterdir()) == ["7.json", "7.json.1"]


def test_what_a_crash_left_half_written_is_set_aside(spool):
    (spool.folder / "7.part").write_bytes(b"half a ru")
    assert list(Spool(spool.folder).waiting()) == []
    assert (spool.aside / "7.part").exists()


def test_a_name_cannot_leave_the_folder(spool):
    with pytest.raises(InvalidInput, match="etc"):
        spool.put("../../etc/passwd", BODY)


def test_an_agent_killed_while_writing_loses_nothing_it_had_put(spool):
    code = (
        "import sys, os; from pathlib import Path; from profiling.agent.spool import Spool\n"
        "spool = Spool(Path(sys.argv[1])); print(os.getpid(), flush=True); n = 0\n"
        "while True:\n n += 1; spool.put(n, {'n': n, 'pad': 'x' * 20000}); print(n, flush=True)"
    )
    command = [sys.executable, "-c", code, str(spool.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        pid = int(writer.stdout.readline())
        told = [int(writer.stdout.readline()) for _ in range(5)]
        os.kill(pid, 9)
        told += [int(line) for line in writer.stdout if line.strip()]
    kept = {body["n"] for _, body in Spool(spool.folder).waiting()}
    assert set(told) <= kept


@given(body=st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()))
def test_every_body_comes_back_as_it_was(body, tmp_path_factory):
    spool = Spool(tmp_path_factory.mktemp("spool"))
    spool.put("x", body)
    assert list(spool.waiting()) == [("x", body)]
