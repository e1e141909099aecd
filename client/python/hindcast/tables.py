"""Long answers as tables: DataFrames where pandas is installed, else lists of records."""

from __future__ import annotations

import io
from typing import Any, List, Mapping, Optional, Union

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

# A pandas.DataFrame where pandas is there.
Table = Union[List[Record], Any]


def read_table(
    transport: Transport, path: str, name: str, query: Optional[Mapping[str, Any]] = None, index: Optional[str] = None
) -> Table:
    """A whole list of the service, such as a run's trades.

    With pyarrow it travels as Arrow, with pandas alone as CSV, else as JSON.

    Args:
        name: The list's field in the JSON answer.
        index: The column with the times that become the frame's index.
    """
    query = dict(query or {})
    if pandas is None:
        return transport.json("GET", path, None, query)[name]
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


def to_table(rows: List[Record]) -> Table:
    """Records that are here already."""
    return rows if pandas is None else pandas.DataFrame(rows)
