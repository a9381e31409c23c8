record.o: src/trace/record.c src/trace/record.h src/base/text.h \
 include/dlt/dlt.h src/trace/probes.def src/base/util.h src/trace/clock.h \
 src/trace/field.h src/trace/files.h src/trace/probe.h \
 src/trace/probe_mask.h src/trace/probes.def
src/trace/record.h:
src/base/text.h:
include/dlt/dlt.h:
src/trace/probes.def:
src/base/util.h:
src/trace/clock.h:
src/trace/field.h:
src/trace/files.h:
src/trace/probe.h:
src/trace/probe_mask.h:
src/trace/probes.def:
