"""What every Board must do. A driver's test inherits this and says how to make its board."""

import json

import pytest

from profiling.board.base import Board, Reading
from profiling.errors import InvalidInput
from profiling.knobs import Knobs


class BoardContract:
    def make(self, tmp_path) -> Board:
        raise NotImplementedError

    @pytest.fixture
    def board(self, tmp_path):
        return self.make(tmp_path)

    def test_it_says_what_drives_it_and_whether_it_is_real(self, board):
        assert board.driver
        assert board.emulated in (True, False)

    def test_its_ranges_ascend_without_repeats(self, board):
        for values in vars(board.ranges()).values():
            assert list(values) == sorted(set(values))
            assert len(values) >= 1

    def test_the_knobs_in_force_are_legal(self, board):
        assert board.ranges().rank(board.current()) >= 0

    def test_what_is_applied_is_in_force(self, board):
        ranges = board.ranges()
        for knobs in (ranges.maximum, self.lowest(ranges), self.middle(ranges)):
            assert board.apply(knobs) == knobs
            assert board.current() == knobs
        board.restore()

    def test_it_refuses_what_its_tables_do_not_hold(self, board):
        before = board.current()
        with pytest.raises(InvalidInput, match="cpu_khz"):
            board.apply(before._replace(cpu_khz=123))
        assert board.current() == before

    def test_restore_puts_back_what_was_found(self, board):
        found = board.current()
        board.apply(self.lowest(board.ranges()))
        board.apply(board.ranges().maximum)
        board.restore()
        assert board.current() == found

    def test_restoring_twice_or_untouched_is_harmless(self, board):
        found = board.current()
        board.restore()
        board.restore()
        assert board.current() == found

    def test_a_reading_survives_json_and_explains_its_unknowns(self, board):
        reading = board.read()
        assert Reading.from_dict(json.loads(json.dumps(reading.as_dict()))) == reading
        assert reading.total_mw is not None or reading.unknown["total_mw"]
        for rail, power in reading.rails_mw.items():
            assert power is not None or reading.unknown[rail]

    def test_its_clock_runs_forward(self, board):
        before = board.read().time_s
        board.clock.sleep(0.01)
        assert board.read().time_s > before

    def test_online_cores_agree_with_the_knobs(self, board):
        knobs = board.apply(self.middle(board.ranges()))
        assert board.read().online == knobs.cores
        board.restore()

    def test_it_describes_itself_in_json_with_a_reason_for_each_unknown(self, board):
        told = json.loads(json.dumps(board.describe()))
        assert told["cores"] == list(board.ranges().cores)
        for name, value in told.items():
            assert value is not None or told["unknown"][name]

    @staticmethod
    def lowest(ranges) -> Knobs:
        return Knobs(*(values[0] for values in vars(ranges).values()))

    @staticmethod
    def middle(ranges) -> Knobs:
        return Knobs(*(values[len(values) // 2] for values in vars(ranges).values()))
