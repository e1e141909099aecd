"""Long answers as tables: DataFrames where pandas is installed, else lists of records."""

from __future__ import annotations

import io
from typing import Any, Iterator, List, Mapping, Optional, Union

from .records import Record
from .transport import Transport

try:
    import pandas
except ImportError:
    pandas = None
try:
    import pyarrow.ipc as arrow
except ImportError:
    arrow = None

# As JSON, these come as a sample for a drawing unless they are asked for page by page.
CURVES = ("equity", "series")
POINTS_MAX = 10_000

# A pandas.DataFrame where pandas is there.
Table = Union[List[Record], Any]


def read_table(
    transport: Transport, path: str, name: str, query: Optional[Mapping[str, Any]] = None, index: Optional[str] = None
) -> Table:
    """A whole list of the service, such as a run's trades.

    With pandas and pyarrow it travels as Arrow, with pandas alone as CSV, else as JSON.

    Args:
        name: The list's field in the JSON answer.
        index: The column with the times that become the frame's index.
    """
    query = dict(query or {})
    if pandas is None:
        return list(read_pages(transport, path, name, {**query, "limit": POINTS_MAX} if name in CURVES else query))
    if arrow is not None:
        data, _ = transport.bytes("GET", path, None, {**query, "format": "arrow"}, accept="*/*")
        frame = arrow.open_stream(data).read_pandas()
    else:
        data, _ = transport.bytes("GET", path, None, {**query, "format": "csv"}, accept="*/*")
        frame = pandas.read_csv(io.BytesIO(data), na_values=[""], keep_default_na=False)
        for column in frame.columns:
            if column == "timestamp" or column.endswith("_time"):
                frame[column] = pandas.to_datetime(frame[column], utc=True)
    return frame.set_index(index) if index is not None else frame


def read_pages(transport: Transport, path: str, name: str, query: Mapping[str, Any]) -> Iterator[Record]:
    """The rows of a list, page by page."""
    cursor = None
    while True:
        page = transport.json("GET", path, None, {**query, "cursor": cursor})
        yield from page[name]
        cursor = page.get("next_cursor")
        if cursor is None:
            return


def to_table(rows: List[Record]) -> Table:
    """Records that are here already."""
    return rows if pandas is None else pandas.DataFrame(rows)
