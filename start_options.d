start_options.o: src/session/start_options.c src/session/start_options.h \
  src/base/options.h src/base/options_unknown.h src/applog/applog.h \
  src/applog/entry.h src/base/log.h src/base/similar.h src/base/units.h \
  src/base/util.h src/collectors/collectors.h src/base/text.h \
  src/trace/sink.h src/trace/segment.h src/collectors/kinds.h \
  include/dlt/vfs_rw_sums.h include/dlt/dlt.h src/trace/probes.def \
  include/dlt/vfs_rw.h src/host/experiment.h \
  src/host/rights/workload_user.h src/host/space.h src/kernel/backend.h \
  src/session/memory_options.h src/trace/config.h src/trace/probe_mask.h \
  src/trace/outdir.h src/trace/probe.h src/trace/field.h \
  src/trace/unpack.h

src/session/start_options.h:

src/base/options.h:

src/base/options_unknown.h:

src/applog/applog.h:

src/applog/entry.h:

src/base/log.h:

src/base/similar.h:

src/base/units.h:

src/base/util.h:

src/collectors/collectors.h:

src/base/text.h:

src/trace/sink.h:

src/trace/segment.h:

src/collectors/kinds.h:

include/dlt/vfs_rw_sums.h:

include/dlt/dlt.h:

src/trace/probes.def:

include/dlt/vfs_rw.h:

src/host/experiment.h:

src/host/rights/workload_user.h:

src/host/space.h:

src/kernel/backend.h:

src/session/memory_options.h:

src/trace/config.h:

src/trace/probe_mask.h:

src/trace/outdir.h:

src/trace/probe.h:

src/trace/field.h:

src/trace/unpack.h:
