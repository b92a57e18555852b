from datetime import timedelta

import pytest
from django.utils import timezone

from profiling.selectors.progress import time_left


def test_the_time_left_is_told_at_the_pace_so_far():
    left = time_left(since=timezone.now() - timedelta(seconds=1000), done=250, total=1000)
    assert left.total_seconds() == pytest.approx(3000, rel=0.05)


@pytest.mark.parametrize(("done", "total"), [(0, 10), (5, None)])
def test_without_anything_to_judge_by_it_says_nothing(done, total):
    assert time_left(since=timezone.now(), done=done, total=total) is None
    assert time_left(since=None, done=1, total=2) is None
