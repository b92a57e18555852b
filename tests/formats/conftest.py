from pathlib import Path

import pytest

from profiling.knobs import KnobRange


@pytest.fixture
def ranges():
    """A made-up board: 2 cores counts, and clocks as a Jetson has them."""
    return KnobRange(
        cores=(2, 4),
        cpu_khz=(268800, 1497600, 2201600),
        gpu_khz=(306000, 624750, 1300500),
        mem_khz=(204000, 1065600, 3199000),
    )


@pytest.fixture
def write(tmp_path):
    """write("name.csv", text or bytes) → path."""

    def to_disk(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_disk
