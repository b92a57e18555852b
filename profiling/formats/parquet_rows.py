"""Rows of a Parquet file; a row's "line" is its place, from 1."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from profiling.formats.batches import ROWS_AT_ONCE, Batch, Rows, check_rows, checked_header
from profiling.formats.problems import FileTooLarge, FormatError
from profiling.formats.source import Source


def read_rows(source: Source) -> Rows:
    with _broken_is_said(source), _opened(source) as file:
        return Rows(checked_header(file.schema_arrow.names, source.limits), _batches(source))


@contextmanager
def _broken_is_said(source: Source) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise FormatError(f"{source.filename} is a broken Parquet file: {error}") from error


@contextmanager
def _opened(source: Source) -> Iterator[pyarrow.parquet.ParquetFile]:
    """The file, once its own account of itself keeps the limits."""
    with source.seekable() as stream:
        file = pyarrow.parquet.ParquetFile(
            stream, thrift_string_size_limit=16 << 20, thrift_container_size_limit=1 << 20
        )
        about = file.metadata
        check_rows(about.num_rows, source.limits)
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        if sum(group.num_rows for group in groups) != about.num_rows or about.num_rows < 0:
            raise FormatError(f"{source.filename} claims {about.num_rows:,} rows but does not hold them")
        if any(not 0 <= group.total_byte_size <= source.limits.unpacked_bytes for group in groups):
            raise FileTooLarge(
                f"{source.filename} has a row group over {source.limits.unpacked_bytes:,} bytes"
            )
        yield file


def _batches(source: Source) -> Iterator[Batch]:
    first = 1
    with _broken_is_said(source), _opened(source) as file:
        for piece in file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False):
            columns = dict(zip(piece.schema.names, piece.columns, strict=True))
            yield Batch(np.arange(first, first + len(piece)), columns)
            first += len(piece)
