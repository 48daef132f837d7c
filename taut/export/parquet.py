"""Records as a Parquet file; each column's metadata has its unit, the file's the scene and the method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import Format, Options
from .tables import columns, tables

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    import pyarrow
    import pyarrow.parquet

    units = {column: unit for column, (_, _, unit) in columns(run).items()}
    writer = None
    try:
        for table in tables(run, options):
            kinds = [pyarrow.field(name, pyarrow.from_numpy_dtype(kind), metadata={"units": units[name]})
                     for name, kind in table.dtypes.items()]  # fmt: skip
            about = {key: str(value) for key, value in run.data.attrs.items()}
            schema = pyarrow.schema(kinds, metadata=about)
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(path, schema, compression="zstd")
            writer.write_table(pyarrow.Table.from_pandas(table, schema, preserve_index=False).cast(schema))
    finally:
        if writer is not None:
            writer.close()


FORMAT = Format("parquet", (".parquet",), "All records as a table for data tools.", write, modules=("pyarrow",))
