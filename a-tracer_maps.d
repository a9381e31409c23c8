tracer_maps.o: src/kernel/tracer_maps.c src/kernel/tracer.h \
 src/kernel/tracer_impl.h include/dlt/dlt.h src/trace/probes.def \
 include/dlt/pids.h src/kernel/backend.h src/kernel/btf.h \
 src/kernel/dispatcher.h src/trace/probe.h src/base/util.h \
 src/trace/field.h src/trace/probe_mask.h src/trace/probes.def \
 src/kernel/object.h src/kernel/ring.h include/dlt/cache.h \
 include/dlt/meta.h include/dlt/net.h include/dlt/sockets.h \
 include/dlt/vfs_rw.h include/dlt/vfs_rw_sums.h
src/kernel/tracer.h:
src/kernel/tracer_impl.h:
include/dlt/dlt.h:
src/trace/probes.def:
include/dlt/pids.h:
src/kernel/backend.h:
src/kernel/btf.h:
src/kernel/dispatcher.h:
src/trace/probe.h:
src/base/util.h:
src/trace/field.h:
src/trace/probe_mask.h:
src/trace/probes.def:
src/kernel/object.h:
src/kernel/ring.h:
include/dlt/cache.h:
include/dlt/meta.h:
include/dlt/net.h:
include/dlt/sockets.h:
include/dlt/vfs_rw.h:
include/dlt/vfs_rw_sums.h:
