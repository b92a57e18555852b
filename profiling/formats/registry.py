"""Every format we read, the most particular first."""

from profiling.formats import (
    csv_rows,
    dreamlab,
    excel_rows,
    json_rows,
    jtop,
    loudva,
    parquet_rows,
    sniff,
    tegrastats,
)
from profiling.formats.format import Format, table_format
from profiling.formats.problems import FormatError
from profiling.formats.source import Source

FORMATS: tuple[Format, ...] = (
    dreamlab.FORMAT,
    table_format("excel", "Excel workbook", excel_rows.is_workbook, excel_rows.read_rows),
    table_format("parquet", "Parquet", sniff.is_parquet, parquet_rows.read_rows),
    table_format("jsonl", "JSON lines", sniff.is_json_lines, json_rows.read_line_rows),
    table_format("json", "JSON", sniff.is_json, json_rows.read_rows),
    tegrastats.FORMAT,
    jtop.FORMAT,
    loudva.FORMAT,
    table_format("tsv", "tab-separated text", sniff.is_tab_separated, csv_rows.read_rows),
    table_format("csv", "comma-separated text", sniff.is_text, csv_rows.read_rows),
)


def format_of(source: Source) -> Format:
    if source.path.is_file() and source.size == 0:
        raise FormatError(f"{source.filename} is empty")
    if source.path.is_dir():
        return _of_folder(source)
    for candidate in FORMATS:
        if candidate.recognises(source):
            return candidate
    known = ", ".join(candidate.title for candidate in FORMATS)
    raise FormatError(f"{source.filename} is in no format we know; known are {known}")


def _of_folder(source: Source) -> Format:
    if dreamlab.recognises(source):
        return dreamlab.FORMAT
    raise FormatError(f"{source.filename} holds no run folder pm_<cores>_<cpu kHz>_<gpu Hz>_<emc Hz>")
