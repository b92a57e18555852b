import numpy as np
import pytest

from modeling.core.tables import TableError, read_table

HEADER = "cores,cpu,gpu,mem,observed_time,observed_power\n"


def write(path, text):
    path.write_text(text)
    return path


def test_it_reads_khz_ms_and_mw(tmp_path):
    table = read_table(write(tmp_path / "lstm.csv", HEADER + "4,422400,114750000,665600000,82.5,14.509\n"))
    assert table.measured.knobs.tolist() == [[4, 422_400, 114_750, 665_600]]
    assert (table.measured.time_ms[0], table.measured.power_mw[0]) == (82.5, 14_509)
    assert (table.measured.name, table.repeated) == ("lstm", 0)


def test_a_repeated_mode_becomes_its_mean_and_is_counted(tmp_path):
    rows = "4,422400,114750000,665600000,80,14\n4,422400,114750000,665600000,90,16\n"
    table = read_table(write(tmp_path / "a.csv", HEADER + rows))
    assert (len(table.measured), table.repeated) == (1, 1)
    assert (table.measured.time_ms[0], table.measured.power_mw[0]) == (85, 15_000)


def test_the_minibatch_is_a_fifth_knob(tmp_path):
    text = "bs," + HEADER + "16,4,422400,114750000,665600000,80,14\n"
    assert read_table(write(tmp_path / "a.csv", text)).measured.knobs[0, 4] == 16


def test_every_bad_line_is_named_at_once(tmp_path):
    rows = "4,422400,x,665600000,80,14\n4,422400,114750000,665600000,-1,14\n"
    with pytest.raises(TableError, match="(?s)line 2: gpu is 'x'.*line 3: observed_time is '-1'"):
        read_table(write(tmp_path / "a.csv", HEADER + rows))


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", HEADER, HEADER + "1,2,3\n"])
def test_a_file_that_is_no_such_table_is_refused(tmp_path, text):
    with pytest.raises(TableError):
        read_table(write(tmp_path / "a.csv", text))


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(TableError):
        read_table(tmp_path / "nowhere.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00\x81" * 20)
    with pytest.raises(TableError):
        read_table(tmp_path / "b.csv")


def test_the_doubled_mode_of_the_public_yolo_table_is_found(shared_data):
    table = read_table(shared_data / "dreamlab/train/yolo_train_data_final.csv")
    assert (len(table.measured), table.repeated) == (4_368, 1)
    assert np.unique(table.measured.knobs, axis=0).shape == (4_368, 4)
