import io

import openpyxl
import pandas as pd

from profiling.formats import read
from tests.formats.test_table import GOOD, HEADER


def test_a_formula_nobody_computed_is_a_bad_cell_and_no_empty_one(tmp_path, ranges):
    book = openpyxl.Workbook()
    for row in (HEADER, *GOOD.split()):
        book.active.append([float(cell) if cell[0].isdigit() else cell for cell in row.split(",")])
    book.active.append(["=A2", "=B2", "=C2", "=D2", "=E2", "=F2"])
    book.active["E2"] = "=2*50"
    book.save(tmp_path / "a.xlsx")
    parsed = read(tmp_path / "a.xlsx", legal=ranges)
    assert parsed.rows.line.tolist() == [3]
    assert {problem.line for problem in parsed.problems} == {2, 4}
    assert "is a formula without its value" in parsed.problems[0].reason


def test_no_sheet_of_a_workbook_is_left_out_unsaid(tmp_path, ranges):
    frame = pd.read_csv(io.StringIO(f"{HEADER}\n{GOOD}"))
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        frame.to_excel(writer, sheet_name="resnet", index=False)
        frame.to_excel(writer, sheet_name="yolo", index=False)
        frame.head(0).to_excel(writer, sheet_name="nothing", index=False, header=False)
    parsed = read(tmp_path / "a.xlsx", legal=ranges)
    assert len(parsed) == 2
    assert [(each.value, each.reason[:18]) for each in parsed.problems] == [("yolo", "is a further sheet")]
