# SPDX-License-Identifier: BSD-2-Clause
"""read.py TRACES VIEWS: has each engine of dltraced.read() for each column of each file of TRACES what DuckDB has by VIEWS?

Of a column: the number of values; the sum of numbers, exact; the least and the greatest of times; of text the number of
different ones, and their total length."""
import sys

import dltraced
from dltraced import _columns, _lines

pattern, views = sys.argv[1:3]
OF_DTYPES = {"Int64": "int64", "float64": "number", "datetime64[ns, UTC]": "time"}
ENGINES = ("pandas", "polars", "pyarrow", "dask")


def wanted_of(db, probe, columns):
    """Returns {column: facts} and the number of rows, for each folder."""
    select = []
    escaped = _columns.of(probe)
    for c in columns:
        name, text = f'"{c.name}"', f'dlt_text("{c.name}")' if escaped and c.type == "text" else f'"{c.name}"::VARCHAR'
        if "int" in c.type:
            select.append(f"[count({name})::VARCHAR, coalesce(sum({name}::HUGEINT), 0)::VARCHAR]")
        elif c.type == "time":
            select.append(f"[count({name})::VARCHAR, epoch_ns(min({name}))::VARCHAR, epoch_ns(max({name}))::VARCHAR]")
        elif c.type == "number":
            select.append(f"[count({name})::VARCHAR]")
        else:
            select.append(f"[count({name})::VARCHAR, count(DISTINCT {text})::VARCHAR, coalesce(sum(strlen({text})), 0)::VARCHAR]")
    row = db.execute(f"SELECT {', '.join(select)} FROM {probe}").fetchone()
    folders = dict(db.execute(f"SELECT folder || ' ' || host, count(*) FROM {probe} GROUP BY 1").fetchall())
    return {c.name: facts for c, facts in zip(columns, row)}, folders


def column_of(frame, name, engine):
    """Returns the values without null; times as ns."""
    if engine == "pyarrow":
        values = frame.column(name)
        if "timestamp" in str(values.type):
            import pyarrow
            values = values.cast(pyarrow.int64())
        return [v for v in values.to_pylist() if v is not None]
    if engine == "polars":
        values = frame[name]
        return (values.dt.epoch("ns") if "Datetime" in str(values.dtype) else values).drop_nulls().to_list()
    values = frame[name].dropna()
    return [v.value for v in values] if "datetime" in str(values.dtype) else values.tolist()


def got_of(frame, columns, engine):
    facts = {}
    for c in columns:
        values = column_of(frame, c.name, engine)
        if "int" in c.type:
            facts[c.name] = [len(values), sum(map(int, values))]
        elif c.type == "time":
            facts[c.name] = [len(values), min(values, default=None), max(values, default=None)]
        elif c.type == "number":
            facts[c.name] = [len([v for v in values if v == v])]
        else:
            facts[c.name] = [len(values), len(set(values)), sum(len(v.encode()) for v in values)]
    pairs = zip(column_of(frame, "folder", engine), column_of(frame, "host", engine))
    folders = {}
    for folder, host in pairs:
        folders[f"{folder} {host}"] = folders.get(f"{folder} {host}", 0) + 1
    return {name: [None if v is None else str(v) for v in of] for name, of in facts.items()}, folders


def main():
    import duckdb
    db = duckdb.connect()
    db.execute(f"SET VARIABLE trace = '{pattern}'")
    with open(views, encoding="utf-8") as f:
        db.execute(f.read())
    n = 0
    for block_bytes in (64 << 20, 3000):
        _lines.BLOCK_BYTES = _lines.HEADER_BYTES = block_bytes
        for probe in sorted(_columns._files()):
            try:
                first = dltraced.read(pattern, probe)
            except FileNotFoundError:
                continue
            columns = _columns.of(probe) or [_columns.Column(name, OF_DTYPES.get(str(dtype), "text"))
                                             for name, dtype in first.dtypes.items() if name not in ("host", "folder")]
            wanted = wanted_of(db, probe, columns)
            for engine in ENGINES:
                frame = dltraced.read(pattern, probe, engine=engine)
                if engine == "dask":
                    assert block_bytes > 3000 or probe != "vfs_rw" or frame.npartitions > 4, frame.npartitions
                    frame = frame.compute(scheduler="processes" if probe == "vfs_rw" else "synchronous", num_workers=2)
                got = got_of(frame, columns, engine)
                assert got[1] == wanted[1], (engine, probe, got[1], wanted[1])
                for name, facts in wanted[0].items():
                    assert got[0][name] == facts, (engine, probe, name, got[0][name], facts)
                n += len(columns)
    print(f"{n} columns")


if __name__ == "__main__":  # not in Dask's processes
    main()
