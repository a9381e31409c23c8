test_vfs_rw_sums.o: tests/unit/probes/test_vfs_rw_sums.c \
 include/dlt/vfs_rw_sums.h include/dlt/dlt.h src/trace/probes.def \
 include/dlt/vfs_rw.h tests/unit/records.h src/drain/rows/decode.h \
 src/base/text.h include/dlt/files.h src/drain/rows/failed_calls.h \
 src/drain/rows/rollup.h src/stats/table.h src/trace/reader.h \
 src/base/lines.h src/trace/reader_fields.h src/base/digits.h \
 src/trace/segment.h src/trace/unpack.h src/host/untraced.h \
 include/dlt/pids.h src/trace/clock.h src/trace/config.h src/base/log.h \
 src/trace/probe_mask.h src/trace/record.h src/trace/sink.h \
 src/drain/rows/process_rows.h src/drain/rows/stage.h src/drain/stages.h \
 src/trace/files.h src/trace/probe.h src/base/util.h src/trace/field.h \
 src/trace/probes.def tests/unit/tree.h tests/unit/temp.h
include/dlt/vfs_rw_sums.h:
include/dlt/dlt.h:
src/trace/probes.def:
include/dlt/vfs_rw.h:
tests/unit/records.h:
src/drain/rows/decode.h:
src/base/text.h:
include/dlt/files.h:
src/drain/rows/failed_calls.h:
src/drain/rows/rollup.h:
src/stats/table.h:
src/trace/reader.h:
src/base/lines.h:
src/trace/reader_fields.h:
src/base/digits.h:
src/trace/segment.h:
src/trace/unpack.h:
src/host/untraced.h:
include/dlt/pids.h:
src/trace/clock.h:
src/trace/config.h:
src/base/log.h:
src/trace/probe_mask.h:
src/trace/record.h:
src/trace/sink.h:
src/drain/rows/process_rows.h:
src/drain/rows/stage.h:
src/drain/stages.h:
src/trace/files.h:
src/trace/probe.h:
src/base/util.h:
src/trace/field.h:
src/trace/probes.def:
tests/unit/tree.h:
tests/unit/temp.h:
