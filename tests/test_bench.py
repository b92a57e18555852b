"""What `make bench` runs."""

from pathlib import Path

import pytest

from bench.__main__ import NO_PARTS, main, parts

ROOT = Path(__file__).parent.parent


def test_every_benchmark_is_a_part_of_make_bench():
    files = {path.stem for path in (ROOT / "bench").glob("*.py")} - NO_PARTS
    assert files == set(parts())
    assert parts()[-2:] == ["fill", "browse"]


def test_an_unknown_part_is_refused_by_name():
    with pytest.raises(SystemExit, match="No benchmark speed; there are core"):
        main(["speed"])
