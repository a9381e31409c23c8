probes.o: src/cmd/probes.c src/base/exit_codes.h src/base/log.h \
 src/base/options.h src/base/util.h src/cmd/cmd.h src/cmd/duckdb.h \
 src/cmd/probes_json.h src/collectors/kinds.h include/dlt/sync.h \
 include/dlt/dlt.h src/trace/probes.def src/kernel/tracer.h \
 src/kernel/tracer_impl.h include/dlt/pids.h src/kernel/backend.h \
 src/kernel/btf.h src/kernel/dispatcher.h src/trace/probe.h \
 src/trace/field.h src/trace/probe_mask.h src/trace/probes.def \
 src/kernel/object.h src/kernel/ring.h src/os/terminal.h
src/base/exit_codes.h:
src/base/log.h:
src/base/options.h:
src/base/util.h:
src/cmd/cmd.h:
src/cmd/duckdb.h:
src/cmd/probes_json.h:
src/collectors/kinds.h:
include/dlt/sync.h:
include/dlt/dlt.h:
src/trace/probes.def:
src/kernel/tracer.h:
src/kernel/tracer_impl.h:
include/dlt/pids.h:
src/kernel/backend.h:
src/kernel/btf.h:
src/kernel/dispatcher.h:
src/trace/probe.h:
src/trace/field.h:
src/trace/probe_mask.h:
src/trace/probes.def:
src/kernel/object.h:
src/kernel/ring.h:
src/os/terminal.h:
