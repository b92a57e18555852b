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
from profiling.formats.source import GZIP, ZIP, ZSTD, Source

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


FOREIGN = {  # how files begin that people have, and what they may send instead
    b"BZh": "packed with bzip2; pack it with gzip or zstd, or not at all",
    b"\xfd7zXZ": "packed with xz; pack it with gzip or zstd, or not at all",
    b"7z\xbc\xaf": "packed with 7-Zip; pack it with gzip or zstd, or not at all",
    GZIP: "packed twice; unpack it once",
    ZSTD: "packed twice; unpack it once",
    ZIP: "packed twice; unpack it once",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"SQLite format 3": "a SQLite database; export the table as CSV or Parquet",
}
MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")


def format_of(source: Source) -> Format:
    if source.path.is_file() and source.size == 0:
        raise FormatError(f"{source.filename} is empty")
    if source.path.is_dir():
        return _of_folder(source)
    if source.head.lstrip()[:10].lower().startswith(MARKUP):
        raise FormatError(f"{source.filename} is a web page or XML; was it saved instead of the table?")
    for candidate in FORMATS:
        if candidate.recognises(source):
            return candidate
    for magic, instead in FOREIGN.items():
        if source.head.startswith(magic):
            raise FormatError(f"{source.filename} is {instead}")
    if sniff.is_bare_utf16(source):
        raise FormatError(
            f"{source.filename} seems to be UTF-16 without its byte order mark; save it as UTF-8"
        )
    known = ", ".join(candidate.title for candidate in FORMATS)
    raise FormatError(f"{source.filename} is in no format we know; known are {known}")


def _of_folder(source: Source) -> Format:
    if dreamlab.recognises(source):
        return dreamlab.FORMAT
    raise FormatError(f"{source.filename} holds no run folder pm_<cores>_<cpu kHz>_<gpu Hz>_<emc Hz>")
