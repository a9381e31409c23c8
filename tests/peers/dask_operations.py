# SPDX-License-Identifier: BSD-2-Clause
"""dask_operations.py TRACES: what Dask's frame of vfs_rw.out gives for each operation is what pandas' gives; a wrong call of
it, and a wrong value in the trace, are told apart."""
import glob
import os
import shutil
import sys

import dltraced
import pandas
from dltraced import _lines

KEY, NUMBERS = ["folder", "FID"], ["RETURNED", "LAT_NS"]
OPERATIONS = {
    "all": lambda d, f: d,
    "a column": lambda d, f: d["RETURNED"],
    "columns": lambda d, f: d[["COMM", "RETURNED", "TIME"]],
    "columns in another order": lambda d, f: d[["LAT_NS", "COMM"]],
    "columns twice": lambda d, f: d[["COMM", "RETURNED", "LAT_NS"]][["LAT_NS"]],
    "rows": lambda d, f: d[d["RW"] == "R"][["FILE", "RETURNED"]],
    "assign": lambda d, f: d.assign(END=d["OFFSET"] + d["RETURNED"])[["END"]],
    "drop": lambda d, f: d.drop(columns=["TIME", "FLAGS"]),
    "rename": lambda d, f: d.rename(columns={"LAT_NS": "ns"})[["ns"]],
    "sum": lambda d, f: d[NUMBERS].sum(),
    "groupby": lambda d, f: d.groupby("COMM")[NUMBERS].sum(),
    "groupby two": lambda d, f: d.groupby(["host", "RW"])["LAT_NS"].max(),
    "value_counts": lambda d, f: d["FUNC"].value_counts(),
    "nunique": lambda d, f: d["FID"].nunique(),
    "merge": lambda d, f: d[[*KEY, "RETURNED"]].merge(f[[*KEY, "REALPATH"]], on=KEY),
    "map_partitions": lambda d, f: (d.map_partitions(each) if hasattr(d, "map_partitions") else each(d)),
    "len": lambda d, f: len(d),
}


def each(frame):
    return frame[["COMM", "LAT_NS"]].assign(us=frame["LAT_NS"] // 1000)


def plain(value):
    """A result as rows in an order of their own."""
    if hasattr(value, "compute"):
        value = value.compute(scheduler="synchronous")
    if isinstance(value, pandas.Series):
        value = value.to_frame() if pandas.api.types.is_integer_dtype(value.index) else value.rename("value").reset_index()
    if isinstance(value, pandas.DataFrame):
        value = value.reset_index() if any(value.index.names) else value
        return list(map(str, value.columns))[-2:], sorted(tuple(map(str, row)) for row in value.itertuples(index=False))
    return int(value)


def raises(wanted, function):
    try:
        function()
    except Exception as error:
        return wanted in type(error).__mro__ and (wanted is dltraced.Damaged) == isinstance(error, dltraced.Damaged)
    return False


def main():
    _lines.BLOCK_BYTES = _lines.HEADER_BYTES = 3000
    frames = [[dltraced.read(sys.argv[1], probe, engine=engine) for probe in ("vfs_rw", "files")] for engine in ("dask", "pandas")]
    assert frames[0][0].npartitions > 4
    for name, operation in OPERATIONS.items():
        got, wanted = (plain(operation(*of)) for of in frames)
        assert got == wanted and got, (name, str(got)[:500], str(wanted)[:500])

    assert raises(KeyError, lambda: frames[0][0][["NO_SUCH"]].compute(scheduler="synchronous"))
    assert raises(ZeroDivisionError, lambda: frames[0][0].map_partitions(lambda frame: 1 // 0, meta=frames[1][0]).compute(scheduler="synchronous"))
    shutil.copytree(next(f for f in sorted(glob.glob(sys.argv[1])) if glob.glob(f + "/vfs_rw.out")), "damaged")
    with open(os.path.join("damaged", "vfs_rw.out"), "r+", encoding="utf-8") as f:
        rows = f.read().split("\n")
        row = rows[2].split("\t")
        row[rows[1].split("\t").index("LAT_NS")] = "x1"
        f.seek(0)
        f.write("\n".join([*rows[:2], "\t".join(row), *rows[3:]]))
        f.truncate()
    damaged = dltraced.read("damaged", "vfs_rw", engine="dask")
    assert raises(dltraced.Damaged, lambda: damaged["LAT_NS"].sum().compute(scheduler="synchronous"))
    for engine in sys.argv[2:]:
        assert raises(dltraced.Damaged, lambda: dltraced.read("damaged", "vfs_rw", engine=engine)), engine
        assert raises(TypeError, lambda: dltraced.read("damaged", "vfs_rw", engine=engine, colums=[])), engine
    print(f"{len(OPERATIONS)} operations")


if __name__ == "__main__":
    main()
