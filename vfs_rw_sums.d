vfs_rw_sums.o: src/probes/vfs_rw_sums.c include/dlt/vfs_rw_sums.h \
  include/dlt/dlt.h src/trace/probes.def include/dlt/vfs_rw.h \
  src/base/util.h src/drain/rows/decode.h src/base/text.h \
  include/dlt/files.h src/drain/rows/failed_calls.h \
  src/drain/rows/rollup.h src/stats/table.h src/trace/reader.h \
  src/base/lines.h src/trace/reader_fields.h src/base/digits.h \
  src/trace/segment.h src/trace/unpack.h src/host/untraced.h \
  include/dlt/pids.h src/trace/clock.h src/trace/config.h src/base/log.h \
  src/trace/probe_mask.h src/trace/record.h src/trace/sink.h \
  src/kernel/object.h src/kernel/skel.h src/kernel/btf.h \
  src/trace/probe.h src/trace/field.h build/vfs_rw_sums.skel.h

include/dlt/vfs_rw_sums.h:

include/dlt/dlt.h:

src/trace/probes.def:

include/dlt/vfs_rw.h:

src/base/util.h:

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

src/kernel/object.h:

src/kernel/skel.h:

src/kernel/btf.h:

src/trace/probe.h:

src/trace/field.h:

build/vfs_rw_sums.skel.h:
